/** Where the store's files cannot be read in a copy, they are read in place, and all else is as elsewhere. */
import fs, { mkdtemp, readdir, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { create, key } from '../support.ts'

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
