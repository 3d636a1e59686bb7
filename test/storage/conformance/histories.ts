/** The watch promises, checked over recorded histories of random writers that run at once. */
import type { Test } from 'tap'
import type { Key, Range, Store, StoreEvent } from '../../../src/storage/store.ts'
import { del, Model, put, rangesAround, readWatch, seen, textOf, updated } from '../support.ts'
import type { Case } from './case.ts'

const keys: Key[] = ['s1', 's2'].flatMap(space =>
  ['pods', 'deployments'].flatMap(resource =>
    ['a', 'b', 'c'].map(name => ({ space, group: resource === 'pods' ? '' : 'apps', resource, namespace: 'ns', name })),
  ),
)
const ranges = [...rangesAround(keys[0]!), ...rangesAround(keys[10]!)]

/** A small generator of our own, so that a failure can be run again. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return sides => {
    state = (state * 1103515245 + 12345) % 2147483648
    return Math.floor((state / 2147483648) * sides)
  }
}

interface Acknowledged {
  revision: number
  type: 'put' | 'delete'
  key: Key
  data: string
}

/** Random writers at once; returns what was acknowledged to them. */
async function write(store: Store, seed: number, writers: number, opsEach: number): Promise<Acknowledged[]> {
  const acknowledged: Acknowledged[] = []
  const writer = async (id: number): Promise<void> => {
    const roll = dice(seed * 1000 + id)
    for (let op = 0; op < opsEach; op++) {
      // Out of step with the others, so that some writes come while a batch is on its way to disk.
      for (let turns = roll(4); turns > 0; turns--) await new Promise(resolve => setImmediate(resolve))
      const key = keys[roll(keys.length)]!
      const data = `${seed}/${id}/${op}`
      const type = roll(4) === 0 ? 'delete' : 'put'
      const mutation = type === 'put' ? put(data) : del(data)
      if (roll(3) === 0) {
        const current = await store.get(key)
        const writes = [{ key, mutation, expect: current?.revision ?? 0 }]
        for (const result of await store.writeMany(writes))
          if (result.ok) acknowledged.push({ revision: result.stored.revision, type, key, data })
      } else {
        const stored = await updated(store, key, () => mutation)
        if (stored !== undefined) acknowledged.push({ revision: stored.revision, type, key, data })
      }
    }
  }
  await Promise.all(Array.from({ length: writers }, (_, id) => writer(id)))
  return acknowledged.sort((a, b) => a.revision - b.revision)
}

/** The model after the acknowledged writes; fails when their revisions are not 1, 2, 3, … */
function modelOf(t: Test, acknowledged: readonly Acknowledged[], model = new Model()): Model {
  for (const { revision, type, key, data } of acknowledged) {
    if (revision !== model.revision + 1) t.fail(`revision ${revision} acknowledged behind ${model.revision}`)
    model.apply(type, key, data)
  }
  return model
}

async function sameFrom(t: Test, store: Store, model: Model, range: Range, after: number): Promise<void> {
  const expected = model.eventsAfter(after, range)
  const events = await readWatch(store, range, after, expected.at(-1)?.revision ?? 0)
  t.same(events.map(seen), expected, `watch of ${JSON.stringify(range)} behind ${after}`)
}

async function sameAt(t: Test, store: Store, model: Model, range: Range, at: number): Promise<void> {
  const page = await store.list(range, { at })
  const expected = model.stateAt(at, range)
  t.same(page.items.map(textOf), expected.map(e => e.text), `list of ${JSON.stringify(range)} at ${at}`) // biome-ignore format: one comparison
}

export const historyCases: Case[] = [
  {
    name: 'live watches of every range are ordered, unique, gapless and never ahead of the store',
    async run(t, open) {
      const { store } = await open()
      const end = new AbortController()
      let early = 0
      const watched = ranges.map(async range => {
        const events: StoreEvent[] = []
        for await (const batch of store.watch(range, { after: 0, signal: end.signal })) {
          if (batch.length === 0) t.fail('an empty batch')
          for (const event of batch) {
            if (event.revision > store.revision) early++
            if (event.type === 'put' && (await store.get(event.key)) === undefined && store.revision === event.revision)
              t.fail('an event that cannot be read')
          }
          events.push(...batch)
        }
        return events
      })
      const model = modelOf(t, await write(store, 1, 16, 12))
      // Everything is published before it is acknowledged; one more turn lets the readers take it.
      await new Promise(resolve => setImmediate(resolve))
      end.abort()
      t.equal(early, 0)
      t.equal(model.revision, store.revision)
      for (const [i, events] of (await Promise.all(watched)).entries())
        t.same(events.map(seen), model.eventsAfter(0, ranges[i]!), `watch of ${JSON.stringify(ranges[i])}`)
    },
  },
  {
    name: 'watches that begin while others write join the live events without a gap or a repeat',
    async run(t, open) {
      // So little in memory that the beginning comes from the journal.
      const { store } = await open({ maxHistoryEventsInMemory: 5 })
      const before = await write(store, 2, 8, 20)
      const watched: Promise<[Range, number, StoreEvent[]]>[] = []
      const end = new AbortController()
      const roll = dice(99)
      const writing = write(store, 3, 8, 20)
      for (let i = 0; i < 40; i++) {
        await store.update(keys[i % keys.length]!, () => undefined)
        const range = ranges[i % ranges.length]!
        const after = roll(store.revision)
        const read = async (): Promise<[Range, number, StoreEvent[]]> => {
          const events: StoreEvent[] = []
          for await (const batch of store.watch(range, { after, signal: end.signal })) events.push(...batch)
          return [range, after, events]
        }
        watched.push(read())
      }
      const model = modelOf(t, [...before, ...(await writing)])
      for (const range of ranges) await sameFrom(t, store, model, range, 0)
      end.abort()
      for (const [range, after, events] of await Promise.all(watched))
        t.same(
          events.map(seen),
          model.eventsAfter(after, range),
          `joined watch of ${JSON.stringify(range)} behind ${after}`,
        )
    },
  },
  {
    name: 'lists of the past are right while others write',
    async run(t, open) {
      for (const maxHistoryEventsInMemory of [1000, 5, 0]) {
        const { store } = await open({ maxHistoryEventsInMemory })
        const before = await write(store, 7, 8, 10)
        const lists: { range: Range; at: number; texts: (string | undefined)[] }[] = []
        let writing = true
        const reader = async (id: number): Promise<void> => {
          const roll = dice(id)
          for (let i = 0; writing && i < 60; i++) {
            const range = ranges[roll(ranges.length)]!
            const at = store.revision - roll(Math.min(40, store.revision))
            const page = await store.list(range, { at })
            lists.push({ range, at, texts: page.items.map(textOf) })
            if (roll(2) === 0) await new Promise(resolve => setImmediate(resolve))
          }
        }
        const readers = Array.from({ length: 12 }, (_, id) => reader(id))
        const after = await write(store, 8, 8, 20)
        writing = false
        await Promise.all(readers)
        const model = modelOf(t, [...before, ...after])
        const wrong = lists.filter(
          ({ range, at, texts }) => JSON.stringify(texts) !== JSON.stringify(model.stateAt(at, range).map(s => s.text)),
        )
        t.same(wrong, [], `${lists.length} lists`)
      }
    },
  },
  {
    name: 'a watch resumes from every revision and a list shows every revision, from memory and from the journal',
    async run(t, open) {
      for (const maxHistoryEventsInMemory of [1000, 7]) {
        const { store } = await open({ maxHistoryEventsInMemory })
        const model = modelOf(t, await write(store, 4, 8, 10))
        for (let revision = 0; revision <= model.revision; revision++) {
          await sameFrom(t, store, model, ranges[revision % ranges.length]!, revision)
          await sameAt(t, store, model, ranges[(revision + 3) % ranges.length]!, revision)
        }
      }
    },
  },
  {
    name: 'watches and lists go on where they were after the data is opened again',
    async run(t, open) {
      const { store, reopen } = await open()
      if (reopen === undefined) {
        t.pass('the engine keeps nothing')
        return
      }
      const model = modelOf(t, await write(store, 5, 8, 10))
      const again = await reopen()
      t.equal(again.revision, model.revision)
      modelOf(t, await write(again, 6, 4, 5), model)
      for (let revision = 0; revision <= model.revision; revision++) {
        await sameFrom(t, again, model, ranges[revision % ranges.length]!, revision)
        await sameAt(t, again, model, ranges[(revision + 3) % ranges.length]!, revision)
      }
    },
  },
]
