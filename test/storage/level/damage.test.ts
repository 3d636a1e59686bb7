/**
 * Every way in which a store can be hurt is found when it opens, and named; nothing of it is served. And what only looks like
 * damage, because a crash or a power cut left it so, is none.
 */
import { cp, open, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Level } from 'level'
import t, { type Test } from 'tap'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { readWatch } from '../support.ts'
import { damages, fileOf, hurt, LOG, more, older, root, whole } from './damages.ts'

async function contentOf(dir: string): Promise<string> {
  const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter(f => f.isFile())
  const texts = files
    .filter(file => !file.name.startsWith('LOCK'))
    .map(async f => `${f.name} ${(await readFile(join(f.parentPath, f.name))).toString('base64')}`)
  return (await Promise.all(texts)).sort().join('\n')
}

t.equal(damages.length, 22)
for (const [i, [what, how, named]] of [...damages, ...more].entries())
  t.test(`hurt: ${what}`, async t => {
    const path = await hurt(how)
    const before = await contentOf(join(path, '..'))
    const message = new RegExp(
      `${path} is damaged: .*(${named.source}).*Nothing was changed.*backup.*--accept-loss`,
      's',
    )
    for (const attempt of ['first', 'second']) {
      // as a large store is read, where that makes a difference: threads take long to begin
      const inThreads = attempt === 'second' && i % 4 === 0 && { threadsFromBytes: 0 }
      await t.rejects(
        openLevelStore({ path, ...inThreads }),
        { code: 'Damaged', message },
        `the ${attempt} start says so`,
      )
    }
    t.equal(await contentOf(join(path, '..')), before, 'and nothing was changed')
  })

t.test('keys without a store are a loss; without keys it is a beginning', async t => {
  const path = join(root, 'keysOnly', 'store')
  await t.rejects(openLevelStore({ path, established: true }), { code: 'Damaged', message: /is gone, and the keys/ })
  await (await openLevelStore({ path })).close()
})

async function opens(t: Test, path: string, revision: number): Promise<void> {
  const store = await openLevelStore({ path, established: true })
  t.equal(store.revision, revision)
  t.equal((await readWatch(store, {}, 0, revision)).length, revision)
  await store.close()
}

t.test('what is not damage: torn ends, a mark that is behind or lost, a creation that was cut short', async t => {
  await opens(t, await hurt(async () => {}), 400)
  await opens(t, await hurt((_, dir) => rm(join(dir, 'store.acknowledged'))), 400)
  await opens(t, await hurt((_, dir) => writeFile(join(dir, 'store.acknowledged'), '')), 400)
  await opens(t, await hurt((_, dir) => writeFile(join(dir, 'store.acknowledged'), Buffer.alloc(17))), 400)
  const mark = (revision: number) => `${String(revision).padStart(16, '0')}\n`
  await opens(t, await hurt((_, dir) => writeFile(join(dir, 'store.acknowledged'), mark(17))), 400)
  // A write that was not acknowledged: its record is torn, or not there, or pages of it were never written.
  const unacknowledged = (tear: (log: string) => Promise<unknown>) => async (path: string, dir: string) => {
    await writeFile(join(dir, 'store.acknowledged'), mark(399))
    await tear(await fileOf(path, LOG))
  }
  const bytesOf = async (file: string) => (await readFile(file)).length
  for (const tear of [
    async (log: string) => await truncate(log, (await bytesOf(log)) - 7),
    async (log: string) => {
      const file = await open(log, 'r+')
      await file.write(Buffer.alloc(60), 0, 60, (await bytesOf(log)) - 60)
      await file.close()
    },
  ])
    await opens(t, await hurt(unacknowledged(tear)), 399)
  const cutShort = join(root, 'cutShort', 'store')
  const db = new Level(cutShort)
  await db.open()
  await db.close()
  const store = await openLevelStore({ path: cutShort })
  t.equal(store.revision, 0)
  await store.close()
})

t.test('a copy of the whole data folder, put back, is no damage, however old', async t => {
  const dir = join(root, 'restored')
  await cp(whole, dir, { recursive: true })
  await rename(dir, `${dir}-away`)
  await cp(older, dir, { recursive: true })
  await opens(t, join(dir, 'store'), 300)
})

t.test('what a crash left of an earlier look is cleared away', async t => {
  const path = await hurt(async path => await cp(path, `${path}.check-abcdef`, { recursive: true }))
  await opens(t, path, 400)
  t.same((await readdir(join(path, '..'))).sort(), ['store', 'store.acknowledged'])
})
