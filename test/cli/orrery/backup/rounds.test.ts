/** Backups at a steady pace: which rounds are taken, and at what time. */
import t from 'tap'
import { rounds } from '../../../../src/cli/orrery/backup/rounds.ts'
import { FakeClock, settle } from '../../../client/support/fakeClock.ts'

const HOUR_MS = 3_600_000

t.test('rounds come at their pace, a failed one is tried again soon, and a signal ends them', async t => {
  const clock = new FakeClock()
  const begun = clock.now()
  const ending = new AbortController()
  const [taken, failures]: [number[], unknown[]] = [[], []]
  const fault = new Error('away')
  const ended = rounds(
    async () => {
      taken.push(clock.now() - begun)
      if (taken.length === 2) throw fault
    },
    { everyMs: HOUR_MS, clock, signal: ending.signal, failed: error => failures.push(error) },
  )
  await settle()
  for (let minute = 0; minute < 130; minute++) {
    await clock.advance(60_000)
  }
  t.strictSame(taken, [0, HOUR_MS, HOUR_MS + 300_000, 2 * HOUR_MS + 300_000])
  t.strictSame(failures, [fault])
  ending.abort()
  await ended
})

t.test('the first round must succeed', async t => {
  const options = { everyMs: HOUR_MS, clock: new FakeClock(), signal: new AbortController().signal, failed() {} }
  await t.rejects(
    rounds(async () => {
      throw new Error('no such server')
    }, options),
    /no such server/,
  )
})
