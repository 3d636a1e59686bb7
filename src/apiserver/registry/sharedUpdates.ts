/**
 * Replaces objects by ones that follow from what was said and from what they replace alone: where that says the same in many spaces,
 * the way is gone once, see revisions.ts.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { alikeOf } from '../../storage/alikeText.ts'
import type { Write } from '../../storage/store.ts'
import { refusal } from './accepted.ts'
import { stepsFor } from './admission.ts'
import type { WriteContext } from './context.ts'
import { keyOf } from './keys.ts'
import type { Preparation, RegistryDeps } from './preparation.ts'
import { Revisions } from './revisions.ts'
import type { SharedlyMade, Unshared } from './sharedCreations.ts'
import { isPlain } from './templates.ts'
import type { Updates } from './updates.ts'
import { hasStorageVersion } from './views.ts'
import type { Written } from './written.ts'

/** One of many objects that are to become what `said` makes of them, in the version that it had when it was looked at. */
export interface SharedUpdate {
  readonly context: WriteContext
  readonly type: ResourceType
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
  readonly said: Readonly<KubeObject>
}

export class SharedUpdates {
  readonly #deps: RegistryDeps
  readonly #preparation: Preparation
  readonly #updates: Updates
  readonly #revisions = new Revisions()

  constructor(preparation: Preparation, updates: Updates, deps: RegistryDeps) {
    this.#deps = deps
    this.#preparation = preparation
    this.#updates = updates
  }

  /** Nobody ever changes `object`, nor the object that this answers with. */
  async update(
    context: WriteContext,
    type: ResourceType,
    { namespace, name }: { namespace: string; name: string },
    { object, said }: { object: Readonly<KubeObject>; said: object },
  ): Promise<Written & { object?: KubeObject }> {
    const { store, admission, clock } = this.#deps
    const { space, user } = context
    const change = { replacement: () => cloneJson(object) }
    const wholly = (): Promise<Written> =>
      this.#updates.update(context, type, namespace, name, change, { isShared: true })
    const current = await store.get(keyOf(space, type, namespace, name))
    const { metadata } = object
    const circumstances = this.#preparation.circumstances(context, type, object)
    const isAlike =
      current !== undefined &&
      String(current.revision) === metadata.resourceVersion &&
      metadata.deletionTimestamp === undefined &&
      isPlain(circumstances) &&
      // what an older schema let in is read by another one
      (type.custom?.generation ?? 1) === 1 &&
      hasStorageVersion(current, type) &&
      stepsFor(admission, type, 'UPDATE', { space, namespace, subresource: '', user }).length === 0
    if (!isAlike) return await wholly()
    const place = { current, metadata, now: timestamp(clock()) }
    const known = this.#revisions.of(said, circumstances, place)
    if (known === undefined) {
      const made = await wholly()
      const isNext = made.stored.revision > current.revision && made.stored.key === current.key
      if (isNext && place.now === timestamp(clock())) this.#revisions.learn(said, circumstances, place, made.stored)
      return made
    }
    const mutation = { type: 'put', text: known.text } as const
    const result = await store.write({ key: current.key, mutation, expect: current.revision })
    // somebody was quicker: told as ever
    if (!result.ok && !result.refused) return await wholly()
    if (!result.ok) throw refusal(result.refused!)
    return { stored: result.stored, created: false, object: known.stored(result.stored.revision) }
  }

  /**
   * Many at a time, of any spaces, with one wait for the disk: what was changed, at its index. Other is what has to go its own way
   * ({@link update}): what is the first of its kind, what somebody else has a say in or has written meanwhile, what is refused.
   */
  async updateMany(updates: readonly SharedUpdate[]): Promise<readonly (SharedlyMade | Unshared)[]> {
    const { store, clock } = this.#deps
    const now = timestamp(clock())
    const made = updates.map((): SharedlyMade | Unshared => undefined)
    const taken: { readonly i: number; readonly like: KubeObject }[] = []
    const writes: Write[] = []
    let isOpen = false
    for (let i = 0; i < updates.length; i++) {
      const each = updates[i]!
      const before = updates[i - 1]
      if (!before || !isAtOnce(before, each)) isOpen = this.#isOpen(each)
      if (!isOpen) continue
      const { context, type, namespace, name, uid, said } = each
      const current = store.get(keyOf(context.space, type, namespace, name))
      const stored = current && !(current instanceof Promise) ? alikeOf(current) : undefined
      if (stored?.own !== uid || String(stored.revision) !== each.resourceVersion) continue
      const circumstances = this.#preparation.circumstances(context, type, said)
      if (!isPlain(circumstances)) continue
      const change = this.#revisions.alike(said, circumstances, stored, now)
      made[i] = change ? undefined : 'first'
      if (!change) continue
      taken.push({ i, like: change.like })
      writes.push({ key: stored.key, mutation: { type: 'put', text: change.text }, expect: stored.revision })
    }
    const results = await store.writeMany(writes)
    for (let j = 0; j < results.length; j++) {
      const result = results[j]!
      const { i, like } = taken[j]!
      if (result.ok) made[i] = { stored: result.stored, uid: updates[i]!.uid, like }
    }
    return made
  }

  /** Whether nobody else has a say in what is changed there; custom kinds have definitions that may be others by now. */
  #isOpen({ context: { space, user }, type, namespace }: SharedUpdate): boolean {
    if (type.custom !== undefined) return false
    return stepsFor(this.#deps.admission, type, 'UPDATE', { space, namespace, subresource: '', user }).length === 0
  }
}

/** Whether both pass the same steps. */
function isAtOnce(a: SharedUpdate, b: SharedUpdate): boolean {
  return a.context === b.context && a.type === b.type && a.namespace === b.namespace
}
