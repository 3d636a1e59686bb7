/** Behaviour that no engine shows by itself: a disk that fails, the timer, memory that is packed anew. */
import t from 'tap'
import { BlockMaker } from '../../src/storage/blockMaker.ts'
import type { LoadedObjects } from '../../src/storage/journal.ts'
import { openJournaledStore } from '../../src/storage/journaledStore.ts'
import { MemoryJournal } from '../../src/storage/memory/memoryJournal.ts'
import type { Refusal } from '../../src/storage/store.ts'
import { FaultPoints } from '../support/faultPoints.ts'
import { FaultyJournal } from './faultyJournal.ts'
import { create, del, key, put, textOf, updated } from './support.ts'

t.test('after a failed batch nothing of it is visible, no write is taken, and reads go on', async t => {
  const points = new FaultPoints()
  const journal = new FaultyJournal(points)
  const store = await openJournaledStore(journal, { maxBatchBytes: 1 })
  await create(store, key('a'))
  const { signal } = new AbortController()
  const watch = store.watch({}, { after: 1, signal })[Symbol.asyncIterator]()
  const seen = watch.next()
  points.arm('journal.append fails')
  const lost = await Promise.allSettled([
    store.write({ key: key('b'), mutation: put('b'), expect: 0 }),
    store.update(key('b'), () => put('b2')),
    store.update(key('b'), () => undefined),
    store.update(key('b'), () => {
      throw new Error('a thought about what never was')
    }),
    store.write({ key: key('b'), mutation: put('b'), expect: 77 }),
    store.writeMany([
      { key: key('c'), mutation: put('c'), expect: 0 },
      { key: key('d'), mutation: put('d'), expect: 0 },
    ]),
  ])
  for (const result of lost)
    t.match(result, { status: 'rejected', reason: { code: 'Failed', cause: { message: 'no space left on device' } } })
  await t.rejects(create(store, key('e')), { code: 'Failed' }, 'it stays so, whatever the disk says by now')
  t.equal(journal.appends, 2)
  t.equal(store.revision, 1)
  t.equal(textOf(await store.get(key('a'))), '1:a')
  t.equal(await store.count({}), 1)
  await store.close()
  await t.rejects(seen, { code: 'Closed' }, 'the watch heard of nothing')
})

t.test('nothing is visible before its batch is on disk; writers that come meanwhile share the next one', async t => {
  const points = new FaultPoints()
  const [one, two] = [points.hold('journal.append waits'), points.hold('journal.append waits')]
  const journal = new FaultyJournal(points)
  const store = await openJournaledStore(journal)
  const first = create(store, key('a'))
  await one.reached
  const others = ['b', 'c', 'd'].map(name => create(store, key(name)))
  t.equal(await store.get(key('a')), undefined)
  t.match(await store.list({}), { items: [], revision: 0 })
  one.release()
  t.equal(await first, 1)
  await two.reached
  t.equal(await store.count({}), 1)
  two.release()
  t.same(await Promise.all(others), [4, 4, 4])
  t.equal(journal.appends, 2, 'one batch for three')
  await store.close()
})

t.test('a list of the past is right at whatever moment a commit falls into it', async t => {
  for (const maxHistoryEventsInMemory of [100, 0])
    for (let delay = 0; delay < 20; delay++) {
      const points = new FaultPoints()
      const held = points.hold('journal.append waits', 1)
      const store = await openJournaledStore(new FaultyJournal(points), { maxHistoryEventsInMemory })
      await create(store, key('a'), key('b'))
      const writing = store.update(key('a'), () => put('new'))
      await held.reached
      held.release()
      for (let i = 0; i < delay; i++) await null
      t.same((await store.list({}, { at: 1 })).items.map(textOf), ['1:a'], `${delay} microtasks after the disk`)
      await writing
      await store.close()
    }
})

t.test('history is compacted by itself, and a failure of that is reported', async t => {
  let now = 10_000
  let tick = (): void => {}
  let stopped = 0
  const warnings: string[] = []
  class Journal extends MemoryJournal {
    done = Promise.withResolvers<void>()
    override async compact(through: number): Promise<void> {
      await super.compact(through)
      this.done.resolve()
      if (through === 2) throw new Error('cannot')
    }
  }
  const journal = new Journal()
  const reported = Promise.withResolvers<void>()
  const store = await openJournaledStore(journal, {
    historyAgeMs: 1000,
    clock: () => now,
    every: (intervalMs, run) => {
      t.equal(intervalMs, 100)
      tick = run
      return () => stopped++
    },
    logger: {
      warn: (_, msg) => {
        warnings.push(msg)
        reported.resolve()
      },
      error: (_, msg) => void t.fail(msg),
    },
  })
  await create(store, key('a'))
  now += 1001
  tick()
  await journal.done.promise
  t.equal(store.compactedRevision, 1)
  t.same(warnings, [])
  await create(store, key('b'))
  now += 1001
  tick()
  await reported.promise
  t.equal(warnings.length, 1)
  await store.close()
  t.equal(stopped, 1)
})

t.test('of a projection that throws the log tells once', async t => {
  const errors: [object, string][] = []
  const note = (obj: object, msg: string): void => void errors.push([obj, msg])
  const logger = { warn: note, error: note }
  const store = await openJournaledStore(new MemoryJournal(), { logger })
  const range = { group: 'apps', resource: 'deployments' }
  let broken = false
  const build = (): void => {
    if (broken) throw new Error('a bug')
  }
  store.project(range, { reset: build, apply: build })
  broken = true
  await create(store, key('a'), key('b'), key('c'))
  await create(store, key('d'))
  t.match(errors, [
    [{ err: { message: 'a bug' }, ...range }, /threw/],
    [{ err: { message: 'a bug' }, ...range }, /cannot be built/],
  ])
  await store.close()
})

t.test('memory that is packed anew holds the same objects, also while they change', async t => {
  const store = await openJournaledStore(new MemoryJournal(), { maxHistoryEventsInMemory: 10 })
  const wanted = new Map<string, string>()
  const filler = 'x'.repeat(4000)
  await create(store, ...Array.from({ length: 2500 }, (_, i) => key(`n${i}`)))
  for (let i = 0; i < 2500; i++) wanted.set(`n${i}`, `${i + 1}:n${i}`)
  // 8 000 texts of 4 kB are twice what is let pass before memory is packed.
  for (let i = 0; i < 8000; i += 40)
    await Promise.all(
      Array.from({ length: 40 }, async (_, j) => {
        const name = `n${(i + j) % 60}`
        const gone = (i + j) % 97 === 0
        const stored = await updated(store, key(name), () => (gone ? del() : put(filler)))
        if (gone) wanted.delete(name)
        else wanted.set(name, textOf(stored)!)
      }),
    )
  const { items } = await store.list({})
  t.same(new Map(items.map(i => [i.key.name, textOf(i)])), wanted)
  await store.close()
})

t.test('a write without room is refused as a result, takes no revision, and changes nothing', async t => {
  const asked: unknown[] = []
  let room = 100
  const refused: Refusal = { reason: 'Budget', message: 'delete something', key: key('a'), causes: [] }
  const store = await openJournaledStore(new MemoryJournal(), {
    budget: {
      refusal({ text: _, previous, ...change }) {
        asked.push({ ...change, previousBytes: previous?.bytes.length })
        return change.bytes - (previous?.bytes.length ?? 0) > room ? refused : undefined
      },
      count: (_, now, before) => {
        room -= (now?.bytes.length ?? 0) - (before?.bytes.length ?? 0)
      },
      loaded() {},
    },
  })
  const create = { key: key('a'), mutation: put('x'), expect: 0 }
  const big = put('x'.repeat(200))
  t.match(await store.write(create), { ok: true })
  const current = await store.get(key('a'))
  t.same(asked, [{ key: key('a'), bytes: current!.bytes.length - 1, previousBytes: undefined, leadsOut: false }])
  t.same(await store.write({ key: key('a'), mutation: big, expect: 1 }), { ok: false, current, refused })
  t.same(await store.update(key('b'), () => big), { ok: false, refused })
  const results = await store.writeMany([
    { key: key('b'), mutation: big, expect: 0 },
    { key: key('b'), mutation: put('y'), expect: 0 },
    { key: key('a'), mutation: big, expect: 7 },
  ])
  t.match(results, [{ ok: false, current: undefined, refused }, { ok: true }, { ok: false, current }])
  t.notOk('refused' in results[2]!, 'a conflict is no refusal, and is not asked about')
  t.equal(store.revision, 2)
  room = 0
  t.match(await store.update(key('a'), () => ({ type: 'delete' })), { ok: true }, 'what goes needs no room')
  t.equal(asked.length, 5)
  await store.close()
})

t.test('what is used is counted in the order of the queue, before it is on disk, and from what is loaded', async t => {
  const counting = () => {
    const used = { objects: 0, bytes: 0 }
    const count = (_: unknown, now?: { bytes: Buffer }, before?: { bytes: Buffer }): void => {
      used.objects += (now ? 1 : 0) - (before ? 1 : 0)
      used.bytes += (now?.bytes.length ?? 0) - (before?.bytes.length ?? 0)
    }
    const loaded = (_: unknown, objects: number, bytes: number): void => {
      used.objects += objects
      used.bytes += bytes
    }
    return { used, budget: { refusal: () => undefined, count, loaded } }
  }
  const journal = new MemoryJournal()
  const first = counting()
  const store = await openJournaledStore(journal, { budget: first.budget })
  const writes = ['a', 'b', 'c'].map(name => create(store, key(name)))
  t.equal(first.used.objects, 3, 'nothing of it is on disk yet')
  await Promise.all(writes)
  await Promise.all([
    store.update(key('a'), () => ({ type: 'delete' })),
    store.update(key('b'), () => put('x'.repeat(50))),
    store.update(key('b'), () => put('x'.repeat(20))),
    store.update(key('c'), () => undefined),
  ])
  const { items } = await store.list({})
  const bytes = items.reduce((sum, item) => sum + item.bytes.length, 0)
  t.same(first.used, { objects: 2, bytes })
  await store.close()
  const again = new MemoryJournal()
  const load = async ({ taker, memory }: LoadedObjects) => {
    const maker = new BlockMaker({ give: taker(), memory })
    for (const item of items) maker.add(item)
    maker.end()
    return { revision: 5, compactedRevision: 5 }
  }
  Object.assign(again, { load })
  const second = counting()
  await (await openJournaledStore(again, { budget: second.budget })).close()
  t.same(second.used, first.used)
})

t.test('a timer can wait for as long as the longest history asks for', async t => {
  for (const [days, waitMs] of [
    [1 / 144, 60_000],
    [300, 3_600_000],
  ] as const) {
    const every = (intervalMs: number) => {
      t.equal(intervalMs, waitMs)
      return () => {}
    }
    await (await openJournaledStore(new MemoryJournal(), { historyAgeMs: days * 86_400_000, every })).close()
  }
})

const LARGE = 'x'.repeat(600_000)
const large = (space: string, name: string, expect = 0) => ({ key: key(name, { space }), mutation: put(LARGE), expect })

t.test('large writes take turns by their spaces, and a short one waits for none of those that wait', async t => {
  const points = new FaultPoints()
  const held = points.hold('journal.append waits')
  const journal = new FaultyJournal(points)
  const store = await openJournaledStore(journal)
  const first = create(store, key('first'))
  await held.reached
  const order: string[] = []
  const writes = ['x1', 'x2', 'x3', 'y1', 'x4', 'y2'].map(async name => {
    await store.write(large(name[0]!, name))
    order.push(name)
  })
  const short = create(store, key('short')).then(() => order.push('short'))
  held.release()
  await Promise.all([first, short, ...writes])
  t.same(order.slice(0, 2).sort(), ['short', 'x1'])
  t.same(order.slice(2), ['x2', 'y1', 'x3', 'y2', 'x4'])
  t.equal(journal.appends, 7)
  await store.close()
})

t.test('many spaces are no more turns: their tenants take them', async t => {
  const points = new FaultPoints()
  const held = points.hold('journal.append waits')
  const budget = { refusal: () => undefined, count() {}, loaded() {}, tenantOf: (space: string) => space[0]! }
  const store = await openJournaledStore(new FaultyJournal(points), { budget })
  const first = create(store, key('first'))
  await held.reached
  const order: string[] = []
  const writes = ['a1', 'a2', 'a3', 'a4', 'b1', 'a5'].map(async space => {
    await store.write(large(space, 'x'))
    order.push(space)
  })
  held.release()
  await Promise.all([first, ...writes])
  t.same(order, ['a1', 'a2', 'b1', 'a3', 'a4', 'a5'])
  await store.close()
})

t.test('a large write that comes to nothing keeps nobody from their turn', async t => {
  const store = await openJournaledStore(new FaultyJournal(new FaultPoints()))
  const refused = Array.from({ length: 4 }, () => store.write(large('x', 'none', 77)))
  const taken = ['a', 'b', 'c'].map(name => store.write(large('y', name)))
  for (const { ok } of await Promise.all(refused)) t.notOk(ok)
  for (const { ok } of await Promise.all(taken)) t.ok(ok)
  t.notOk((await store.write(large('x', 'none', 77))).ok)
  t.ok((await store.write(large('x', 'new'))).ok)
  await store.close()
})

t.test('those that wait for a disk that fails, or for a store that ends, hear of it', async t => {
  const points = new FaultPoints()
  const store = await openJournaledStore(new FaultyJournal(points))
  points.arm('journal.append fails')
  const lost = await Promise.allSettled(['a', 'b', 'c'].map(name => store.write(large('x', name))))
  for (const result of lost) t.match(result, { status: 'rejected', reason: { code: 'Failed' } })
  await store.close()
  const other = await openJournaledStore(new FaultyJournal(new FaultPoints()))
  const writes = Promise.allSettled(['a', 'b', 'c'].map(name => other.write(large('x', name))))
  await other.close()
  const [first, ...rest] = await writes
  t.match(first, { status: 'fulfilled' })
  for (const result of rest) t.match(result, { status: 'rejected', reason: { code: 'Closed' } })
})
