/**
 * Namespaces that the syncer made because objects needed them, and that the mailbox does not hold any more. They go once they
 * are empty: what others put there stays, and the Namespace with it. One that was there before is never touched.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { DOWNSYNCED, IMPLIED_ANNOTATION, isProjected } from '../../placement/words/placement.ts'
import { fieldsOf, type SyncKey } from '../mailbox/mirror.ts'
import { isOurs, isServersOwn, ownerOf } from '../objects/marks.ts'
import { type DownsyncContext, inNameOf } from './context.ts'

type EmptiedNamespacesDeps = Pick<
  DownsyncContext,
  'cluster' | 'as' | 'served' | 'mirror' | 'mirrorComplete' | 'allowance' | 'logger'
>

/** While objects from the center are still going: twice as long each time, up to the second number. */
const FIRST_MS = 1000
const MOST_MS = 300_000
/** Somebody else has something there. */
const LATER_MS = 3_600_000
/** Number of objects of each kind that are read. */
const SAMPLE = 20

type Content = 'nothing' | 'going' | 'others'

export class EmptiedNamespaces {
  readonly #deps: EmptiedNamespacesDeps
  /** How often one was looked at in vain. */
  readonly #looked = new Map<string, number>()

  constructor(deps: EmptiedNamespacesDeps) {
    this.#deps = deps
  }

  /**
   * For objects that the mailbox does not hold. Time until the next look; `undefined`: there is nothing (more) to do here.
   */
  async remove(key: SyncKey): Promise<number | undefined> {
    if (groupResourceName(key) !== 'namespaces') return undefined
    const { cluster, allowance, logger, mirror, mirrorComplete } = this.#deps
    const live = await unlessGone(cluster.get(NAMESPACES, { name: key.name }))
    if (!live || live.metadata.deletionTimestamp !== undefined || !isOurs(live, IMPLIED_ANNOTATION)) {
      this.#looked.delete(key.name)
      return undefined
    }
    if (allowance.refusalOf(key)) return undefined
    const content = await this.#contentOf(key.name)
    if (content !== 'nothing') {
      const looked = this.#looked.get(key.name) ?? 0
      this.#looked.set(key.name, looked + 1)
      return content === 'others' ? LATER_MS : Math.min(FIRST_MS * 2 ** looked, MOST_MS)
    }
    // it may be needed again by now
    if (mirror.get(key) || !mirrorComplete()) return undefined
    this.#looked.delete(key.name)
    const { uid = '', resourceVersion = '' } = live.metadata
    try {
      await inNameOf(ownerOf(live), this.#deps).delete(
        NAMESPACES,
        { name: key.name },
        { preconditions: { uid, resourceVersion } },
      )
      logger.info(
        fieldsOf(key, uid),
        'deleted from the cluster: it came along with objects, and nothing is in it any more',
      )
    } catch (error) {
      // a write came between
      if (isStatusError(error, 'Conflict')) return FIRST_MS
      if (!isStatusError(error, 'NotFound')) throw error
    }
    return undefined
  }

  /** Content that cannot be listed counts as another owner's. */
  async #contentOf(namespace: string): Promise<Content> {
    let content: Content = 'nothing'
    for (const resource of this.#deps.served.all()) {
      const { namespaced, verbs } = resource
      // what is answered and not stored goes with what it is about
      const isKept = namespaced && verbs.includes('list') && verbs.includes('delete')
      if (!isKept || resource.resource === 'events') continue
      try {
        const { items } = await this.#deps.cluster.list(resource, { namespace, limit: SAMPLE })
        // a list of one kind does not tell it of each item
        const left = items.filter(item => !isServersOwn({ ...item, kind: resource.kind }))
        if (left.some(item => !isGoing({ ...item, kind: resource.kind }))) return 'others'
        if (left.length > 0) content = 'going'
      } catch (error) {
        if (isStatusError(error, 'Forbidden')) return 'others'
        if (!isStatusError(error, 'NotFound', 'MethodNotAllowed')) throw error
      }
    }
    return content
  }
}

/** The syncer's objects, and their dependents, are on their way out when nothing in the Namespace is wanted any more. */
function isGoing(object: Readonly<KubeObject>): boolean {
  const { deletionTimestamp, ownerReferences = [] } = object.metadata
  return (
    deletionTimestamp !== undefined || ownerReferences.length > 0 || (isProjected(object) && isOurs(object, DOWNSYNCED))
  )
}
