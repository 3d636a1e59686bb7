/** Which revision each destination has, as stored rollouts of a placement tell it to a server that starts. Pure. */
import { NOT_STAGED } from '../../../placement/rollout/rolloutStates.ts'
import { isOpen, type Rollout, type RolloutCluster } from './rollout.ts'

export interface StoredState {
  /** The number of its newest rollout. */
  readonly lastRun: number
  /** The newest revision that was rolled out whole; 0: none. */
  readonly finished: number
  /** Revisions that failed, and those to which their clusters went back. */
  readonly rolledBack: ReadonlyMap<number, number>
  /** Revisions that have passed all gates. */
  readonly approved: ReadonlySet<number>
  /** The rollout in force; `undefined`: destinations have the live content. */
  readonly rollout: Rollout | undefined
  /** By mailbox, while the rollout goes on; `undefined`: it is over, and all have the finished one. */
  readonly revisions: ReadonlyMap<string, number> | undefined
}

/** `isInForce`: the placement is staged by its strategy or by a pin. `wasLive`: its destinations have the live content. */
export function storedState(
  rollouts: readonly Rollout[],
  { isInForce, wasLive }: { readonly isInForce: boolean; readonly wasLive: boolean },
): StoredState {
  const inOrder = rollouts.toSorted((a, b) => a.run - b.run)
  const newest = inOrder.at(-1)
  const rolledBack = new Map<number, number>()
  const approved = new Set<number>()
  for (const { state, revision, from } of inOrder) {
    if (state === 'RolledBack') rolledBack.set(revision, from)
    if (state === 'Done') approved.add(revision)
    approved.add(from)
  }
  // one that a revision supersedes stays in force until the rollout of that begins
  const isLive = wasLive || (newest?.state === 'Superseded' && newest.reason === NOT_STAGED)
  // one that another process began and did not write a step of has moved nothing
  const written: Rollout['clusters'] = inOrder.findLast(({ clusters }) => clusters.size > 0)?.clusters ?? new Map()
  const rollout = isLive || !isInForce || !newest ? undefined : { ...newest, former: written }
  return {
    lastRun: newest?.run ?? 0,
    finished: (newest?.state === 'Done' ? newest.revision : newest?.from) ?? 0,
    rolledBack,
    approved,
    rollout,
    revisions: rollout && !isOver(rollout) ? revisionsOf(written) : undefined,
  }
}

function isOver({ state, revision, clusters }: Rollout): boolean {
  const hasIt = (one: RolloutCluster): boolean => one.state === 'Skipped' || (one.revision === revision && !isOpen(one))
  return state === 'Done' && [...clusters.values()].every(hasIt)
}

function revisionsOf(clusters: Rollout['clusters']): ReadonlyMap<string, number> {
  const revisions = new Map<string, number>()
  for (const { key, revision, state } of clusters.values()) if (state !== 'Skipped') revisions.set(key, revision)
  return revisions
}
