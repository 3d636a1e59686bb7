/** Engines by their names: each opens with its own options, and keeps its promise. */
import { join } from 'node:path'
import t from 'tap'
import { openEngine } from '../../src/storage/openEngine.ts'
import { SharedLog } from '../../src/storage/replica/sharedLog.ts'
import type { Store } from '../../src/storage/store.ts'
import { put } from './support.ts'

const KEY = { space: 'root', group: '', resource: 'configmaps', namespace: 'default', name: 'a' }
const write = (store: Store) => store.update(KEY, () => put('text'))
const has = async (store: Store): Promise<boolean> => (await store.get(KEY)) !== undefined

t.test('a store on disk is there again, a memory store is not', async t => {
  const dataDir = join(t.testdir(), 'data')
  for (const isThere of [false, true]) {
    const store = await openEngine('disk', { dataDir })
    t.equal(await has(store), isThere)
    await write(store)
    await store.close()
  }
  for (const _ of [1, 2]) {
    const store = await openEngine('memory', {})
    t.notOk(await has(store))
    await write(store)
    t.ok(await has(store))
    await store.close()
  }
})

t.test('a replica follows any of them', async t => {
  const logger = { error: (_: object, message: string) => t.fail(message) }
  const log = new SharedLog({ logger })
  const writer = await openEngine('memory', { log })
  const replica = await openEngine('replica', { link: log.follow().link, logger })
  await write(writer)
  t.ok(await has(replica))
  await replica.close()
  await writer.close()
})
