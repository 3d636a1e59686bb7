/** Watches: what a reader gets, and how it ends. */
import type { StoreEvent } from '../../../src/storage/store.ts'
import { create, del, key, put, readWatch, textOf } from '../support.ts'
import type { Case } from './case.ts'

export const watchCases: Case[] = [
  {
    name: 'events tell what came, what it replaced and what was deleted',
    async run(t, open) {
      const { store } = await open()
      await store.update(key('a'), () => put('one'))
      await store.update(key('a'), () => put('two'))
      await store.update(key('a'), () => del('bye'))
      const events = await readWatch(store, {}, 0, 3)
      t.same(
        events.map(e => [e.type, e.revision, textOf(e.stored), textOf(e.previous)]),
        [
          ['put', 1, '1:one', undefined],
          ['put', 2, '2:two', '1:one'],
          ['delete', 3, '3:bye', '2:two'],
        ],
      )
      t.ok(events.every(e => e.key.name === 'a' && e.stored.revision === e.revision))
    },
  },
  {
    name: 'a watch follows writes live and ends quietly on abort',
    async run(t, open) {
      const { store } = await open()
      const end = new AbortController()
      const watch = store.watch({ space: 's1' }, { after: 0, signal: end.signal })[Symbol.asyncIterator]()
      const waiting = watch.next()
      await create(store, key('other', { space: 's2' }))
      await create(store, key('mine'))
      const first = await waiting
      t.match(first.value, [{ key: { name: 'mine' }, revision: 2 }])
      const idle = watch.next()
      end.abort()
      t.same(await idle, { value: undefined, done: true })
      t.same(await watch.next(), { value: undefined, done: true })
    },
  },
  {
    name: 'a watch that has been aborted before it began ends at once',
    async run(t, open) {
      const { store } = await open()
      await create(store, key('a'))
      for await (const _ of store.watch({}, { after: 0, signal: AbortSignal.abort() })) t.fail('no batch')
    },
  },
  {
    name: 'leaving the loop ends the watch, and calls at once are answered in order',
    async run(t, open) {
      const { store } = await open()
      await create(store, key('a'), key('b'))
      const watch = store.watch({}, { after: 0, signal: new AbortController().signal })[Symbol.asyncIterator]()
      const calls = [watch.next(), watch.next(), watch.next()]
      await create(store, key('c'))
      await create(store, key('d'))
      const revisions: number[] = []
      for (const call of calls) revisions.push(...((await call).value as StoreEvent[]).map(e => e.revision))
      t.same(revisions, [1, 2, 3, 4])
      const idle = watch.next()
      t.same(await watch.return!(), { value: undefined, done: true })
      t.same(await idle, { value: undefined, done: true })
      t.same(await watch.next(), { value: undefined, done: true })
      await create(store, key('e'))
    },
  },
  {
    name: 'a watch of the future is refused',
    async run(t, open) {
      const { store } = await open()
      await t.rejects(readWatch(store, {}, 1, 2), { code: 'Future' })
    },
  },
  {
    name: 'a reader who falls behind its bound is ended with SlowWatcher; writers and others go on',
    async run(t, open) {
      const { store } = await open({ watcherBacklog: 10 })
      const slow = store.watch({}, { after: 0, signal: new AbortController().signal })[Symbol.asyncIterator]()
      const quick = readWatch(store, {}, 0, 30)
      const first = slow.next()
      for (let i = 0; i < 30; i++) await create(store, key(`n${i}`))
      t.equal((await first).value?.length, 1)
      await t.rejects(slow.next(), { code: 'SlowWatcher' })
      t.same(await slow.next(), { value: undefined, done: true })
      t.equal((await quick).length, 30)
      t.equal((await readWatch(store, {}, 1, 30)).length, 29, 'the slow reader resumes where it was')
    },
  },
  {
    name: 'a large commit does not end a reader who was up to date',
    async run(t, open) {
      const { store } = await open({ watcherBacklog: 10 })
      const watch = store.watch({}, { after: 0, signal: new AbortController().signal })[Symbol.asyncIterator]()
      const first = watch.next()
      await create(store, ...Array.from({ length: 100 }, (_, i) => key(`n${i}`)))
      t.equal((await first).value?.length, 100)
      await create(store, ...Array.from({ length: 100 }, (_, i) => key(`m${i}`)))
      t.equal((await watch.next()).value?.length, 100)
      await watch.return!()
    },
  },
  {
    name: 'a reader who always lags by a little is not ended',
    async run(t, open) {
      const { store } = await open({ watcherBacklog: 10 })
      const watch = store.watch({}, { after: 0, signal: new AbortController().signal })[Symbol.asyncIterator]()
      let last = 0
      const read = async () => {
        for (const event of (await watch.next()).value as StoreEvent[]) t.equal(event.revision, ++last)
      }
      const first = read()
      await create(store, key('first'))
      await first
      for (let i = 0; i < 5; i++) await create(store, key(`a${i}`))
      for (let i = 0; i < 600; i++) {
        await create(store, key(`n${i}`))
        await read()
      }
      t.equal(last, 601)
      await watch.return!()
    },
  },
  {
    name: 'a reader who waits has been given everything up to the revision',
    async run(t, open) {
      const { store } = await open()
      await create(store, key('a'))
      const { promise: live, resolve } = Promise.withResolvers<() => boolean>()
      const { signal } = new AbortController()
      const watch = store.watch({ space: 's1' }, { after: 0, signal, onLive: resolve })[Symbol.asyncIterator]()
      t.match((await watch.next()).value, [{ revision: 1 }])
      const isWaiting = await live
      t.notOk(isWaiting(), 'it has what came, and nobody knows what it does with it')
      const second = watch.next()
      t.ok(isWaiting())
      await create(store, key('b', { space: 's2' }))
      t.ok(isWaiting(), 'what others watch is none of its business')
      await create(store, key('c'))
      t.notOk(isWaiting(), 'from the moment on in which it is committed')
      t.match((await second).value, [{ revision: 3 }])
      await watch.return!()
      t.notOk(isWaiting())
    },
  },
  {
    name: 'watchers of one range share one array',
    async run(t, open) {
      const { store } = await open()
      const { signal } = new AbortController()
      const range = { group: 'apps', resource: 'deployments' }
      const watches = [1, 2].map(() => store.watch(range, { after: 0, signal })[Symbol.asyncIterator]())
      const batches = watches.map(w => w.next())
      await create(store, key('a'), key('x', { resource: 'pods' }), key('b'))
      const [one, two] = await Promise.all(batches)
      t.equal(one?.value, two?.value)
      t.equal(one?.value?.length, 2)
      for (const watch of watches) await watch.return!()
    },
  },
]
