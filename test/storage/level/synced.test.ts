/** A commit is on the disk before it is acknowledged: its batch is synced, whatever it is about. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import t from 'tap'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { create, del, key, put } from '../support.ts'

const root = await mkdtemp(join(tmpdir(), 'orrery-synced-'))
t.teardown(() => rm(root, { recursive: true }))

interface Batch {
  write(options?: { sync?: boolean }): Promise<void>
}

/** Every batch of a database has its `write` from here. */
async function batches(): Promise<Batch> {
  const db = new Level<string, Buffer>(join(root, 'any'))
  await db.open()
  const batch = db.batch()
  let made = batch as unknown as Batch
  while (!Object.hasOwn(made, 'write')) made = Object.getPrototypeOf(made) as Batch
  await batch.close()
  await db.close()
  return made
}

t.test('no write is acknowledged before a synced batch has it', async t => {
  const all = await batches()
  const original = all.write
  let synced = 0
  all.write = async function (this: Batch, options) {
    await original.call(this, options)
    if (options?.sync) synced++
  }
  t.teardown(() => {
    all.write = original
  })
  const store = await openLevelStore({ path: join(root, 'store') })
  const acts = [
    () => create(store, key('a')),
    () => store.update(key('a'), () => put('second')),
    () => store.update(key('a'), () => del()),
  ]
  for (const act of acts) {
    const before = synced
    await act()
    t.equal(synced, before + 1)
  }
  await store.close()
})
