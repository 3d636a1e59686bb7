/**
 * The conditions of an EdgePlacement as they are to be, from those that it has and what was found. Conditions of others stay.
 * Pure.
 */
import { type Condition, conditionOf } from '../../../../apimachinery/conditions.ts'
import { str } from '../../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../../apimachinery/object.ts'
import { shortened } from '../../../../apimachinery/shortened.ts'
import type { Reason } from '../../../../placement/words/reason.ts'
import type { AssociatedFinding } from './associatedReport.ts'
import { PROJECTING, type Stages, stageConditions } from './outcomeConditions.ts'
import { mayConcern, refusersIn, summaryIn } from './refusedCopies.ts'
import { STATUS_WITHHELD } from './withheldStatuses.ts'

export interface Findings {
  readonly stages: Stages
  /** Objects whose status is requested and not reported; `undefined`: there are none. */
  readonly withheld: Reason | 'unknown' | undefined
  /** Why not all of its StatusCollectors work; `undefined`: it names none. */
  readonly collected: Reason | 'all' | undefined
  /** Kinds that clusters define otherwise than the placement requires; `undefined`: there are none. */
  readonly definitions: Reason | 'unknown' | undefined
  /** Why not all of its associated objects are reported; `undefined`: it asks for none. */
  readonly associated: AssociatedFinding | undefined
  /** The placement was not looked at before in this run. */
  readonly isFirst: boolean
  /** An earlier run may know more reasons than this one has found so far. */
  readonly isOpening: boolean
  /** Whether the placement selects an object, by key. */
  readonly isSelected: (key: string) => boolean
}

const MAX_MESSAGE = 2000

export function conditionsFor(placement: KubeObject, findings: Findings, observedGeneration: number): Condition[] {
  const conditions = foundIn(findings, observedGeneration, type => conditionOf(placement, type))
  return conditions.map(one => ({ ...one, message: shortened(one.message, MAX_MESSAGE), observedGeneration }))
}

function foundIn(
  { stages, withheld, collected, definitions, associated, isFirst, isOpening, isSelected }: Findings,
  generation: number,
  known: (type: string) => Record<string, unknown> | undefined,
): Condition[] {
  // an earlier run found reasons; until all copies are looked at, this one may know a part of them
  const isHeldBack = isOpening && !stages.nowhere && known('Placed')?.status === 'False'
  const conditions: Condition[] = (isHeldBack ? [] : stageConditions(stages)).flatMap(one => {
    const was = known(one.type)
    if (one.type === 'Placed') return withStanding(one, was, stages.outcome, isSelected)
    // a start looks at all at once, which proves nothing about a spec with an earlier, fuller report
    const isKnown = was?.status === 'True' && was.observedGeneration === generation
    return isFirst && one.reason === PROJECTING && isKnown ? [] : one
  })
  if (typeof withheld === 'object') conditions.push({ type: STATUS_WITHHELD, status: 'True', ...withheld })
  else if (!withheld && known(STATUS_WITHHELD)) conditions.push(NONE_WITHHELD)
  if (typeof definitions === 'object') conditions.push({ type: DEFINITIONS_DIFFER, status: 'True', ...definitions })
  else if (!definitions && known(DEFINITIONS_DIFFER)) conditions.push(NONE_DIFFER)
  conditions.push(...wishCondition(STATUS_COLLECTED, collected === 'all' ? ALL : collected, known))
  conditions.push(...wishCondition(ASSOCIATED_REPORTED, associated, known))
  return isOpening ? conditions.filter(one => !isUnproved(one, known(one.type))) : conditions
}

/** Whether a condition is better than the one before only as far as this run knows. */
function isUnproved({ type, status, reason }: Condition, was: Record<string, unknown> | undefined): boolean {
  return PROVED.has(type) && was?.status === 'False' && (status !== 'False' || reason === PROJECTING)
}

/** Condition of a wish that is fulfilled, or is not, or was made before. */
function wishCondition(
  { type, all, none }: Wish,
  found: { readonly reason?: string; readonly message: string } | undefined,
  known: (type: string) => unknown,
): Condition[] {
  if (found?.reason !== undefined) return [{ type, status: 'False', reason: found.reason, message: found.message }]
  const reason = found ? all : known(type) ? none : undefined
  return reason === undefined ? [] : [{ type, status: 'True', reason, message: found?.message ?? '' }]
}

/** A refusal stands while its object is selected and its cluster is not known to take it, also behind findings of the center. */
function withStanding(
  placed: Condition,
  was: Record<string, unknown> | undefined,
  { refused, doubtful }: Stages['outcome'],
  isSelected: Findings['isSelected'],
): Condition {
  if (refused) return placed
  // others may write the status, too: patterns run over no more than a message of ours has
  const refusal = summaryIn(str(was, 'message').slice(0, MAX_MESSAGE))
  if (!refusal || !refusersIn(refusal).some(location => doubtful.has(location))) return placed
  if (!mayConcern(refusal, isSelected)) return placed
  if (placed.status === 'True') return { type: 'Placed', status: 'False', ...refusal }
  return { ...placed, message: `${placed.message}. ${refusal.message}` }
}

const ALL = { message: '' }

interface Wish {
  readonly type: string
  /** Reasons where all is fulfilled, and where nothing is wished any more. */
  readonly all: string
  readonly none: string
}

/** Whether all StatusCollectors that a placement names work. */
const STATUS_COLLECTED: Wish = { type: 'StatusCollected', all: 'AllCollected', none: 'NothingToCollect' }
/** Whether all associated objects that a placement asks for are reported. */
const ASSOCIATED_REPORTED: Wish = { type: 'AssociatedReported', all: 'AllReported', none: 'NothingAssociated' }
/** Conditions that are `False` only where a reason is known. */
const PROVED: ReadonlySet<string> = new Set(['Placed', 'Projected', 'Applied', 'Healthy', ASSOCIATED_REPORTED.type])
const NONE_WITHHELD: Condition = { type: STATUS_WITHHELD, status: 'False', reason: 'NothingWithheld', message: '' }
const DEFINITIONS_DIFFER = 'DefinitionsDiffer'
const NONE_DIFFER: Condition = { type: DEFINITIONS_DIFFER, status: 'False', reason: 'DefinedAlike', message: '' }
