/** What is told of an object that is not in the cluster as the mailbox says, where it is not the cluster's own word. */
import { ADOPT } from '../apimachinery/placement.ts'
import type { ReconcileResult } from '../client/workqueue.ts'
import type { Trouble } from './outcomes.ts'
import type { Refusal } from './refusals.ts'

export const ALREADY_IN_CLUSTER: Refusal = {
  reason: 'AlreadyInCluster',
  message:
    `was in the cluster before, and no syncer made it; annotate its source with ${ADOPT}: "true" to take it over, ` +
    'or start the syncer with --adopt-existing',
}

export const NO_OWNER: Refusal = {
  reason: 'NoOwner',
  message: 'does not tell the space that owns it, in whose name it would be applied (--impersonate)',
}

/** What came of a look at an object. */
export type Outcome = ReconcileResult & { refusal?: Refusal; trouble?: Trouble }

export const HELD: Trouble = {
  state: 'held',
  reason: 'Paused',
  message: 'nothing is written to the cluster while its SyncTarget is paused',
}
export const NOT_ASKED: Trouble = {
  state: 'waiting',
  reason: 'NotAsked',
  message: 'no SyncerConfig of the mailbox asks for it yet',
}
export const UNSERVED: Trouble = {
  state: 'unserved',
  reason: 'KindNotServed',
  message: 'the cluster does not serve this kind',
}
export const GOING: Trouble = {
  state: 'terminating',
  reason: 'Terminating',
  message: 'what the cluster holds is being deleted, and is made anew then',
}
export const FOUGHT: Trouble = {
  state: 'drifted',
  reason: 'Fought',
  message: 'somebody in the cluster keeps changing fields of it; they are put back ever more slowly',
}
