/** A commit of large objects is given to the database in portions, between which others have their turn. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Level } from 'level'
import t from 'tap'
import { openLevelStore } from '../../../src/storage/level/openLevelStore.ts'
import { create, key, put } from '../support.ts'

const root = await mkdtemp(join(tmpdir(), 'orrery-portions-'))
t.teardown(() => rm(root, { recursive: true }))

interface Batch {
  put(row: string, value: Buffer): unknown
}

/** Class of every batch of a database, with its `put`. */
async function batches(): Promise<Batch> {
  const db = new Level<string, Buffer>(join(root, 'any'))
  await db.open()
  const batch = db.batch()
  let made = batch as unknown as Batch
  while (!Object.hasOwn(made, 'put')) made = Object.getPrototypeOf(made) as Batch
  await batch.close()
  await db.close()
  return made
}

t.test('each large value has a turn of its own, and a commit is still one', async t => {
  const all = await batches()
  const original = all.put
  let [turn, inTurn, most, isOver] = [0, 0, 0, false]
  const count = (): void => {
    turn++
    inTurn = 0
    if (!isOver) setImmediate(count)
  }
  const path = join(root, 'store')
  const store = await openLevelStore({ path })
  await create(store, key('a'), key('b'), key('c'))
  all.put = function (this: Batch, row, value) {
    inTurn += value.length
    most = Math.max(most, inTurn)
    return original.call(this, row, value)
  }
  t.teardown(() => {
    all.put = original
  })
  setImmediate(count)
  const large = 'x'.repeat(1_500_000)
  for (let i = 0; i < 2; i++)
    await Promise.all(['a', 'b', 'c'].map(name => store.update(key(name), () => put(large + i))))
  isOver = true
  t.ok(most > 1_500_000 && most < 3_000_000, `${most} bytes in a turn, of ${turn}`)
  const { revision } = store
  await store.close()
  const again = await openLevelStore({ path })
  t.equal(again.revision, revision)
  for (const name of ['a', 'b', 'c']) t.ok((await again.get(key(name)))!.bytes.length > 1_500_000)
  await again.close()
})
