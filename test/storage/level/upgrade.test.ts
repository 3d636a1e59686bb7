/**
 * Stores of format 1 are brought up to date. `formatOne.json` is one that release 0.1.0 wrote, row by row, with what that
 * release answered about it.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import t, { type Test } from 'tap'
import type { Database } from '../../../src/storage/level/database.ts'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import type { AcceptedLoss } from '../../../src/storage/level/salvage.ts'
import { upgradeFromOne } from '../../../src/storage/level/upgrade.ts'
import type { Store } from '../../../src/storage/store.ts'
import { key, put, readWatch, textOf, updated } from '../support.ts'

interface Recorded {
  rows: [row: string, base64: string][]
  objects: [key: object, revision: number, text: string][]
  events: { type: string; key: object; revision: number; text: string; previous?: string }[]
}

const recorded = JSON.parse(await readFile(join(import.meta.dirname, 'formatOne.json'), 'utf8')) as Recorded

/** `clones` writes every object again in so many spaces, so that the upgrade has several steps. */
async function formatOne(t: Test, clones = 0): Promise<{ path: string; db: Database }> {
  const root = await mkdtemp(join(tmpdir(), 'orrery-upgrade-'))
  t.teardown(() => rm(root, { recursive: true }))
  const path = join(root, 'store')
  const db = new Level<string, Buffer>(path, { keyEncoding: 'utf8', valueEncoding: 'buffer' }) as Database
  await db.open()
  const batch = db.batch()
  for (const [row, base64] of recorded.rows) batch.put(row, Buffer.from(base64, 'base64'))
  for (let i = 0; i < clones; i++)
    for (const [row, base64] of recorded.rows)
      if (row.startsWith('o/')) batch.put(row.replace('o/', `o/clone${i}-`), Buffer.from(base64, 'base64'))
  await batch.write()
  return { path, db }
}

async function assertUpgraded(t: Test, store: Store): Promise<void> {
  const own = (await store.list({})).items.filter(item => !item.key.space.startsWith('clone'))
  t.same(
    own.map(item => [item.key, item.revision, item.bytes.toString()]),
    recorded.objects,
  )
  for (const { bytes, headBytes, revision } of own)
    t.equal(bytes.toString('utf8', headBytes - 1, headBytes + 2), `"${revision}"`)
  const events = await readWatch(store, {}, 3, 8)
  t.same(
    events.map(e => [e.type, e.key, e.revision, e.stored.bytes.toString(), e.previous?.bytes.toString()]),
    recorded.events.map(e => [e.type, e.key, e.revision, e.text, e.previous]),
  )
  t.equal(store.revision, 8)
  t.equal(store.compactedRevision, 3)
}

t.test('a store of format 1 holds after the upgrade what it held before, history too, and goes on', async t => {
  const { path, db } = await formatOne(t)
  await db.close()
  const store = await openLevelStore({ path })
  await assertUpgraded(t, store)
  t.equal(textOf(await updated(store, key('a'), () => put('new'))), '9:new')
  const gone = await updated(store, key('says', { space: 'root', group: '', resource: 'configmaps' }), () => ({
    type: 'delete',
  }))
  const object = JSON.parse(gone!.bytes.toString()) as { metadata: { resourceVersion: string }; more: object }
  t.equal(object.metadata.resourceVersion, '10')
  t.same(object.more, { resourceVersion: '7' })
  await store.close()
  const again = await openLevelStore({ path })
  t.equal(again.revision, 10)
  await again.close()
})

t.test('a young store, which had forgotten no history yet, is upgraded too, and an empty one', async t => {
  for (const written of [0, 1]) {
    const { path, db } = await formatOne(t)
    await db.clear()
    await db.put('m/format', Buffer.from('1'))
    const id = 's1\0apps\0deployments\0default\0a'
    const numbers = Buffer.alloc(17)
    numbers.writeDoubleBE(1_790_000_000_000, 1)
    const one = Buffer.alloc(8)
    one.writeDoubleBE(1)
    if (written === 1) {
      await db.put('l/0000000000000001', Buffer.concat([numbers, Buffer.from(id)]))
      await db.put(`o/${id}`, Buffer.concat([one, Buffer.from('{"metadata":{"resourceVersion":"1"},"data":"x"}')]))
    }
    await db.close()
    const store = await openLevelStore({ path, established: true })
    t.equal(store.revision, written)
    t.equal(store.compactedRevision, 0)
    t.equal((await readWatch(store, {}, 0, written)).length, written)
    await store.close()
  }
})

t.test('an upgrade that is cut short anywhere is gone on with, and an older program is kept out meanwhile', async t => {
  for (let stop = 0; ; stop++) {
    const { path, db } = await formatOne(t, 700)
    let batches = 0
    const crashing = new Proxy(db, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          const result: unknown = Reflect.apply(member, target, args)
          if (name !== 'batch') return result
          const batch = result as ReturnType<Database['batch']>
          const write = batch.write.bind(batch)
          batch.write = async (...options: unknown[]) => {
            if (batches++ === stop) {
              await batch.close()
              throw new Error('crash')
            }
            await Reflect.apply(write, batch, options)
          }
          return batch
        }
      },
    })
    const crashed = await upgradeFromOne(crashing).then(
      () => false,
      () => true,
    )
    const format = (await db.get('m/format'))!.toString()
    t.equal(format, stop === 0 ? '1' : '2')
    await db.close()
    const store = await openLevelStore({ path })
    await assertUpgraded(t, store)
    t.equal(await store.count({}), 701 * recorded.objects.length)
    await store.close()
    if (crashed) continue
    t.ok(stop > 4, `${stop} steps`)
    return
  }
})

t.test('what was damaged before the upgrade is found, and named', async t => {
  const { path, db } = await formatOne(t)
  const row = recorded.rows.find(([row]) => row.startsWith('o/s1'))![0]
  await db.put(
    row,
    Buffer.from((await db.get(row))!.toString('latin1').replace('resourceVersion', 'resourceVersioN'), 'latin1'),
  )
  await db.del('l/0000000000000006')
  await db.close()
  for (let i = 0; i < 2; i++)
    await t.rejects(openLevelStore({ path }), {
      code: 'Damaged',
      message: /1 row does not match.*deployments.apps default\/a of space s1; 1 log entry is missing: revision 6/,
    })
})

t.test('a row that cannot be read at all ends neither the upgrade nor the start with what is intact', async t => {
  const entry = 'l/0000000000000006'
  const object = recorded.rows.find(([row]) => row.startsWith('o/s1'))![0]
  const withoutKey = (value: Buffer) => Buffer.from(value.toString('latin1').replaceAll('\0deployments', '-'), 'latin1')
  const short = () => Buffer.alloc(3)
  for (const [row, hurt, named, kept] of [
    [entry, withoutKey, /the log up to revision 6/, 4],
    [entry, short, /the log up to revision 6/, 4],
    [object, short, /deployments.apps default\/a of space s1/, 3],
    ['m/compacted', () => Buffer.from('3?'), /the record "m\/compacted"/, 4],
  ] as const) {
    const { path, db } = await formatOne(t)
    await db.put(row, hurt((await db.get(row))!))
    await db.close()
    await t.rejects(openLevelStore({ path }), { code: 'Damaged', message: named })
    let loss: AcceptedLoss | undefined
    const store = await openLevelStore({
      path,
      lossAccepted: accepted => {
        loss = accepted
      },
    })
    t.match(loss, { findings: [named], kept })
    t.equal(await store.count({}), kept)
    await store.close()
  }
})
