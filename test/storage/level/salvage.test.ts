/** A damaged store can be started with its intact part: losses are listed by name, and no revision is used twice. */
import { readdir, rename } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import t, { type Test } from 'tap'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { type AcceptedLoss, assessLoss } from '../../../src/storage/level/salvage.ts'
import type { Store } from '../../../src/storage/store.ts'
import { key, put, readWatch, updated } from '../support.ts'
import { damages, hurt, more, name, noise, rowOf, rows } from './damages.ts'

async function accept(t: Test, path: string): Promise<{ store: Store; loss: AcceptedLoss | undefined }> {
  const losses: AcceptedLoss[] = []
  const store = await openLevelStore({ path, established: true, lossAccepted: loss => losses.push(loss) })
  t.teardown(() => store.close())
  t.ok(losses.length < 2)
  return { store, loss: losses[0] }
}

/** Possible content of each object: its first text, or the changed one. */
function assertIntact(t: Test, items: { key: { name: string }; bytes: Buffer }[]): void {
  for (const { key, bytes } of items) {
    const i = Number(key.name.slice(1))
    const { data } = JSON.parse(bytes.toString()) as { data: string }
    if (key.name !== name(i) || ![noise(i), noise(1000 + i)].includes(data)) t.fail(`${key.name} is not intact`)
  }
}

/** One of each sort: what LevelDB skips, what it opens, what it has to repair, and what is gone. */
const SORTS = [
  'a bit of the log, in its middle',
  'the log, deleted',
  'a bit of a key in a table',
  'a table, cut in half',
  'a bit of the manifest',
  'CURRENT, deleted',
  'the database, gone',
  'the record of the newest batch, deleted',
]
const sorts = [...damages, ...more].filter(([what]) => SORTS.includes(what))
t.equal(sorts.length, SORTS.length)

for (const [what, how] of sorts)
  t.test(`accepted: ${what}`, async t => {
    const path = await hurt(how)
    const { store, loss } = await accept(t, path)
    t.ok(loss!.findings.length > 0)
    t.ok(store.revision > 10_000_000 + 329, 'above all that anybody was told')
    t.equal(store.compactedRevision, store.revision)
    const { items } = await store.list({})
    t.equal(items.length, loss!.kept)
    assertIntact(t, items)
    await t.rejects(readWatch(store, {}, 400, 500), { code: 'Compacted' }, 'cursors from before are too old')
    const next = await updated(store, key('new'), () => put('new'))
    t.equal(next!.revision, store.revision)
    await store.close()
    const again = await openLevelStore({ path, established: true })
    t.equal(again.revision, next!.revision)
    await again.close()
    const left = (await readdir(dirname(path))).filter(file => !file.startsWith('store.damaged-')).sort()
    t.same(left, ['store', 'store.acknowledged'])
    if (loss!.aside !== undefined) t.ok((await readdir(dirname(path))).includes(basename(loss!.aside)))
  })

t.test('objects are named that were lost, and those that are older than they were', async t => {
  const path = await hurt(async path => {
    await rows(async db => {
      await db.del(rowOf(5))
      await db.del(rowOf(305))
      await db.put(rowOf(200), Buffer.from('?'))
      await db.put('o/s1\0apps', Buffer.from('?'))
    })(path)
  })
  const loss = await assessLoss({ path })
  t.same(loss!.lost.toSorted(), [
    'an object whose name is not readable, "o/s1\\u0000apps": lost; its row is damaged',
    'deployments.apps default/n005 of space s1: lost; it was last written at revision 306',
    'deployments.apps default/n200 of space s1: lost; it was last written at revision 201',
    'deployments.apps default/n305 of space s1: lost; it was last written at revision 396',
  ])
  t.equal(loss!.kept, 307)
})

t.test('what nobody can name or count is said to be possible', async t => {
  const path = await hurt(
    rows(async db => {
      await db.clear({ lt: 'm/' })
      await db.clear({ gt: 'm/format' })
    }),
  )
  const loss = await assessLoss({ path })
  t.equal(loss!.kept, 0)
  t.same(loss!.lost, ['it is not known whether there were more objects, nor their names'])
})

t.test('all but the damaged rows is kept', async t => {
  const kept = async (what: string): Promise<number> => {
    const [, how] = damages.find(([other]) => other === what)!
    return (await assessLoss({ path: await hurt(how) }))!.kept
  }
  t.equal(await kept('a bit of an object in a table'), 309)
  t.equal(await kept('a bit of a key in a table'), 310, 'newer versions of what is damaged are there')
  t.equal(await kept('CURRENT, deleted'), 310)
})

t.test('an intact store loses nothing by it', async t => {
  const path = await hurt(async () => {})
  const { store, loss } = await accept(t, path)
  t.equal(loss, undefined)
  t.equal(store.revision, 400)
  t.equal((await readWatch(store, {}, 0, 400)).length, 400)
})

t.test('a crash between its last two steps is mended by the next start', async t => {
  const path = await hurt(damages[0]![1])
  const { store } = await accept(t, path)
  const { revision } = store
  await store.close()
  await rename(path, `${path}.salvaging`)
  const again = await openLevelStore({ path, established: true })
  t.equal(again.revision, revision)
  await again.close()
})

t.test('a store that is in use is left alone', async t => {
  const path = await hurt(async () => {})
  const store = await openLevelStore({ path })
  await t.rejects(assessLoss({ path }), { code: 'Locked' })
  await t.rejects(openLevelStore({ path, lossAccepted: () => {} }), { code: 'Locked' })
  await store.update(key('a'), () => put('goes on'))
  await store.close()
})
