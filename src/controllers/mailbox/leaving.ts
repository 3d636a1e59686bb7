/**
 * Leaving of a cluster. A SyncTarget has a finalizer as soon as a syncer has reported. When it is deleted, its mailbox stays and tells the
 * syncer to leave; the condition `Leaving` says what is waited for. The syncer's confirmation ends it, or an annotation of the inventory's
 * administrator that has the uid of the SyncTarget. An annotation that was copied from another manifest forces nothing. Then the mailbox
 * goes, and the SyncTarget after it.
 */
import { type Condition, conditionOf } from '../../apimachinery/conditions.ts'
import { record, str } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { shortLine } from '../../apimachinery/shortened.ts'
import type { SpaceClient } from '../../client/client.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import {
  CLUSTER_FINALIZER,
  type DetachPolicy,
  FORCE_DETACH_ANNOTATION,
  MAILBOX_NAME,
  SYNC_TARGETS,
} from '../../placement/words/placement.ts'

const LEAVING = 'Leaving'
/** Bound on a syncer's message. */
const MESSAGE_LIMIT = 500
const OPTIONS = { fieldManager: 'mailbox-controller' }

/** Whether it is being deleted and held for its syncer. */
export function isLeaving({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(CLUSTER_FINALIZER) === true
}

/** Whether nobody is waited for any more. */
export function hasLeft(target: KubeObject): boolean {
  const condition = conditionOf(target, LEAVING)
  return isForced(target) || (condition?.status === 'False' && condition.reason === 'Left')
}

function isForced({ metadata: { uid, annotations } }: KubeObject): boolean {
  return uid !== undefined && annotations?.[FORCE_DETACH_ANNOTATION] === uid
}

export function policyOf({ spec }: KubeObject): DetachPolicy {
  return str(spec, 'detachPolicy') === 'Delete' ? 'Delete' : 'Orphan'
}

/** Condition of a SyncTarget about its leaving, from the status of the SyncerConfig. */
export function leavingCondition(target: KubeObject, status: unknown, alive: boolean): Condition {
  const { uid = '', annotations } = target.metadata
  const policy = policyOf(target)
  const report = record(status, 'leaving')
  const answers = report.policy === policy
  if (isForced(target))
    return { type: LEAVING, status: 'False', reason: 'Forced', message: 'the syncer is not waited for any more' }
  if (answers && report.done === true)
    return { type: LEAVING, status: 'False', reason: 'Left', message: 'the syncer has left the cluster' }
  const what =
    policy === 'Orphan'
      ? 'to take its marks off the workload, which stays in the cluster'
      : 'to delete from the cluster what was placed there'
  const wrong = annotations?.[FORCE_DETACH_ANNOTATION]
  const force =
    (wrong === undefined ? '' : `; the annotation ${FORCE_DETACH_ANNOTATION} is not the uid of this SyncTarget`) +
    `; to let it go without, whatever is in the cluster: annotate it with ${FORCE_DETACH_ANNOTATION}=${uid}`
  const rest = answers
    ? `; ${shortLine(str(report, 'message'), MESSAGE_LIMIT) || 'it has begun'} (${leftOf(report)})`
    : ''
  return {
    type: LEAVING,
    status: 'True',
    reason: !alive ? 'SyncerSilent' : answers ? 'SyncerLeaves' : 'WaitingForSyncer',
    message: `waits for the syncer ${what}${rest}${alive ? '' : '; it is silent'}${force}`,
  }
}

/** As long as it goes on something is left: a syncer that says nothing of it, or nought, has yet to look. */
function leftOf({ remaining }: Record<string, unknown>): string {
  const count = Number.isSafeInteger(remaining) ? (remaining as number) : 0
  return count > 0 ? `${count} ${count === 1 ? 'object' : 'objects'} left` : 'it has yet to count what is left'
}

/** Lets a SyncTarget go whose mailbox is gone. */
export async function letGo(inventory: SpaceClient, name: string, mailbox: string): Promise<void> {
  const target = await unlessGone(inventory.get(SYNC_TARGETS, { name }))
  if (target?.metadata.uid !== MAILBOX_NAME.exec(mailbox)?.[2] || target === undefined || !isLeaving(target)) return
  const finalizers = target.metadata.finalizers!.filter(each => each !== CLUSTER_FINALIZER)
  const released = { ...target, metadata: { ...target.metadata, finalizers } }
  await unlessGone(inventory.update(SYNC_TARGETS, released, OPTIONS))
}
