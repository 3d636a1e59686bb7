/**
 * The status of a rollout from one step to the next. Facts about each cluster go into the {@link step}, and its outcome is the next
 * status. Pure: nothing of a placement changes here.
 */
import { shortened } from '../../../apimachinery/shortened.ts'
import type { RolloutState } from '../../../placement/rollout/rolloutStates.ts'
import type { ClusterFacts, RolloutFacts, Step } from '../../../placement/rollout/step.ts'
import { PASSED_OVER, step } from '../../../placement/rollout/step.ts'
import type { ClusterContent } from './clusterContent.ts'
import type { Rollout, RolloutCluster } from './rollout.ts'

/** A destination at the time of a step. */
export interface Sight {
  readonly mailbox: string
  /** Name of its Location. */
  readonly name: string
  readonly inventory: string
  readonly labels: Readonly<Record<string, string>>
  /** The revision that it may have. */
  readonly revision: number
  /** Whether its content may be other than the status says. */
  readonly isTouched: boolean
}

export interface SeenCluster {
  readonly facts: ClusterFacts
  readonly hasJoined: boolean
  /** About its content, where that was looked at. */
  readonly detail: string
  /** The message about content that is as it was. */
  readonly kept?: string
}

/** Clusters that left are listed up to so many: fleets that come and go fill no object. */
const MAX_GONE = 100
/** Characters of a cluster's own words: a status has bounds. */
const SHOWN = 300

/** The last that is known of a cluster. A rollout goes on with those that the one before left halfway. */
function lastOf({ clusters, former }: Rollout, { mailbox, revision }: Sight): RolloutCluster | undefined {
  if (clusters.size > 0) return clusters.get(mailbox)
  const left = former.get(mailbox)
  const isOpen = left?.revision === revision && left.state !== 'Done' && left.state !== 'Skipped'
  return isOpen && left.beganMs !== undefined ? left : undefined
}

/** Whether a destination has other content than the clusters that wait for their turn, or was not done with what it has. */
function isMoved(rollout: Rollout, sight: Sight): boolean {
  const { revision } = sight
  if (revision === rollout.revision || (revision !== rollout.from && revision !== 0)) return true
  const last = lastOf(rollout, sight)
  return last?.revision === revision && last.beganMs !== undefined
}

/** Whether the content of a destination has to be looked at: the status says the rest. */
export function looksAt(rollout: Rollout, sight: Sight): boolean {
  return isMoved(rollout, sight) && (sight.isTouched || lastOf(rollout, sight)?.revision !== sight.revision)
}

/** `now`: what was found, of the content only where {@link looksAt} says so. */
export function seenCluster(rollout: Rollout, sight: Sight, now: ClusterContent, nowMs: number): SeenCluster {
  const { mailbox, name, inventory, labels, revision } = sight
  const before = lastOf(rollout, sight)
  // silence mends nothing
  const isFailure = now.isSilent === true && before?.content === 'failed' && before.revision === revision
  const isKept = isMoved(rollout, sight) && (!looksAt(rollout, sight) || isFailure)
  const content = isKept ? (before?.content ?? 'unknown') : now.content
  // after an absence it has its time anew
  const isSame = before?.content === content && before.revision === revision && before.isAway === now.isAway
  const kept = isKept && before?.state === 'Failed' ? before.message : undefined
  // no deadline runs during a pause
  const isBack = before?.isAway === true && before.reason === PASSED_OVER && !now.isAway
  const isResumed = isBack || (before?.content === 'paused' && content !== 'paused')
  return {
    facts: {
      key: mailbox,
      name,
      inventory,
      labels,
      revision,
      content,
      contentSinceMs: isSame ? before.contentSinceMs : nowMs,
      beganMs: before?.revision === revision ? before.beganMs && (isResumed ? nowMs : before.beganMs) : undefined,
      wasDone: before?.state === 'Done' && before.revision === revision,
      away: now.isAway,
      ...(now.isSilent && { isSilent: true }),
    },
    hasJoined: rollout.clusters.get(mailbox)?.hasJoined ?? rollout.clusters.size > 0,
    detail: now.message,
    ...(kept !== undefined && { kept }),
  }
}

export function stepOf(
  { strategy, revision, from, paused, approvals, urgent }: Rollout,
  { clusters, nowMs, isPaused }: Pick<RolloutFacts, 'clusters' | 'nowMs'> & { readonly isPaused: boolean },
): Step {
  // while the placement itself is paused nothing of it is written, and no deadline runs
  const found = clusters.map(one => {
    const isRunning = one.revision === revision && one.beganMs !== undefined && one.content !== 'healthy'
    return isPaused && isRunning ? { ...one, beganMs: nowMs } : one
  })
  return step({
    strategy,
    target: revision,
    from,
    clusters: found,
    nowMs,
    paused: paused || isPaused,
    approvals,
    urgent,
  })
}

/** The rollout after a step. `note`: what its message says besides. */
export function steppedRollout(
  rollout: Rollout,
  seen: readonly SeenCluster[],
  found: Step,
  { pinned, note }: { readonly pinned: number | undefined; readonly note: string | undefined },
): Rollout {
  const start = new Set(found.start)
  const clusters = new Map<string, RolloutCluster>()
  for (const { facts, hasJoined, detail, kept } of seen) {
    const { key, name, inventory, revision, content, away } = facts
    const { state, group, reason, message, contentSinceMs, beganMs } = found.states.get(key)!
    const hasBegun = start.has(key)
    clusters.set(key, {
      key,
      cluster: name,
      inventory,
      group,
      state,
      revision: hasBegun ? rollout.revision : revision,
      content: hasBegun ? 'unknown' : content,
      contentSinceMs,
      beganMs,
      reason,
      message: state === 'Failed' ? (kept ?? (detail ? `${message}: ${shortened(detail, SHOWN)}` : message)) : message,
      isAway: away,
      hasJoined,
    })
  }
  // those that left last come first
  const gone = [...rollout.clusters].filter(([key]) => !clusters.has(key)).slice(0, MAX_GONE)
  for (const [key, before] of gone)
    clusters.set(key, { ...before, state: 'Skipped', reason: 'ClusterGone', message: '' })
  const message = note === undefined ? found.message : `${found.message}; ${note}`
  return { ...rollout, state: stateOf(found, rollout, pinned), reason: found.reason, message, clusters }
}

const STATES: Readonly<Record<Step['verdict'], RolloutState>> = {
  running: 'Running',
  waiting: 'Waiting',
  paused: 'Paused',
  stuck: 'Stuck',
  failed: 'Failed',
  done: 'Done',
  rollback: 'RolledBack',
}

/** Where there is nothing to go back to, or a pin holds the clusters, a rollout stops. */
function stateOf(
  { verdict }: Step,
  { state, revision, from, urgent }: Rollout,
  pinned: number | undefined,
): RolloutState {
  // those that were away catch up
  if (state === 'Done') return 'Done'
  const isWayBack = from > 0 && from !== revision && !urgent && pinned === undefined
  return verdict === 'rollback' && !isWayBack ? 'Failed' : STATES[verdict]
}
