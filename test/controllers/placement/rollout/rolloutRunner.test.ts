/** Steps of a rollout that meet what people write meanwhile. */
import t from 'tap'
import { LiveContent } from '../../../../src/controllers/placement/join/leadContent.ts'
import { Workload } from '../../../../src/controllers/placement/join/workload.ts'
import { ClusterPresence } from '../../../../src/controllers/placement/rollout/clusterPresence.ts'
import { rolloutOf } from '../../../../src/controllers/placement/rollout/rollout.ts'
import { RolloutRunner, type RolloutRunnerDeps } from '../../../../src/controllers/placement/rollout/rolloutRunner.ts'
import { StagedPlacement } from '../../../../src/controllers/placement/rollout/stagedPlacement.ts'
import { StagedPlacements } from '../../../../src/controllers/placement/rollout/stagedPlacements.ts'
import { readStrategy } from '../../../../src/placement/rollout/strategy.ts'
import { SetClock } from '../../../client/support/fakeClock.ts'
import { ONE_BY_ONE } from './rolloutWorld.ts'

/** A rollout of revision 2, and what people have written of it and not been seen yet. */
function running(written: { readonly pinned?: number; readonly paused?: boolean }) {
  const clock = new SetClock()
  const workload = new Workload(
    () => {},
    () => false,
  )
  const placement = new StagedPlacement(
    { space: 'w', name: 'ep', uid: 'u' },
    { strategy: readStrategy(ONE_BY_ONE).strategy!, written: ONE_BY_ONE, historyLimit: 10 },
    { isNew: false, wasLive: false },
    { live: new LiveContent(workload, 'ep'), workload, read: async () => undefined, now: () => 0, changed: () => {} },
  )
  for (const revision of [1, 2]) placement.rows.commit(revision, { by: '', at: '', objects: 1 })
  const spec = { revision: 2, from: 1, run: 2, strategy: ONE_BY_ONE }
  const object = { apiVersion: 'v1', kind: 'PlacementRollout', metadata: { resourceVersion: '1' }, spec }
  const rollout = rolloutOf(object)
  placement.rollout = rollout
  placement.finished = 1
  const statuses: unknown[] = []
  const moved: string[] = []
  const deps = {
    clock,
    store: {
      pinned: async () => written.pinned,
      rollout: async () => ({ ...object, spec: { ...spec, paused: written.paused } }),
      writeStatus: async (...[, , status]: [unknown, number, unknown]) => {
        statuses.push(status)
        return object
      },
    },
    join: {
      waysOf: () => new Map(['a', 'b'].map(name => [name, [{ cluster: 'inv', locationName: name }]])),
      spec: () => undefined,
      restage: (...[, , change, among]: [string, string, () => void, string[]]) => {
        change()
        moved.push(...among)
      },
    },
    tasks: { report: () => {} },
    labels: () => ({}),
    pathOf: () => 'root:imw1',
    look: () => ({ content: 'unknown', isAway: false, message: '' }),
    away: () => undefined,
    isSilent: () => false,
  }
  const presence = new ClusterPresence(deps)
  const runner = new RolloutRunner(deps as unknown as RolloutRunnerDeps, new StagedPlacements(), presence)
  return { placement, advance: () => runner.advance(placement, rollout), statuses, moved }
}

t.test('a step brings the revision to the next cluster, and is stored first', async t => {
  const { advance, statuses, moved } = running({})
  t.equal(await advance(), 0)
  t.match(statuses, [
    {
      clusters: [
        { key: 'a', revision: 2 },
        { key: 'b', revision: 1 },
      ],
    },
  ])
  t.same(moved, ['a'])
})

t.test('a pin or a pause that comes while a step is computed stops that step', async t => {
  const pinned = running({ pinned: 1 })
  t.equal(await pinned.advance(), 0)
  t.same([pinned.statuses, pinned.moved], [[], []])
  t.equal(pinned.placement.goal, 1, 'the rollout of the pin begins next')
  const paused = running({ paused: true })
  await paused.advance()
  t.same(paused.moved, [])
  t.match(paused.statuses, [{ state: 'Paused', clusters: [{ revision: 1 }, { revision: 1 }] }])
})
