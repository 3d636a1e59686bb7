/** Compaction and closing. */
import type { Store } from '../../../src/storage/store.ts'
import { create, del, key, put, readWatch, textOf } from '../support.ts'
import type { Case } from './case.ts'

export const lifecycleCases: Case[] = [
  {
    name: 'compaction forgets history up to a revision, and nothing else',
    async run(t, open) {
      const { store, reopen } = await open()
      for (const data of ['1', '2', '3']) await store.update(key('a'), () => put(data))
      await create(store, key('b'))
      await store.update(key('b'), () => del())
      await store.update(key('a'), () => put('4'))
      await store.compact(4)
      const check = async (s: Store): Promise<void> => {
        t.equal(s.compactedRevision, 4)
        t.equal(s.revision, 6)
        await t.rejects(s.list({}, { at: 3 }), { code: 'Compacted' })
        await t.rejects(readWatch(s, {}, 3, 6), { code: 'Compacted' })
        t.same((await s.list({}, { at: 4 })).items.map(textOf), ['3:3', '4:b'])
        t.same((await s.list({}, { at: 5 })).items.map(textOf), ['3:3'])
        t.same(
          (await readWatch(s, {}, 4, 6)).map(e => textOf(e.previous)),
          ['4:b', '3:3'],
        )
        t.equal(textOf(await s.get(key('a'))), '6:4')
      }
      await check(store)
      if (reopen !== undefined) await check(await reopen({ maxHistoryEventsInMemory: 1 }))
    },
  },
  {
    name: 'a watch that is behind the compaction is told so, a live one goes on',
    async run(t, open) {
      const { store } = await open({ maxHistoryEventsInMemory: 1 })
      await create(store, ...Array.from({ length: 1200 }, (_, i) => key(`n${i}`)))
      const { signal } = new AbortController()
      const behind = store.watch({}, { after: 0, signal })[Symbol.asyncIterator]()
      const live = store.watch({}, { after: 1200, signal })[Symbol.asyncIterator]()
      const next = live.next()
      t.ok((await behind.next()).value!.length < 1200, 'history comes in pages')
      await store.compact()
      t.equal(store.compactedRevision, 0, 'nothing is that old')
      await store.compact(1200)
      await t.rejects(behind.next(), { code: 'Compacted' })
      await create(store, key('new'))
      t.match((await next).value, [{ key: { name: 'new' } }])
      await live.return!()
    },
  },
  {
    name: 'compaction by age keeps what is younger',
    async run(t, open) {
      let now = 1_000_000
      const { store, reopen } = await open({ historyAgeMs: 1000, clock: () => now })
      await create(store, key('a'), key('b'))
      now += 600
      await create(store, key('c'))
      now += 600
      const s = (await reopen?.({ historyAgeMs: 1000, clock: () => now })) ?? store
      await s.compact()
      t.equal(s.compactedRevision, 2)
      now += 5000
      await s.compact()
      t.equal(s.compactedRevision, 3, 'all events may be forgotten')
      t.equal(await create(s, key('d')), 4, 'but never their revisions')
      t.equal(await s.count({}), 4)
    },
  },
  {
    name: 'a clock that is set back makes no young history old',
    async run(t, open) {
      let now = 10_000
      const { store, reopen } = await open({ historyAgeMs: 1000, clock: () => now })
      await create(store, key('a'))
      now = 5000
      await create(store, key('b'))
      const s = (await reopen?.({ historyAgeMs: 1000, clock: () => now })) ?? store
      await create(s, key('c'))
      now = 10_500
      await s.compact()
      t.equal(s.compactedRevision, 0)
      now = 11_001
      await s.compact()
      t.equal(s.compactedRevision, 3)
    },
  },
  {
    name: 'revisions go on behind a complete compaction when the data is opened again',
    async run(t, open) {
      const { store, reopen } = await open()
      await create(store, key('a'), key('b'))
      await store.update(key('b'), () => del())
      await store.compact(3)
      const s = (await reopen?.()) ?? store
      t.equal(s.revision, 3)
      t.equal(await create(s, key('c')), 4)
      t.same((await readWatch(s, {}, 3, 4)).length, 1)
    },
  },
  {
    name: 'compaction never goes back, and not into the future',
    async run(t, open) {
      const { store } = await open()
      await create(store, key('a'), key('b'))
      await store.compact(2)
      await store.compact(1)
      t.equal(store.compactedRevision, 2)
      await t.rejects(store.compact(3), { code: 'Future' })
    },
  },
  {
    name: 'close waits for queued writes, ends watches with Closed and refuses everything after',
    async run(t, open) {
      const { store } = await open()
      const { signal } = new AbortController()
      const unread = store.watch({}, { after: 0, signal })[Symbol.asyncIterator]()
      const first = unread.next()
      const idle = store.watch({ space: 'empty' }, { after: 0, signal })[Symbol.asyncIterator]()
      const waiting = idle.next()
      waiting.catch(() => {})
      await create(store, key('a'))
      const queued = store.write({ key: key('b'), mutation: put('b'), expect: 0 })
      await store.close()
      t.match(await queued, { ok: true, stored: { revision: 2 } })
      t.match((await first).value, [{ revision: 1 }])
      t.match((await unread.next()).value, [{ revision: 2 }], 'what was committed is still read')
      await t.rejects(unread.next(), { code: 'Closed' })
      await t.rejects(waiting, { code: 'Closed' })
      await t.rejects(async () => store.get(key('a')), { code: 'Closed' })
      await t.rejects(store.list({}), { code: 'Closed' })
      await t.rejects(store.count({}), { code: 'Closed' })
      await t.rejects(store.write({ key: key('c'), mutation: put('c'), expect: 0 }), { code: 'Closed' })
      await t.rejects(store.writeMany([{ key: key('c'), mutation: put('c'), expect: 0 }]), { code: 'Closed' })
      await t.rejects(
        store.update(key('c'), () => put('c')),
        { code: 'Closed' },
      )
      await t.rejects(store.compact(1), { code: 'Closed' })
      await t.rejects(readWatch(store, {}, 0, 1), { code: 'Closed' })
      await store.close()
    },
  },
]
