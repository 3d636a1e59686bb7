/** How long copies take on their way is counted stage by stage, of a few at a time. */
import t from 'tap'
import { CopyTimings, newStageTimes, TIMED } from '../../../../src/controllers/placement/mailboxes/copyTimings.ts'
import { PendingChanges } from '../../../../src/controllers/placement/mailboxes/pendingChanges.ts'
import { EDGE_PLACEMENTS, SLICES } from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { ALL_MAPS, configMap, MAPS, placement, replicaSet, SETS, slice, world } from '../translatorWorld.ts'

function setUp() {
  const clock = new FakeClock()
  const stages = newStageTimes()
  const timings = new CopyTimings(clock, stages)
  const changes = new PendingChanges({ timings, now: () => clock.now() })
  const counted = () =>
    Object.entries(stages).map(([stage, { counts, sum }]) => [stage, counts.reduce((all, one) => all + one, 0), sum])
  return { clock, timings, changes, counted }
}

t.test('each stage begins where the one before ends', async t => {
  const { clock, timings, changes, counted } = setUp()
  changes.name('a')
  const ticket = changes.ticket('a')
  await clock.advance(1000)
  await changes.write('a', async () => {
    await clock.advance(2000)
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: '7' } }
  })
  changes.converged('a', ticket)
  t.equal(changes.behindSinceMs, clock.now())
  await clock.advance(4000)
  changes.processed(6)
  changes.processed(7)
  t.equal(changes.behindSinceMs, undefined)
  await clock.advance(8000)
  timings.returned('a')
  timings.returned('a')
  t.same(counted(), [
    ['selected', 0, 0],
    ['projected', 1, 1],
    ['delivered', 1, 2],
    ['applied', 1, 4],
    ['returned', 1, 12],
  ])
})

t.test('what is as it should be without a write, or gone, is not counted', async t => {
  const { changes, counted } = setUp()
  changes.name('a')
  changes.converged('a', changes.ticket('a'))
  changes.name('b')
  changes.gone('b', 1)
  t.same(
    counted().map(([, count]) => count),
    [0, 0, 0, 0, 0],
  )
})

t.test('of what is placed in bulk the first ones are timed, and what reports nothing makes room', async t => {
  const { timings, counted } = setUp()
  const go = (key: string) => {
    timings.projected(key)
    timings.written(key)
    timings.processed(key, () => false)
  }
  for (let i = 0; i <= TIMED; i++) timings.named(`k${i}`)
  for (let i = 0; i <= TIMED; i++) go(`k${i}`)
  t.equal(counted()[1]![1], TIMED)
  timings.named('later')
  go('later')
  t.equal(counted()[1]![1], TIMED + 1)
})

t.test('what a cluster refuses is not applied, until it is', async t => {
  const { clock, timings, changes, counted } = setUp()
  const applied = () => counted()[3]
  const refused = new Set(['a', 'b'])
  const isInDoubt = (key: string) => refused.has(key)
  const send = (key: string, revision: number) => {
    changes.name(key)
    changes.begin(key)
    changes.changed(key, revision)
    changes.end(key)
  }
  for (const [i, key] of ['a', 'b', 'c'].entries()) send(key, i + 1)
  await clock.advance(1000)
  changes.processed(3, isInDoubt)
  t.same(applied(), ['applied', 1, 1], 'the one that went well')
  await clock.advance(1000)
  refused.delete('a')
  changes.processed(3, isInDoubt)
  t.same(applied(), ['applied', 2, 3], 'what was tried again took until then')
  // another change of what is refused begins anew
  await clock.advance(60_000)
  refused.delete('b')
  send('b', 4)
  await clock.advance(1000)
  changes.processed(4, isInDoubt)
  t.same(applied(), ['applied', 3, 4])
  for (let i = 0; i < TIMED; i++) {
    send(`refused${i}`, 10 + i)
    refused.add(`refused${i}`)
  }
  changes.processed(10 + TIMED, isInDoubt)
  send('later', 100)
  changes.processed(100, isInDoubt)
  t.equal(applied()![1], 4, 'it keeps nobody else from being timed')
  timings.gone('later')
})

t.test('what is written is selected once, when something selects it', async t => {
  const { server, wds, figures } = await world(t, new FakeClock())
  const selected = async () => {
    await server.quiet()
    const { counts, sum } = figures().stageTimes.selected
    return [counts.reduce((all, one) => all + one, 0), sum]
  }
  await wds.create(MAPS, configMap('before', {}))
  // which has the translator write into the objects, too
  await wds.create(EDGE_PLACEMENTS, placement('ep', { ...ALL_MAPS, wantSingletonReportedState: true }))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  t.same(await selected(), [0, 0], 'what was there before the placement waited for that')
  const written = await wds.create(MAPS, configMap('later', {}))
  t.same(await selected(), [1, 2])
  await wds.create(SETS, replicaSet('other'))
  t.same(await selected(), [1, 2])
  const { metadata } = server.peek('wds1', MAPS, 'later', 'commonstuff')!
  t.not(metadata.resourceVersion, written.metadata.resourceVersion)
  await wds.update(MAPS, { ...written, metadata, data: { x: '1' } })
  t.same(await selected(), [2, 4])
})
