// Keys that are worked on together with others of their kind.
import t from 'tap'
import { systemClock } from '../../src/client/clock.ts'
import type { KeyGuard } from '../../src/client/setAside/keyGuard.ts'
import { WorkQueue } from '../../src/client/workqueue.ts'
import { WorkTurns } from '../../src/program/workTurns.ts'
import { settle } from './support/fakeClock.ts'

/** Never due, however slow the machine is. */
function oneSlice(): WorkTurns {
  return new WorkTurns({ clock: () => 0 })
}

t.test('what can be done together is, the rest is worked on alone', async t => {
  const queue = new WorkQueue<string>({ turns: oneSlice(), clock: systemClock, random: () => 0.5 })
  const stop = new AbortController()
  const alone: string[] = []
  const bundles: string[][] = []
  const together = {
    most: 3,
    atOnce: 4,
    concerns: (key: string) => key.startsWith('t'),
    prepare: (key: string) => (key.startsWith('t') ? key.toUpperCase() : undefined),
    work: async (keys: readonly string[]) => {
      bundles.push([...keys])
      if (keys.includes('T-FAULT')) throw new Error('all of it')
      return keys.map(key => key !== 'T-ODD')
    },
  }
  for (const key of ['t1', 'a', 't2', 't-odd', 't4', 'b', 't5']) queue.add(key)
  const run = queue.run(async key => void alone.push(key), { signal: stop.signal, concurrency: 8, together })
  await queue.idle()
  t.strictSame(bundles, [
    ['T1', 'T2', 'T-ODD'],
    ['T4', 'T5'],
  ])
  t.strictSame(alone, ['a', 'b', 't-odd'])

  for (const key of ['t-fault', 't1']) queue.add(key)
  await queue.idle()
  t.strictSame(alone.slice(3), ['t-fault', 't1'], 'where all fails, each alone says why')
  t.equal(queue.size, 0)
  stop.abort()
  await run
})

t.test('a key that changes while it is done together is worked on again, and ends are told to the guard', async t => {
  const begun: string[] = []
  const ended: number[] = []
  const guard: KeyGuard = {
    holds: () => undefined,
    begin: id => begun.push(id),
    end: ticket => void ended.push(ticket),
    intake: () => ({ ticket: 0, isCareful: false }),
  }
  const queue = new WorkQueue<string>({ guard, turns: oneSlice(), clock: systemClock, random: () => 0.5 })
  const stop = new AbortController()
  const gate = Promise.withResolvers<void>()
  let works = 0
  const together = {
    most: 10,
    atOnce: 4,
    concerns: () => true,
    prepare: (key: string) => key,
    work: async (keys: readonly string[]) => {
      t.strictSame(begun.length - ended.length, keys.length, 'noted before anything is done')
      if (works++ === 0) await gate.promise
      return keys.map(() => true)
    },
  }
  for (const key of ['a', 'b']) queue.add(key)
  const run = queue.run(async key => void t.fail(key), { signal: stop.signal, together })
  await settle()
  queue.add('b')
  await settle()
  t.equal(works, 1, 'never beside itself')
  gate.resolve()
  await queue.idle()
  t.strictSame(begun, ['a', 'b', 'b'])
  t.strictSame(ended, [1, 2, 3])
  stop.abort()
  await run
})

t.test(
  'where as much is done together as may be, the next ones wait for each other, and not others for them',
  async t => {
    const queue = new WorkQueue<string>({ turns: oneSlice(), clock: systemClock, random: () => 0.5 })
    const stop = new AbortController()
    const alone: string[] = []
    const bundles: string[][] = []
    const gates: (() => void)[] = []
    const together = {
      most: 2,
      atOnce: 1,
      concerns: (key: string) => key.startsWith('t'),
      prepare: (key: string) => (key === 't-alone' ? undefined : key),
      work: async (keys: readonly string[]) => {
        bundles.push([...keys])
        await new Promise<void>(resolve => gates.push(resolve))
        return keys.map(() => true)
      },
    }
    for (const key of ['t1', 'a', 't2', 'b', 't3', 'c']) queue.add(key)
    const run = queue.run(async key => void alone.push(key), { signal: stop.signal, concurrency: 4, together })
    await settle()
    t.strictSame(bundles, [['t1', 't2']])
    t.strictSame(alone, ['a', 'b'], 'what is before them')
    for (const key of ['t4', 't-alone', 't5']) queue.add(key)
    await settle()
    t.equal(bundles.length, 1)
    gates.shift()!()
    await settle()
    t.strictSame(bundles.slice(1), [['t3', 't4']], 'as many as can be')
    t.strictSame(alone.slice(2), ['c'])
    gates.shift()!()
    await settle()
    t.strictSame(alone.slice(3), ['t-alone'])
    t.strictSame(bundles.slice(2), [['t5']])
    queue.add('t6')
    await settle()
    t.equal(bundles.length, 3)
    stop.abort()
    gates.shift()!()
    await run
    t.equal(bundles.length, 3, 'what is held when the queue is stopped is not begun')
  },
)
