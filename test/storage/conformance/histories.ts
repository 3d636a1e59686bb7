/** Writers, watchers and readers all at once and at random: the history that they make keeps every promise of a watch. */
import { rangeHolds } from '../../../src/storage/keys.ts'
import type { Key, Range, Revision, Store } from '../../../src/storage/store.ts'
import * as fc from '../../support/fastCheck.ts'
import { OWN_PATIENCE_MS } from '../../support/patience.ts'
import { brokenPromises, type Change, type Seen, type Snapshot, type StreamRecord } from '../../support/watchHistory.ts'
import { changeOf, keyText, seenInStore, storedItem } from '../../support/watchRecords.ts'
import { del, key, put, rangesAround, updated } from '../support.ts'
import type { Case } from './case.ts'

const keys: Key[] = ['s1', 's2'].flatMap(space =>
  ['deployments', 'pods'].flatMap(resource => ['a', 'b', 'c'].map(name => key(name, { space, resource }))),
)
const anyRange = fc.constantFrom(...rangesAround(keys[0]!), ...rangesAround(keys.at(-1)!))
/** Where in the history, 0 the oldest and 1 the newest revision. */
const when = fc.double({ min: 0, max: 1, noNaN: true })

const anyWrite = fc.record({
  how: fc.constantFrom('put', 'put', 'delete', 'compare', 'many'),
  key: fc.constantFrom(...keys),
  /** Out of step with the others, so that some writes come while a batch is on its way to disk. */
  turns: fc.nat(3),
})
const anyWriters = fc.array(fc.array(anyWrite, { maxLength: 12 }), { minLength: 1, maxLength: 8 })
const anyReaders = fc.array(
  fc.record({
    range: anyRange,
    after: when,
    resumeAt: fc.array(when, { maxLength: 3 }),
    listsPast: fc.boolean(),
    limit: fc.integer({ min: 1, max: 4 }),
  }),
  { minLength: 1, maxLength: 8 },
)
type Of<A> = A extends fc.Arbitrary<infer T> ? T : never
type Reader = Of<typeof anyReaders>[number]

export const historyCases: Case[] = [
  {
    name: 'watchers and readers see what was acknowledged, whatever writers do at once',
    async run(t, open) {
      // so little in memory that the beginning comes from the journal, or all of it there
      const inMemory = fc.constantFrom(1000, 6, 0)
      const promises = fc.asyncProperty(inMemory, anyWriters, anyWriters, anyReaders, async (...plan) => {
        const [maxHistoryEventsInMemory, before, writers, readers] = plan
        const { store } = await open({ maxHistoryEventsInMemory })
        const log: Change[] = []
        await write(store, before, log)
        const { revision } = store
        const followers = readers.map(({ range, after }) => new Follower(store, range, Math.round(after * revision)))
        const lists = readers.map(reader => list(store, reader))
        await write(store, writers, log)
        const streams = await Promise.all(followers.map(follower => follower.end(log)))
        const resumed = readers.flatMap(({ resumeAt }, i) =>
          resumeAt.map(part => resume(store, streams[i]!, part, log)),
        )
        const snapshots = await Promise.all(lists)
        keep(store, log, [...streams, ...(await Promise.all(resumed))], snapshots)
        await store.close()
      })
      await fc.assert(promises, { numRuns: 12 })
      t.pass('every promise was kept')
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
      const log: Change[] = []
      const [before, after] = fc.sample(anyWriters, 2)
      await write(store, before!, log)
      const whole = await new Follower(store, {}, 0).end(log)
      const again = await reopen()
      t.equal(again.revision, log.length)
      await write(again, after!, log)
      const revisions = Array.from({ length: log.length + 1 }, (_, revision) => revision)
      const ranges = rangesAround(keys[0]!)
      const streams = revisions.map(revision =>
        new Follower(again, ranges[revision % ranges.length]!, revision).end(log),
      )
      const resumed = revisions.map((_, i) => resume(again, whole, i / revisions.length, log))
      const snapshots = revisions.map(at => list(again, { range: ranges[at % ranges.length]!, limit: 100 }, at))
      keep(again, log, await Promise.all([...streams, ...resumed]), await Promise.all(snapshots))
      t.pass('every promise was kept')
    },
  },
]

/** @throws Error that names the promises that were not kept */
function keep(
  store: Store,
  log: readonly Change[],
  streams: readonly StreamRecord[],
  snapshots: readonly Snapshot[],
): void {
  if (log.length !== store.revision) throw new Error(`${log.length} writes have ${store.revision} revisions`)
  const broken = brokenPromises({ log, streams, snapshots })
  if (broken.length > 0) throw new Error(JSON.stringify(broken, undefined, 1))
}

/** Writers at once; what is acknowledged to them goes into the log. */
async function write(store: Store, writers: Of<typeof anyWriters>, log: Change[]): Promise<void> {
  const writer = async (writes: (typeof writers)[number], id: number): Promise<void> => {
    for (const [i, { how, key, turns }] of writes.entries()) {
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      await writeOne(store, how, key, `${how} ${id}/${i}`, log)
    }
  }
  await Promise.all(writers.map(writer))
  log.sort((a, b) => a.revision - b.revision)
}

async function writeOne(store: Store, how: string, key: Key, data: string, log: Change[]): Promise<void> {
  if (how === 'compare') {
    const expect = (await store.get(key))?.revision ?? 0
    const result = await store.write({ key, mutation: put(data), expect })
    if (result.ok) log.push(changeOf('put', result.stored))
  } else if (how === 'many') {
    const made = keys.map(each => ({ key: each, mutation: put(data), expect: 0 }))
    for (const result of await store.writeMany(made)) if (result.ok) log.push(changeOf('put', result.stored))
  } else {
    const type = how === 'put' ? 'put' : 'delete'
    const stored = await updated(store, key, () => ({ put, delete: del })[type](data))
    // nothing to delete is no write
    if (stored !== undefined) log.push(changeOf(type, stored))
  }
}

/** Follows a range from somewhere in the history until its end. */
class Follower {
  readonly range: Range
  readonly #after: Revision
  readonly #seen: Seen[] = []
  readonly #end = new AbortController()
  readonly #run: Promise<void>

  constructor(store: Store, range: Range, after: Revision) {
    this.range = range
    this.#after = after
    this.#run = this.#follow(store)
  }

  async end(log: readonly Change[]): Promise<StreamRecord & { range: Range }> {
    const { range } = this
    const selects = selecting(range)
    const last = log.findLast(change => change.revision > this.#after && selects(change))?.revision ?? 0
    // what does not come is for the checker to tell
    const begun = performance.now()
    while ((this.#seen.at(-1)?.revision ?? 0) < last && performance.now() - begun < OWN_PATIENCE_MS) await nextTurn()
    this.#end.abort()
    await this.#run
    const through = log.at(-1)?.revision ?? 0
    return { name: JSON.stringify(range), range, after: this.#after, seen: this.#seen, through, selects }
  }

  async #follow(store: Store): Promise<void> {
    for await (const batch of store.watch(this.range, { after: this.#after, signal: this.#end.signal })) {
      if (batch.length === 0) throw new Error('an empty batch')
      const newest = batch.at(-1)!
      if (newest.revision > store.revision) throw new Error(`${newest.revision} is told before it is there`)
      const stored = await store.get(newest.key)
      if (newest.type === 'put' && stored === undefined && store.revision === newest.revision)
        throw new Error(`${newest.revision} cannot be read`)
      this.#seen.push(...batch.map(seenInStore))
    }
  }
}

async function resume(
  store: Store,
  whole: StreamRecord & { range: Range },
  part: number,
  log: readonly Change[],
): Promise<StreamRecord> {
  const after = whole.seen[Math.floor(part * whole.seen.length)]?.revision ?? whole.after
  const rest = await new Follower(store, whole.range, after).end(log)
  return { ...rest, name: `${whole.name} resumed`, resumes: whole }
}

/** A whole list of now, or of the past, page by page, while others write. */
async function list(
  store: Store,
  { range, limit, listsPast = false, after = 0 }: Partial<Reader> & Pick<Reader, 'range' | 'limit'>,
  at = listsPast ? Math.round(after * store.revision) : undefined,
): Promise<Snapshot> {
  let page = await store.list(range, { limit, ...(at !== undefined && { at }) })
  const { revision } = page
  const items = [...page.items]
  while (page.more) {
    // writers come between
    for (let turn = 0; turn < limit; turn++) await nextTurn()
    page = await store.list(range, { limit, at: revision, after: items.at(-1)!.key })
    items.push(...page.items)
  }
  return { name: JSON.stringify(range), revision, items: items.map(storedItem), selects: selecting(range) }
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

function selecting(range: Range): (change: Change) => boolean {
  const held = new Set(keys.filter(each => rangeHolds(range, each)).map(keyText))
  return ({ key }) => held.has(key)
}
