import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import t from 'tap'
import { cannotOpen } from '../../../src/storage/level/database.ts'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { compactedValue } from '../../../src/storage/level/rows.ts'
import type { Encoded } from '../../../src/storage/store.ts'
import { create, del, key, put, readWatch, seen, textOf } from '../support.ts'

const root = await mkdtemp(join(tmpdir(), 'orrery-level-'))
t.teardown(() => rm(root, { recursive: true }))

async function rowsOf(path: string): Promise<string[]> {
  const db = new Level<string, Buffer>(path, { valueEncoding: 'buffer' })
  const rows = await db.keys().all()
  await db.close()
  return rows
}

t.test('a data dir that is in use is refused, naming the dir and the remedy', async t => {
  const path = join(root, 'deep', 'down', 'locked')
  const store = await openLevelStore({ path })
  await t.rejects(openLevelStore({ path }), { code: 'Locked', message: new RegExp(`${path} is in use.*stop`) })
  await store.close()
  await (await openLevelStore({ path })).close()
})

t.test('data of another format, and databases of others, are refused', async t => {
  const path = join(root, 'format')
  await (await openLevelStore({ path })).close()
  for (const [format, remedy] of [
    ['4', 'use the newer Orrery'],
    ['2', 'use the Orrery that wrote it, or begin with an empty data dir'],
  ] as const) {
    const db = new Level(path)
    await db.put('m/format', format)
    await db.close()
    const refused = { code: 'Format', message: new RegExp(`has format ${format}; .* reads format 3: ${remedy}$`) }
    await t.rejects(openLevelStore({ path }), refused)
    await t.rejects(openLevelStore({ path, lossAccepted: () => {} }), refused, 'nor is it taken for damage')
  }

  const foreign = new Level(join(root, 'foreign'))
  await foreign.put('hello', 'world')
  await foreign.close()
  await t.rejects(openLevelStore({ path: join(root, 'foreign') }), { code: 'Format', message: /not Orrery's/ })
  const again = new Level(join(root, 'foreign'))
  t.equal(await again.get('hello'), 'world', 'and left alone')
  await again.close()
})

t.test('a dir that cannot be opened says why', async t => {
  const path = join(root, 'file')
  await writeFile(path, 'not a dir')
  await t.rejects(openLevelStore({ path }), { code: 'Failed', message: new RegExp(path) })
  const full = cannotOpen(path, 'IO error: 000185.ldb: No space left on device', undefined)
  t.match(full.message, /No space left on device\. Make room on its disk, and try again$/, 'and what helps')
})

t.test(
  'a deletion that says nothing new has no row of its own for the last state, and is told all the same',
  async t => {
    const path = join(root, 'deletions')
    // what is read of history comes from the disk
    const options = { path, maxHistoryEventsInMemory: 0 }
    const store = await openLevelStore(options)
    const texts = ['plain', 'digits', 'noted', 'shared', 'other'] as const
    await create(store, key('filler-1'), key('filler-2'), key('filler-3'))
    const first = store.revision
    const spaces = ['s1', 's2', 's3']
    for (const name of texts)
      for (const space of spaces) {
        const { text } = put(name) as { text: Encoded }
        const more = name === 'noted' ? { note: 'n' } : name === 'shared' ? { own: `${space}-uid` } : {}
        const said = name === 'shared' ? { ...text, tail: `"},"data":"shared ${space}-uid"}` } : text
        await store.write({
          key: key(name, { space }),
          mutation: { type: 'put', text: { ...said, ...more } },
          expect: 0,
        })
      }
    const made = store.revision
    for (const name of texts)
      for (const space of spaces)
        await store.update(key(name, { space }), () => (name === 'other' ? del('gone') : { type: 'delete' }))
    const deleted = await readWatch(store, {}, first, store.revision)
    for (const { type, key, stored, previous } of deleted.filter(({ type }) => type === 'delete')) {
      t.equal(type, 'delete')
      t.equal(textOf(stored)!.split(':')[1], key.name === 'other' ? 'gone' : textOf(previous)!.split(':')[1])
      t.equal(stored.note, undefined)
    }
    await store.close()
    const own = (await rowsOf(path)).filter(row => row.startsWith('v/') && Number(row.slice(2)) > made)
    t.equal(own.length, spaces.length, 'of those that say something else')
    const again = await openLevelStore(options)
    t.strictSame((await readWatch(again, {}, first, again.revision)).map(seen), deleted.map(seen))
    await again.compact()
    await again.close()
  },
)

t.test('a complete compaction leaves one row for each object', async t => {
  const path = join(root, 'compacted')
  const store = await openLevelStore({ path })
  const names = Array.from({ length: 700 }, (_, i) => key(`n${i}`))
  await create(store, ...names)
  await Promise.all(names.map(k => store.update(k, () => put('again'))))
  await Promise.all(names.slice(100).map(k => store.update(k, () => del())))
  await store.compact(store.revision)
  await store.close()
  const rows = await rowsOf(path)
  t.equal(rows.filter(row => row.startsWith('o/')).length, 100)
  t.same(
    rows.filter(row => !row.startsWith('o/')),
    ['m/compacted', 'm/format', 'm/state'],
  )
})

t.test(
  'a commit of many has few rows of the log, and its history is read and forgotten from anywhere within',
  async t => {
    const path = join(root, 'many')
    // what is read of history comes from the disk
    const store = await openLevelStore({ path, maxHistoryEventsInMemory: 0 })
    const names = Array.from({ length: 1000 }, (_, i) => key(`n${i}`))
    await create(store, ...names)
    await store.writeMany(names.map((k, i) => ({ key: k, mutation: put('again'), expect: i + 1 })))
    const logRows = (rows: readonly string[]): string[] => rows.filter(row => row.startsWith('l/'))
    const wanted = await readWatch(store, {}, 0, 2000)
    t.equal(wanted.length, 2000)
    for (const after of [1, 255, 256, 257, 511, 512, 999, 1000, 1001, 1743, 1999]) {
      const read = await readWatch(store, {}, after, 2000)
      t.same(read.map(seen), wanted.slice(after).map(seen), `behind ${after}`)
    }
    // in the middle of a row
    await store.compact(1100)
    await t.rejects(readWatch(store, {}, 1099, 2000), { code: 'Compacted' })
    t.same((await readWatch(store, {}, 1100, 2000)).map(seen), wanted.slice(1100).map(seen))
    await store.close()
    t.ok(logRows(await rowsOf(path)).length < 10)
    const again = await openLevelStore({ path, maxHistoryEventsInMemory: 0 })
    t.same((await readWatch(again, {}, 1100, 2000)).map(seen), wanted.slice(1100).map(seen))
    await again.compact(2000)
    await again.close()
    t.same(logRows(await rowsOf(path)), [])
  },
)

t.test('a compaction that a crash cut short is finished when the store opens', async t => {
  const path = join(root, 'unfinished')
  const store = await openLevelStore({ path })
  await create(store, key('a'), key('b'))
  await store.update(key('a'), () => put('again'))
  await store.update(key('b'), () => put('again'))
  await store.close()
  // State after a crash: the promise is on disk, the rows are still there.
  const db = new Level<string, Buffer>(path, { valueEncoding: 'buffer' })
  await db.put('m/compacted', compactedValue(3))
  await db.close()
  const again = await openLevelStore({ path })
  t.equal(again.compactedRevision, 3)
  t.same(
    (await readWatch(again, {}, 3, 4)).map(e => e.revision),
    [4],
  )
  // A later compaction waits for the one that was left over, so this one shows that it was finished.
  await again.compact(4)
  await again.close()
  t.same(
    (await rowsOf(path)).filter(row => !row.startsWith('o/')),
    ['m/compacted', 'm/format', 'm/state'],
  )
})

t.test('a space is one contiguous range of rows', async t => {
  const path = join(root, 'contiguous')
  const store = await openLevelStore({ path })
  const spaces = ['a', 'a:b', 'ab', 'b']
  await create(store, ...spaces.flatMap(space => ['x', 'y'].map(resource => key('n', { space, resource }))))
  await store.close()
  const rows = (await rowsOf(path)).filter(row => row.startsWith('o/')).map(row => row.slice(2).split('\0')[0])
  t.same(rows, ['a', 'a', 'a:b', 'a:b', 'ab', 'ab', 'b', 'b'])
})
