/** Two writers who disagree about an object do not keep a cluster busy. */
import t from 'tap'
import { RepairPace } from '../../../src/syncer/down/repairPace.ts'
import { FakeClock, SetClock } from '../../client/support/fakeClock.ts'

t.test('the first repairs are immediate, then ever slower, told once, and forgiven after a while', async t => {
  const clock = new FakeClock()
  const pace = new RepairPace(clock)
  const told: boolean[] = []
  let repairs = 0
  const startMs = clock.now()
  while (clock.now() - startMs < 60 * 60_000) {
    const waitMs = pace.waitMs('x')
    if (waitMs > 0) await clock.advance(waitMs)
    told.push(pace.repaired('x'))
    repairs++
  }
  t.ok(repairs > 10 && repairs < 40, `an hour of quarrel costs few repairs: ${repairs}`)
  t.same(told.slice(0, 5), [false, false, false, false, true])
  t.equal(told.filter(Boolean).length, 1)
  t.equal(pace.waitMs('other'), 0)
  await clock.advance(11 * 60_000)
  t.equal(pace.waitMs('x'), 0)
})

t.test('a clock that is set makes no hours of seconds, and forgives nothing', async t => {
  const clock = new SetClock()
  const pace = new RepairPace(clock)
  for (let i = 0; i < 6; i++) pace.repaired('x')
  const waitMs = pace.waitMs('x')
  clock.setMs = -3_600_000
  t.equal(pace.waitMs('x'), waitMs)
  clock.setMs = 3_600_000
  t.equal(pace.waitMs('x'), waitMs)
})
