/** Conditions of a Workspace for its owner while its space cannot be made or removed. */
import { conditionOf, conditionsOf, mergeConditions, type StatedCondition } from '../../apimachinery/conditions.ts'
import { isStatusError } from '../../apimachinery/errors.ts'
import type { SpaceWork } from './workspace.ts'

type Status = Readonly<Record<string, unknown>>

const WORDS = {
  provision: { type: 'WorkspaceInitialized', reason: 'ProvisioningFailed', text: 'the space could not be provisioned' },
  empty: { type: 'WorkspaceContentDeleted', reason: 'DeletionFailed', text: 'the space could not be emptied' },
} as const

/** The status with a condition that says what went wrong. `time`, RFC 3339, counts when the condition turns. */
export function failing(status: Status, work: SpaceWork, error: unknown, time: string): Status {
  const { type, reason, text } = WORDS[work]
  const message = `${text}: ${causeOf(error)}; the server tries again`
  return withCondition(status, { type, status: 'False', severity: 'Error', reason, message }, time)
}

/** The status without the complaint, if there was one. */
export function healed(status: Status, work: SpaceWork, time: string): Status {
  const { type } = WORDS[work]
  const isHealed = (conditionOf({ status }, type)?.status ?? 'True') === 'True'
  return isHealed ? status : withCondition(status, { type, status: 'True' }, time)
}

/** A status is no place for long texts. */
const CAUSE_LIMIT = 1000

/** Faults of the server itself are for the operator. */
function causeOf(error: unknown): string {
  const isPublic = isStatusError(error) && error.reason !== 'InternalError'
  return isPublic ? error.message.slice(0, CAUSE_LIMIT) : 'the server failed, and its log says why'
}

function withCondition(status: Status, condition: StatedCondition, time: string): Status {
  return { ...status, conditions: mergeConditions(conditionsOf({ status }), [condition], time).conditions }
}
