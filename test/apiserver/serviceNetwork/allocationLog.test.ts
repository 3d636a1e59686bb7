/** What Services hold, as the log tells it: also while it is read, and after the log was lost sight of. */
import t from 'tap'
import { AllocationLog } from '../../../src/apiserver/serviceNetwork/allocationLog.ts'
import { serviceNetwork } from '../../../src/apiserver/serviceNetwork/serviceRanges.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import { StorageError, type Store } from '../../../src/storage/store.ts'

const keyOf = (name: string) => ({ space: 's', group: '', resource: 'services', namespace: 'n', name })
const textOf = (name: string, ip: string) => ({
  head: '{"apiVersion":"v1","kind":"Service","metadata":{"resourceVersion":"',
  tail: `","name":"${name}"},"spec":{"clusterIPs":["${ip}"]}}`,
})

async function world() {
  const store = await openMemoryStore()
  const errors: unknown[] = []
  let lost: ((error: Error) => void) | undefined
  const watched: Pick<Store, 'get' | 'list' | 'watch' | 'revision'> = {
    get revision() {
      return store.revision
    },
    get: key => store.get(key),
    list: (range, options) => store.list(range, options),
    async *watch(range, options) {
      const { promise, reject } = Promise.withResolvers<never>()
      promise.catch(() => {})
      lost = reject
      const events = store.watch(range, options)[Symbol.asyncIterator]()
      for (;;) {
        const next = await Promise.race([events.next(), promise])
        if (next.done) return
        yield next.value
      }
    },
  }
  const log = new AllocationLog({
    store: watched,
    kept: '10.0.0.1',
    log: { error: (fields: unknown) => void errors.push(fields) } as never,
  })
  const put = async (name: string, ip: string) => {
    const { key, revision = 0 } = (await store.get(keyOf(name))) ?? { key: keyOf(name) }
    await store.write({ key, expect: revision, mutation: { type: 'put', text: textOf(name, ip) } })
  }
  const remove = (name: string) =>
    store.update(keyOf(name), () => ({ type: 'delete', text: textOf(name, '10.0.0.99') }))
  /** All that was written has been told. */
  const told = async () => {
    while (log.told < store.revision) await new Promise(setImmediate)
  }
  return { store, log, errors, put, remove, told, lose: (error: Error) => lost!(error) }
}

t.test('it follows what is written, and what goes', async t => {
  const { store, log, put, remove, told } = await world()
  await put('a', '10.0.0.5')
  log.start()
  const known = await log.of('s')
  t.strictSame(known.claim('10.0.0.5', 'n/b'), { by: 'held', owner: 'n/a' })
  t.equal(known.claim('10.0.0.5', 'n/a'), undefined, 'what is its own it may keep')
  t.strictSame(known.claim('10.0.0.1', 'n/a'), { by: 'kept' })
  await put('a', '10.0.0.6')
  await put('b', '10.0.0.5')
  await told()
  t.strictSame(known.claim('10.0.0.5', 'n/c'), { by: 'held', owner: 'n/b' })
  t.strictSame(known.claim('10.0.0.6', 'n/c'), { by: 'held', owner: 'n/a' })
  await remove('a')
  await told()
  t.equal(known.claim('10.0.0.6', 'n/c'), undefined)
  await log.stop()
  await store.close()
})

t.test('what is reserved is reserved until the log tells of it', async t => {
  const { store, log, put, told } = await world()
  log.start()
  const allocations = await log.of('s')
  const reserve = (item: string) => {
    allocations.reserve(item, 'n/a')
    return { space: 's', allocations, items: [item] }
  }
  const [kept, dropped] = [reserve('10.0.0.5'), reserve('10.0.0.6')]
  t.strictSame(allocations.claim('10.0.0.5', 'n/b'), { by: 'reserved' })
  log.settle(dropped, undefined)
  t.equal(allocations.claim('10.0.0.6', 'n/b'), undefined)
  await put('a', '10.0.0.5')
  log.settle(kept, await store.get(keyOf('a')))
  t.ok(allocations.claim('10.0.0.5', 'n/b'), 'there is no moment in which it is free')
  await told()
  t.strictSame(allocations.claim('10.0.0.5', 'n/b'), { by: 'held', owner: 'n/a' })
  await log.stop()
  await store.close()
})

t.test('who lost sight of the log reads anew', async t => {
  const { store, log, errors, put, remove, told, lose } = await world()
  await put('a', '10.0.0.5')
  log.start()
  const known = await log.of('s')
  const writes = [put('b', '10.0.0.6'), remove('a')]
  lose(new StorageError('SlowWatcher', 'too slow'))
  await Promise.all(writes)
  await put('c', '10.0.0.7')
  await told()
  t.equal(errors.length, 1)
  t.equal(known.claim('10.0.0.5', 'n/x'), undefined)
  t.strictSame(known.claim('10.0.0.6', 'n/x'), { by: 'held', owner: 'n/b' })
  t.strictSame(known.claim('10.0.0.7', 'n/x'), { by: 'held', owner: 'n/c' })
  await log.stop()
  await store.close()
})

t.test('a range is given to its last item', async t => {
  const { store, log } = await world()
  const { ports } = serviceNetwork(undefined, '30000-30019')
  const allocations = await log.of('s')
  const given = new Set<number>()
  for (
    let port = allocations.free(ports, Math.random);
    port !== undefined;
    port = allocations.free(ports, Math.random)
  ) {
    if (given.size < 4) t.ok(port >= 30_016, 'those for people come last')
    given.add(port)
    allocations.reserve(port, 'n/a')
  }
  t.equal(given.size, 20)
  allocations.release(30_003)
  t.equal(
    allocations.free(ports, () => 0.99),
    30_003,
  )
  await store.close()
})
