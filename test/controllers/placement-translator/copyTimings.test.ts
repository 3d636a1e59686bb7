/** How long copies take on their way is counted stage by stage, of a few at a time. */
import t from 'tap'
import { CopyTimings, newStages, TIMED } from '../../../src/controllers/placement-translator/copyTimings.ts'
import { DesiredContent } from '../../../src/controllers/placement-translator/desiredContent.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'

function setUp() {
  const clock = new FakeClock()
  const stages = newStages()
  const timings = new CopyTimings(clock, stages)
  const desired = new DesiredContent({ timings, now: () => clock.now() })
  const counted = () =>
    Object.entries(stages).map(([stage, { counts, sum }]) => [stage, counts.reduce((all, one) => all + one, 0), sum])
  return { clock, timings, desired, counted }
}

t.test('each stage begins where the one before ends', async t => {
  const { clock, timings, desired, counted } = setUp()
  desired.name('a')
  const ticket = desired.ticket('a')
  await clock.advance(1000)
  await desired.write('a', async () => {
    await clock.advance(2000)
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { resourceVersion: '7' } }
  })
  desired.converged('a', ticket)
  t.equal(desired.behindSinceMs, clock.now())
  await clock.advance(4000)
  desired.processed(6)
  desired.processed(7)
  t.equal(desired.behindSinceMs, undefined)
  await clock.advance(8000)
  timings.returned('a')
  timings.returned('a')
  t.same(counted(), [
    ['projected', 1, 1],
    ['delivered', 1, 2],
    ['processed', 1, 4],
    ['returned', 1, 12],
  ])
})

t.test('what is as it should be without a write, or gone, is not counted', async t => {
  const { desired, counted } = setUp()
  desired.name('a')
  desired.converged('a', desired.ticket('a'))
  desired.name('b')
  desired.gone('b')
  t.same(
    counted().map(([, count]) => count),
    [0, 0, 0, 0],
  )
})

t.test('of what is placed in bulk the first ones are timed, and what reports nothing makes room', async t => {
  const { timings, counted } = setUp()
  const go = (key: string) => {
    timings.projected(key)
    timings.written(key)
    timings.processed(key)
  }
  for (let i = 0; i <= TIMED; i++) timings.named(`k${i}`)
  for (let i = 0; i <= TIMED; i++) go(`k${i}`)
  t.equal(counted()[0]![1], TIMED)
  timings.named('later')
  go('later')
  t.equal(counted()[0]![1], TIMED + 1)
})
