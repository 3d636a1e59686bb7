/** Compare-and-write, chained updates and bulk writes. */

import type { Mutation } from '../../../src/storage/store.ts'
import { atRevision, versionOf } from '../../../src/storage/texts.ts'
import { del, key, put, readWatch, textOf, updated } from '../support.ts'
import type { Case } from './case.ts'

export const writeCases: Case[] = [
  {
    name: 'a write is compared with the current version and gets the next revision',
    async run(t, open) {
      const { store } = await open()
      const created = await store.write({ key: key('a'), mutation: put('one'), expect: 0 })
      t.match(created, { ok: true, stored: { revision: 1, key: key('a') } })
      t.equal(textOf(await store.get(key('a'))), '1:one')
      t.match(await store.write({ key: key('a'), mutation: put('two'), expect: 0 }), {
        ok: false,
        current: { revision: 1 },
      })
      t.match(await store.write({ key: key('a'), mutation: put('two'), expect: 7 }), {
        ok: false,
        current: { revision: 1 },
      })
      t.match(await store.write({ key: key('b'), mutation: put('two'), expect: 1 }), { ok: false, current: undefined })
      t.equal(store.revision, 1, 'a refused write takes no revision')
      t.match(await store.write({ key: key('a'), mutation: put('two'), expect: 1 }), { ok: true })
      t.equal(textOf(await store.get(key('a'))), '2:two')
    },
  },
  {
    name: 'a delete answers the last state with the revision of the deletion',
    async run(t, open) {
      const { store } = await open()
      await store.write({ key: key('a'), mutation: put('one'), expect: 0 })
      t.match(await store.write({ key: key('a'), mutation: del(), expect: 0 }), { ok: false, current: { revision: 1 } })
      const deleted = await store.write({ key: key('a'), mutation: del('bye'), expect: 1 })
      t.ok(deleted.ok)
      if (deleted.ok) t.equal(textOf(deleted.stored), '2:bye')
      t.equal(await store.get(key('a')), undefined)
      const again = { key: key('a'), mutation: del(), expect: 0 }
      t.match(await store.write(again), { ok: false, current: undefined }, 'what is absent cannot be deleted')
      t.match(await store.write({ key: key('a'), mutation: put('new'), expect: 0 }), {
        ok: true,
        stored: { revision: 3 },
      })
    },
  },
  {
    name: 'a delete without a text leaves the last version under the revision of the deletion',
    async run(t, open) {
      const { store } = await open()
      const text = {
        head: '{"apiVersion":"grüße/v1","metadata":{"labels":{"x":"\\"resourceVersion\\":\\"9\\""},"resourceVersion":"',
        tail: '"},"spec":{"resourceVersion":"9"}}',
      }
      for (let i = 1; i < 9; i++) await store.update(key('other'), () => put(`${i}`))
      await store.write({ key: key('a'), mutation: { type: 'put', text }, expect: 0 })
      const deletion = { key: key('a'), mutation: { type: 'delete' as const }, expect: 9 }
      const deleted = await store.write(deletion)
      t.ok(deleted.ok)
      if (deleted.ok) t.equal(deleted.stored.bytes.toString(), `${text.head}10${text.tail}`)
      t.equal(await store.get(key('a')), undefined)
      t.match(await store.write(deletion), { ok: false, current: undefined })
      const [event] = await readWatch(store, {}, 9, 10)
      t.equal(event?.stored.bytes.toString(), `${text.head}10${text.tail}`)
      t.equal(event?.previous?.bytes.toString(), `${text.head}9${text.tail}`)
      await store.update(key('a'), () => put('again'))
      t.equal(textOf(await updated(store, key('a'), () => ({ type: 'delete' }))), '12:again')
    },
  },
  {
    name: 'every version tells where its revision is',
    async run(t, open) {
      const opened = await open({ maxHistoryEventsInMemory: 0 })
      await opened.store.update(key('ü'), () => put('grüße'))
      await opened.store.update(key('ü'), () => put('again'))
      await opened.store.update(key('ü'), () => ({ type: 'delete' }))
      await opened.store.update(key('kept'), () => put('grüße'))
      const store = (await opened.reopen?.({ maxHistoryEventsInMemory: 0 })) ?? opened.store
      const versions = (await readWatch(store, {}, 0, 4)).flatMap(e => [e.stored, ...(e.previous ? [e.previous] : [])])
      for (const version of [...versions, (await store.get(key('kept')))!]) {
        const { bytes, headBytes, revision } = version
        const digits = String(revision)
        t.equal(bytes.toString('utf8', headBytes, headBytes + digits.length), digits)
        const text = {
          head: bytes.toString('utf8', 0, headBytes),
          tail: bytes.toString('utf8', headBytes + digits.length),
        }
        const made = versionOf(version.key, revision, text)
        t.same(
          { ...made, bytes: made.bytes.toString() },
          { ...version, bytes: bytes.toString() },
          'as one made outside',
        )
        t.equal(atRevision(version, 1234).bytes.toString(), `${text.head}1234${text.tail}`)
      }
    },
  },
  {
    name: 'a note stays with its version, and is no part of its text',
    async run(t, open) {
      const opened = await open({ maxHistoryEventsInMemory: 0 })
      const noted = (data: string, note?: string): Mutation => {
        const { text } = put(data) as Extract<Mutation, { type: 'put' }>
        return { type: 'put', text: note === undefined ? text : { ...text, note } }
      }
      await opened.store.write({ key: key('a'), mutation: noted('one', 'ü noted'), expect: 0 })
      await opened.store.update(key('a'), () => noted('two'))
      await opened.store.update(key('b'), () => noted('three', ''))
      const store = (await opened.reopen?.({ maxHistoryEventsInMemory: 0 })) ?? opened.store
      t.match(await store.get(key('b')), { note: '' })
      t.equal(textOf(await store.get(key('b'))), '3:three')
      t.notOk('note' in (await store.get(key('a')))!)
      const events = await readWatch(store, {}, 0, 3)
      t.same(
        events.map(({ stored, previous }) => [textOf(stored), stored.note, previous?.note]),
        [
          ['1:one', 'ü noted', undefined],
          ['2:two', undefined, 'ü noted'],
          ['3:three', '', undefined],
        ],
      )
      t.equal((await store.list({}, { at: 1 })).items[0]?.note, 'ü noted')
    },
  },
  {
    name: 'texts of any length and script come back byte for byte',
    async run(t, open) {
      const { store } = await open()
      for (const data of ['', 'grüße, 世界 🌍', 'x'.repeat(5000), 'y'.repeat(1_500_000), '\u0000\n"\\']) {
        const name = `n${data.length}`
        await store.write({ key: key(name), mutation: put(data), expect: 0 })
        t.equal(textOf(await store.get(key(name))), `${store.revision}:${data}`)
      }
    },
  },
  {
    name: 'updates that run at once never conflict and never lose each other',
    async run(t, open) {
      const { store } = await open()
      const append = (letter: string) =>
        store.update(key('a'), current => put((textOf(current)?.split(':')[1] ?? '') + letter))
      await Promise.all([...'abcdefghij'].map(append))
      t.equal(textOf(await store.get(key('a'))), '10:abcdefghij')
    },
  },
  {
    name: 'a write sees the writes that are queued before it',
    async run(t, open) {
      const { store } = await open()
      const results = await Promise.all([
        store.write({ key: key('a'), mutation: put('one'), expect: 0 }),
        store.write({ key: key('a'), mutation: put('other'), expect: 0 }),
        store.write({ key: key('a'), mutation: put('two'), expect: 1 }),
        store.write({ key: key('a'), mutation: del(), expect: 2 }),
        store.write({ key: key('a'), mutation: put('three'), expect: 0 }),
      ])
      t.same(
        results.map(r => r.ok),
        [true, false, true, true, true],
      )
      t.match(results[1], { ok: false, current: { revision: 1 } })
      t.equal(textOf(await store.get(key('a'))), '4:three')
    },
  },
  {
    name: 'what an answer shows can be read at once, also when nothing was written',
    async run(t, open) {
      const { store } = await open()
      const first = store.write({ key: key('a'), mutation: put('one'), expect: 0 })
      const looked = updated(store, key('a'), () => undefined).then(s => [s?.revision, store.revision])
      const refused = store.write({ key: key('a'), mutation: put('x'), expect: 0 }).then(() => store.revision)
      const thrown = store
        .update(key('a'), () => {
          throw new RangeError('no')
        })
        .catch(error => [error instanceof RangeError, store.revision])
      t.same(await looked, [1, 1])
      t.equal(await refused, 1)
      t.same(await thrown, [true, 1])
      await first
    },
  },
  {
    name: 'an update may write nothing, throw, or delete',
    async run(t, open) {
      const { store } = await open()
      t.same(await store.update(key('a'), () => undefined), { ok: true, stored: undefined })
      t.same(await store.update(key('a'), () => del()), { ok: true, stored: undefined }, 'there is nothing to delete')
      await t.rejects(
        store.update(key('a'), () => {
          throw new Error('mine')
        }),
        { message: 'mine' },
      )
      t.equal(store.revision, 0)
      await store.update(key('a'), () => put('one'))
      t.equal(textOf(await updated(store, key('a'), () => del('gone'))), '2:gone')
      t.equal(await store.get(key('a')), undefined)
    },
  },
  {
    name: 'bulk writes succeed and fail one by one, in order',
    async run(t, open) {
      const { store } = await open()
      await store.write({ key: key('b'), mutation: put('old'), expect: 0 })
      const results = await store.writeMany([
        { key: key('a'), mutation: put('a'), expect: 0 },
        { key: key('b'), mutation: put('b'), expect: 0 },
        { key: key('c'), mutation: put('c'), expect: 0 },
        { key: key('c'), mutation: put('c2'), expect: 3 },
        { key: key('d'), mutation: del(), expect: 0 },
      ])
      t.match(results, [
        { ok: true, stored: { revision: 2 } },
        { ok: false, current: { revision: 1 } },
        { ok: true, stored: { revision: 3 } },
        { ok: true, stored: { revision: 4 } },
        { ok: false, current: undefined },
      ])
      t.same(await store.writeMany([]), [])
    },
  },
  {
    name: 'a bulk larger than one batch is written whole',
    async run(t, open) {
      const { store } = await open()
      const data = 'z'.repeat(10_000)
      const writes = Array.from({ length: 1000 }, (_, i) => ({ key: key(`n${i}`), mutation: put(data), expect: 0 }))
      const results = await store.writeMany(writes)
      t.ok(results.every((r, i) => r.ok && r.stored.revision === i + 1))
      t.equal(await store.count({}), 1000)
    },
  },
  {
    name: 'a key that would not come back as it went in is refused',
    async run(t, open) {
      const { store } = await open()
      for (const name of ['a\0b', 'half \ud800 pair'])
        await t.rejects(store.write({ key: key(name), mutation: put(''), expect: 0 }), TypeError)
      t.equal(store.revision, 0)
    },
  },
]
