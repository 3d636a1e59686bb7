/** Writers, watchers and readers all at once: the history that they make keeps every promise of a watch. */
import fc from 'fast-check'
import { rangeHolds } from '../../../src/storage/keys.ts'
import type { Key, Range, Revision, Store } from '../../../src/storage/store.ts'
import { brokenPromises, type Change, type Seen, type Snapshot, type StreamRecord } from '../../support/watchHistory.ts'
import { changeOf, keyText, seenInStore, storedItem } from '../../support/watchRecords.ts'
import { del, key, put, rangesAround, updated } from '../support.ts'
import type { Case } from './case.ts'

const keys: Key[] = ['s1', 's2'].flatMap(space =>
  ['deployments', 'pods'].flatMap(resource => ['a', 'b'].map(name => key(name, { space, resource }))),
)
const ranges = rangesAround(keys[0]!)
const anyKey = fc.constantFrom(...keys)
/** Where in the history, 0 the oldest and 1 the newest revision. */
const when = fc.double({ min: 0, max: 1, noNaN: true })

const anyWrite = fc.record({ how: fc.constantFrom('put', 'put', 'delete', 'compare', 'many'), key: anyKey })
const anyWriter = fc.array(anyWrite, { maxLength: 12 })
const anyReader = fc.record({
  range: fc.constantFrom(...ranges),
  after: when,
  resumeAt: fc.array(when, { maxLength: 3 }),
  limit: fc.integer({ min: 1, max: 3 }),
})
const anyPlan = fc.record({
  before: fc.array(anyWriter, { maxLength: 3 }),
  writers: fc.array(anyWriter, { minLength: 1, maxLength: 5 }),
  readers: fc.array(anyReader, { minLength: 1, maxLength: 4 }),
})
type AnyWrite = typeof anyWrite extends fc.Arbitrary<infer T> ? T : never
type AnyReader = typeof anyReader extends fc.Arbitrary<infer T> ? T : never

export const promiseCases: Case[] = [
  {
    name: 'watchers and readers see what was acknowledged, whatever writers do at once',
    async run(t, open) {
      const plans = fc.asyncProperty(anyPlan, async ({ before, writers, readers }) => {
        const { store } = await open({ maxHistoryEventsInMemory: 6 })
        const log: Change[] = []
        await Promise.all(before.map(writes => write(store, writes, log)))
        const newest = store.revision
        const followed = readers.map(({ range, after }) => new Follower(store, range, Math.round(after * newest)))
        const listed = readers.map(reader => list(store, reader))
        await Promise.all(writers.map(writes => write(store, writes, log)))
        log.sort((a, b) => a.revision - b.revision)
        const through = store.revision
        if (log.length !== through) throw new Error(`${log.length} writes have ${through} revisions`)
        const streams = await Promise.all(followed.map(follower => follower.end(log, through)))
        const resumed = await Promise.all(streams.map((whole, i) => resume(store, readers[i]!, whole, log)))
        const snapshots = (await Promise.all(listed)).flat()
        const broken = brokenPromises({ log, snapshots, streams: [...streams, ...resumed.flat()] })
        await store.close()
        if (broken.length > 0) throw new Error(JSON.stringify(broken, undefined, 1))
      })
      await fc.assert(plans, { numRuns: 12 })
      t.pass('every promise was kept')
    },
  },
]

async function write(store: Store, writes: readonly AnyWrite[], log: Change[]): Promise<void> {
  for (const [i, { how, key }] of writes.entries()) {
    const data = `${how} ${i}`
    if (how === 'compare') {
      const expect = (await store.get(key))?.revision ?? 0
      const result = await store.write({ key, mutation: put(data), expect })
      if (result.ok) log.push(changeOf('put', result.stored))
    } else if (how === 'many') {
      const made = keys.map(each => ({ key: each, mutation: put(data), expect: 0 }))
      for (const result of await store.writeMany(made)) if (result.ok) log.push(changeOf('put', result.stored))
    } else {
      const type = how as 'put' | 'delete'
      const stored = await updated(store, key, () => (type === 'put' ? put(data) : del(data)))
      // nothing to delete is no write
      if (stored !== undefined) log.push(changeOf(type, stored))
    }
  }
}

/** Turns of the event loop in which an event that is on disk must have come. */
const PATIENCE = 20_000

/** Follows a range from somewhere in the history until it is told to end. */
class Follower {
  readonly #range: Range
  readonly #after: Revision
  readonly #seen: Seen[] = []
  readonly #end = new AbortController()
  readonly #run: Promise<void>

  constructor(store: Store, range: Range, after: Revision) {
    this.#range = range
    this.#after = after
    this.#run = this.#follow(store)
  }

  async end(log: readonly Change[], through: Revision): Promise<StreamRecord> {
    const selects = selecting(this.#range)
    const last = log.findLast(change => change.revision > this.#after && selects(change))?.revision ?? 0
    // what does not come is for the checker to tell
    for (let turns = 0; turns < PATIENCE && (this.#seen.at(-1)?.revision ?? 0) < last; turns++) await nextTurn()
    this.#end.abort()
    await this.#run
    return { name: JSON.stringify(this.#range), after: this.#after, seen: this.#seen, through, selects }
  }

  async #follow(store: Store): Promise<void> {
    for await (const batch of store.watch(this.#range, { after: this.#after, signal: this.#end.signal })) {
      this.#seen.push(...batch.map(seenInStore))
    }
  }
}

async function resume(
  store: Store,
  { range, resumeAt }: AnyReader,
  whole: StreamRecord,
  log: readonly Change[],
): Promise<StreamRecord[]> {
  return Promise.all(
    resumeAt.map(async part => {
      const after = whole.seen[Math.floor(part * (whole.seen.length - 1))]?.revision ?? whole.after
      const resumed = await new Follower(store, range, after).end(log, whole.through)
      return { ...resumed, name: `${whole.name} resumed`, resumes: whole }
    }),
  )
}

/** A whole list, page by page, while others write. */
async function list(store: Store, { range, limit }: AnyReader): Promise<Snapshot[]> {
  let page = await store.list(range, { limit })
  const { revision } = page
  const items = [...page.items]
  while (page.more) {
    // writers come between
    for (let i = 0; i < limit; i++) await nextTurn()
    page = await store.list(range, { limit, at: revision, after: items.at(-1)!.key })
    items.push(...page.items)
  }
  return [{ name: JSON.stringify(range), revision, items: items.map(storedItem), selects: selecting(range) }]
}

const nextTurn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

function selecting(range: Range): (change: Change) => boolean {
  const held = new Set(keys.filter(each => rangeHolds(range, each)).map(keyText))
  return ({ key }) => held.has(key)
}
