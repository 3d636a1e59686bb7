// Life of a key: it waits once, is worked on, fails and comes again.

import t from 'tap'
import { SERVER_SHORT, StatusError } from '../../src/apimachinery/errors.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { TerminalError } from '../../src/client/reconcileFailures.ts'
import { WorkQueue } from '../../src/client/workqueue.ts'
import { endlessTurns } from '../support/endlessTurns.ts'
import * as fc from '../support/fastCheck.ts'
import { realTime, timeBy } from '../support/time.ts'
import { FakeClock, settle } from './support/fakeClock.ts'

t.test('a key added many times while it waits is worked on once', async t => {
  const queue = new WorkQueue({ ...realTime() })
  const stop = new AbortController()
  const seen: string[] = []
  for (const key of ['a', 'b', 'a', 'a']) queue.add(key)
  const run = queue.run(async key => void seen.push(key), { signal: stop.signal })
  await queue.idle()
  stop.abort()
  await run
  t.strictSame(seen, ['a', 'b'])
})

t.test('a key added while it is being worked on is worked on again, never beside itself', async t => {
  const queue = new WorkQueue({ ...realTime() })
  const stop = new AbortController()
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let running = 0
  let calls = 0
  const run = queue.run(
    async () => {
      t.equal(++running, 1)
      await gates[calls++]?.promise
      running--
    },
    { signal: stop.signal, concurrency: 4 },
  )
  queue.add('a')
  await settle()
  queue.add('a')
  queue.add('a')
  await settle()
  t.equal(calls, 1)
  gates[0]!.resolve()
  await settle()
  t.equal(calls, 2)
  gates[1]!.resolve()
  await queue.idle()
  t.equal(calls, 2)
  stop.abort()
  await run
})

t.test('failures are retried with growing delays, success forgets them', async t => {
  const clock = new FakeClock()
  const queue = new WorkQueue({ turns: endlessTurns(), clock, random: () => 0, baseMs: 100, maxMs: 350 })
  const stop = new AbortController()
  const atMs: number[] = []
  const startMs = clock.now()
  const run = queue.run(
    async () => {
      atMs.push(clock.now() - startMs)
      if (atMs.length !== 5) throw new Error('not yet')
    },
    { signal: stop.signal },
  )
  queue.add('a')
  await settle()
  await clock.advance(2000)
  t.strictSame(atMs, [0, 50, 150, 325, 500], 'half of 100, 200, 350, 350 with the lowest jitter')
  queue.add('a')
  await settle()
  await clock.advance(50)
  t.equal(atMs.at(-1), 2050, 'the next failure starts from the base again')
  stop.abort()
  await run
  t.equal(clock.pending, 0, 'no timer outlives the run')
})

t.test('a terminal error is logged once and not retried until the key is added again', async t => {
  const clock = new FakeClock()
  const errors: string[] = []
  const logger = { ...silentLogger, error: (_: object, message: string) => void errors.push(message) }
  const queue = new WorkQueue({ ...timeBy(clock), logger })
  const stop = new AbortController()
  let calls = 0
  const run = queue.run(
    async () => {
      calls++
      throw new TerminalError('never')
    },
    { signal: stop.signal },
  )
  queue.add('a')
  await settle()
  await clock.advance(1e6)
  t.strictSame([calls, errors.length], [1, 1])
  queue.add('a')
  await settle()
  t.equal(calls, 2)
  stop.abort()
  await run
})

t.test('addAfter and requeueAfterMs come back at their time, the earliest wish wins', async t => {
  const clock = new FakeClock()
  const queue = new WorkQueue<{ n: number }>({ ...timeBy(clock) })
  const stop = new AbortController()
  const startMs = clock.now()
  const atMs: number[] = []
  const run = queue.run(
    async () => {
      atMs.push(clock.now() - startMs)
      return atMs.length === 1 ? { requeueAfterMs: 1000 } : undefined
    },
    { signal: stop.signal },
  )
  queue.addAfter({ n: 1 }, 500)
  queue.addAfter({ n: 1 }, 200)
  queue.addAfter({ n: 1 }, 300)
  await clock.advance(5000)
  t.strictSame(atMs, [200, 1200])
  stop.abort()
  await run
})

t.test('the run ends when the running reconciles have ended, and takes nothing more', async t => {
  const queue = new WorkQueue({ ...realTime() })
  const stop = new AbortController()
  const gate = Promise.withResolvers<void>()
  let done = false
  let told = false
  const run = queue.run(
    async (_key, signal) => {
      signal.addEventListener('abort', () => (told = true))
      await gate.promise
      done = true
    },
    { signal: stop.signal, concurrency: 1 },
  )
  queue.add('a')
  queue.add('b')
  await settle()
  stop.abort()
  gate.resolve()
  await run
  t.ok(done && told)
  queue.add('c')
  t.equal(queue.size, 0)
})

t.test('whatever is added while work goes on and fails, every key is looked at after its last addition', async t => {
  const script = fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), turns: fc.nat(2), fails: fc.boolean() }), {
    maxLength: 20,
  })
  await fc.assert(
    fc.asyncProperty(script, fc.integer({ min: 1, max: 3 }), async (steps, concurrency) => {
      const clock = new FakeClock()
      const queue = new WorkQueue({ ...timeBy(clock) })
      const stop = new AbortController()
      const wanted = new Map<string, number>()
      const done = new Map<string, number>()
      const active = new Set<string>()
      const failures = steps.map(step => step.fails)
      const run = queue.run(
        async key => {
          if (active.has(key) || active.size >= concurrency) t.fail('too many at once')
          active.add(key)
          const seen = wanted.get(key)!
          await settle()
          active.delete(key)
          if (failures.pop()) throw new Error('scripted')
          done.set(key, seen)
        },
        { signal: stop.signal, concurrency },
      )
      for (const [index, { key, turns }] of steps.entries()) {
        wanted.set(key, index)
        queue.add(key)
        for (let turn = 0; turn < turns; turn++) await settle()
      }
      for (let round = 0; round < 30; round++) {
        await queue.idle()
        await clock.advance(60_000)
      }
      stop.abort()
      await run
      t.strictSame([...done].sort(), [...wanted].sort())
    }),
    { numRuns: 30 },
  )
})

t.test(
  'of a server short of room a line a minute tells, of a budget and of anything else one for each key',
  async t => {
    const told: string[] = []
    const note = ({ err, why }: { err?: Error; why?: string }): void => void told.push(err?.stack ?? `${why}`)
    const logger = { ...silentLogger, warn: note } as typeof silentLogger
    const clock = new FakeClock()
    const queue = new WorkQueue({ ...timeBy(clock), logger, baseMs: 600_000, maxMs: 600_000 })
    const stop = new AbortController()
    const short = () =>
      new StatusError('InsufficientStorage', 'the disk is nearly full', {
        causes: [{ reason: SERVER_SHORT, message: 'disk' }],
      })
    const failures: Record<string, Error> = {
      budget: new StatusError('InsufficientStorage', 'the space is full'),
      ours: new Error('ours'),
    }
    const run = queue.run(
      async key => {
        throw failures[key] ?? short()
      },
      { signal: stop.signal },
    )
    const fail = async (...keys: string[]): Promise<void> => {
      for (const key of keys) {
        queue.add(key)
        await settle()
      }
    }
    await fail('a', 'b', 'c', 'budget', 'ours', 'd')
    t.strictSame(told.splice(0, 2), ['the disk is nearly full', 'StatusError: the space is full'], 'no stack')
    t.match(told.splice(0), [/^Error: ours\n +at /])
    await clock.advance(60_000)
    await fail('e', 'f')
    t.strictSame(told, ['the disk is nearly full'])
    stop.abort()
    await run
  },
)
