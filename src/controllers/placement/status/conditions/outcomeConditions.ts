/** The stages of a placement as conditions of its EdgePlacement. Pure. */

import {
  COPY_COUNTS,
  type CopyCount,
  type CountFacts,
  statesCounted,
} from '../../../../placement/outcome/copyStates.ts'
import { MAX_EXCEPTIONS } from '../../../../placement/outcome/outcome.ts'
import { describeObject } from '../../../../placement/words/names.ts'
import { placeName } from '../../../../placement/words/placeNames.ts'
import type { Reason } from '../../../../placement/words/reason.ts'
import type { PlacementOutcome } from '../placementOutcome.ts'

export interface StageCondition extends Reason {
  readonly type: 'Placed' | 'Resolved' | 'Permitted' | 'Projected' | 'Applied' | 'Healthy'
  readonly status: 'True' | 'False' | 'Unknown'
}

export interface Stages {
  /** Why there is nowhere to place. Absent: there is. */
  readonly nowhere?: Reason
  /** All that the center found, of upsync, too. Absent: nothing. */
  readonly found?: Reason | undefined
  /** Part of it that grants refuse. */
  readonly denied?: Reason | undefined
  /** Part of it that keeps objects out for other reasons. */
  readonly unplaced?: Reason | undefined
  /** Where there is nowhere to place it is of no cluster. */
  readonly outcome: PlacementOutcome
  /** Copies that are placed no more, and stay in clusters until that is confirmed. */
  readonly stayingCopies?: number
  /** The same of those that stay until a pause ends. */
  readonly behindPause?: number
}

export const PROJECTING = 'Projecting'
const NOT_RESOLVED = 'NotResolved'

/** `Placed`, and the stages in their order: a stage speaks of what the one before left it. */
export function stageConditions({
  nowhere,
  found,
  denied,
  unplaced,
  outcome,
  stayingCopies = 0,
  behindPause = 0,
}: Stages): StageCondition[] {
  if (nowhere) {
    const waits = { status: 'Unknown', reason: NOT_RESOLVED, message: 'there is nowhere to place' } as const
    return [
      { type: 'Placed', status: 'False', ...nowhere },
      { type: 'Resolved', status: 'False', ...nowhere },
      { type: 'Permitted', ...waits },
      { type: 'Projected', ...waits },
      { type: 'Applied', ...unlessMoreStays(waits, stayingCopies, 0) },
      { type: 'Healthy', ...unlessMoreStays(waits, stayingCopies, 0) },
    ]
  }
  const { counts, projecting } = outcome
  const chosen = `${counts.clusters} ${counts.clusters === 1 ? 'cluster' : 'clusters'}`
  return [
    { type: 'Placed', ...placedBy(found, outcome.refused) },
    { type: 'Resolved', status: 'True', reason: 'LocationsChosen', message: chosen },
    denied
      ? { type: 'Permitted', status: 'False', ...denied }
      : { type: 'Permitted', status: 'True', reason: 'AllPermitted', message: '' },
    unplaced
      ? { type: 'Projected', status: 'False', ...unplaced }
      : projecting
        ? { type: 'Projected', status: 'False', reason: PROJECTING, message: 'copies are being written' }
        : { type: 'Projected', status: 'True', reason: 'AllProjected', message: '' },
    { type: 'Applied', ...unlessMoreStays(appliedIn(outcome), stayingCopies, behindPause) },
    { type: 'Healthy', ...unlessMoreStays(healthyIn(outcome), stayingCopies, behindPause) },
  ]
}

type Finding = Omit<StageCondition, 'type'>

/** The center's findings go first: no cluster's words push them out. */
function placedBy(...refusals: readonly (Reason | undefined)[]): Finding {
  const all = refusals.filter(one => one !== undefined)
  const [first] = all
  if (!first) return { status: 'True', reason: 'AllPlaced', message: '' }
  return { status: 'False', reason: first.reason, message: all.map(({ message }) => message).join('. ') }
}

/** Clusters that run unwanted copies do not have the desired content. */
function unlessMoreStays(found: Finding, held: number, behindPause: number): Finding {
  const copies = held > 0 ? held : behindPause
  if (copies === 0 || (found.status !== 'True' && found.reason !== NOT_RESOLVED)) return found
  const [reason, until] =
    held > 0 ? ['DeletionHeld', 'until that is confirmed: see DeletionHeld'] : ['Paused', 'until the pause ends']
  const stay = `${copies} ${copies === 1 ? 'copy' : 'copies'} that nobody places any more stay in clusters ${until}`
  return { status: 'False', reason, message: found.message === '' ? stay : `${found.message}; ${stay}` }
}

function appliedIn(outcome: PlacementOutcome): Finding {
  const { counts, broken, differing, silent, ambiguous } = outcome
  const counted = BY_PLACE.flatMap(([count, { words = count }]) =>
    counts[count] > 0 ? [`${counts[count]} ${words}`] : [],
  )
  const finding = (status: Finding['status'], reason: string, more = ''): Finding => ({
    status,
    reason,
    message: [counted.join(', '), ...(more === '' ? [] : [more]), ...(counts.unknown > 0 ? [TOO_MUCH] : [])].join('; '),
  })
  const firstOf = (count: CopyCount): string => {
    const states = statesCounted(count).map(state => state.toLowerCase())
    const first = [...broken, ...differing].find(({ state }) => states.includes(state))
    return first ? `at ${placeName(first, ambiguous)}, ${describeObject(first)}: ${first.message || first.reason}` : ''
  }
  const wrong = BY_RUNG.find(([count]) => count !== 'applied' && counts[count] > 0)
  if (wrong) {
    const [count, { status = 'False', reason = `${count[0]!.toUpperCase()}${count.slice(1)}` }] = wrong
    return finding(status, reason, count === 'stale' ? silentAt(silent) : firstOf(count))
  }
  if (counts.copies === 0) return finding('True', 'NothingSelected')
  if (counts.differing === 0) return finding('True', 'AllApplied')
  return finding('True', 'AllApplied', `${counts.differing} of them not in all fields; ${firstOf('applied')}`)
}

const ROWS = Object.entries(COPY_COUNTS) as [CopyCount, CountFacts][]
const BY_PLACE = ROWS.toSorted(([, a], [, b]) => a.place - b.place)
const BY_RUNG = ROWS.toSorted(([, a], [, b]) => a.rung - b.rung)
const silentAt = (silent: readonly string[]): string => `silent clusters: ${silent.join(', ')}`
const TOO_MUCH = `more is wrong in a cluster than the ${MAX_EXCEPTIONS} objects that its syncer names, and the unknown may be part of it`

/** Health concerns applied copies. Until all are applied, the whole does not do its work. */
function healthyIn({ counts, broken, silent, ambiguous }: PlacementOutcome): Finding {
  const { copies, applied, healthy, progressing, degraded, stale } = counts
  const counted = [
    [healthy, 'healthy'],
    [progressing, 'progressing'],
    [degraded, 'degraded'],
    [copies - applied, 'not applied'],
  ] as const
  const numbers = counted.flatMap(([number, word]) => (number > 0 ? [`${number} ${word}`] : [])).join(', ')
  if (degraded > 0) {
    const first = broken.find(({ state }) => state === 'degraded')
    const words = first ? `; at ${placeName(first, ambiguous)}, ${describeObject(first)}: ${first.message}` : ''
    return { status: 'False', reason: 'Degraded', message: `${numbers}${words}` }
  }
  if (progressing > 0) return { status: 'False', reason: 'Progressing', message: numbers }
  if (stale > 0 && applied + stale === copies)
    return {
      status: 'Unknown',
      reason: 'Stale',
      message: `${numbers}; ${silentAt(silent)}`,
    }
  if (applied < copies) return { status: 'False', reason: 'NotApplied', message: numbers }
  return { status: 'True', reason: copies === 0 ? 'NothingSelected' : 'AllHealthy', message: numbers }
}
