/** Statuses of rollouts: what is written is read again, and large fleets fit. */
import t from 'tap'
import { type RolloutCluster, rolloutOf, statusOf } from '../../../../src/controllers/placement/rollout/rollout.ts'

const done = (i: number): RolloutCluster => ({
  key: `1bn9z3k2xk2c5f0d-mb-${String(i).padStart(36, '0')}`,
  cluster: `store-${i}-of-the-north`,
  inventory: 'root:imw1',
  group: 'production',
  state: 'Done',
  revision: 17,
  content: 'healthy',
  contentSinceMs: Date.parse('2026-11-30T12:00:00Z'),
  beganMs: Date.parse('2026-11-30T11:00:00Z'),
  reason: 'Healthy',
  message: '',
  isAway: false,
  hasJoined: false,
})
const failed = (i: number): RolloutCluster => ({
  ...done(i),
  state: 'Failed',
  content: 'failed',
  reason: 'ContentFailed',
  message: 'no',
})
const away = (i: number): RolloutCluster => ({ ...done(i), content: 'unknown', reason: 'ClusterAway', isAway: true })

function written(clusters: readonly RolloutCluster[]) {
  const before = rolloutOf({ apiVersion: 'v1', kind: 'x', metadata: {}, spec: { revision: 17 } })
  return statusOf({ ...before, clusters: new Map(clusters.map(one => [one.key, one])) })
}

t.test('the status of 8,000 clusters that are done is below 2 MiB', t => {
  const bytes = JSON.stringify(written(Array.from({ length: 8000 }, (_, i) => done(i)))).length
  t.ok(bytes < 2 * 1024 * 1024, `${bytes} bytes`)
  t.end()
})

t.test('rows are read as they were written', t => {
  const status = written([done(1), failed(2), away(3)])
  const { clusters } = rolloutOf({ apiVersion: 'v1', kind: 'x', metadata: {}, spec: { revision: 17 }, status })
  const [first, ...others] = [...clusters.values()]
  t.match(first, { state: 'Done', content: 'healthy', revision: 17, beganMs: done(1).beganMs })
  t.strictSame(others, [failed(2), away(3)])
  t.strictSame(statusOf(rolloutOf({ apiVersion: 'v1', kind: 'x', metadata: {}, status })).clusters, status.clusters)
  t.end()
})
