/**
 * The conditions of an EdgePlacement as they are to be, from those that it has and what was found. Conditions of others stay.
 * Pure.
 */
import { str } from '../../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { shortened } from '../../../apimachinery/shortened.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import type { Told } from '../../../placement/consent/allowance.ts'
import { PROJECTING, type Stages, stageConditions } from './outcomeConditions.ts'
import { refusersIn } from './refusedCopies.ts'
import { STATUS_WITHHELD } from './withheldStatuses.ts'

export interface Verdict {
  readonly stages: Stages
  /** Of objects whose status is asked for, and told by nobody; `undefined`: there are none. */
  readonly withheld: Told | undefined
  /** The placement was not looked at before in this run. */
  readonly isFirst: boolean
}

interface Condition extends Told {
  readonly type: string
  readonly status: string
}

const MAX_MESSAGE = 2000

/** `isOld`: the EdgePlacement says all of it already. */
export function conditionsFor(
  placement: KubeObject,
  verdict: Verdict,
  now: string,
): { readonly conditions: readonly Record<string, unknown>[]; readonly isOld: boolean } {
  const { generation = 0 } = placement.metadata
  const before = conditionsOf(placement)
  const known = (type: string) => before.find(one => one.type === type)
  const told = saidOf(verdict, generation, known).map(one => {
    const was = known(one.type)
    const lastTransitionTime = was?.status === one.status ? (was.lastTransitionTime ?? now) : now
    const message = shortened(one.message, MAX_MESSAGE)
    return { ...one, message, observedGeneration: generation, lastTransitionTime }
  })
  const kept = before.filter(({ type }) => !told.some(one => one.type === type))
  return { conditions: [...told, ...kept], isOld: told.every(one => before.some(was => equalJson(was, one))) }
}

function saidOf(
  { stages, withheld, isFirst }: Verdict,
  generation: number,
  known: (type: string) => Record<string, unknown> | undefined,
): Condition[] {
  const said = stageConditions(stages).flatMap(one => {
    const was = known(one.type)
    if (one.type === 'Placed' && one.status === 'True') return standing(was, stages.outcome) ?? one
    // all is looked at once when a server starts: that says nothing of a spec of which the one before it said more
    const isKnown = was?.status === 'True' && was.observedGeneration === generation
    return isFirst && one.reason === PROJECTING && isKnown ? [] : one
  })
  if (withheld) return [...said, { type: STATUS_WITHHELD, status: 'True', ...withheld }]
  return known(STATUS_WITHHELD) ? [...said, NONE_WITHHELD] : said
}

/** A refusal stands until the cluster that reported it is known to take the object. */
function standing(was: Record<string, unknown> | undefined, { doubtful }: Stages['outcome']): Condition | undefined {
  const refusal = { reason: str(was, 'reason'), message: str(was, 'message') }
  if (!refusersIn(refusal).some(location => doubtful.has(location))) return undefined
  return { type: 'Placed', status: 'False', ...refusal }
}

const NONE_WITHHELD: Condition = { type: STATUS_WITHHELD, status: 'False', reason: 'NothingWithheld', message: '' }

function conditionsOf({ status }: KubeObject): Record<string, unknown>[] {
  return isRecord(status) && Array.isArray(status.conditions) ? status.conditions.filter(isRecord) : []
}
