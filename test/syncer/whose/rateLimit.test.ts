/** No more requests to a cluster than its operator allows. */
import t from 'tap'
import { TokenBucket } from '../../../src/syncer/whose/rateLimit.ts'
import { FakeClock, SetClock, settle } from '../../client/support/fakeClock.ts'
import * as fc from '../../support/fastCheck.ts'

t.test('a burst passes at once, then one for each tick of the rate, in the order of asking', async t => {
  const clock = new FakeClock()
  const bucket = new TokenBucket({ qps: 10, burst: 3, clock })
  const passed: number[] = []
  for (let i = 0; i < 6; i++) void bucket.take().then(() => passed.push(i))
  await settle()
  t.same(passed, [0, 1, 2])
  await clock.advance(99)
  t.same(passed, [0, 1, 2])
  await clock.advance(2)
  t.same(passed, [0, 1, 2, 3])
  await clock.advance(200)
  t.same(passed, [0, 1, 2, 3, 4, 5])
  t.equal(clock.pending, 0, 'an idle bucket has no timer')
})

t.test('a clock that is set back lets nobody wait, and one that is set forward lets no more pass', async t => {
  const clock = new SetClock()
  const bucket = new TokenBucket({ qps: 10, burst: 1, clock })
  const passed: number[] = []
  const take = (i: number) => void bucket.take().then(() => passed.push(i))
  for (const i of [0, 1, 2, 3]) take(i)
  await settle()
  clock.setMs = -3_600_000
  await clock.advance(110)
  t.same(passed, [0, 1])
  clock.setMs = 3_600_000
  await clock.advance(100)
  t.same(passed, [0, 1, 2])
})

t.test('in no window do more pass than the burst and the rate together allow', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 10 }),
      fc.array(fc.record({ ask: fc.integer({ min: 0, max: 8 }), waitMs: fc.integer({ min: 0, max: 400 }) }), {
        maxLength: 12,
      }),
      async (qps, burst, steps) => {
        const clock = new FakeClock()
        const bucket = new TokenBucket({ qps, burst, clock })
        const passedAtMs: number[] = []
        for (const { ask, waitMs } of steps) {
          for (let i = 0; i < ask; i++) void bucket.take().then(() => passedAtMs.push(clock.now()))
          await settle() // who may pass now notes the time before it moves
          await clock.advance(waitMs)
        }
        await clock.advance(200_000)
        if (passedAtMs.length !== steps.reduce((sum, { ask }) => sum + ask, 0)) throw new Error('somebody still waits')
        for (const [i, start] of passedAtMs.entries()) {
          for (const [j, end] of passedAtMs.entries()) {
            if (j < i) continue
            if (j - i + 1 > burst + ((end - start) / 1000) * qps + 1e-3) throw new Error('too many')
          }
        }
      },
    ),
    { numRuns: 40 },
  )
})

t.test('without a rate there is no limit; after the end nobody waits', async t => {
  await new TokenBucket({ qps: 0, burst: 0, clock: new FakeClock() }).take()
  const stop = new AbortController()
  const bucket = new TokenBucket({ qps: 1, burst: 1, clock: new FakeClock(), signal: stop.signal })
  await bucket.take()
  const waiting = bucket.take()
  stop.abort()
  await t.rejects(waiting, /stopping/)
  await t.rejects(bucket.take(), /stopping/)
})
