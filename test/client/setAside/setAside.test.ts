/** Keys that may have ended the process before. Each `life` is a process; it ends when the next one begins. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { SetAside } from '../../../src/client/setAside/setAside.ts'
import { WorkQueue } from '../../../src/client/workqueue.ts'
import { endlessTurns } from '../../support/endlessTurns.ts'
import { FakeClock, settle } from '../support/fakeClock.ts'

const MINUTE = 60_000

function world(t: Test) {
  const dataDir = t.testdir()
  const clock = new FakeClock()
  const end = new AbortController()
  t.teardown(() => end.abort())
  let lives = 0
  /** A process with one queue. `deadly` keys never come to an end, as those of which it dies; `slow` takes fifteen seconds. */
  const life = (deadly: readonly string[] = [], bootedMs?: number) => {
    const own = ++lives
    let timers = 0
    const time = {
      now: () => clock.now(),
      after: (ms: number, run: () => void) => {
        timers++
        return clock.after(ms, () => own === lives && run())
      },
    }
    const log: string[] = []
    const note =
      (level: string) =>
      (fields: object, message: string): void =>
        void log.push(`${level} ${message} ${JSON.stringify(fields)}`)
    const logger = { debug() {}, info: note('info'), warn: note('warn'), error: note('error') }
    const setAside = new SetAside({ dataDir, logger, clock: time, ...(bootedMs !== undefined && { bootedMs }) })
    const begun: string[] = []
    const postponed = new Set<string>()
    const held: string[] = []
    const queue = new WorkQueue<string>({
      turns: endlessTurns(),
      guard: setAside.guardFor('q'),
      held: (key, hold) => held.push(hold ? `${key} ${hold.deaths}` : `${key} goes`),
      clock: time,
      random: () => 0.5,
    })
    void queue.run(
      key => {
        begun.push(key)
        if (postponed.has(key)) return Promise.resolve({ postponed: true })
        if (key === 'slow') return new Promise(resolve => void time.after(15_000, () => resolve(undefined)))
        return deadly.includes(key) ? new Promise(() => {}) : Promise.resolve()
      },
      { signal: end.signal },
    )
    const add = async (...keys: string[]): Promise<void> => {
      for (const key of keys) queue.add(key)
      await settle()
    }
    return { setAside, queue, begun, postponed, held, log, add, timers: () => timers }
  }
  return { clock, life, dataDir }
}

t.test('what ran at an end waits a little, then is tried one by one; nothing else waits', async t => {
  const { clock, life } = world(t)
  const first = life(['a', 'b'])
  await first.add('done')
  await first.add('a', 'b')
  const second = life(['a'])
  t.match(second.log, [/^info the server did not end in order.*"keys":\["q: a","q: b"\],"count":2/])
  await second.add('a', 'b', 'c', 'done')
  t.strictSame(second.begun, ['c', 'done'])
  t.strictSame(second.held, ['a 0', 'b 0'])
  t.strictSame([...second.setAside.counts()], [['q', 2]])
  t.equal(second.queue.size, 0)
  await second.add('a', 'b')
  await clock.advance(4999)
  t.strictSame(second.begun, ['c', 'done'])
  await clock.advance(1)
  t.strictSame(second.begun, ['c', 'done', 'a'], 'the second one waits for the first, which goes on')

  const third = life()
  t.equal(third.log.length, 1)
  t.match(
    third.log[0],
    /^error the server ended while it worked on this key alone.*"controller":"q","key":"a","deaths":1/,
  )
  await third.add('a', 'b')
  t.strictSame(third.held, ['a 1', 'b 0'])
  await clock.advance(6000)
  t.strictSame(third.begun, ['b'], 'the other one had not been begun')
  await clock.advance(24_000 - 1)
  t.strictSame(third.begun, ['b'])
  await clock.advance(1)
  t.strictSame(third.begun, ['b', 'a'])
  t.match(third.log.at(-1), /^info a key that was set aside is worked on again .*"key":"a"/)
  t.strictSame([...third.setAside.counts()], [])
  await third.add('a')
  t.strictSame(third.begun, ['b', 'a', 'a'], 'it is as any other')
  await clock.advance(11 * MINUTE)
  t.equal(clock.pending, 0, 'and forgotten')
})

t.test('each end that is its own makes it wait longer, unless somebody asks for it', async t => {
  const { clock, life } = world(t)
  await life(['a']).add('a')
  const begins = async (waitMs: number, ask: boolean): Promise<void> => {
    const { add, begun } = life(['a'])
    await add('a')
    if (ask) {
      await clock.advance(61_000)
      await add('a', 'a')
    }
    await clock.advance(waitMs - 1)
    t.strictSame(begun, [])
    await clock.advance(1)
    t.strictSame(begun, ['a'], `after ${waitMs} ms`)
  }
  await begins(5000, false)
  for (const waitMs of [30_000, MINUTE, 2 * MINUTE, 2 * MINUTE, 10 * MINUTE, 60 * MINUTE, 24 * 60 * MINUTE])
    await begins(waitMs, false)
  await begins(60 * MINUTE, true)
})

/** Lives in which two bad keys end the process one after the other, until that takes longer than `mostMs`. */
async function untilRest({ clock, life }: ReturnType<typeof world>, others: readonly string[], mostMs: number) {
  for (let ends = 0; ends < 20; ends++) {
    const last = life(['a', 'b'])
    await last.add('a', 'b', ...others)
    const isOver = () => last.begun.includes('a') || last.begun.includes('b')
    for (let waitedMs = 0; !isOver() && waitedMs < mostMs; waitedMs += 1000) await clock.advance(1000)
    if (!isOver()) return { last, ends }
  }
  return undefined
}

t.test('two bad keys both come to rest, and an innocent one goes on', async t => {
  const here = world(t)
  const { clock, life } = here
  await life(['a', 'b', 'good']).add('a', 'b', 'good')
  const rest = await untilRest(here, ['good'], 3 * MINUTE)
  t.equal(rest?.ends, 10, 'five ends by each')
  t.strictSame(rest?.last.begun, ['good'])
  t.strictSame(rest?.last.held.slice(0, 2), ['a 5', 'b 5'])
  for (let waitedMs = 0; waitedMs < 10 * MINUTE && rest?.last.begun.length === 1; waitedMs += 1000)
    await clock.advance(1000)
  const hour = await untilRest(here, ['good'], 11 * MINUTE)
  t.strictSame(hour?.last.begun, ['good'])
  t.strictSame(hour?.last.held.slice(0, 2), ['a 6', 'b 6'], 'each once more')
})

t.test('a slow one comes to its end beside bad ones', async t => {
  const here = world(t)
  await here.life(['a', 'b', 'slow']).add('slow', 'a', 'b')
  const rest = await untilRest(here, ['slow'], 3 * MINUTE)
  t.strictSame(rest?.last.begun, ['slow'])
  t.match(rest?.last.held.toString(), /a 5/)
  t.notMatch(rest?.last.held.toString(), /slow [2-9]/, 'blamed for the next one once at most')
})

t.test('one that came to its own end begins anew; an end that blames another changes nothing', async t => {
  for (const isInnocent of [true, false]) {
    const { clock, life } = world(t)
    await life(['a']).add('a')
    for (let end = 0; end < 5; end++) {
      await life(['a']).add('a')
      await clock.advance(2 * MINUTE)
    }
    const between = life(isInnocent ? [] : ['b'])
    if (isInnocent) {
      await between.add('a')
      await clock.advance(10 * MINUTE)
      t.strictSame(between.begun, ['a'])
      const running = life(['a'])
      await running.add('a')
      t.strictSame(running.begun, ['a'])
    } else await between.add('b')
    const last = life()
    await last.add('a')
    await clock.advance(2 * MINUTE)
    t.strictSame(last.begun, isInnocent ? ['a'] : [])
  }
})

t.test('a kill within each trial of an innocent one leaves no trace once it came to its end', async t => {
  const { clock, life } = world(t)
  await life(['a']).add('a')
  for (let round = 0; round < 10; round++) {
    const killed = life(['a'])
    await killed.add('a')
    await clock.advance(2 * MINUTE)
    const next = life()
    await next.add('a')
    t.equal(next.held[0], 'a 1')
    await clock.advance(30_000)
    t.strictSame(next.begun, ['a'], 'after seconds')
    await life(['a']).add('a')
  }
})

t.test('an end of the machine blames only what was tried alone', async t => {
  const { clock, life } = world(t)
  const machine = (deadly: readonly string[]) => life(deadly, Date.now() + MINUTE)
  await life(['a', 'b']).add('a', 'b')
  const second = machine(['a', 'b'])
  t.match(second.log, [/^info the whole machine ended: only work that was tried alone is set aside/])
  await second.add('a', 'b')
  t.strictSame(second.begun, ['a', 'b'])
  const third = life(['a', 'b'])
  await third.add('a', 'b')
  t.strictSame(third.held, ['a 0', 'b 0'])
  await clock.advance(5000)
  t.strictSame(third.begun, ['a'])
  await third.add('c')
  for (let deaths = 1; deaths <= 5; deaths++) {
    const next = machine(['a'])
    await next.add('a', 'c')
    t.equal(next.held[0], `a ${deaths}`)
    t.ok(next.begun.includes('c'), 'nothing else waits')
    await clock.advance(2 * MINUTE)
    t.equal(next.begun.includes('a'), deaths < 5)
  }
})

t.test('what is postponed has not been tried', async t => {
  const { clock, life } = world(t)
  await life(['a']).add('a')
  const second = life(['a'])
  second.postponed.add('a')
  await second.add('a')
  await clock.advance(5000)
  t.strictSame(second.begun, ['a'], 'it is not known enough')
  second.postponed.clear()
  await second.add('a')
  const third = life()
  await third.add('a')
  t.strictSame(third.held, ['a 1'], 'it was to blame')
})

t.test(
  'those that were postponed together are tried one by one all the same, when they come together again',
  async t => {
    const { clock, life } = world(t)
    await life(['a', 'b']).add('a', 'b')
    const second = life(['a', 'b'])
    second.postponed.add('a').add('b')
    await second.add('a', 'b')
    await clock.advance(30_000)
    t.strictSame(second.begun, ['a', 'b'])
    second.postponed.clear()
    await second.add('a', 'b')
    t.strictSame(second.begun, ['a', 'b', 'a'])
    const third = life()
    await third.add('a', 'b')
    t.strictSame(third.held, ['a 1', 'b 0'], 'who only waited is not to blame')
  },
)

t.test('one that a slow start asks for only after minutes is tried alone', async t => {
  const { clock, life } = world(t)
  await life(['a']).add('a')
  const second = life(['a'])
  await clock.advance(5 * MINUTE)
  await second.add('a')
  t.strictSame(second.begun, ['a'])
  const third = life()
  await third.add('a')
  t.strictSame(third.held, ['a 1'])
})

t.test('one that is asked for anew is tried earlier', async t => {
  const { clock, life } = world(t)
  await life(['a']).add('a')
  const second = life(['a'])
  await second.add('a')
  await clock.advance(5000)
  for (const waitMs of [30_000, MINUTE, 2 * MINUTE, 2 * MINUTE]) {
    const again = life(['a'])
    await again.add('a')
    await clock.advance(waitMs)
  }
  const third = life()
  await third.add('a')
  await third.add('a')
  await clock.advance(2 * MINUTE)
  t.strictSame(third.begun, [], 'at the beginning everything is new')
  await third.add('a')
  await clock.advance(29_999)
  t.strictSame(third.begun, [])
  await clock.advance(1)
  t.strictSame(third.begun, ['a'])
})

t.test('what nobody asks for any more is forgotten', async t => {
  const { clock, life } = world(t)
  await life(['gone']).add('gone')
  const second = life()
  await clock.advance(10 * MINUTE)
  t.strictSame([...second.setAside.counts()], [])
  await second.add('gone')
  t.strictSame(second.begun, ['gone'])
})

t.test('one that is asked for only after its time goes at once, and is not told to be held after that', async t => {
  const { clock, life } = world(t)
  await life(['a']).add('a')
  const second = life(['a'])
  await second.add('a')
  await clock.advance(5000)
  const third = life(['a'])
  third.setAside.close()
  await clock.advance(20 * MINUTE)
  const fourth = life()
  await clock.advance(10_000)
  await fourth.add('a')
  t.strictSame(fourth.held.slice(-1), ['a goes'])
  t.strictSame(fourth.begun, ['a'])
})

t.test('of many that are asked for in a row each takes its place without a look at all of them', async t => {
  const { clock, life } = world(t)
  const keys = Array.from({ length: 100 }, (_, i) => `k${i}`)
  // as many as work at a time
  for (let i = 0; i < keys.length; i += 4) {
    const each = keys.slice(i, i + 4)
    await life(each).add(...each)
  }
  const last = life()
  const before = last.timers()
  await last.add(...keys)
  t.equal(last.held.length, keys.length)
  t.ok(last.timers() - before < 10, `timers: ${last.timers() - before}`)
  await clock.advance(MINUTE)
  t.strictSame(last.begun.toSorted(), keys.toSorted())
})

t.test('an orderly end accuses nobody, and keeps what was known', async t => {
  const { clock, life } = world(t)
  const first = life(['a'])
  await first.add('a')
  first.setAside.close()
  const second = life(['a'])
  await second.add('a')
  t.strictSame(second.begun, ['a'])
  const third = life(['a'])
  await third.add('a')
  await clock.advance(5000)
  const fourth = life()
  await fourth.add('a')
  fourth.setAside.close()
  const fifth = life()
  t.strictSame(fifth.log, [])
  await fifth.add('a')
  t.strictSame(fifth.held, ['a 1'])
})

t.test('who runs by chance whenever the process is killed is back within minutes', async t => {
  const { clock, life } = world(t)
  for (let kill = 0; kill < 30; kill++) {
    const { add } = life(['a', 'b', 'c'])
    await add('a', 'b', 'c')
    await clock.advance(700)
  }
  const last = life()
  await last.add('a', 'b', 'c')
  await clock.advance(10 * MINUTE)
  t.strictSame(last.begun.sort(), ['a', 'b', 'c'])
})

t.test('whatever the note says, and whatever the clock, no key waits for longer than its time', async t => {
  const { clock, life, dataDir } = world(t)
  const note = (text: string): void => writeFileSync(join(dataDir, 'set-aside.json'), text)
  const key = { queue: 'q', id: 'a', among: 1, alone: 1, diedMs: 9e15, dueMs: 9e15, lives: false }
  for (const text of ['', '{}', '[1,null,{"queue":"q"}]']) {
    note(text)
    const { add, begun, setAside } = life()
    await add('a')
    t.strictSame(begun, ['a'])
    setAside.close()
  }
  note(JSON.stringify([key]))
  const { add, begun } = life()
  await add('a')
  await clock.advance(10 * MINUTE)
  t.strictSame(begun, ['a'])
})

t.test('who need not add a key is told to all the same, until it was tried', async t => {
  const { clock, life } = world(t)
  await life(['a', 'b']).add('a', 'b')
  const second = life()
  const suspects = (key: string) => second.setAside.guardFor('q').suspects?.(() => key)
  t.strictSame(['a', 'b', 'c'].map(suspects), [true, true, false])
  await second.add('a')
  await clock.advance(6000)
  t.strictSame(second.begun, ['a'])
  t.strictSame(['a', 'b'].map(suspects), [false, true])
})
