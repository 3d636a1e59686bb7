/** Which cursors are of the history that a store has had. */
import t from 'tap'
import { StoreEpochs } from '../../../src/apiserver/registry/storeEpochs.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import type { Store } from '../../../src/storage/store.ts'
import { create, key } from '../../storage/support.ts'

const fail = (error: unknown): never => {
  throw error
}
const begin = (store: Store, id: string) => StoreEpochs.begin(store, fail, id)
const write = async (store: Store, ...names: string[]): Promise<number> => {
  for (const name of names) await create(store, key(name))
  return store.revision
}

t.test('a cursor counts up to where its life ended', async t => {
  const store = await openMemoryStore()
  const first = await begin(store, 'e1')
  const early = await write(store, 'a', 'b')
  t.ok(first.hold('e1', early))
  t.notOk(first.hold('e1', early + 1), 'of what is to come nobody was told')
  const second = await begin(store, 'e2')
  const late = await write(store, 'c', 'd')
  t.equal(second.current, 'e2')
  t.ok(second.hold('e1', early), 'it was told of all of its life, and nothing of this one')
  t.notOk(second.hold('e1', early + 1), 'whoever was told more was told by a store that is not this one')
  t.ok(second.hold('e2', late))
  t.ok(second.hold('e2', early), 'a cursor of before may go on in this life')
  t.notOk(second.hold('e3', 1), 'a life that is not in this store')
  await store.close()
})

t.test('what refuses the record is told, and the server goes on', async t => {
  const told: unknown[] = []
  const refused = { reason: 'Shortage', message: 'the disk is full', key: key('a'), causes: [] } as const
  const store = { revision: 7, get: async () => undefined, update: async () => ({ ok: false, refused }) as const }
  const epochs = await StoreEpochs.begin(store, error => told.push(error), 'e1')
  t.ok(epochs.hold('e1', 7))
  await new Promise(setImmediate)
  t.match(told, [{ message: 'the disk is full' }])
})

t.test('only so many are kept', async t => {
  const store = await openMemoryStore()
  for (let i = 0; i < 205; i++) {
    await begin(store, `e${i}`)
    await write(store, `after-${i}`)
  }
  const last = await begin(store, 'last')
  t.notOk(last.hold('e5', 0))
  t.ok(last.hold('e6', 0))
  await store.close()
})

t.test('a restore outlives any number of starts of its server', async t => {
  const store = await openMemoryStore()
  const facts = { takenAt: '2026-11-29T04:00:00Z', restoredAt: '2026-11-30T04:00:00Z' }
  await StoreEpochs.restored(store, store.revision, facts)
  for (let i = 0; i < 205; i++) {
    await begin(store, `e${i}`)
    await write(store, `after-${i}`)
  }
  const last = await begin(store, 'last')
  t.match(last.restored, facts)
  t.notOk(last.hold('e5', 0), 'and keeps no more lives for that')
  t.ok(last.hold('e6', 0))
  await last.settle()
  t.equal((await begin(store, 'settled')).restored, undefined)
  await store.close()
})

t.test('a store made of an archive knows nothing behind the snapshot, and says so until that is settled', async t => {
  const store = await openMemoryStore()
  const first = await begin(store, 'e1')
  const archived = await write(store, 'a', 'b')
  t.equal(first.restored, undefined)
  // as a restore raises it
  await write(store, 'c', 'd')
  const facts = { takenAt: '2026-11-29T04:00:00Z', restoredAt: '2026-11-30T04:00:00Z' }
  await StoreEpochs.restored(store, archived, facts)
  const again = await begin(store, 'e2')
  t.ok(again.hold('e1', archived))
  t.notOk(again.hold('e1', archived + 1), 'the lives before it ended with the snapshot')
  t.ok(again.hold('e2', store.revision))
  t.match(again.restored, facts)
  t.match((await StoreEpochs.following(store, 'e2')).restored, facts)
  await write(store, 'e')
  t.match((await begin(store, 'e3')).restored, facts, 'over starts of the server')
  const restoredThen: unknown[] = []
  again.onSettled = () => restoredThen.push(again.restored)
  await again.settle()
  await again.settle()
  t.strictSame(restoredThen, [undefined], 'once, and when it is so')
  const last = await begin(store, 'e4')
  t.equal(last.restored, undefined, 'for good')
  t.notOk(last.hold('e1', archived + 1))
  await StoreEpochs.restored(store, archived, { ...facts, restoredAt: '2026-12-01T04:00:00Z' })
  t.match((await begin(store, 'e5')).restored, { restoredAt: '2026-12-01T04:00:00Z' }, 'another restore is another')
  await store.close()
})
