/**
 * Objects in the cluster that are unwanted there. The syncer deletes those that it made, leaves unmarked those that their placement
 * preserves, hands back adopted ones, and leaves all others as they are.
 */

import { isStatusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { DiscoveredResource } from '../../client/client.ts'
import { refOf } from '../../client/refOf.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import { DOWNSYNCED, isProjected } from '../../placement/words/placement.ts'
import { fieldsOf, keyText, type SyncKey } from '../mailbox/mirror.ts'
import { isAdopted, isOurs, isOursToDelete, mayOverwrite, ownerOf, SYNCER_MANAGER } from '../objects/marks.ts'
import { disclaimed, isPreserved } from '../objects/release.ts'
import { goingAway, type Outcome } from '../tells/verdicts.ts'
import type { ClusterOwners } from './clusterOwners.ts'
import type { DownsyncContext } from './context.ts'
import type { ObjectWriter } from './objectWriter.ts'
import { RemovalOrder } from './removalOrder.ts'

interface RemovalsDeps extends DownsyncContext {
  writer: Pick<ObjectWriter, 'as' | 'handBack'>
  owners: Pick<ClusterOwners, 'letGo' | 'left' | 'keptBy'>
  /** Nothing of ours is there any more. */
  forget(key: SyncKey): void
}

/** Why the syncer deletes from the cluster. */
const CAUSES = {
  sourceGone: 'its source is gone',
  unwanted: 'its source is there, and no placement wants it here any more',
  leftover: 'left by an earlier run, and the mailbox does not hold it',
  replaced: 'its source was deleted and made anew with other fields that cannot be changed; it comes again',
} as const

/** Between two looks at what is going away. */
const LOOK_MS = { first: 1000, most: 300_000 }

export class Removals {
  readonly #deps: RemovalsDeps
  readonly #order: RemovalOrder
  /** Objects that may be in the cluster although no watch shows them. Not all of them are unwanted. */
  readonly #leftovers = new Map<string, SyncKey>()
  /** Objects that the mailbox held in this run and holds no more. */
  readonly #left = new Map<string, { readonly isPreserved: boolean }>()

  constructor(deps: RemovalsDeps) {
    this.#deps = deps
    this.#order = new RemovalOrder(deps)
  }

  /** Tells of what may be in the cluster: what an earlier run left, or what is about to be made. */
  mayBeThere(key: SyncKey): void {
    this.#leftovers.set(keyText(key), key)
  }

  /** Tells of what an earlier run left and the mailbox does not hold. */
  isLeftover(key: SyncKey, object: Readonly<KubeObject>): void {
    this.mayBeThere(key)
    this.#order.left(key, object)
  }

  /** It is known to be there; watches tell what becomes of it. */
  isThere(key: SyncKey): void {
    this.#leftovers.delete(keyText(key))
  }

  /** Tells of an object that the mailbox held until now. */
  sourceLeft(key: SyncKey, object: Readonly<KubeObject> | undefined): void {
    this.#left.set(keyText(key), { isPreserved: isPreserved(object) })
    if (object && isProjected(object)) this.#order.left(key, object)
  }

  /** The mailbox holds it. */
  sourceIsThere(key: SyncKey): void {
    this.#left.delete(keyText(key))
    this.#order.over(key)
  }

  /** Whether the cluster is to keep what the mailbox holds no more. */
  staysPreserved(key: SyncKey): boolean {
    return this.#left.get(keyText(key))?.isPreserved === true
  }

  /**
   * Keys for a new look whenever the mirror becomes complete, or the cluster comes back. No watch may report them, and one that is gone
   * meanwhile would delay all that leaves after it.
   */
  *leftovers(): Iterable<SyncKey> {
    yield* this.#leftovers.values()
    yield* this.#order.leaving()
  }

  /** The refusal says why it stays although nobody wants it any more. */
  async remove(key: SyncKey, held: boolean): Promise<Outcome> {
    const { cluster, served, watches, echoes, forget } = this.#deps
    const text = keyText(key)
    // Most of what the mailbox holds was never meant for the cluster: that is not worth a question.
    if (!echoes.get(text) && !this.#leftovers.has(text) && !watches.get(key, key)) {
      this.#left.delete(text)
      this.#order.over(key)
      return {}
    }
    const refusal = this.#deps.allowance.refusalOf(key)
    if (refusal) {
      this.#order.over(key)
      return { refusal: { ...refusal, message: `stays, for its deletion ${refusal.message}` } }
    }
    const waitMs = this.#order.waitMs(key)
    if (waitMs !== undefined) return { requeueAfterMs: waitMs }
    const resource = served.find(key)
    const found = resource && (await unlessGone(cluster.get(resource, refOf(key))))
    const isOther = found && (await this.#isHeldInAnotherGroup(key, found))
    const live = found && !isOther && echoes.recognized(text, found)
    // The mailbox may have gone during the cluster's answer.
    if (!this.#deps.mirrorComplete()) return {}
    if (live && (isPreserved(live) || this.#left.get(text)?.isPreserved)) await this.#release(resource, key, live)
    else if (live && isOursToDelete(live)) {
      const gone = this.#left.has(text) ? 'sourceGone' : 'leftover'
      const waits = await this.delete(resource, key, live, held ? 'unwanted' : gone)
      if (waits.requeueAfterMs !== undefined) return waits
      if (lingers(live)) {
        this.mayBeThere(key)
        return { requeueAfterMs: LOOK_MS.first }
      }
    } else if (live && isOurs(live, DOWNSYNCED) && mayOverwrite(live)) {
      // by us, or by somebody there: its finalizers are others' to take off
      this.mayBeThere(key)
      return { requeueAfterMs: this.#lookMs(live), trouble: goingAway(live) }
    } else if (live && isAdopted(live)) await this.#handBack(resource, key, live)
    this.#deps.owners.left(key)
    this.#left.delete(text)
    this.#leftovers.delete(text)
    this.#order.over(key)
    forget(key)
    return {}
  }

  /** Whether the mailbox holds this very object, which the cluster serves in another group, too. */
  async #isHeldInAnotherGroup(key: SyncKey, { kind, metadata }: Readonly<KubeObject>): Promise<boolean> {
    const { cluster, mirror, served, watches } = this.#deps
    for (const other of served.all()) {
      if (other.kind !== kind || other.group === key.group) continue
      const twin = { ...key, group: other.group, resource: other.resource }
      if (!mirror.get(twin)) continue
      const live = watches.get(twin, twin) ?? (await unlessGone(cluster.get(other, refOf(twin))))
      if (live?.metadata.uid === metadata.uid) return true
    }
    return false
  }

  /** No watch may tell of its end: the longer it takes, the more seldom it is looked for. */
  #lookMs({ metadata: { deletionTimestamp = '' } }: Readonly<KubeObject>): number {
    const sinceMs = this.#deps.clock.now() - Date.parse(deletionTimestamp)
    return Math.max(LOOK_MS.first, Math.min(sinceMs / 4 || 0, LOOK_MS.most))
  }

  async delete(
    resource: DiscoveredResource,
    key: SyncKey,
    live: Readonly<KubeObject>,
    cause: keyof typeof CAUSES,
  ): Promise<ReconcileResult> {
    const { uid = '' } = live.metadata
    let isAnother = false
    const requeueAfterMs = await this.#deps.owners.letGo(key, live, async () => {
      try {
        const options = { propagationPolicy: 'Background', preconditions: { uid } } as const
        await this.#deps.writer.as(ownerOf(live)).delete(resource, refOf(key), options)
        this.#deps.logger.info(fieldsOf(key, uid), `deleted from the cluster: ${CAUSES[cause]}`)
      } catch (error) {
        if (!isStatusError(error, 'NotFound', 'Conflict')) throw error
        isAnother = isStatusError(error, 'Conflict')
      }
    })
    // a watch tells of one that was made anew; if the answer was about something else, none does
    if (isAnother) return { requeueAfterMs: LOOK_MS.first }
    return requeueAfterMs === undefined ? {} : { requeueAfterMs }
  }

  /** An earlier object of the cluster stays, without the center's fields. Fields that it needs stay, too. */
  async #handBack(resource: DiscoveredResource, key: SyncKey, live: Readonly<KubeObject>): Promise<void> {
    let left: KubeObject
    try {
      left = await this.#deps.writer.handBack(resource, key, live)
    } catch (error) {
      // gone, or another one by now: the watch tells
      if (isStatusError(error, 'NotFound', 'Conflict')) return
      throw error
    }
    await this.#release(resource, key, left, 'nothing says that a syncer made it')
  }

  /** It stays, and is nobody's from now on. */
  async #release(
    resource: DiscoveredResource,
    key: SyncKey,
    live: Readonly<KubeObject>,
    why = 'whoever placed it wants it to stay',
  ): Promise<void> {
    const { uid } = live.metadata
    const writer = this.#deps.writer.as(ownerOf(live))
    const body = disclaimed(live, await this.#deps.owners.keptBy(live))
    if (!(await unlessGone(writer.patch(resource, refOf(key), 'merge', body, { fieldManager: SYNCER_MANAGER })))) return
    this.#deps.logger.info(fieldsOf(key, uid), `left in the cluster, unmarked: ${why}`)
  }
}

/** Whether a request only begins its deletion. */
function lingers({ kind, metadata: { finalizers = [] } }: Readonly<KubeObject>): boolean {
  return finalizers.length > 0 || kind === 'Namespace' || kind === 'Pod'
}
