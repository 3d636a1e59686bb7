/**
 * Deletes objects of many spaces that say what others say: whether one of them goes at once is found out once for all that the store
 * keeps the same text of. What else there is to a deletion is in operations/remove.ts.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { alikeOf } from '../../storage/alikeText.ts'
import type { Body } from '../../storage/body.ts'
import type { SharedStored } from '../../storage/sharedStored.ts'
import type { Write } from '../../storage/store.ts'
import { stepsFor } from './admission.ts'
import { decodeObject } from './codec.ts'
import type { WriteContext } from './context.ts'
import { keyOf } from './keys.ts'
import type { RegistryDeps } from './preparation.ts'
import { hasNamespaceFinalizers } from './systemMetadata.ts'

/** One of many objects, in the version that it had when it was looked at; what depends on it goes after it. */
export interface SharedDeletion {
  readonly context: WriteContext
  readonly type: ResourceType
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly resourceVersion: string
}

export class SharedDeletions {
  readonly #deps: RegistryDeps
  /** Whether objects with this text go at once. */
  readonly #goAtOnce = new WeakMap<Body, boolean>()

  constructor(deps: RegistryDeps) {
    this.#deps = deps
  }

  /** With one wait for the disk; whether each is gone. What is not has to be deleted by itself, or said by that why it cannot be. */
  async deleteMany(deletions: readonly SharedDeletion[]): Promise<readonly boolean[]> {
    const { store } = this.#deps
    const gone = deletions.map(() => false)
    const taken: number[] = []
    const writes: Write[] = []
    let isOpen = false
    for (let i = 0; i < deletions.length; i++) {
      const each = deletions[i]!
      const before = deletions[i - 1]
      // what goes from one place comes in runs
      if (!before || !isAtOnce(before, each)) isOpen = this.#isOpen(each)
      const current = isOpen ? store.get(keyOf(each.context.space, each.type, each.namespace, each.name)) : undefined
      const stored = current && !(current instanceof Promise) ? alikeOf(current) : undefined
      if (!stored || !this.#goesAtOnce(each, stored)) continue
      taken.push(i)
      writes.push({ key: stored.key, mutation: { type: 'delete' }, expect: stored.revision })
    }
    const results = await store.writeMany(writes)
    for (let j = 0; j < results.length; j++) gone[taken[j]!] = results[j]!.ok
    return gone
  }

  /** Whether nobody else has a say in what is deleted there. */
  #isOpen({ context: { space, user, dryRun }, type, namespace }: SharedDeletion): boolean {
    const { admission, shared } = this.#deps
    if (dryRun || shared?.of(type, namespace)) return false
    return stepsFor(admission, type, 'DELETE', { space, namespace, subresource: '', user }).length === 0
  }

  #goesAtOnce({ type, uid, resourceVersion }: SharedDeletion, stored: SharedStored): boolean {
    if (String(stored.revision) !== resourceVersion || stored.own !== uid) return false
    const known = this.#goAtOnce.get(stored.body)
    if (known !== undefined) return known
    const object = decodeObject(stored)
    const isPlain = object.metadata.uid === stored.own && this.#deps.strategyFor(type)?.prepareForDelete === undefined
    const goes = isPlain && !isHeld(object)
    this.#goAtOnce.set(stored.body, goes)
    return goes
  }
}

/** Whether both pass the same steps. */
function isAtOnce(a: SharedDeletion, b: SharedDeletion): boolean {
  return a.context === b.context && a.type === b.type && a.namespace === b.namespace
}

/** Whether something has to be done before it goes, or on its way. Pods are given time. */
function isHeld(object: KubeObject): boolean {
  const { finalizers = [], deletionTimestamp } = object.metadata
  if (finalizers.length > 0 || deletionTimestamp !== undefined) return true
  return hasNamespaceFinalizers(object) || (object.kind === 'Pod' && object.apiVersion === 'v1')
}
