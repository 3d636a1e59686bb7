/**
 * Steps of rollouts as data. Each vector is named after what its user would see; several are after complaints about other
 * programs of this sort.
 */
import type { ClusterFacts, ClusterState, ContentState, Verdict } from '../../../src/placement/rollout/step.ts'

/** `name: [revision, content, seconds for which it is so, seconds since its step began]`, and labels or being away. */
export interface Cluster {
  readonly has: readonly [revision: number, content: ContentState, forS?: number, beganAgoS?: number]
  readonly group?: string
  readonly away?: true
  readonly isSilent?: true
  readonly wasDone?: true
}

export interface Vector {
  readonly name: string
  /** `spec.rolloutStrategy`. */
  readonly strategy: Record<string, unknown>
  readonly clusters: Readonly<Record<string, Cluster>>
  /** The target is 2 and the newest finished revision 1 where the vector names none. */
  readonly target?: number
  readonly from?: number
  readonly paused?: true
  readonly urgent?: true
  readonly approvals?: readonly string[]
  /** Where it matters: RFC 3339. */
  readonly now?: string
  readonly expect: {
    readonly start?: readonly string[]
    readonly verdict: Verdict
    readonly reason?: string
    /** A part of the message. */
    readonly message?: string
    /** Seconds from now. */
    readonly recheckInS?: number
    readonly states?: Readonly<Record<string, ClusterState | readonly [ClusterState, reason: string]>>
  }
}

export const NOW_MS = Date.parse('2026-11-30T12:00:00Z')

/** Facts of a vector's clusters. */
export function factsOf(clusters: Vector['clusters'], nowMs: number): ClusterFacts[] {
  return Object.entries(clusters).map(([name, { has, group, away, isSilent, wasDone }]) => {
    const [revision, content, forS = 0, beganAgoS] = has
    return {
      key: `imw1/${name}`,
      name,
      inventory: 'imw1',
      labels: group === undefined ? {} : { group },
      revision,
      content,
      contentSinceMs: nowMs - forS * 1000,
      beganMs: beganAgoS === undefined ? undefined : nowMs - beganAgoS * 1000,
      away: away ?? isSilent ?? false,
      ...(isSilent && { isSilent }),
      ...(wasDone && { wasDone }),
    }
  })
}

const OLD: Cluster = { has: [1, 'healthy', 3600] }
const DONE: Cluster = { has: [2, 'healthy', 3600, 3600] }
const BROKEN: Cluster = { has: [2, 'failed', 10, 60] }
const away = (cluster: Cluster): Cluster => ({ ...cluster, away: true })
const silent = (cluster: Cluster): Cluster => ({ ...cluster, isSilent: true })
const of = (group: string, cluster: Cluster): Cluster => ({ ...cluster, group })
const begun = (content: ContentState, agoS: number, forS = agoS): Cluster => ({ has: [2, content, forS, agoS] })

const progressive = (progressive: Record<string, unknown> = {}, more: Record<string, unknown> = {}) => ({
  type: 'Progressive',
  progressive,
  ...more,
})
const perGroup = (progressivePerGroup: Record<string, unknown> = {}, more: Record<string, unknown> = {}) => ({
  type: 'ProgressivePerGroup',
  progressivePerGroup,
  ...more,
})
const group = (groupName: string, more: Record<string, unknown> = {}) => ({
  groupName,
  locationSelector: { matchLabels: { group: groupName } },
  ...more,
})
const CANARY_AND_PROD = { decisionGroups: [group('canary'), group('prod')] }

export const VECTORS: readonly Vector[] = [
  {
    name: 'one after the other: the first by name begins',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { b: OLD, a: OLD },
    expect: { start: ['a'], verdict: 'running', states: { a: 'Running', b: ['Planned', 'NotItsTurn'] } },
  },
  {
    name: 'a cluster that is on its way keeps the others waiting',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: begun('progressing', 60), b: OLD },
    expect: { start: [], verdict: 'running', recheckInS: 240 },
  },
  {
    name: 'content that was not looked at yet is on its way',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: begun('unknown', 1), b: OLD },
    expect: { start: [], verdict: 'running', states: { a: 'Running' } },
  },
  {
    name: 'no concurrency is all at once',
    strategy: progressive(),
    clusters: { a: OLD, b: OLD, c: OLD },
    expect: { start: ['a', 'b', 'c'], verdict: 'running' },
  },
  {
    name: 'percentages round up, so that there is always one',
    strategy: progressive({ maxConcurrency: '10%' }),
    clusters: { a: OLD, b: OLD, c: OLD },
    expect: { start: ['a'], verdict: 'running' },
  },
  {
    name: 'percentages are of the clusters that are there',
    strategy: progressive({ maxConcurrency: '50%' }),
    clusters: { a: OLD, b: OLD, c: away(OLD), d: away(OLD) },
    expect: { start: ['a'], verdict: 'running' },
  },
  {
    name: "the earlier revision's health counts for nothing: old times do not skip the soak",
    strategy: progressive({ maxConcurrency: 1, minSuccessTime: '5m' }),
    clusters: { a: { has: [2, 'healthy', 3600, 60] }, b: OLD },
    expect: { start: [], verdict: 'waiting', reason: 'MinSuccessTime', recheckInS: 240, states: { a: 'Waiting' } },
  },
  {
    name: 'the soak takes a slot',
    strategy: progressive({ maxConcurrency: 2, minSuccessTime: '5m' }),
    clusters: { a: begun('healthy', 120, 100), b: OLD, c: OLD },
    expect: { start: ['b'], verdict: 'running', recheckInS: 200 },
  },
  {
    name: 'a break of health begins the soak again',
    strategy: progressive({ maxConcurrency: 1, minSuccessTime: '5m' }),
    clusters: { a: begun('healthy', 900, 10), b: OLD },
    expect: { start: [], verdict: 'waiting', recheckInS: 290 },
  },
  {
    name: 'the soak ends',
    strategy: progressive({ maxConcurrency: 1, minSuccessTime: '5m' }),
    clusters: { a: begun('healthy', 400, 300), b: OLD },
    expect: { start: ['b'], verdict: 'running', states: { a: 'Done' } },
  },
  {
    name: 'all done',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: DONE, b: DONE },
    expect: { start: [], verdict: 'done', message: '2 of 2' },
  },
  {
    name: 'no cluster at all is done',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: {},
    expect: { start: [], verdict: 'done' },
  },
  {
    name: 'a failed cluster stops what has not begun',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: BROKEN, b: OLD },
    expect: {
      start: [],
      verdict: 'failed',
      reason: 'TooManyFailures',
      message: '1 of 2 clusters failed and 0 may: a',
      states: { a: 'Failed', b: ['Planned', 'RolloutFailed'] },
    },
  },
  {
    name: 'a failed cluster goes back where that is asked for',
    strategy: progressive({ maxConcurrency: 1 }, { onFailure: 'Rollback' }),
    clusters: { a: BROKEN, b: OLD },
    expect: { start: [], verdict: 'rollback' },
  },
  {
    name: 'a failed cluster does not hold its slot for ever where no deadline is set',
    strategy: progressive({ maxConcurrency: 1, maxFailures: 1 }),
    clusters: { a: BROKEN, b: OLD },
    expect: { start: ['b'], verdict: 'running' },
  },
  {
    name: 'more failures allowed than there are clusters is not none',
    strategy: progressive({ maxConcurrency: 1, maxFailures: 5 }),
    clusters: { a: BROKEN, b: OLD },
    expect: { start: ['b'], verdict: 'running' },
  },
  {
    name: 'tolerated failures end with the rollout done',
    strategy: progressive({ maxFailures: '50%' }),
    clusters: { a: BROKEN, b: DONE },
    expect: { start: [], verdict: 'done', message: '1 of 2', states: { a: 'Failed' } },
  },
  {
    name: 'a cluster that failed after it was done stops the others, too',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: { ...BROKEN, wasDone: true }, b: OLD },
    expect: { start: [], verdict: 'failed' },
  },
  {
    name: 'the deadline counts as a failure',
    strategy: progressive({ maxConcurrency: 1, progressDeadline: '10m' }),
    clusters: { a: begun('progressing', 600), b: OLD },
    expect: { start: [], verdict: 'failed', states: { a: ['Stuck', 'ProgressDeadlineExceeded'] } },
  },
  {
    name: 'no deadline fails a cluster in which somebody paused an object, and others wait',
    strategy: progressive({ maxConcurrency: 1, progressDeadline: '10m' }, { onFailure: 'Rollback' }),
    clusters: { a: begun('paused', 600), b: OLD },
    expect: { start: [], verdict: 'stuck', message: 'a', states: { a: ['Stuck', 'NoProgress'], b: 'Planned' } },
  },
  {
    name: 'the deadline frees the slot',
    strategy: progressive({ maxConcurrency: 1, maxFailures: 1, progressDeadline: '10m' }),
    clusters: { a: begun('unknown', 600), b: OLD },
    expect: { start: ['b'], verdict: 'running' },
  },
  {
    name: 'the deadline runs from the beginning of the step, not from the last change',
    strategy: progressive({ maxConcurrency: 1, progressDeadline: '10m' }),
    clusters: { a: begun('progressing', 601, 5), b: OLD },
    expect: { verdict: 'failed' },
  },
  {
    name: 'a cluster that scales long after it was done has not missed its deadline',
    strategy: progressive({ maxConcurrency: 2, progressDeadline: '10m' }),
    clusters: { a: { has: [2, 'progressing', 30, 7200], wasDone: true }, b: OLD },
    expect: { start: ['b'], verdict: 'running', states: { a: 'Running' } },
  },
  {
    name: 'a frozen cluster is named as stuck where no deadline is set',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: begun('unknown', 301), b: OLD },
    expect: {
      start: [],
      verdict: 'stuck',
      reason: 'NoProgress',
      message: 'from the next edit on a progressDeadline',
      states: { a: 'Stuck' },
    },
  },
  {
    name: 'offline clusters do not use up the budget and stop the rest',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: away(begun('progressing', 9000)), b: away(OLD), c: OLD },
    expect: {
      start: ['c'],
      verdict: 'running',
      states: { a: ['Waiting', 'ClusterAway'], b: ['Waiting', 'ClusterAway'] },
    },
  },
  {
    name: 'a paused cluster that failed before does not fail the others',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: away(BROKEN), b: OLD },
    expect: { start: ['b'], verdict: 'running' },
  },
  {
    name: 'a cluster that falls silent after it failed has failed',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: silent(BROKEN), b: OLD },
    expect: { start: [], verdict: 'failed', message: 'a (silent)', states: { a: 'Failed' } },
  },
  {
    name: 'an edit that cuts off each cluster does not go through the fleet',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: silent(begun('unknown', 60)), b: OLD },
    expect: {
      start: [],
      verdict: 'running',
      recheckInS: 240,
      states: { a: ['Running', 'ClusterSilent'], b: 'Planned' },
    },
  },
  {
    name: 'without a deadline a cluster that is cut off keeps its place for ever, and the remedy is named',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: silent(begun('unknown', 90_000)), b: OLD },
    expect: {
      start: [],
      verdict: 'stuck',
      reason: 'NoProgress',
      message: 'a (silent)',
      states: { a: ['Stuck', 'ClusterSilent'], b: 'Planned' },
    },
  },
  {
    name: 'a cluster that is cut off takes one place of several',
    strategy: progressive({ maxConcurrency: 2 }),
    clusters: { a: silent(begun('unknown', 90_000)), b: OLD, c: OLD },
    expect: { start: ['b'], verdict: 'running' },
  },
  {
    name: 'a cluster that is cut off has failed at its deadline',
    strategy: progressive({ maxConcurrency: 1, progressDeadline: '10m' }),
    clusters: { a: silent(begun('unknown', 600)), b: OLD },
    expect: { start: [], verdict: 'failed', states: { a: ['Stuck', 'ProgressDeadlineExceeded'] } },
  },
  {
    name: 'silence is no health: the soak of a cluster that is cut off does not end',
    strategy: progressive({ maxConcurrency: 1, minSuccessTime: '1m' }),
    clusters: { a: silent(begun('healthy', 200)), b: OLD },
    expect: { start: [], verdict: 'running', states: { a: 'Running' } },
  },
  {
    name: 'a cluster that is silent before it begins uses up no budget',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: silent(OLD), b: silent({ has: [2, 'unknown', 9000] }), c: OLD },
    expect: {
      start: ['c'],
      verdict: 'running',
      states: { a: ['Waiting', 'ClusterAway'], b: ['Waiting', 'ClusterAway'] },
    },
  },
  {
    name: 'a cluster that falls silent after it was done is away, and stays done',
    strategy: progressive({ maxConcurrency: 1, progressDeadline: '10m' }),
    clusters: { a: silent({ has: [2, 'unknown', 30, 7200], wasDone: true }), b: OLD },
    expect: { start: ['b'], verdict: 'running', states: { a: ['Done', 'ClusterAway'] } },
  },
  {
    name: 'an offline cluster does not keep a rollout from its end',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: away(OLD), b: DONE },
    expect: { start: [], verdict: 'done', message: '1 of 1' },
  },
  {
    name: 'a cluster that is back catches up, one by one',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: OLD, b: OLD, c: DONE },
    expect: { start: ['a'], verdict: 'running' },
  },
  {
    name: 'with all clusters away nothing is done',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: away(OLD), b: away(OLD) },
    expect: { start: [], verdict: 'waiting', reason: 'ClustersAway' },
  },
  {
    name: 'a pause: nothing begins, and what has begun ends',
    strategy: progressive({ maxConcurrency: 2 }),
    clusters: { a: begun('progressing', 5), b: OLD },
    paused: true,
    expect: { start: [], verdict: 'paused', states: { a: 'Running', b: ['Paused', 'RolloutPaused'] } },
  },
  {
    name: 'groups one by one: the second waits for the whole first',
    strategy: perGroup({}, CANARY_AND_PROD),
    clusters: { p: of('prod', OLD), q: of('canary', OLD), r: of('canary', DONE) },
    expect: { start: ['q'], verdict: 'running', states: { p: ['Planned', 'NotItsTurn'] } },
  },
  {
    name: 'production is not first because the old revision is healthy there',
    strategy: perGroup({}, CANARY_AND_PROD),
    clusters: { a: of('prod', OLD), z: of('canary', begun('progressing', 5)) },
    expect: { start: [], verdict: 'running' },
  },
  {
    name: 'clusters in no group come last, and do come',
    strategy: perGroup({}, CANARY_AND_PROD),
    clusters: { a: OLD, p: of('prod', DONE), q: of('canary', DONE) },
    expect: { start: ['a'], verdict: 'running' },
  },
  {
    name: 'a cluster in two groups is in the first',
    strategy: perGroup({}, { decisionGroups: [group('canary'), { groupName: 'rest', locationSelector: {} }] }),
    clusters: { a: of('canary', OLD), b: OLD },
    expect: {
      start: ['a'],
      verdict: 'running',
      message: '1 clusters are in several groups and count in the first, such as a in canary, rest',
    },
  },
  {
    name: 'failures are counted by the group',
    strategy: perGroup({ maxFailures: 1 }, CANARY_AND_PROD),
    clusters: { a: of('canary', BROKEN), b: of('canary', DONE), p: of('prod', BROKEN), q: of('prod', OLD) },
    expect: { start: ['q'], verdict: 'running' },
  },
  {
    name: 'a group that fails says which',
    strategy: perGroup({}, CANARY_AND_PROD),
    clusters: { a: of('canary', DONE), p: of('prod', BROKEN), q: of('prod', OLD) },
    expect: { start: [], verdict: 'failed', message: '1 of 2 clusters of group "prod" failed and 0 may: p' },
  },
  {
    name: 'so many of a group at once',
    strategy: perGroup({ maxConcurrency: '50%' }, CANARY_AND_PROD),
    clusters: { a: of('canary', DONE), p: of('prod', OLD), q: of('prod', OLD), r: of('prod', OLD) },
    expect: { start: ['p', 'q'], verdict: 'running' },
  },
  {
    name: 'an empty group does not wait for its approval',
    strategy: perGroup({}, { decisionGroups: [group('canary', { approval: true }), group('prod')] }),
    clusters: { p: of('prod', OLD) },
    expect: { start: ['p'], verdict: 'running' },
  },
  {
    name: 'a mandatory group comes first, whatever its place',
    strategy: progressive({ mandatoryDecisionGroups: [{ groupName: 'prod' }] }, CANARY_AND_PROD),
    clusters: { a: of('canary', OLD), p: of('prod', OLD), q: OLD },
    expect: { start: ['p'], verdict: 'running' },
  },
  {
    name: 'mandatory groups come one by one, also by their position',
    strategy: progressive({ mandatoryDecisionGroups: [{ groupIndex: 1 }, { groupIndex: 0 }] }, CANARY_AND_PROD),
    clusters: { a: of('canary', OLD), p: of('prod', DONE), q: OLD },
    expect: { start: ['a'], verdict: 'running' },
  },
  {
    name: 'a mandatory group may not fail at all',
    strategy: progressive({ maxFailures: '100%', mandatoryDecisionGroups: [{ groupName: 'canary' }] }, CANARY_AND_PROD),
    clusters: { a: of('canary', BROKEN), p: of('prod', OLD) },
    expect: { start: [], verdict: 'failed' },
  },
  {
    name: 'concurrency holds within mandatory groups',
    strategy: progressive({ maxConcurrency: 1, mandatoryDecisionGroups: [{ groupName: 'canary' }] }, CANARY_AND_PROD),
    clusters: { a: of('canary', OLD), b: of('canary', OLD), p: of('prod', OLD) },
    expect: { start: ['a'], verdict: 'running' },
  },
  {
    name: 'an approval holds its group and all after it',
    strategy: progressive({}, { decisionGroups: [group('canary'), group('prod', { approval: true })] }),
    clusters: { a: of('canary', DONE), p: of('prod', OLD), q: OLD },
    expect: {
      start: [],
      verdict: 'waiting',
      reason: 'ApprovalRequired',
      message: 'group "prod"',
      states: { p: ['Planned', 'ApprovalRequired'], q: ['Planned', 'ApprovalRequired'] },
    },
  },
  {
    name: 'an approved group begins',
    strategy: perGroup({}, { decisionGroups: [group('canary'), group('prod', { approval: true })] }),
    clusters: { a: of('canary', DONE), p: of('prod', OLD) },
    approvals: ['prod'],
    expect: { start: ['p'], verdict: 'running' },
  },
  {
    name: 'a closed window says when it opens',
    strategy: progressive({}, { windows: [{ days: ['Mon'], from: '14:00', to: '16:00', timeZone: 'Europe/Berlin' }] }),
    clusters: { a: OLD },
    now: '2026-11-30T12:00:00Z',
    expect: {
      start: [],
      verdict: 'waiting',
      reason: 'WindowClosed',
      message: 'Mon 14:00-16:00 Europe/Berlin',
      recheckInS: 3600,
    },
  },
  {
    name: 'an open window lets begin',
    strategy: progressive({}, { windows: [{ days: ['Mon'], from: '14:00', to: '16:00', timeZone: 'Europe/Berlin' }] }),
    clusters: { a: OLD },
    now: '2026-11-30T14:59:59Z',
    expect: { start: ['a'], verdict: 'running' },
  },
  {
    name: 'a window over midnight is open on the day after',
    strategy: progressive({}, { windows: [{ days: ['Sun'], from: '22:00', to: '04:00' }] }),
    clusters: { a: OLD },
    now: '2026-11-30T03:59:00Z',
    expect: { start: ['a'], verdict: 'running' },
  },
  {
    name: 'the window of a group closes that group only once it is on turn',
    strategy: perGroup(
      {},
      { decisionGroups: [group('canary'), group('prod', { windows: [{ from: '01:00', to: '02:00' }] })] },
    ),
    clusters: { a: of('canary', OLD), p: of('prod', OLD) },
    expect: { start: ['a'], verdict: 'running' },
  },
  {
    name: 'a window that closes ends what has begun',
    strategy: progressive({ maxConcurrency: 1 }, { windows: [{ from: '01:00', to: '02:00' }] }),
    clusters: { a: begun('progressing', 30), b: OLD },
    expect: { start: [], verdict: 'running' },
  },
  {
    name: 'a newer edit takes the cluster that was left halfway first',
    strategy: progressive({ maxConcurrency: 1 }),
    target: 3,
    clusters: { a: OLD, b: OLD, c: { has: [2, 'failed', 50, 60] } },
    expect: { start: ['c'], verdict: 'running' },
  },
  {
    name: 'one bad edit after the other cuts off no further cluster',
    strategy: progressive({ maxConcurrency: 1 }),
    target: 3,
    clusters: { a: silent({ has: [2, 'unknown', 50, 60] }), b: OLD },
    expect: { start: ['a'], verdict: 'running', states: { a: ['Running', 'ClusterSilent'], b: 'Planned' } },
  },
  {
    name: 'a cluster that an earlier edit cut off takes one place of several',
    strategy: progressive({ maxConcurrency: 2 }),
    target: 3,
    clusters: { a: silent({ has: [2, 'unknown', 50, 60] }), b: OLD, c: OLD },
    expect: { start: ['a', 'b'], verdict: 'running' },
  },
  {
    name: 'the deadline of a cluster that an earlier edit cut off is past already',
    strategy: progressive({ maxConcurrency: 1, maxFailures: 1, progressDeadline: '10m' }),
    target: 3,
    clusters: { a: silent({ has: [3, 'unknown', 5, 900] }), b: OLD },
    expect: { start: ['b'], verdict: 'running', states: { a: ['Stuck', 'ProgressDeadlineExceeded'] } },
  },
  {
    name: 'clusters that a finished rollout left broken take places of the next one',
    strategy: progressive({ maxConcurrency: 2, maxFailures: 1 }),
    target: 3,
    from: 2,
    clusters: { a: { has: [2, 'failed', 50, 60] }, b: { has: [2, 'unknown', 50] }, c: { has: [2, 'unknown', 50] } },
    expect: { start: ['a', 'b'], verdict: 'running' },
  },
  {
    name: 'an edit mends no more clusters at a time than asked',
    strategy: progressive({ maxConcurrency: 2 }),
    target: 3,
    clusters: Object.fromEntries(['a', 'b', 'c', 'd'].map(name => [name, { has: [2, 'unknown', 5, 60] }])),
    expect: { start: ['a', 'b'], verdict: 'running' },
  },
  {
    name: 'the way back to the finished revision mends all that were left halfway together',
    strategy: progressive({ maxConcurrency: 1 }),
    target: 1,
    clusters: Object.fromEntries(['a', 'b', 'c'].map(name => [name, { has: [2, 'failed', 5, 60] }])),
    expect: { start: ['a', 'b', 'c'], verdict: 'running' },
  },
  {
    name: 'a cluster that an earlier edit broke, and that is well now, waits for its turn',
    strategy: progressive({ maxConcurrency: 1 }),
    target: 3,
    from: 2,
    clusters: { a: { has: [2, 'unknown', 50] }, b: { has: [2, 'healthy', 5, 60] } },
    expect: { start: ['a'], verdict: 'running', states: { b: 'Planned' } },
  },
  {
    name: 'a cluster that is cut off keeps none from the way back to the finished revision',
    strategy: progressive({ maxConcurrency: 1 }),
    target: 1,
    clusters: { a: silent({ has: [2, 'unknown', 50, 60] }), b: { has: [2, 'healthy', 50, 60] } },
    expect: { start: ['b'], verdict: 'running', states: { a: ['Waiting', 'ClusterAway'] } },
  },
  {
    name: 'a cluster that is done with a superseded revision is planned like others',
    strategy: progressive({ maxConcurrency: 1 }),
    target: 3,
    clusters: { a: OLD, b: { has: [2, 'healthy', 50, 60] } },
    expect: { start: ['a'], verdict: 'running' },
  },
  {
    name: 'broken clusters of a later group do not stop what mends them',
    strategy: perGroup({ maxConcurrency: 1 }, CANARY_AND_PROD),
    target: 3,
    clusters: { a: of('canary', { has: [2, 'healthy', 500, 600] }), p: of('prod', { has: [2, 'failed', 50, 60] }) },
    expect: { start: ['a'], verdict: 'running' },
  },
  {
    name: 'a first revision is staged, too',
    strategy: progressive({ maxConcurrency: 1 }),
    target: 1,
    from: 0,
    clusters: { a: { has: [0, 'unknown'] }, b: { has: [0, 'unknown'] } },
    expect: { start: ['a'], verdict: 'running' },
  },
  {
    name: 'the way back mends what was left halfway first, without a slot for it',
    strategy: progressive({ maxConcurrency: 1 }),
    target: 1,
    from: 1,
    clusters: { a: { has: [2, 'healthy', 900, 900] }, b: { has: [2, 'failed', 9, 90] }, c: OLD },
    expect: { start: ['b'], verdict: 'running', states: { c: 'Done' } },
  },
  {
    name: 'the urgent way passes stages, gates and a pause',
    strategy: perGroup(
      {},
      { decisionGroups: [group('canary', { approval: true })], windows: [{ from: '01:00', to: '02:00' }] },
    ),
    clusters: { a: of('canary', OLD), b: OLD, c: away(OLD) },
    paused: true,
    urgent: true,
    expect: { start: ['a', 'b'], verdict: 'running' },
  },
  {
    name: 'the urgent way passes a failure, which it still names',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: BROKEN, b: OLD },
    urgent: true,
    expect: { start: ['b'], verdict: 'running', states: { a: 'Failed' } },
  },
  {
    name: 'an urgent rollout that fails everywhere is not done',
    strategy: progressive({ maxConcurrency: 1 }),
    clusters: { a: BROKEN, b: BROKEN },
    urgent: true,
    expect: { start: [], verdict: 'failed', reason: 'TooManyFailures', message: '2 of 2 clusters failed' },
  },
  {
    name: 'a clock that was set back makes no soak endless',
    strategy: progressive({ maxConcurrency: 1, minSuccessTime: '5m' }),
    clusters: { a: { has: [2, 'healthy', -86_400, -86_500] }, b: OLD },
    expect: { start: [], verdict: 'waiting', recheckInS: 300 },
  },
]
