/** Whatever the disk does, and wherever a test holds it up: watches keep their promises, and what was acknowledged stays. */
import t from 'tap'
import { openJournaledStore } from '../../src/storage/journaledStore.ts'
import { isStorageError, type Store, type StoreEvent } from '../../src/storage/store.ts'
import * as fc from '../support/fastCheck.ts'
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

t.test('a full disk refuses writes, and the one on its way ends once there is room', async t => {
  for (const point of ['journal.append full', 'journal.append full, and kept'] as const) {
    const points = new FaultPoints()
    const journal = new FaultyJournal(points)
    const retries: (() => void)[] = []
    const { promise: isFull, resolve: full } = Promise.withResolvers<void>()
    const retry = (turn: () => void): void => {
      retries.push(turn)
      full()
    }
    const told: string[] = []
    const logger = {
      warn: (_: object, text: string) => told.push(text),
      error: (_: object, text: string) => told.push(text),
    }
    const store = await openJournaledStore(journal, { retry, logger })
    await create(store, key('a'))
    await create(store, key('b'))
    points.arm(point)
    const writing = updated(store, key('a'), () => put('2'))
    await isFull
    const refused = { ok: false, refused: { reason: 'Shortage', message: /disk of the server is full/ } }
    t.match(await store.update(key('b'), () => del()), refused, 'a deletion, too')
    t.match(await store.update(key('a'), () => put('3')), refused, 'what waits for the one on its way, too')
    t.match(await store.write({ key: key('c'), mutation: put('c'), expect: 0 }), refused)
    t.equal(textOf(await store.get(key('a'))), '1:a', 'nobody sees what is not acknowledged')

    points.arm('journal.reopen full')
    retries.shift()!()
    while (retries.length === 0) await new Promise(setImmediate)
    retries.shift()!()
    t.equal(textOf(await writing), '3:2')
    t.equal(await create(store, key('c')), 4)
    t.match(await store.update(key('b'), () => del()), { ok: true })
    t.match(told, [/^the disk is full/, /^the disk has room again/])
    await store.close()
    const again = await openJournaledStore(journal)
    t.equal(again.revision, 5)
    t.strictSame((await again.list({})).items.map(textOf), ['3:2', '4:c'])
    await again.close()
  }
})

t.test('a store ends although its disk is full; its last write was never acknowledged', async t => {
  const points = new FaultPoints()
  const { promise: isFull, resolve: full } = Promise.withResolvers<() => void>()
  const store = await openJournaledStore(new FaultyJournal(points), { retry: full, logger: { warn() {}, error() {} } })
  points.arm('journal.append full')
  const writing = create(store, key('a'))
  const turn = await isFull
  const closing = store.close()
  turn()
  await t.rejects(writing, { code: 'Failed' })
  await closing
})

const names = ['a', 'b', 'c']
const anyLife = fc.record({
  faults: fc.array(
    fc.record({
      point: fc.constantFrom(
        'journal.append fails' as const,
        'journal.append torn' as const,
        'journal.append full' as const,
        'journal.append full, and kept' as const,
        'journal.reopen full' as const,
      ),
      skip: fc.nat(6),
    }),
    { maxLength: 3 },
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
  await fc.assert(lives, { numRuns: 100 })
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
  const logger = { warn() {}, error() {} }
  const store = await openJournaledStore(journal, { retry: setImmediate, logger })
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
      const result = await store.update(key(name), () => (isDeletion ? del() : put(name)))
      if (!result.ok) continue
      const { stored } = result
      if (stored !== undefined) acknowledged.push(changeOf(isDeletion ? 'delete' : 'put', stored))
    } catch (error) {
      if (!isStorageError(error, 'Failed')) throw error
    }
  }
}
