/** A token bucket as one number. */
import t from 'tap'
import { Rate } from '../../src/client/rate.ts'

t.test('some pass at once, the others one by one, and a pause saves up no more than at first', async t => {
  const rate = new Rate({ everyMs: 100, atOnce: 3 })
  let paid: number | undefined
  let now = 5_000
  const waits = (): number => {
    const waitMs = rate.waitMs(paid, now)
    now += waitMs
    paid = rate.paid(paid, now)
    return waitMs
  }
  t.same([waits(), waits(), waits(), waits(), waits()], [0, 0, 0, 100, 100])
  now += 150
  t.same([waits(), waits()], [0, 50])
  now += 3_600_000
  t.same([waits(), waits(), waits(), waits()], [0, 0, 0, 100])
})

t.test('whoever pays in advance makes the next one wait for longer', async t => {
  const rate = new Rate({ everyMs: 20, atOnce: 1 })
  const paid = rate.paid(rate.paid(undefined, 1_000), 1_000)
  t.equal(rate.waitMs(paid, 1_000), 40)
  t.equal(rate.waitMs(paid, 1_040), 0)
})
