import t from 'tap'
import { LookPace } from '../../../src/controllers/placement-translator/lookPace.ts'

t.test('some looks come soon after a quiet time, then one a second', async t => {
  const pace = new LookPace()
  let now = 1_000_000
  const waits: number[] = []
  const look = () => {
    const waitMs = pace.waitMs('w ep', now)
    waits.push(waitMs)
    now += waitMs
    pace.looked('w ep', now)
  }
  for (let i = 0; i < 8; i++) look()
  t.same(waits.slice(0, 4), [0, 250, 250, 250])
  t.same(waits.slice(5), [1000, 1000, 1000])
  t.equal(pace.waitMs('other', now), 0, 'each has its own')
  now += 60_000
  waits.length = 0
  for (let i = 0; i < 4; i++) look()
  t.same(waits, [0, 250, 250, 250])
  pace.forget('w ep')
  t.equal(pace.waitMs('w ep', now), 0)
})
