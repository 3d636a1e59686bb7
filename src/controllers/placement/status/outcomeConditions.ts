/** The stages of a placement as conditions of its EdgePlacement. Pure. */

import type { Told } from '../../../placement/consent/allowance.ts'
import { MAX_EXCEPTIONS } from '../../../placement/outcome/outcome.ts'
import { placeName } from '../../../placement/words/placeNames.ts'
import type { PlacementOutcome } from './placementOutcome.ts'

export interface StageCondition extends Told {
  readonly type: 'Resolved' | 'Permitted' | 'Projected' | 'Applied' | 'Healthy'
  readonly status: 'True' | 'False' | 'Unknown'
}

export interface Stages {
  /** Why there is nowhere to place; `undefined` where there is. */
  readonly nowhere: Told | undefined
  /** What grants refuse; `undefined`: nothing. */
  readonly denied: Told | undefined
  /** What else the center found; `undefined`: nothing. */
  readonly unplaced: Told | undefined
  /** Where there is nowhere to place it is of no cluster. */
  readonly outcome: PlacementOutcome
  /** Copies that are placed no more, and stay in clusters until that is confirmed. */
  readonly stayingCopies?: number
  /** The same of those that stay until a pause ends. */
  readonly behindPause?: number
}

export const PROJECTING = 'Projecting'
const NOT_RESOLVED = 'NotResolved'

/** `Resolved`, `Permitted`, `Projected`, `Applied`, `Healthy`, in this order: a stage speaks of what the one before left it. */
export function stageConditions({
  nowhere,
  denied,
  unplaced,
  outcome,
  stayingCopies = 0,
  behindPause = 0,
}: Stages): StageCondition[] {
  if (nowhere) {
    const waits = { status: 'Unknown', reason: NOT_RESOLVED, message: 'there is nowhere to place' } as const
    return [
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

type Said = Omit<StageCondition, 'type'>

/** Clusters that run what nobody places any more do not have what was asked for. */
function unlessMoreStays(said: Said, held: number, behindPause: number): Said {
  const copies = held > 0 ? held : behindPause
  if (copies === 0 || (said.status !== 'True' && said.reason !== NOT_RESOLVED)) return said
  const [reason, until] =
    held > 0 ? ['DeletionHeld', 'until that is confirmed: see DeletionHeld'] : ['Paused', 'until the pause ends']
  const stay = `${copies} ${copies === 1 ? 'copy' : 'copies'} that nobody places any more stay in clusters ${until}`
  return { status: 'False', reason, message: said.message === '' ? stay : `${said.message}; ${stay}` }
}

function appliedIn({ counts, broken, differing, silent, ambiguous }: PlacementOutcome): Omit<StageCondition, 'type'> {
  const { copies, applied, pending, stale, refused, retrying, altered, waiting, unknown, held } = counts
  const { paused, conflict, notPlaced } = counts
  const numbers = [
    [applied, 'applied'],
    [pending, 'pending'],
    [refused, 'refused'],
    [retrying, 'retrying'],
    [altered, 'altered'],
    [waiting, 'waiting'],
    [held, 'held'],
    [paused, 'paused'],
    [conflict, 'in conflict'],
    [stale, 'stale'],
    [unknown, 'unknown'],
    [notPlaced, 'not placed'],
  ] as const
  const told = numbers.flatMap(([number, word]) => (number > 0 ? [`${number} ${word}`] : [])).join(', ')
  const say = (status: 'True' | 'False' | 'Unknown', reason: string, more = ''): Omit<StageCondition, 'type'> => ({
    status,
    reason,
    message: [told, ...(more === '' ? [] : [more]), ...(unknown > 0 ? [TOO_MUCH] : [])].join('; '),
  })
  const words = (...states: readonly string[]): string => {
    const first = [...broken, ...differing].find(({ state }) => states.includes(state))
    return first ? `at ${placeName(first, ambiguous)}, ${nameOf(first)}: ${first.message || first.reason}` : ''
  }
  if (refused > 0) return say('False', 'Refused', words('refused'))
  if (retrying > 0) return say('False', 'Retrying', words('retrying'))
  if (altered > 0) return say('False', 'Altered', words('altered'))
  if (waiting > 0) return say('False', 'Waiting', words('waiting', 'unserved', 'terminating', 'drifted'))
  if (pending > 0) return say('False', 'Pending')
  if (held > 0) return say('False', 'Held', words('held'))
  if (stale > 0) return say('Unknown', 'Stale', `nothing is heard of the clusters at ${silent.join(', ')}`)
  if (unknown > 0) return say('Unknown', 'TooMuchTrouble')
  if (conflict > 0) return say('False', 'Conflict', words('conflict'))
  if (notPlaced > 0) return say('False', 'NotPlaced')
  if (paused > 0) return say('False', 'Paused')
  if (copies === 0) return say('True', 'NothingSelected')
  if (counts.differing === 0) return say('True', 'AllApplied')
  return say('True', 'AllApplied', `${counts.differing} of them not in all fields; ${words('applied')}`)
}

const TOO_MUCH = `more is wrong in a cluster than the ${MAX_EXCEPTIONS} objects that its syncer names, and the unknown may be part of it`

/** Health is said of what is applied. As long as not all is, not all does what it is there for. */
function healthyIn({ counts, broken, silent, ambiguous }: PlacementOutcome): Omit<StageCondition, 'type'> {
  const { copies, applied, healthy, progressing, degraded, stale } = counts
  const told = [
    [healthy, 'healthy'],
    [progressing, 'progressing'],
    [degraded, 'degraded'],
    [copies - applied, 'not applied'],
  ] as const
  const numbers = told.flatMap(([number, word]) => (number > 0 ? [`${number} ${word}`] : [])).join(', ')
  if (degraded > 0) {
    const first = broken.find(({ state }) => state === 'degraded')
    const words = first ? `; at ${placeName(first, ambiguous)}, ${nameOf(first)}: ${first.message}` : ''
    return { status: 'False', reason: 'Degraded', message: `${numbers}${words}` }
  }
  if (progressing > 0) return { status: 'False', reason: 'Progressing', message: numbers }
  if (stale > 0 && applied + stale === copies)
    return {
      status: 'Unknown',
      reason: 'Stale',
      message: `${numbers}; nothing is heard of the clusters at ${silent.join(', ')}`,
    }
  if (applied < copies) return { status: 'False', reason: 'NotApplied', message: numbers }
  return { status: 'True', reason: copies === 0 ? 'NothingSelected' : 'AllHealthy', message: numbers }
}

function nameOf(object: PlacementOutcome['broken'][number]): string {
  const { group, resource, namespace, name } = object
  return `${group === '' ? resource : `${resource}.${group}`} "${namespace === undefined ? name : `${namespace}/${name}`}"`
}
