/** Items of Services, as the store has them in each moment. */
import t from 'tap'
import { AllocationLog } from '../../../src/apiserver/serviceNetwork/allocationLog.ts'
import { serviceNetwork } from '../../../src/apiserver/serviceNetwork/serviceRanges.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'

const keyOf = (name: string, space = 's') => ({ space, group: '', resource: 'services', namespace: 'n', name })
const textOf = (name: string, ip: string) => ({
  head: '{"apiVersion":"v1","kind":"Service","metadata":{"resourceVersion":"',
  tail: `","name":"${name}"},"spec":{"clusterIPs":["${ip}"]}}`,
})

async function world() {
  const store = await openMemoryStore()
  const log = new AllocationLog({ store, kept: '10.0.0.1' })
  const put = (name: string, ip: string, space?: string) =>
    store.update(keyOf(name, space), () => ({ type: 'put', text: textOf(name, ip) }))
  const remove = (name: string) =>
    store.update(keyOf(name), () => ({ type: 'delete', text: textOf(name, '10.0.0.99') }))
  return { store, log, put, remove }
}

t.test('it follows what is written, and what goes', async t => {
  const { store, log, put, remove } = await world()
  await put('a', '10.0.0.5')
  const known = log.of('s')
  t.strictSame(known.claim('10.0.0.5', 'n/b'), { by: 'held', owner: 'n/a' })
  t.equal(known.claim('10.0.0.5', 'n/a'), undefined, 'what is its own it may keep')
  t.strictSame(known.claim('10.0.0.1', 'n/a'), { by: 'kept' })
  await put('a', '10.0.0.6')
  await put('b', '10.0.0.5')
  await put('c', '10.0.0.7', 'other')
  t.strictSame(known.claim('10.0.0.5', 'n/c'), { by: 'held', owner: 'n/b' })
  t.strictSame(known.claim('10.0.0.6', 'n/c'), { by: 'held', owner: 'n/a' })
  t.equal(known.claim('10.0.0.7', 'n/x'), undefined, 'that is the business of another space')
  await remove('a')
  t.equal(known.claim('10.0.0.6', 'n/c'), undefined)
  log.forget('s')
  await put('b', '10.0.0.8')
  t.strictSame(known.claim('10.0.0.5', 'n/x'), { by: 'held', owner: 'n/b' }, 'of a space that is gone nothing is heard')
  t.strictSame(log.of('s').claim('10.0.0.8', 'n/x'), { by: 'held', owner: 'n/b' })
  await store.close()
})

t.test('what is reserved is held before its writer can give it back', async t => {
  const { store, log, put } = await world()
  const allocations = log.of('s')
  allocations.reserve('10.0.0.5', 'n/a')
  t.strictSame(allocations.claim('10.0.0.5', 'n/b'), { by: 'reserved' })
  await put('a', '10.0.0.5')
  allocations.release('10.0.0.5')
  t.strictSame(allocations.claim('10.0.0.5', 'n/b'), { by: 'held', owner: 'n/a' })
  await store.close()
})

t.test('a range is given to its last item', async t => {
  const { store, log } = await world()
  const { ports } = serviceNetwork(undefined, '30000-30019')
  const allocations = log.of('s')
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
