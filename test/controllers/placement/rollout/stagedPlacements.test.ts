/** Placements with a strategy, by space. */
import t from 'tap'
import { LiveContent } from '../../../../src/controllers/placement/join/leadContent.ts'
import { Workload } from '../../../../src/controllers/placement/join/workload.ts'
import { StagedPlacement } from '../../../../src/controllers/placement/rollout/stagedPlacement.ts'
import { StagedPlacements } from '../../../../src/controllers/placement/rollout/stagedPlacements.ts'
import { readStrategy } from '../../../../src/placement/rollout/strategy.ts'
import { ONE_BY_ONE } from './rolloutWorld.ts'

function staged(space: string, name: string): StagedPlacement {
  const workload = new Workload(
    () => {},
    () => false,
  )
  const strategy = readStrategy(ONE_BY_ONE).strategy!
  return new StagedPlacement(
    { space, name, uid: 'u' },
    { strategy, written: ONE_BY_ONE, historyLimit: 10 },
    { isNew: true, wasLive: false },
    { live: new LiveContent(workload, name), workload, read: async () => undefined, now: () => 0, changed: () => {} },
  )
}

t.test('two spaces have placements of one name, and each is known once its own are loaded', t => {
  const placements = new StagedPlacements()
  const [first, second, other] = [staged('w1', 'ep'), staged('w2', 'ep'), staged('w1', 'other')]
  for (const placement of [first, second, other]) placements.add(placement)
  t.equal(placements.get('w1', 'ep'), first)
  t.equal(placements.ofRevision('w2', 'ep.12'), second)
  t.same([placements.isKnown('w1'), placements.isKnown('w2'), placements.isKnown('w3')], [false, false, true])
  placements.loaded(first)
  t.equal(placements.isKnown('w1'), false, 'another one of the space is not loaded')
  placements.loaded(other)
  t.same([placements.isKnown('w1'), placements.isKnown('w2')], [true, false])
  t.end()
})

t.test('rollouts that go on are found by their space, and none of a placement that is gone', t => {
  const placements = new StagedPlacements()
  const [first, second] = [staged('w1', 'ep'), staged('w2', 'ep')]
  for (const placement of [first, second]) {
    placements.add(placement)
    placements.rolls(placement)
  }
  t.same([...placements.in('w1')], [first])
  t.equal(placements.isRolling(first), true)
  placements.delete(first)
  placements.rolls(first)
  t.same([...placements.in('w1')], [])
  t.same([placements.get('w1', 'ep'), placements.isRolling(first), placements.isAnyRolling], [undefined, false, true])
  placements.rests(second)
  t.equal(placements.isAnyRolling, false)
  t.end()
})
