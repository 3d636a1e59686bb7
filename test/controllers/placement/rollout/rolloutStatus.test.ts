/** Clusters as a step finds them, and the status after it. */
import t from 'tap'
import type { ClusterContent } from '../../../../src/controllers/placement/rollout/clusterContent.ts'
import { type Rollout, type RolloutCluster, rolloutOf } from '../../../../src/controllers/placement/rollout/rollout.ts'
import {
  looksAt,
  type Sight,
  seenCluster,
  stepOf,
  steppedRollout,
} from '../../../../src/controllers/placement/rollout/rolloutStatus.ts'
import { ONE_BY_ONE } from './rolloutWorld.ts'

const NOW = 1000
const HEALTHY: ClusterContent = { content: 'healthy', isAway: false, message: '' }
const AWAY: ClusterContent = { content: 'unknown', isAway: true, message: '' }

function rollout(from: number, revision: number, ...clusters: readonly RolloutCluster[]): Rollout {
  const spec = { revision, from, run: revision, strategy: ONE_BY_ONE }
  const read = rolloutOf({ apiVersion: 'v1', kind: 'PlacementRollout', metadata: {}, spec })
  return { ...read, clusters: new Map(clusters.map(one => [one.key, one])) }
}

const cluster = (key: string, more: Partial<RolloutCluster> = {}): RolloutCluster => ({
  key,
  cluster: key,
  inventory: 'root:imw1',
  group: '',
  state: 'Running',
  revision: 2,
  content: 'progressing',
  contentSinceMs: 10,
  beganMs: 5,
  reason: '',
  message: '',
  isAway: false,
  hasJoined: false,
  ...more,
})

const sight = (mailbox: string, revision: number, isTouched = true): Sight => ({
  mailbox,
  name: mailbox,
  inventory: 'root:imw1',
  labels: {},
  revision,
  isTouched,
})

t.test('content is looked at where the revision was begun and something changed', t => {
  const running = rollout(
    1,
    2,
    cluster('florin'),
    cluster('guilder', { revision: 1, state: 'Planned', beganMs: undefined }),
  )
  t.equal(looksAt(running, sight('florin', 2)), true)
  t.equal(looksAt(running, sight('florin', 2, false)), false, 'nothing changed')
  t.equal(looksAt(running, sight('florin', 3, false)), true, 'it has another revision than the status says')
  t.equal(looksAt(running, sight('guilder', 1)), false, 'it waits for its turn')
  t.equal(looksAt(running, sight('guilder', 0)), false, 'it has nothing yet')
  t.end()
})

t.test('content that is as it was keeps its time, and another state begins now', t => {
  const running = rollout(1, 2, cluster('florin'))
  t.match(seenCluster(running, sight('florin', 2, false), HEALTHY, NOW), {
    facts: { content: 'progressing', contentSinceMs: 10, beganMs: 5, wasDone: false },
    hasJoined: false,
  })
  t.match(seenCluster(running, sight('florin', 2), HEALTHY, NOW).facts, { content: 'healthy', contentSinceMs: NOW })
  t.match(seenCluster(running, sight('florin', 2, false), AWAY, NOW).facts, { contentSinceMs: NOW, away: true })
  t.match(
    seenCluster(running, sight('florin', 1), HEALTHY, NOW).facts,
    { beganMs: undefined },
    'another revision has another beginning',
  )
  t.end()
})

t.test('a cluster that failed and falls silent has failed, and its message stays', t => {
  const failed = cluster('florin', { state: 'Failed', content: 'failed', message: 'refused: no' })
  const running = rollout(1, 2, failed)
  const silent: ClusterContent = { ...AWAY, isSilent: true }
  t.match(seenCluster(running, sight('florin', 2), silent, NOW), {
    facts: { content: 'failed', isSilent: true },
    kept: 'refused: no',
  })
  t.end()
})

t.test('a rollout goes on with clusters that the one before left halfway, and with no others', t => {
  const left = [cluster('florin'), cluster('guilder', { state: 'Done' }), cluster('kyat', { state: 'Skipped' })]
  const former = new Map(left.map(one => [one.key, one]))
  const next: Rollout = { ...rollout(2, 3), former }
  const began = (name: string, revision: number) =>
    seenCluster(next, sight(name, revision), { ...AWAY, isSilent: true }, NOW).facts.beganMs
  t.same([began('florin', 2), began('guilder', 2), began('kyat', 2)], [5, undefined, undefined])
  t.equal(began('florin', 1), undefined, 'it has another revision now')
  t.equal(looksAt(next, sight('florin', 2)), true, 'its content is looked at although it has the finished revision')
  t.equal(looksAt(next, sight('guilder', 2)), false)
  const later = { ...next, clusters: new Map([['kyat', cluster('kyat')]]) }
  t.equal(seenCluster(later, sight('florin', 2), HEALTHY, NOW).facts.beganMs, undefined, 'it left, and joined anew')
  t.end()
})

t.test('a cluster that no step names yet has joined, but for those of the first step', t => {
  t.equal(seenCluster(rollout(1, 2), sight('florin', 1), HEALTHY, NOW).hasJoined, false)
  const running = rollout(1, 2, cluster('florin'))
  t.equal(seenCluster(running, sight('guilder', 1), HEALTHY, NOW).hasJoined, true)
  t.end()
})

function stepped(before: Rollout, sights: readonly Sight[], now: ClusterContent, pinned?: number) {
  const seen = sights.map(one => seenCluster(before, one, now, NOW))
  const found = stepOf(before, { clusters: seen.map(({ facts }) => facts), nowMs: NOW, isPaused: false })
  return { found, after: steppedRollout(before, seen, found, { pinned, note: undefined }) }
}

t.test('a cluster that begins has the revision in the status, and of its content nothing is known', t => {
  const before = rollout(1, 2)
  const { found, after } = stepped(before, [sight('florin', 1), sight('guilder', 1)], HEALTHY)
  t.same(found.start, ['florin'])
  t.match(
    [...after.clusters.values()],
    [
      { key: 'florin', revision: 2, content: 'unknown', state: 'Running', beganMs: NOW },
      { key: 'guilder', revision: 1, state: 'Planned' },
    ],
  )
  t.equal(before.clusters.size, 0, 'the rollout before is as it was')
  t.end()
})

t.test('what a cluster says of its failure is shortened', t => {
  const refused: ClusterContent = { content: 'failed', isAway: false, message: `no ${'x'.repeat(100_000)}` }
  const { after } = stepped(rollout(1, 2, cluster('florin')), [sight('florin', 2)], refused)
  const { message } = after.clusters.get('florin')!
  t.match(message, /degraded there: no x+/)
  t.ok(message.length < 500, `${message.length} characters`)
  t.end()
})

t.test('clusters that left are listed, up to a bound', t => {
  const left = Array.from({ length: 150 }, (_, i) => cluster(`left-${i}`))
  const { after } = stepped(rollout(1, 2, cluster('florin'), ...left), [sight('florin', 2)], HEALTHY)
  t.equal(after.clusters.size, 101)
  t.match(after.clusters.get('left-0'), { state: 'Skipped', reason: 'ClusterGone' })
  t.end()
})

t.test('a rollout that fails goes back, unless it is pinned or there is nothing to go back to', t => {
  const strategy = { ...rollout(1, 2).strategy, onFailure: 'Rollback' as const }
  const failed = cluster('florin', { content: 'failed', state: 'Failed' })
  const refused: ClusterContent = { content: 'failed', isAway: false, message: 'no' }
  const state = (from: number, pinned?: number) =>
    stepped({ ...rollout(from, 2, failed), strategy }, [sight('florin', 2)], refused, pinned).after.state
  t.equal(state(1), 'RolledBack')
  t.equal(state(1, 2), 'Failed')
  t.equal(state(0), 'Failed')
  t.equal(state(2), 'Failed')
  t.end()
})

t.test('a rollout that is done stays so while those that were away catch up', t => {
  const done: Rollout = { ...rollout(1, 2, cluster('florin', { state: 'Done', content: 'healthy' })), state: 'Done' }
  const { found, after } = stepped(done, [sight('florin', 2), sight('guilder', 1)], HEALTHY)
  t.same(found.start, ['guilder'])
  t.equal(after.state, 'Done')
  t.end()
})

t.test('no deadline runs while the placement itself is paused', t => {
  const progressive = { maxConcurrency: 1, progressDeadline: '15s' }
  const spec = { revision: 2, from: 1, run: 2, strategy: { type: 'Progressive', progressive } }
  const read = rolloutOf({ apiVersion: 'v1', kind: 'PlacementRollout', metadata: {}, spec })
  const facts = { ...cluster('florin'), name: 'florin', labels: {}, wasDone: false, away: false } as const
  const late = (isPaused: boolean, nowMs: number) =>
    stepOf(read, { clusters: [{ ...facts, beganMs: 5 }], nowMs, isPaused }).states.get('florin')
  t.match(late(false, 20_000), { state: 'Stuck' })
  t.match(late(true, 20_000), { state: 'Running', beganMs: 20_000 }, 'its time begins anew')
  t.end()
})
