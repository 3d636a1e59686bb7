/** The condition `RolledOut` of an EdgePlacement, and the Events with which its rollouts turn. Pure. */
import type { Condition } from '../../../../apimachinery/conditions.ts'
import { conditionOf } from '../../../../apimachinery/conditions.ts'
import { str } from '../../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../../apimachinery/object.ts'
import { NOT_STAGED, ROLLED_BACK, ROLLED_OUT, type RolloutReport } from '../../../../placement/rollout/rolloutStates.ts'
import type { RecordedEvent } from '../../../eventRecorder.ts'

const DONE = 'Done'
const PINNED = 'Pinned'
const EDITS_PENDING = 'EditsPending'

/** States of a rollout that did not reach its end, and goes nowhere by itself. */
const ENDED: ReadonlySet<string> = new Set(['Failed', ROLLED_BACK])

/** `undefined`: it stays as it was. @param report `undefined`: its edits reach all clusters at once */
export function rolloutCondition(
  { metadata: { name } }: KubeObject,
  report: RolloutReport | undefined,
): Condition | undefined {
  const type = ROLLED_OUT
  if (!report) return { type, status: 'True', reason: NOT_STAGED, message: '' }
  const { state, reason, message, revision, isDirty, pinned } = report
  const at = `revision ${revision}`
  const shown = message === '' ? at : `${at}: ${message}`
  if (isDirty && (ENDED.has(state) || (state === DONE && pinned === undefined))) {
    if (isDirty === 'unknown') return undefined
    const next = 'its edits make a revision once there are no more of them for a while'
    return { type, status: 'False', reason: EDITS_PENDING, message: `${shown}; ${next}` }
  }
  if (state !== DONE) return { type, status: 'False', reason: reason || state, message: shown }
  if (pinned !== undefined) {
    const remedy = `kubectl kubestellar rollout unpin ${name} lets later edits come to the clusters`
    return { type, status: 'False', reason: PINNED, message: `${at} is pinned; ${remedy}` }
  }
  return { type, status: 'True', reason: DONE, message: shown }
}

/** By the reason to which the condition turns, the reason of the Event. Absent: it is no news. */
const EVENTS: Readonly<Record<string, { readonly reason: string; readonly type?: 'Normal' }>> = {
  [DONE]: { reason: 'RolloutDone', type: 'Normal' },
  Progressing: { reason: 'RolloutProgressing', type: 'Normal' },
  ApprovalRequired: { reason: 'ApprovalRequired', type: 'Normal' },
  RolloutPaused: { reason: 'RolloutPaused', type: 'Normal' },
  [PINNED]: { reason: 'RevisionPinned', type: 'Normal' },
  TooManyFailures: { reason: 'RolloutFailed' },
  [ROLLED_BACK]: { reason: ROLLED_BACK },
  NoProgress: { reason: 'RolloutStuck' },
}

/** Reasons with which no rollout is on its way. */
const AT_REST: ReadonlySet<string> = new Set([DONE, PINNED, EDITS_PENDING, NOT_STAGED, ROLLED_BACK])

/** The Event where the condition turned, or is about another revision. @param before the placement before the write */
export function rolloutEvent(before: KubeObject, { reason, message }: Condition): RecordedEvent | undefined {
  const condition = conditionOf(before, ROLLED_OUT)
  const [was, wasReason] = [revisionIn(str(condition, 'message')), str(condition, 'reason')]
  const is = revisionIn(message)
  const event = EVENTS[reason] ?? undefined
  const isOther = was !== undefined && is !== undefined && was !== is
  const room = { isNewest: true, room: 'rollouts' } as const
  if (isOther && (event?.type === 'Normal' || !event) && reason !== PINNED) {
    if (Number(is) < Number(was))
      return { reason: ROLLED_BACK, message: `revision ${was} gives way to ${message}`, ...room }
    if (!AT_REST.has(wasReason) && !AT_REST.has(reason)) {
      const superseded = { reason: 'RolloutSuperseded', type: 'Normal' } as const
      return { ...superseded, message: `revision ${was} was not finished; now ${message}`, ...room }
    }
  }
  return event && (wasReason !== reason || was !== is) ? { ...event, message, ...room } : undefined
}

function revisionIn(message: string): string | undefined {
  return /^revision (\d+)/.exec(message)?.[1]
}
