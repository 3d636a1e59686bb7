import fc from 'fast-check'
import t from 'tap'
import { SERVER_SHORT, StatusError } from '../../src/apimachinery/errors.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { TerminalError } from '../../src/client/reconcileFailures.ts'
import type { KeyGuard } from '../../src/client/setAside/keyGuard.ts'
import { WorkQueue } from '../../src/client/workqueue.ts'
import { WorkTurns } from '../../src/program/workTurns.ts'
import { FakeClock, settle } from './support/fakeClock.ts'

t.test('a key added many times while it waits is worked on once', async t => {
  const queue = new WorkQueue()
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
  const queue = new WorkQueue()
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
  const queue = new WorkQueue({ clock, random: () => 0, baseMs: 100, maxMs: 350 })
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
  const queue = new WorkQueue({ clock, logger })
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
  const queue = new WorkQueue<{ n: number }>({ clock })
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
  const queue = new WorkQueue()
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
      const queue = new WorkQueue({ clock })
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

t.test('what is slow of one party keeps no other waiting', async t => {
  const clock = new FakeClock()
  const queue = new WorkQueue({ clock, party: key => key[0]! })
  const stop = new AbortController()
  const gates = new Map<string, () => void>()
  const run = queue.run(key => (key[0] === 'b' ? Promise.resolve() : new Promise<void>(open => gates.set(key, open))), {
    signal: stop.signal,
    concurrency: 2,
  })
  for (let i = 0; i < 8; i++) queue.add(`a${i}`)
  queue.add('b')
  for (let i = 0; i < 8; i++) {
    await settle()
    await clock.advance(1000)
  }
  t.strictSame(
    [...gates.keys()],
    ['a0', 'a1', 'a2', 'a3', 'a4'],
    'four slow ones, and those that were begun beside them',
  )
  t.equal(queue.size, 8, 'the other party is through; what is held back still counts')
  for (let i = 0; i < 8; i++) {
    for (const [key, open] of gates) {
      open()
      gates.delete(key)
    }
    await settle()
  }
  await queue.idle()
  stop.abort()
  await run
})

t.test('nothing that a party has to do is lost, however slow it is', async t => {
  const work = fc.array(fc.record({ party: fc.constantFrom('a', 'b', 'c'), ms: fc.integer({ min: 0, max: 900 }) }))
  const everythingRuns = fc.asyncProperty(work, async all => {
    const clock = new FakeClock()
    const queue = new WorkQueue<number>({ clock, party: i => all[i]!.party, id: String })
    const stop = new AbortController()
    const seen: number[] = []
    const run = queue.run(
      async i => {
        await new Promise<void>(resolve => clock.after(all[i]!.ms, resolve))
        seen.push(i)
      },
      { signal: stop.signal, concurrency: 3 },
    )
    for (const i of all.keys()) queue.add(i)
    for (let i = 0; i < all.length * 10 + 10 && queue.size > 0; i++) {
      await settle()
      await clock.advance(100)
    }
    await settle()
    stop.abort()
    await run
    return seen.length === all.length && new Set(seen).size === all.length
  })
  await t.resolves(fc.assert(everythingRuns, { numRuns: 60 }))
})

/** Never due, however slow the machine is. */
function oneSlice(): WorkTurns {
  return new WorkTurns({ clock: () => 0 })
}

/** Each look at it takes a millisecond: slices of five. */
function slowTurns(): WorkTurns {
  let ms = 0
  return new WorkTurns({ sliceMs: 5, clock: () => ms++ })
}

t.test('thousands of keys with nothing to do do not keep the loop to themselves', async t => {
  const queue = new WorkQueue({ turns: slowTurns() })
  const stop = new AbortController()
  let done = 0
  const atTurn: number[] = []
  for (let i = 0; i < 1000; i++) queue.add(`k${i}`)
  const run = queue.run(async () => void done++, { signal: stop.signal, concurrency: 64 })
  for (const idle = queue.idle(); done < 1000; ) {
    await new Promise(resolve => setImmediate(resolve))
    atTurn.push(done)
    if (done === 1000) await idle
  }
  stop.abort()
  await run
  const steps = atTurn.map((at, i) => at - (atTurn[i - 1] ?? 0))
  t.ok(Math.max(...steps) <= 10, `at most ${Math.max(...steps)} in a turn`)
})

t.test('many keys at a time are taken in by and by, and queued ones are worked on meanwhile', async t => {
  const queue = new WorkQueue<string>({ turns: slowTurns() })
  const stop = new AbortController()
  const seen: string[] = []
  let asked = 0
  function* many(): Generator<string> {
    for (; asked < 1000; asked++) yield `k${asked}`
  }
  const run = queue.run(async key => void seen.push(key), { signal: stop.signal })
  queue.addAll(many(), 'a')
  t.ok(asked < 10, `${asked} in the turn of the call`)
  queue.add('edit')
  queue.addAll(['other'], 'b')
  queue.addAll(['behind'], 'a')
  await queue.idle()
  t.equal(seen.length, 1003)
  t.ok(seen.indexOf('edit') < 20, `the edit was number ${seen.indexOf('edit')}`)
  t.ok(seen.indexOf('other') < 30, `another owner's was number ${seen.indexOf('other')}`)
  t.ok(seen.indexOf('behind') > seen.indexOf('k999'))
  stop.abort()
  await run
})

t.test(
  'a thousand owners with a key each are taken in in as many slices as their keys take, and not in a turn each',
  async t => {
    let asked = 0
    let turns = 0
    const later = (turn: () => void): void => {
      turns++
      setImmediate(turn)
    }
    const queue = new WorkQueue<string>({ turns: new WorkTurns({ sliceMs: 100, clock: () => asked++, later }) })
    const stop = new AbortController()
    const seen = new Set<string>()
    const run = queue.run(async key => void seen.add(key), { signal: stop.signal })
    queue.addAll(
      Array.from({ length: 200 }, (_, i) => `first${i}`),
      'first',
    )
    for (let i = 0; i < 1000; i++) queue.addAll([`k${i}`], `owner${i}`)
    await queue.idle()
    t.equal(seen.size, 1200)
    t.ok(turns < 150, `${turns} turns of the loop`)
    stop.abort()
    await run
  },
)

t.test('a queue that is stopped takes in no more', async t => {
  const queue = new WorkQueue<string>({ turns: slowTurns() })
  const stop = new AbortController()
  const run = queue.run(async () => {}, { signal: stop.signal })
  queue.addAll(
    Array.from({ length: 1000 }, (_, i) => `k${i}`),
    'a',
  )
  stop.abort()
  await run
  await queue.idle()
  t.equal(queue.size, 0)
})

t.test(
  'whatever is added how, each key is worked on after it was last named, and owners keep their order',
  async () => {
    const portion = fc.record({
      owner: fc.constantFrom('a', 'b', 'c'),
      keys: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 12 }),
      atOnce: fc.boolean(),
      turns: fc.nat(3),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(portion, { maxLength: 12 }), async portions => {
        const stop = new AbortController()
        let present = 0
        const workedAt = new Map<string, number>()
        const changedAt = new Map<string, number>()
        const drawn = new Map<string, number[]>()
        const queue = new WorkQueue<string>({ turns: slowTurns() })
        const run = queue.run(async key => void workedAt.set(key, present), { signal: stop.signal })
        for (const [place, { owner, keys, atOnce, turns }] of portions.entries()) {
          present++
          const names = keys.map(key => `${owner}${key}`)
          for (const name of names) changedAt.set(name, present)
          function* telling(): Generator<string> {
            for (const name of names) {
              drawn.set(owner, [...(drawn.get(owner) ?? []), place])
              yield name
            }
          }
          if (atOnce) for (const name of names) queue.add(name)
          else queue.addAll(telling(), owner)
          for (let turn = 0; turn < turns; turn++) await new Promise(resolve => setImmediate(resolve))
        }
        await queue.idle()
        for (const [key, at] of changedAt) {
          if ((workedAt.get(key) ?? 0) < at) throw new Error(`${key} changed at ${at}, seen ${workedAt.get(key)}`)
        }
        for (const [owner, places] of drawn) {
          if (places.some((place, i) => place < (places[i - 1] ?? 0))) throw new Error(`${owner}: ${places}`)
        }
        stop.abort()
        await run
      }),
      {
        numRuns: 200,
        // named again while its turn is awaited
        examples: [
          [
            [
              { owner: 'c', keys: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0], atOnce: false, turns: 1 },
              { owner: 'c', keys: [0], atOnce: false, turns: 2 },
              { owner: 'c', keys: [0, 0, 0, 1], atOnce: false, turns: 0 },
            ],
          ],
        ],
      },
    )
  },
)

t.test(
  'of a server short of room a line a minute tells, of a budget and of anything else one for each key',
  async t => {
    const told: string[] = []
    const note = ({ err, why }: { err?: Error; why?: string }): void => void told.push(err?.stack ?? `${why}`)
    const logger = { ...silentLogger, warn: note } as typeof silentLogger
    const clock = new FakeClock()
    const queue = new WorkQueue({ clock, logger, baseMs: 600_000, maxMs: 600_000 })
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

t.test('what can be done together is, the rest is worked on alone', async t => {
  const queue = new WorkQueue<string>({ turns: oneSlice() })
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
  const queue = new WorkQueue<string>({ guard, turns: oneSlice() })
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
    const queue = new WorkQueue<string>({ turns: oneSlice() })
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
