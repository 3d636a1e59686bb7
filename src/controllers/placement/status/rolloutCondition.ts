/** The condition `RolledOut` of an EdgePlacement, and the Events with which its rollouts turn. Pure. */
import type { Condition } from '../../../apimachinery/conditions.ts'
import { conditionOf } from '../../../apimachinery/conditions.ts'
import { str } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { RecordedEvent } from '../../eventRecorder.ts'
import type { RolloutReport } from '../rollout/rollouts.ts'

export const ROLLED_OUT = 'RolledOut'
const DONE = 'Done'
const NOT_STAGED = 'NotStaged'
const PINNED = 'Pinned'
const EDITS_PENDING = 'EditsPending'

/** @param report `undefined`: its edits reach all clusters at once */
export function rolloutCondition({ metadata: { name } }: KubeObject, report: RolloutReport | undefined): Condition {
  const type = ROLLED_OUT
  if (!report) return { type, status: 'True', reason: NOT_STAGED, message: '' }
  const { state, reason, message, revision, isDirty, pinned } = report
  const at = `revision ${revision}`
  const said = message === '' ? at : `${at}: ${message}`
  if (state !== DONE) return { type, status: 'False', reason: reason || state, message: said }
  if (pinned !== undefined) {
    const remedy = `kubectl kubestellar rollout unpin ${name} lets later edits come to the clusters`
    return { type, status: 'False', reason: PINNED, message: `${at} is pinned; ${remedy}` }
  }
  if (isDirty) {
    const next = 'its edits make a revision once there are no more of them for a while'
    return { type, status: 'False', reason: EDITS_PENDING, message: `${said}; ${next}` }
  }
  return { type, status: 'True', reason: DONE, message: said }
}

/** By the reason to which the condition turns, the reason of the Event. Absent: it is no news. */
const EVENTS: Readonly<Record<string, { readonly reason: string; readonly type?: 'Normal' }>> = {
  [DONE]: { reason: 'RolloutDone', type: 'Normal' },
  Progressing: { reason: 'RolloutProgressing', type: 'Normal' },
  ApprovalRequired: { reason: 'ApprovalRequired', type: 'Normal' },
  RolloutPaused: { reason: 'RolloutPaused', type: 'Normal' },
  [PINNED]: { reason: 'RevisionPinned', type: 'Normal' },
  TooManyFailures: { reason: 'RolloutFailed' },
  NoProgress: { reason: 'RolloutStuck' },
}

/** The Event where the condition turned, or speaks of another revision. @param before the placement before the write */
export function rolloutEvent(before: KubeObject, { reason, message }: Condition): RecordedEvent | undefined {
  const event = EVENTS[reason]
  if (!event) return undefined
  const was = conditionOf(before, ROLLED_OUT)
  if (str(was, 'reason') === reason && revisionIn(str(was, 'message')) === revisionIn(message)) return undefined
  return { ...event, message, isNewest: true, room: 'rollouts' }
}

function revisionIn(message: string): string | undefined {
  return /^revision (\d+)/.exec(message)?.[1]
}
