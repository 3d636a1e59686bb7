// Turns: neither slow work of one party nor many keys at a time keep others, or the loop, waiting.

import t from 'tap'
import { systemClock } from '../../src/client/clock.ts'
import { WorkQueue } from '../../src/client/workqueue.ts'
import { WorkTurns } from '../../src/program/workTurns.ts'
import * as fc from '../support/fastCheck.ts'
import { timeBy } from '../support/time.ts'
import { FakeClock, settle } from './support/fakeClock.ts'

t.test('what is slow of one party keeps no other waiting', async t => {
  const clock = new FakeClock()
  const queue = new WorkQueue({ ...timeBy(clock), party: key => key[0]! })
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
    const queue = new WorkQueue<number>({ ...timeBy(clock), party: i => all[i]!.party, id: String })
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

/** Each look at it takes a millisecond: slices of five. */
function slowTurns(): WorkTurns {
  let ms = 0
  return new WorkTurns({ sliceMs: 5, clock: () => ms++ })
}

t.test('thousands of keys with nothing to do do not keep the loop to themselves', async t => {
  const queue = new WorkQueue({ turns: slowTurns(), clock: systemClock, random: () => 0.5 })
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
  const queue = new WorkQueue<string>({ turns: slowTurns(), clock: systemClock, random: () => 0.5 })
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
    const queue = new WorkQueue<string>({
      turns: new WorkTurns({ sliceMs: 100, clock: () => asked++, later }),
      clock: systemClock,
      random: () => 0.5,
    })
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
  const queue = new WorkQueue<string>({ turns: slowTurns(), clock: systemClock, random: () => 0.5 })
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
        const queue = new WorkQueue<string>({ turns: slowTurns(), clock: systemClock, random: () => 0.5 })
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
