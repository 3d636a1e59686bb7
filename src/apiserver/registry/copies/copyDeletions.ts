/** Deletes copies. Whether a copy goes at once follows from its body, so it is found once for each. See also operations/remove.ts. */
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Body } from '../../../storage/body.ts'
import type { Write } from '../../../storage/store.ts'
import { stepsFor } from '../admission.ts'
import { decodeObject } from '../codec.ts'
import type { RegistryDeps } from '../preparation.ts'
import { hasNamespaceFinalizers } from '../systemMetadata.ts'
import { type CopyDeletion, type CopyPlace, copyAt, perPlace, storedAt } from './copyWrites.ts'

export class CopyDeletions {
  readonly #deps: RegistryDeps
  readonly #goAtOnce = new WeakMap<Body, boolean>()

  constructor(deps: RegistryDeps) {
    this.#deps = deps
  }

  async delete(deletions: readonly CopyDeletion[]): Promise<readonly boolean[]> {
    const { store } = this.#deps
    const isOpen = perPlace<CopyDeletion, boolean>(place => this.#isOpen(place))
    const writes = deletions.map((deletion): Write | undefined => {
      const stored = isOpen(deletion) ? copyAt(store, deletion) : undefined
      if (!stored) return undefined
      let goes = this.#goAtOnce.get(stored.body)
      if (goes === undefined) {
        const { prepareForDelete } = this.#deps.strategyFor(deletion.type) ?? {}
        goes = prepareForDelete === undefined && !isHeld(decodeObject(stored))
        this.#goAtOnce.set(stored.body, goes)
      }
      return goes ? { key: stored.key, mutation: { type: 'delete' }, expect: stored.revision } : undefined
    })
    return (await storedAt(store, writes)).map(stored => stored !== undefined)
  }

  /** Whether no admission step and no shared layer has a say there. */
  #isOpen({ context: { space, user, dryRun }, type, namespace }: CopyPlace): boolean {
    const { admission, shared } = this.#deps
    if (dryRun || shared?.of(type, namespace)) return false
    return stepsFor(admission, type, 'DELETE', { space, namespace, subresource: '', user }).length === 0
  }
}

/** Whether a deletion is more than one write. Pods get time. */
function isHeld(object: KubeObject): boolean {
  const { finalizers = [], deletionTimestamp } = object.metadata
  if (finalizers.length > 0 || deletionTimestamp !== undefined) return true
  return hasNamespaceFinalizers(object) || (object.kind === 'Pod' && object.apiVersion === 'v1')
}
