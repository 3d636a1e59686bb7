/**
 * The states of a copy and the counts of a placement: the one table of both. Types, counts, conditions, the syncer's reports and the
 * command line read it here; `npm run pages` writes it into openapi/groups and docs/reference/states.md. Pure.
 */

export interface StateFacts {
  /** The count of its placement that it belongs to. */
  readonly count: CopyCount
  /** From 1, the worst: the order in which people learn of it. */
  readonly rank: number
  readonly colour: 'bad' | 'warn' | 'good'
  /** The status of an EdgePlacement names such copies as broken. */
  readonly isListed?: true
  /** A syncer reports it; all others are the center's to know. */
  readonly isReported?: true
}

export interface CountFacts {
  /** In messages, where that is another word. */
  readonly words?: string
  /** Its place among the numbers of a message. */
  readonly place: number
  /** The condition `Applied` speaks of the lowest that is not zero. */
  readonly rung: number
  /** Status of that condition. Default: `False`, and the count's own name. */
  readonly status?: 'Unknown'
  readonly reason?: string
  /** As OpenAPI describes it. */
  readonly description: string
}

/** Parts of `copies`, whose sum they are. */
export const COPY_COUNTS = {
  applied: {
    place: 1,
    rung: 12,
    description: 'Copies that the cluster holds as they were sent.',
  },
  pending: { place: 2, rung: 5, description: 'Copies that are on their way.' },
  stale: {
    place: 10,
    rung: 7,
    status: 'Unknown',
    description: 'Copies in silent clusters; their present state is unknown.',
  },
  notPlaced: { words: 'not placed', place: 12, rung: 10, description: 'Copies that the center does not send.' },
  conflict: {
    words: 'in conflict',
    place: 9,
    rung: 9,
    description: 'Copies that are not sent, as the object belongs to another space there.',
  },
  refused: { place: 3, rung: 1, description: 'Copies that the cluster refuses.' },
  retrying: { place: 4, rung: 2, description: 'Copies that failed and are retried.' },
  altered: {
    place: 5,
    rung: 3,
    description: 'Copies with deciding fields that the cluster dropped or changed.',
  },
  waiting: {
    place: 6,
    rung: 4,
    description:
      'Copies that wait for a kind, an earlier wave or the end of a deletion, or that a writer in the cluster keeps changing.',
  },
  unknown: {
    place: 11,
    rung: 8,
    status: 'Unknown',
    reason: 'TooMuchTrouble',
    description: 'Copies in clusters with more failures than their syncers name.',
  },
  held: { place: 7, rung: 6, description: 'Copies whose syncer is paused.' },
  paused: {
    place: 8,
    rung: 11,
    description: 'Copies that stay as they are during a pause of the placement, the object or the Location.',
  },
} as const satisfies Readonly<Record<string, CountFacts>>

export type CopyCount = keyof typeof COPY_COUNTS

/** In the order in which they are looked for: the first that holds is it. stateTexts.ts has their meanings. */
export const COPY_STATES = {
  NotPlaced: { count: 'notPlaced', rank: 7, colour: 'bad' },
  Conflict: { count: 'conflict', rank: 2, colour: 'bad', isListed: true },
  Paused: { count: 'paused', rank: 11, colour: 'warn' },
  Stale: { count: 'stale', rank: 12, colour: 'warn' },
  Projecting: { count: 'pending', rank: 15, colour: 'warn' },
  Pending: { count: 'pending', rank: 14, colour: 'warn' },
  Unknown: { count: 'unknown', rank: 13, colour: 'warn' },
  Refused: { count: 'refused', rank: 1, colour: 'bad', isListed: true, isReported: true },
  Retrying: { count: 'retrying', rank: 3, colour: 'bad', isListed: true, isReported: true },
  Waiting: { count: 'waiting', rank: 9, colour: 'warn', isListed: true, isReported: true },
  Unserved: { count: 'waiting', rank: 4, colour: 'bad', isListed: true, isReported: true },
  Terminating: { count: 'waiting', rank: 8, colour: 'warn', isListed: true, isReported: true },
  Held: { count: 'held', rank: 10, colour: 'warn', isListed: true, isReported: true },
  Drifted: { count: 'waiting', rank: 5, colour: 'bad', isListed: true, isReported: true },
  Altered: { count: 'altered', rank: 6, colour: 'bad', isListed: true, isReported: true },
  Applied: { count: 'applied', rank: 17, colour: 'good', isReported: true },
  Finished: { count: 'applied', rank: 16, colour: 'good', isReported: true },
} as const satisfies Readonly<Record<string, StateFacts>>

export type CopyState = keyof typeof COPY_STATES
type Reported = {
  [S in CopyState]: (typeof COPY_STATES)[S] extends { readonly isReported: true } ? S : never
}[CopyState]
/** State of a copy in a syncer's report. */
export type OutcomeState = Uncapitalize<Reported>

const ROWS: readonly (readonly [string, StateFacts])[] = Object.entries(COPY_STATES)
export const OUTCOME_STATES = ROWS.filter(([, { isReported }]) => isReported).map(
  ([state]) => `${state[0]!.toLowerCase()}${state.slice(1)}`,
) as readonly OutcomeState[]

/** As the center names what a syncer reports. */
export function stateReported(state: OutcomeState): Reported {
  return `${state[0]!.toUpperCase()}${state.slice(1)}` as Reported
}

/** `undefined` for a word that is none. */
export function factsOf(state: string): StateFacts | undefined {
  return Object.hasOwn(COPY_STATES, state) ? COPY_STATES[state as CopyState] : undefined
}

/** Those that belong to a count. */
export function statesCounted(count: CopyCount): CopyState[] {
  return ROWS.filter(([, facts]) => facts.count === count).map(([state]) => state as CopyState)
}

export const COUNT_NAMES = Object.keys(COPY_COUNTS) as readonly CopyCount[]

/** Counts of applied copies, beside `healthy`, which are all others. */
type HealthCount = 'healthy' | 'progressing' | 'degraded' | 'differing'
/** All that the status of an EdgePlacement counts of its outcome. */
export type OutcomeCounts = Readonly<Record<'clusters' | 'objects' | 'copies' | CopyCount | HealthCount, number>>
