import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import t from 'tap'
import { cannotOpen } from '../../../src/storage/level/database.ts'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { compactedValue } from '../../../src/storage/level/rows.ts'
import { create, del, key, put, readWatch } from '../support.ts'

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

t.test('data of a newer format, and databases of others, are refused', async t => {
  const path = join(root, 'format')
  await (await openLevelStore({ path })).close()
  const db = new Level(path)
  await db.put('m/format', '3')
  await db.close()
  await t.rejects(openLevelStore({ path }), { code: 'Format', message: /format 3.*format 2/ })

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

t.test('a compaction that a crash cut short is finished when the store opens', async t => {
  const path = join(root, 'unfinished')
  const store = await openLevelStore({ path })
  await create(store, key('a'), key('b'))
  await store.update(key('a'), () => put('again'))
  await store.update(key('b'), () => put('again'))
  await store.close()
  // What a crash leaves: the promise is on disk, the rows are still there.
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
