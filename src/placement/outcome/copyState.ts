/**
 * State of one object in one cluster, by the first of these rules that holds. Counts of placements and answers about single objects all
 * come from here, so that they never disagree.
 *
 * A reason that keeps a copy out or as it is comes before its cluster's report. Nothing counts as applied unless that is known now.
 */

import { timestamp } from '../../apimachinery/timestamp.ts'
import { isShared } from '../words/names.ts'
import type { Reason } from '../words/reason.ts'
import type { ClusterOutcome } from './clusterOutcome.ts'
import { type CopyState, stateReported } from './copyStates.ts'
import type { FieldDifference, LiveField } from './fieldDifference.ts'
import { isFieldsReason } from './fieldDifference.ts'
import type { HealthVerdict } from './health.ts'
import { MAX_EXCEPTIONS, STATUS_TOO_LARGE } from './outcome.ts'

export interface CopyVerdict {
  readonly state: CopyState
  readonly reason: string
  readonly message: string
  /** RFC 3339, where it is known. */
  readonly since?: string
  /** Differences between the cluster's object and the sent one. */
  readonly differences?: readonly FieldDifference[]
  /** Fields that are left to the cluster. */
  readonly liveFields?: readonly LiveField[]
}

/** As much of a mailbox as it takes to tell. */
export interface OutcomeMailbox {
  readonly space: string
  readonly copies: ReadonlyMap<string, unknown>
  readonly changes: {
    /** Whether it is still to be written. */
    isBehind(key: string): boolean
    /** Whether its cluster has not looked at it. */
    isPending(key: string): boolean
  }
  /** Why it does not take an object. */
  readonly refused: ReadonlyMap<string, string>
  ownerOf(key: string): string | undefined
}

/** One cluster as a space sees it. */
export interface ClusterSight<M extends OutcomeMailbox = OutcomeMailbox> {
  /** A completely known mailbox; without it nothing is known of the cluster. */
  readonly mailbox: M | undefined
  readonly outcome: ClusterOutcome
  /** Whether it is not known yet what of it has to change. */
  readonly projecting: boolean
}

interface Findings {
  /** Why nothing lets it be placed there. */
  readonly denied?: Reason | undefined
  /** A finding of the center about the copy. */
  readonly remark?: Reason | undefined
  /** Why it is to stay as it is. */
  readonly paused?: Reason | undefined
}

export const OBJECT_CONFLICT = 'ObjectConflict'

/** Reason of an object that may go nowhere, where there is no other. */
export const CARRIED_UP: Reason = {
  reason: 'CarriedUp',
  message: 'a placement of this space carries it up from there (spec.upsync), so that it is not placed there',
}

const plain = (state: CopyState, message = ''): CopyVerdict => ({ state, reason: state, message })
const STALE = plain('Stale', 'the cluster is silent')
const UNREACHABLE: CopyVerdict = {
  state: 'Stale',
  reason: 'ClusterUnreachable',
  message: 'its syncer does not reach the cluster',
}
const PROJECTING = plain('Projecting', 'the copy is being written')
const NOT_COMPARED = plain('Pending', 'its cluster is being compared with what is placed there')
const PENDING = plain('Pending', 'its cluster has not looked at it yet')
const APPLIED = plain('Applied')

/** Verdict on all objects in a cluster that have none of their own. `paused`: why all of them stay as they are. */
export function commonVerdict({ mailbox, outcome, projecting }: ClusterSight, paused?: Reason): CopyVerdict {
  if (paused) return { state: 'Paused', ...paused }
  if (!mailbox || !outcome.live) return staleSince(outcome)
  if (outcome.unreachable) return UNREACHABLE
  if (projecting) return PROJECTING
  if (!outcome.compared) return NOT_COMPARED
  return Object.keys(outcome.unlisted).length > 0 ? unknownBeside(outcome) : APPLIED
}

function staleSince({ reportedAtMs }: ClusterOutcome): CopyVerdict {
  return reportedAtMs === undefined ? STALE : { ...STALE, since: timestamp(new Date(reportedAtMs)) }
}

/** A syncer names so many objects that are not as they should be, and counts the others: this may be one of them. */
function unknownBeside({ unlisted }: ClusterOutcome): CopyVerdict {
  const others = Object.entries(unlisted).map(([state, count]) => `${count} ${state}`)
  const named = `its syncer names at most ${MAX_EXCEPTIONS} objects that are not as they should be`
  return plain('Unknown', `${named}; it counts ${others.join(', ')} beside them, and this may be one`)
}

/** `space` is the one whose object it is. */
export function copyVerdict(space: string, key: string, cluster: ClusterSight, findings: Findings): CopyVerdict {
  const { denied, remark, paused } = findings
  if (denied) return { state: 'NotPlaced', ...denied }
  if (remark) return { state: remark.reason === OBJECT_CONFLICT ? 'Conflict' : 'NotPlaced', ...remark }
  if (paused) return { state: 'Paused', ...paused }
  const common = commonVerdict(cluster)
  const { mailbox, outcome } = cluster
  if (!mailbox || common.state === 'Stale' || common === PROJECTING) return common
  if (mailbox.changes.isBehind(key)) {
    const why = mailbox.refused.get(key)
    return why === undefined ? PROJECTING : { state: 'Projecting', reason: 'NotTaken', message: why }
  }
  if (common === NOT_COMPARED) return common
  if (mailbox.changes.isPending(key)) return PENDING
  if (!mailbox.copies.has(key)) return PENDING
  // implied copies have the same state for all; any other copy is about to get a new owner
  if (!isShared(key) && mailbox.ownerOf(key) !== space) return PROJECTING
  const exception = outcome.exceptions.get(key)
  if (!exception) return common
  const { state, reason, message, since, differences, liveFields } = exception
  return {
    state: stateReported(state),
    reason,
    message,
    since,
    ...(differences && { differences }),
    ...(liveFields && { liveFields }),
  }
}

/** Whether the cluster does not hold all of an applied object as it was sent. */
export function isDiffering({ state, reason }: CopyVerdict): boolean {
  return state === 'Applied' && isFieldsReason(reason)
}

/** Whether the health of an applied object is unknown: its cluster reports more than is taken. */
function isTooLarge({ reason }: CopyVerdict): boolean {
  return reason === STATUS_TOO_LARGE
}

/**
 * Health of a copy. `reported`: by the center's spec and the last status from the cluster. `live`: by the live spec where that differs,
 * and of a finished copy by its end. `undefined`: the copy has no health.
 */
export function healthIn(
  verdict: CopyVerdict,
  reported: HealthVerdict | undefined,
  live: HealthVerdict | undefined,
): HealthVerdict | undefined {
  if (verdict.state === 'Altered' || verdict.state === 'Finished') return live
  if (verdict.state !== 'Applied') return undefined
  return isTooLarge(verdict) ? { health: 'Progressing', message: verdict.message } : (live ?? reported)
}
