/** A busy server gets no request for the time that it names, and then fewer of ours at a time for a while. */
import t from 'tap'
import { InFlight } from '../../../src/client/http/inFlight.ts'
import { FakeClock, SetClock, settle } from '../support/fakeClock.ts'

class Busy extends Error {
  readonly waitMs: number

  constructor(waitMs: number) {
    super('busy')
    this.waitMs = waitMs
  }
}
const limitOf = (most: number, clock = new FakeClock()) =>
  new InFlight(most, clock, error => (error instanceof Busy ? error.waitMs : undefined))

const never = new AbortController().signal

/** Requests that are answered when the test says so. */
function requests(limit: InFlight) {
  const under: { answer: () => void }[] = []
  let ended = 0
  const ask = (signal = never): void => {
    const send = async (): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>()
      under.push({ answer: resolve })
      await promise
    }
    void limit.run(send, signal).then(() => ended++)
  }
  return { under, ask, ended: () => ended }
}

t.test('no more than allowed are under way, and each answer lets the next one go', async t => {
  const limit = limitOf(2)
  const { under, ask, ended } = requests(limit)
  for (let i = 0; i < 4; i++) ask()
  await settle()
  t.equal(under.length, 2)
  under[0]!.answer()
  await settle()
  t.same([under.length, ended()], [3, 1])
  for (const { answer } of under) answer()
  await settle()
  under[3]!.answer()
  await settle()
  t.equal(ended(), 4)
})

t.test(
  'a busy server is asked nothing before its time, then half as much at a time, then more with each round',
  async t => {
    const clock = new FakeClock()
    const limit = limitOf(8, clock)
    const { under, ask } = requests(limit)
    const busy = (waitMs: number) =>
      limit.run(() => Promise.reject(new Busy(waitMs)), never).catch(error => t.type(error, Busy))
    await Promise.all([busy(3000), busy(2000)])
    t.equal(limit.limit, 4, 'what was sent beside it says the same and counts once')
    for (let i = 0; i < 6; i++) ask()
    await clock.advance(2999)
    t.equal(under.length, 0)
    await clock.advance(1)
    t.equal(under.length, 4)
    for (const { answer } of [...under]) answer()
    await settle()
    t.equal(limit.limit, 5)
  },
)

t.test('whoever ends need not wait for its turn', async t => {
  const clock = new FakeClock()
  const limit = limitOf(1, clock)
  const { under, ask, ended } = requests(limit)
  const stop = new AbortController()
  ask()
  ask(stop.signal)
  await settle()
  t.equal(under.length, 1)
  stop.abort()
  await settle()
  t.equal(under.length, 2)
  for (const { answer } of under) answer()
  await settle()
  t.equal(ended(), 2)
  await limit.run(() => Promise.reject(new Busy(1000)), never).catch(error => t.type(error, Busy))
  ask(stop.signal)
  await settle()
  t.equal(under.length, 3)
  under[2]!.answer()
  await settle()
  ask()
  await clock.advance(1000)
  t.equal(under.length, 4, 'the place is free again')
  under[3]!.answer()
})

t.test('a clock that is set back does not make a busy server one that is left alone for an hour', async t => {
  const clock = new SetClock()
  const limit = limitOf(2, clock)
  await t.rejects(limit.run(() => Promise.reject(new Busy(1000)), never))
  clock.setMs = -3_600_000
  let isAnswered = false
  const asked = limit.run(async () => {
    isAnswered = true
  }, never)
  await clock.advance(1000)
  t.ok(isAnswered)
  await asked
})
