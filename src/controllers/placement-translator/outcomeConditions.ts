/** The stages of a placement as conditions of its EdgePlacement. Pure. */
import type { Told } from './allowance.ts'
import type { PlacementOutcome } from './placementOutcome.ts'

export interface StageCondition extends Told {
  readonly type: 'Resolved' | 'Permitted' | 'Projected' | 'Applied'
  readonly status: 'True' | 'False' | 'Unknown'
}

export interface Stages {
  /** Why there is nowhere to place; `undefined` where there is. */
  readonly nowhere: Told | undefined
  /** What grants refuse; `undefined`: nothing. */
  readonly denied: Told | undefined
  /** What else the center found; `undefined`: nothing. */
  readonly unplaced: Told | undefined
  /** Absent where there is nowhere to place. */
  readonly outcome: PlacementOutcome | undefined
}

/** `Resolved`, `Permitted`, `Projected`, `Applied`, in this order: a stage speaks of what the one before left it. */
export function stageConditions({ nowhere, denied, unplaced, outcome }: Stages): StageCondition[] {
  if (nowhere || !outcome) {
    const why = nowhere ?? { reason: 'NoLocation', message: '' }
    const waits = { status: 'Unknown', reason: 'NotResolved', message: 'there is nowhere to place' } as const
    return [
      { type: 'Resolved', status: 'False', ...why },
      { type: 'Permitted', ...waits },
      { type: 'Projected', ...waits },
      { type: 'Applied', ...waits },
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
        ? { type: 'Projected', status: 'False', reason: 'Projecting', message: 'copies are being written' }
        : { type: 'Projected', status: 'True', reason: 'AllProjected', message: '' },
    { type: 'Applied', ...appliedIn(outcome) },
  ]
}

function appliedIn({ counts, broken, silent }: PlacementOutcome): Omit<StageCondition, 'type'> {
  const { copies, applied, pending, stale, refused, retrying, waiting, unknown, notPlaced } = counts
  const numbers = [
    [applied, 'applied'],
    [pending, 'pending'],
    [refused, 'refused'],
    [retrying, 'retrying'],
    [waiting, 'waiting'],
    [stale, 'stale'],
    [unknown, 'unknown'],
    [notPlaced, 'not placed'],
  ] as const
  const told = numbers.flatMap(([number, word]) => (number > 0 ? [`${number} ${word}`] : [])).join(', ')
  const say = (status: 'True' | 'False' | 'Unknown', reason: string, more = ''): Omit<StageCondition, 'type'> => ({
    status,
    reason,
    message: more === '' ? told : `${told}; ${more}`,
  })
  const first = broken[0]
  const words = first ? `at ${first.location}, ${nameOf(first)}: ${first.message || first.reason}` : ''
  if (refused > 0) return say('False', 'Refused', words)
  if (retrying > 0) return say('False', 'Retrying', words)
  if (waiting > 0) return say('False', 'Waiting', words)
  if (pending > 0) return say('False', 'Pending')
  if (stale > 0) return say('Unknown', 'Stale', `nothing is heard of the clusters at ${silent.join(', ')}`)
  if (unknown > 0) return say('Unknown', 'TooMuchTrouble', 'more is wrong in a cluster than its syncer can tell')
  if (notPlaced > 0) return say('False', 'NotPlaced')
  return { status: 'True', reason: copies === 0 ? 'NothingSelected' : 'AllApplied', message: told }
}

function nameOf(object: PlacementOutcome['broken'][number]): string {
  const { group, resource, namespace, name } = object
  return `${group === '' ? resource : `${resource}.${group}`} "${namespace === undefined ? name : `${namespace}/${name}`}"`
}
