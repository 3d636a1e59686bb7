/** One rollout as the center keeps it: its PlacementRollout, read and written. Times are by the center's clock. */
import { at, num, records, str } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { RolloutState } from '../../../placement/rollout/rolloutStates.ts'
import type { ClusterState, ContentState } from '../../../placement/rollout/step.ts'
import { type RolloutStrategy, readStrategy } from '../../../placement/rollout/strategy.ts'

/** A destination in a rollout. */
export interface RolloutCluster {
  /** Name of the mailbox. */
  readonly key: string
  /** Name of the Location. */
  readonly cluster: string
  readonly inventory: string
  readonly group: string
  readonly state: ClusterState
  readonly revision: number
  readonly content: ContentState
  readonly contentSinceMs: number
  readonly beganMs: number | undefined
  readonly reason: string
  readonly message: string
  readonly isAway: boolean
  /** It came after the rollout had begun, and is no part of its count. */
  readonly hasJoined: boolean
}

export interface Rollout {
  readonly revision: number
  /** Rollouts of a placement in their order, from 1. */
  readonly run: number
  /** The newest finished revision when it began; 0: none. */
  readonly from: number
  /** As it was when the rollout began. */
  readonly strategy: RolloutStrategy
  readonly paused: boolean
  readonly urgent: boolean
  /** Names of approved groups. */
  readonly approvals: ReadonlySet<string>
  state: RolloutState
  reason: string
  message: string
  /** RFC 3339. */
  finishedAt: string
  clusters: ReadonlyMap<string, RolloutCluster>
  /** Clusters of the rollout before, until the first step of this one is taken. */
  former: ReadonlyMap<string, RolloutCluster>
}

/** A PlacementRollout, read. */
export function rolloutOf({ spec, status }: KubeObject): Rollout {
  const { strategy } = readStrategy(at(spec, 'strategy'))
  const clusters = records(status, 'clusters').map(clusterOf)
  return {
    revision: num(spec, 'revision'),
    run: num(spec, 'run'),
    from: num(spec, 'from'),
    // a snapshot that an earlier release took and this one does not understand holds nothing back
    strategy: strategy ?? readStrategy(undefined).strategy!,
    ...people(spec),
    state: (str(status, 'state') || 'Running') as RolloutState,
    reason: str(status, 'reason'),
    message: str(status, 'message'),
    finishedAt: str(status, 'finishedAt'),
    clusters: new Map(clusters.map(cluster => [cluster.key, cluster])),
    former: new Map(),
  }
}

const SETTLED: ReadonlySet<ClusterState> = new Set<ClusterState>(['Done', 'Failed', 'Stuck', 'Skipped'])

/** Whether a cluster is still to be looked at, such as one that catches up after its absence. */
export function isOpen({ state }: RolloutCluster): boolean {
  return !SETTLED.has(state)
}

/** Fields that people write. */
function people(spec: unknown): Pick<Rollout, 'paused' | 'urgent' | 'approvals'> {
  return {
    paused: at(spec, 'paused') === true,
    urgent: at(spec, 'urgent') === true,
    approvals: new Set(records(spec, 'approvals').map(approval => str(approval, 'group'))),
  }
}

export function statusOf({ state, reason, message, finishedAt, clusters }: Rollout): Record<string, unknown> {
  const all = [...clusters.values()]
  const counted = all.filter(({ hasJoined, state }) => !hasJoined && state !== 'Skipped')
  return {
    state,
    reason,
    message,
    finishedAt: finishedAt || null,
    total: counted.length,
    done: counted.filter(({ state }) => state === 'Done').length,
    clusters: all.map(writtenCluster),
  }
}

function clusterOf(written: Record<string, unknown>): RolloutCluster {
  const began = str(written, 'began')
  const state = str(written, 'state') as ClusterState
  return {
    key: str(written, 'key'),
    cluster: str(written, 'cluster'),
    inventory: str(written, 'inventory'),
    group: str(written, 'group'),
    state,
    revision: num(written, 'revision'),
    content: (str(written, 'content') || (state === 'Done' ? 'healthy' : 'unknown')) as ContentState,
    contentSinceMs: Date.parse(str(written, 'contentSince')) || 0,
    beganMs: began === '' ? undefined : Date.parse(began),
    reason: str(written, 'reason'),
    message: str(written, 'message'),
    isAway: written.away === true,
    hasJoined: written.joined === true,
  }
}

function writtenCluster(one: RolloutCluster): Record<string, unknown> {
  const { key, cluster, inventory, group, state, revision, content, reason, message } = one
  return {
    key,
    cluster,
    inventory,
    ...(group && { group }),
    state,
    revision,
    // most clusters of a large fleet are so, and a status has bounds
    ...((state !== 'Done' || content !== 'healthy') && {
      content,
      contentSince: new Date(one.contentSinceMs).toISOString(),
    }),
    ...(one.beganMs !== undefined && { began: new Date(one.beganMs).toISOString() }),
    ...(reason && reason !== 'Healthy' && { reason }),
    ...(message && { message }),
    ...(one.isAway && { away: true }),
    ...(one.hasJoined && { joined: true }),
  }
}
