/**
 * Replaces objects by ones that follow from what was said and from what they replace alone: where that says the same in many spaces,
 * the way is gone once, see revisions.ts.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { refusal } from './accepted.ts'
import { stepsFor } from './admission.ts'
import type { WriteContext } from './context.ts'
import { keyOf } from './keys.ts'
import type { Preparation, RegistryDeps } from './preparation.ts'
import { Revisions } from './revisions.ts'
import { isPlain } from './templates.ts'
import type { Updates } from './updates.ts'
import { hasStorageVersion } from './views.ts'
import type { Written } from './written.ts'

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
    const wholly = (): Promise<Written> => this.#updates.update(context, type, namespace, name, change)
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
}
