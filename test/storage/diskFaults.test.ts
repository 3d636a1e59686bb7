/** Whatever the disk does, and wherever a test holds it up: watches keep their promises, and what was acknowledged stays. */
import fc from 'fast-check'
import t from 'tap'
import { openJournaledStore } from '../../src/storage/journaledStore.ts'
import { isStorageError, type Store, type StoreEvent } from '../../src/storage/store.ts'
import { FaultPoints } from '../support/faultPoints.ts'
import { type Acknowledged, brokenPromises, type Seen } from '../support/watchHistory.ts'
import { changeOf, logOf, seenInStore } from '../support/watchRecords.ts'
import { FaultyJournal } from './faultyJournal.ts'
import { create, del, key, put, readWatch, textOf, updated } from './support.ts'

t.test('what is on disk, and not yet published, nobody sees', async t => {
  const points = new FaultPoints()
  const store = await openJournaledStore(new FaultyJournal(points))
  await create(store, key('a'))
  const watch = store.watch({}, { after: 1, signal: new AbortController().signal })[Symbol.asyncIterator]()
  const first = watch.next()
  const held = points.hold('publish delayed')
  const writing = create(store, key('b'))
  await held.reached
  t.equal(store.revision, 1)
  t.equal(await store.get(key('b')), undefined)
  t.match(await store.list({}), { revision: 1, items: { length: 1 } })
  const chained = updated(store, key('b'), () => put('again'))
  held.release()
  t.equal(await writing, 2)
  t.equal(textOf(await chained), '3:again')
  t.strictSame(
    [...(await first).value, ...(await watch.next()).value].map((e: StoreEvent) => e.revision),
    [2, 3],
  )
  await store.close()
})

t.test(
  'a torn batch was never acknowledged or seen; what is left of it is history, and no revision is used twice',
  async t => {
    const points = new FaultPoints()
    const journal = new FaultyJournal(points)
    const store = await openJournaledStore(journal)
    await create(store, key('a'))
    const watch = store.watch({}, { after: 1, signal: new AbortController().signal })[Symbol.asyncIterator]()
    const seen = watch.next()
    points.arm('journal.append torn')
    const names = ['b', 'c', 'd', 'e']
    const lost = await Promise.allSettled(names.map(name => create(store, key(name))))
    t.ok(lost.every(({ status }) => status === 'rejected'))
    t.equal(store.revision, 1)
    await store.close()
    await t.rejects(seen, { code: 'Closed' }, 'the watch heard of nothing')
    const again = await openJournaledStore(journal)
    t.equal(again.revision, 3, 'half of it')
    t.equal(await create(again, key('f')), 4)
    t.strictSame(
      (await readWatch(again, {}, 0, 4)).map(({ key, revision }) => `${revision} ${key.name}`),
      ['1 a', '2 b', '3 c', '4 f'],
    )
    await again.close()
  },
)

const names = ['a', 'b', 'c']
const anyLife = fc.record({
  faults: fc.array(
    fc.record({
      point: fc.constantFrom('journal.append fails' as const, 'journal.append torn' as const),
      skip: fc.nat(6),
    }),
    { maxLength: 1 },
  ),
  held: fc.array(
    fc.record({
      point: fc.constantFrom('journal.append waits' as const, 'publish delayed' as const),
      skip: fc.nat(4),
    }),
    { maxLength: 3 },
  ),
  writers: fc.array(
    fc.array(fc.record({ isDeletion: fc.boolean(), name: fc.constantFrom(...names) }), { maxLength: 6 }),
    {
      minLength: 1,
      maxLength: 4,
    },
  ),
})
type Life = typeof anyLife extends fc.Arbitrary<infer T> ? T : never

t.test('over many lives of a store on a bad disk', async t => {
  const lives = fc.asyncProperty(fc.array(anyLife, { minLength: 1, maxLength: 4 }), async lives => {
    const points = new FaultPoints()
    const journal = new FaultyJournal(points)
    const acknowledged: Acknowledged[] = []
    const seen: Seen[] = []
    for (const life of lives) await live(life, journal, points, acknowledged, seen)
    points.clear()
    const store = await openJournaledStore(journal)
    const log = await logOf(store)
    if (log.length !== store.revision) throw new Error(`${log.length} events have ${store.revision} revisions`)
    // what was written and not acknowledged may have come in a later life
    const through = Math.max(0, ...acknowledged.map(({ revision = 0 }) => revision))
    const whole = { name: 'resumed in each life', after: 0, through, seen }
    const { items, revision } = await store.list({})
    const snapshot = { name: 'in the end', revision, items: items.map(stored => changeOf('put', stored)) }
    const broken = brokenPromises({ log, acknowledged, streams: [whole], snapshots: [snapshot] })
    await store.close()
    if (broken.length > 0) throw new Error(JSON.stringify(broken, undefined, 1))
  })
  await fc.assert(lives, { numRuns: 150 })
  t.pass('every promise was kept')
})

async function live(
  { faults, held, writers }: Life,
  journal: FaultyJournal,
  points: FaultPoints,
  acknowledged: Acknowledged[],
  seen: Seen[],
): Promise<void> {
  points.clear()
  for (const { point, skip } of faults) points.arm(point, skip)
  for (const { point, skip } of held) {
    const hold = points.hold(point, skip)
    void hold.reached.then(() => setImmediate(hold.release))
  }
  const store = await openJournaledStore(journal)
  const watching = watch(store, seen)
  await Promise.all(writers.map(writes => write(store, writes, acknowledged)))
  await store.close()
  await watching
}

/** Until the store closes. */
async function watch(store: Store, seen: Seen[]): Promise<void> {
  const after = seen.at(-1)?.revision ?? 0
  try {
    for await (const batch of store.watch({}, { after, signal: new AbortController().signal }))
      seen.push(...batch.map(seenInStore))
  } catch (error) {
    if (!isStorageError(error, 'Closed')) throw error
  }
}

async function write(store: Store, writes: Life['writers'][number], acknowledged: Acknowledged[]): Promise<void> {
  for (const { isDeletion, name } of writes) {
    try {
      const stored = await updated(store, key(name), () => (isDeletion ? del() : put(name)))
      if (stored !== undefined) acknowledged.push(changeOf(isDeletion ? 'delete' : 'put', stored))
    } catch (error) {
      if (!isStorageError(error, 'Failed')) throw error
    }
  }
}
