/** Cost of a start that finds all as it should be, and its repairs where it does not. */
import t from 'tap'
import { num } from '../../../src/apimachinery/fields.ts'
import { EDGE_PLACEMENTS, LOCATIONS, SLICES } from '../../../src/placement/words/placement.ts'
import { FakeClock } from '../../client/support/fakeClock.ts'
import type { FakeServer } from './fakeServer.ts'
import {
  ALL_MAPS,
  configMap,
  inventory,
  MAPS,
  placed as placedOf,
  placement,
  slice,
  tick,
  world,
} from './translatorWorld.ts'

const MANY = 200

/** How often something was read one by one in these spaces. */
function readsIn(server: FakeServer, spaces: readonly string[]): () => number {
  let reads = 0
  const inSpace = server.in.bind(server)
  server.in = space => {
    const api = inSpace(space)
    if (!spaces.includes(space)) return api
    const get: typeof api.get = (...given) => {
      if (given[0].resource === MAPS.resource) reads++
      return api.get(...given)
    }
    return { ...api, get }
  }
  return () => reads
}

async function placed(t: Parameters<typeof world>[0]) {
  const clock = new FakeClock()
  const all = await world(t, clock)
  const { server, wds } = all
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  for (let i = 0; i < MANY; i++) await wds.create(MAPS, configMap(`m${i}`, { version: 'old' }))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  // the second without further reports on a placement is over
  await clock.advance(1000)
  await server.quiet()
  return all
}

const at = (name: string) => ({ namespace: 'commonstuff', name })

t.test(
  'a start that finds all as it should be reads no copy, parses each content once, and writes nothing',
  async t => {
    const { server, florin, guilder, restart } = await placed(t)
    const reads = readsIn(server, [florin, guilder])
    const [writes, looks] = [server.writes.length, server.looks]
    await restart(async () => {})
    await server.quiet()
    t.strictSame(server.writes.slice(writes), [])
    t.equal(reads(), 0)
    // each object of the workload space, and one of its copies; the rest are Namespaces, placements and the like
    t.ok(server.looks - looks < 2.2 * MANY, `${server.looks - looks} objects were looked at`)
  },
)

t.test('what is not as it should be after a start is found among what is, and nothing else is written', async t => {
  const { server, wds, florin, guilder, restart } = await placed(t)
  const writes = server.writes.length
  await restart(async () => {
    await server.in(florin).patch(MAPS, at('m3'), 'merge', { data: { version: 'by hand' } })
    await server
      .in(guilder)
      .patch(MAPS, at('m4'), 'merge', { metadata: { annotations: { 'edge.kubestellar.io/owner': 'x' } } })
    await server.in(guilder).delete(MAPS, at('m5'))
    await wds.patch(MAPS, at('m6'), 'merge', { data: { version: 'new' } })
    await wds.delete(MAPS, at('m7'))
  })
  await server.quiet()
  const copy = (space: string, name: string) => server.peek(space, MAPS, name, 'commonstuff')
  t.match(copy(florin, 'm3'), { data: { version: 'old' } })
  t.match(copy(guilder, 'm4'), { metadata: { annotations: { 'edge.kubestellar.io/owner': 'wds1' } } })
  t.match(copy(guilder, 'm5'), { data: { version: 'old' } })
  for (const mailbox of [florin, guilder]) {
    t.match(copy(mailbox, 'm6'), { data: { version: 'new' } })
    t.equal(copy(mailbox, 'm7'), undefined)
  }
  const others = server.writes.slice(writes).filter(write => !/\/m[34567]$|status edgeplacements/.test(write))
  t.strictSame(others, [])
})

t.test('a change during a start does not wait until all that is there was looked at', async t => {
  const { server, wds, florin, restart } = await placed(t)
  const last = `m${MANY - 1}`
  await restart(async () => {})
  await wds.patch(MAPS, at(last), 'merge', { data: { version: 'new' } })
  await server.until(() => JSON.stringify(server.peek(florin, MAPS, last, 'commonstuff')).includes('new'))
  await server.quiet()
  t.match(server.peek(florin, MAPS, 'm0', 'commonstuff'), { data: { version: 'old' } })
})

t.test('after a start an outcome is reported anew although a cluster of the placement has no mailbox', async t => {
  const clock = new FakeClock()
  const { server, wds, restart } = await world(t, clock)
  const uid = '33333333-3333-4333-8333-333333333333'
  await inventory(server, 'yen', uid)
  await wds.create(MAPS, configMap('one', {}, { annotations: { 'edge.kubestellar.io/customizer': 'nowhere' } }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  const { destinations, ...rest } = slice('ep', 'florin')
  const yen = { cluster: 'inv1', locationName: 'yen', syncTargetName: 'yen', syncTargetUID: uid }
  await wds.create(SLICES, { ...rest, destinations: [...(destinations as object[]), yen] })
  const shown = async () => {
    for (let i = 0; i < 3; i++) await tick(server, clock)
    const ep = server.peek('wds1', EDGE_PLACEMENTS, 'ep')
    return { objects: num(ep?.status, 'counts', 'objects'), placed: placedOf(server)?.status }
  }
  t.same(await shown(), { objects: 1, placed: 'False' })
  await restart(() => wds.create(MAPS, configMap('two', {})))
  t.same(await shown(), { objects: 2, placed: 'False' })
  const paused = { metadata: { annotations: { 'edge.kubestellar.io/paused': 'true' } } }
  await server.in('inv1').patch(LOCATIONS, { name: 'florin' }, 'merge', paused)
  await restart(() => wds.create(MAPS, configMap('three', {})))
  t.same(await shown(), { objects: 3, placed: 'False' }, 'also while it is paused')
})
