/** Where the store's files cannot be read in a copy, they are read in place, and all else is as elsewhere. */
import fs, { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import t, { type Test } from 'tap'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { readStore } from '../../../src/storage/level/storeFolder.ts'
import { create, key } from '../support.ts'

const { rows, objects } = JSON.parse(await readFile(join(import.meta.dirname, 'formatOne.json'), 'utf8')) as {
  rows: [row: string, base64: string][]
  objects: [key: object, revision: number, text: string][]
}

/** Replaces functions of `node:fs/promises` for everybody, until the test ends. */
function replace(t: Test, functions: Partial<typeof fs>): void {
  const before = { ...fs }
  Object.assign(fs, functions)
  syncBuiltinESMExports()
  t.teardown(() => {
    Object.assign(fs, before)
    syncBuiltinESMExports()
  })
}

function withoutLinks(t: Test, code: string): void {
  const link = () => Promise.reject(Object.assign(new Error(`${code}: no link`), { code }))
  replace(t, { link })
}

async function emptyFolder(t: Test): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'orrery-links-'))
  t.teardown(() => rm(root, { recursive: true }))
  return root
}

for (const [code, where] of [
  ['EPERM', 'a file system without hard links'],
  ['EXDEV', 'another file system than that of the folder above, by a symbolic link or a mount'],
] as const)
  t.test(`a store on ${where}`, async t => {
    const root = await emptyFolder(t)
    const path = join(root, 'store')
    withoutLinks(t, code)
    const store = await openLevelStore({ path })
    await create(store, key('a'))
    await store.close()
    const again = await openLevelStore({ path })
    t.equal(again.revision, 1)
    await again.close()
    t.same(await readdir(root), ['store', 'store.acknowledged'])
    await rm(join(path, 'CURRENT'))
    const saved = openLevelStore({ path, lossAccepted: () => {} })
    await t.rejects(saved, { message: /cannot be linked .* Copy the whole data folder/ })
  })

t.test('a store of format 1 that is read in place is upgraded once', async t => {
  const path = join(await emptyFolder(t), 'store')
  const db = new Level<string, Buffer>(path, { keyEncoding: 'utf8', valueEncoding: 'buffer' })
  // Its whole history is forgotten: only rows of objects are there, which are read as whatever they look like.
  for (const [row, base64] of rows) if (/^[om]/.test(row)) await db.put(row, Buffer.from(base64, 'base64'))
  await db.put('m/compacted', Buffer.from('8'))
  await db.close()
  withoutLinks(t, 'EPERM')
  await t.rejects(
    readStore({ path, untouched: true }, () => {}),
    { code: 'Format', message: /older format.*or start the server/ },
    'who only looks does not upgrade it',
  )
  const unchanged = new Level<string, Buffer>(path, { keyEncoding: 'utf8', valueEncoding: 'buffer' })
  t.equal(await unchanged.get('m/upgrade'), undefined)
  for (const [row, base64] of rows) if (/^o/.test(row)) t.same(await unchanged.get(row), Buffer.from(base64, 'base64'))
  await unchanged.close()
  for (const start of ['first', 'second']) {
    const store = await openLevelStore({ path })
    t.same(
      (await store.list({})).items.map(item => [item.key, item.revision, item.bytes.toString()]),
      objects,
      start,
    )
    await store.close()
  }
})

t.test('a system without /proc', async t => {
  const path = join(await emptyFolder(t), 'store')
  const before = { ...fs }
  /** The function, for all other paths. */
  const elsewhere = (name: 'readdir' | 'stat') => (path: string, options: object) =>
    path.startsWith('/proc')
      ? Promise.reject(new Error(`ENOENT: ${path}`))
      : Reflect.apply(before[name], fs, [path, options])
  replace(t, { readdir: elsewhere('readdir'), stat: elsewhere('stat') } as Partial<typeof fs>)
  for (const start of ['first', 'second']) {
    const store = await openLevelStore({ path })
    t.equal(store.revision, 0, start)
    await t.rejects(openLevelStore({ path }), { code: 'Locked' }, 'and a process does not lock itself out')
    await store.close()
  }
})
