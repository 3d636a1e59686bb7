// Objects that may be carried up: upsync sets are cut to the inventory's grants, and leave room for each other.
import t from 'tap'
import type { KubeObject } from '../../../../src/apimachinery/object.ts'
import { NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import { EDGE_PLACEMENTS, PLACEMENT_GRANTS, SLICES } from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { namespace } from '../fakeServer.ts'
import {
  ALL_MAPS,
  configMap,
  consent,
  EVERYTHING,
  grant,
  MAPS,
  placed,
  placement,
  setGrant,
  slice,
  tick,
  upsyncIn,
  world,
} from '../translatorWorld.ts'

t.test('what is carried up is cut to the grant, and Secrets go by name only', async t => {
  const { server, wds, florin } = await world(t)
  await setGrant(server, 'wds1', {
    upsync: [
      { apiGroup: '', resources: ['*'], namespaces: ['a', 'b'] },
      { apiGroup: '', resources: ['secrets'], names: ['report'] },
      { apiGroup: 'stable.example.com', resources: ['crontabs'], names: ['x', 'y'] },
    ],
  })
  const all = { namespaces: ['*'], names: ['*'] }
  const upsync = [
    { apiGroup: '', resources: ['configmaps', 'secrets'], namespaces: ['b', 'c'], names: ['*'] },
    { apiGroup: 'stable.example.com', resources: ['*'], ...all },
    { apiGroup: 'apps', resources: ['*'], ...all },
  ]
  await wds.create(EDGE_PLACEMENTS, placement('ep', { upsync }))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  t.same(upsyncIn(server, florin), [
    { apiGroup: '', resources: ['configmaps'], namespaces: ['b'], names: ['*'] },
    { apiGroup: '', resources: ['secrets'], namespaces: ['b', 'c'], names: ['report'] },
    { apiGroup: 'stable.example.com', resources: ['crontabs'], namespaces: ['*'], names: ['x', 'y'] },
  ])
  const { reason, message } = placed(server)!
  t.equal(reason, 'UpsyncNotGranted')
  t.ok(message.startsWith('UpsyncNotGranted: 1 refused (1 copy): spec.upsync[2]: it may not be carried up'), message)
})

t.test('the wildcard of the core group leaves Secrets out, and is none to complain about', async t => {
  const { server, wds, florin } = await world(t)
  const wild = { apiGroup: '', resources: ['*'], namespaces: ['*'], names: ['*'] }
  await wds.create(EDGE_PLACEMENTS, placement('ep', { upsync: [wild] }))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const [{ resources } = { resources: [] as string[] }] = upsyncIn(server, florin) as { resources: string[] }[]
  t.ok(resources.includes('configmaps'))
  t.notOk(resources.includes('secrets') || resources.includes('*'))
  t.match(placed(server), { status: 'True' })
})

t.test("one space's sets leave room for the others', and who asks for too much is told", async t => {
  const clock = new FakeClock()
  const { server, wds, florin } = await world(t, clock)
  const set = (name: string) => ({ apiGroup: 'g.io', resources: ['things'], namespaces: ['a'], names: [name] })
  const many = Array.from({ length: 9000 }, (_, i) => set(`thing-${i}`))
  await wds.create(EDGE_PLACEMENTS, placement('ep', { upsync: many }))
  await wds.create(SLICES, slice('ep', 'florin'))
  await consent(server, 'wds2')
  const other = server.in('wds2')
  await other.create(EDGE_PLACEMENTS, placement('ep', { upsync: [set('mine')] }))
  await other.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const sets = upsyncIn(server, florin)
  t.ok(JSON.stringify(sets).length < 250_000)
  t.ok(sets.some(one => (one as { names: string[] }).names[0] === 'mine'))
  t.match(placed(server, 'wds2'), { status: 'True' })
  await tick(server, clock)
  t.match(placed(server), { status: 'False', reason: 'TooMuchUpsync' })
  t.match(placed(server)!.message, /spec\.upsync: \d+ of its sets are not carried up, as all sets of a space/)
})

t.test('an object that was carried up says which spaces asked for it, and the record follows them', async t => {
  const { server, wds, florin, restart } = await world(t)
  const upsync = [{ apiGroup: '', resources: ['configmaps'], namespaces: ['commonstuff'], names: ['report'] }]
  await wds.create(EDGE_PLACEMENTS, placement('ep', { upsync }))
  await wds.create(SLICES, slice('ep', 'florin'))
  await consent(server, 'wds2')
  const other = server.in('wds2')
  await other.create(EDGE_PLACEMENTS, placement('ep', { upsync: [{ ...upsync[0], names: ['*'] }] }))
  await other.create(SLICES, slice('ep', 'florin'))
  await server.in(florin).create(NAMESPACES, namespace('commonstuff'))
  const carry = (name: string, annotations = {}) => {
    const mark = { 'edge.kubestellar.io/upsynced': `ConfigMap/commonstuff/${name}` }
    return server.in(florin).create(MAPS, configMap(name, {}, { annotations: { ...mark, ...annotations } }))
  }
  await carry('report')
  await carry('other', { 'edge.kubestellar.io/upsynced-for': 'wds1' })
  await server.in(florin).create(MAPS, configMap('plain', {}))
  await server.quiet()
  const requestedBy = (name: string) =>
    server.peek(florin, MAPS, name, 'commonstuff')!.metadata.annotations!['edge.kubestellar.io/upsynced-for']
  t.equal(requestedBy('report'), 'wds1,wds2')
  t.equal(requestedBy('other'), 'wds2', 'whatever it said of itself')
  t.equal(requestedBy('plain'), undefined)
  await other.delete(EDGE_PLACEMENTS, { name: 'ep' })
  await server.quiet()
  t.equal(requestedBy('report'), 'wds1')
  t.equal(requestedBy('other'), undefined)
  const writes = server.writes.length
  await restart(async () => {})
  await server.quiet()
  t.equal(server.writes.length, writes, 'a restart changes nothing')
})

t.test('an upsync set of one space does not keep the object of another one at home', async t => {
  const { server, wds, florin } = await world(t)
  const page = { apiGroup: '', resources: ['configmaps'], namespaces: ['commonstuff'], names: ['page'] }
  await consent(server, 'wds2', EVERYTHING)
  await server.in('wds2').create(EDGE_PLACEMENTS, placement('up', { downsync: [{}], upsync: [page] }))
  await server.in('wds2').create(SLICES, slice('up', 'florin'))
  await wds.create(MAPS, configMap('page', { of: 'wds1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  t.same((server.peek(florin, MAPS, 'page', 'commonstuff') as KubeObject).data, { of: 'wds1' })
})

t.test('what an upsync set names and no grant lets be carried up is placed, and held back once one does', async t => {
  const { server, wds, florin, guilder } = await world(t)
  const report = { apiGroup: '', resources: ['configmaps'], namespaces: ['commonstuff'], names: ['report'] }
  await server
    .in('inv1')
    .create(PLACEMENT_GRANTS, grant('only-guilder', 'wds1', { locations: { matchLabels: { 'loc-name': 'guilder' } } }))
  await setGrant(server, 'wds1', { upsync: [] })
  await wds.create(MAPS, configMap('report', {}))
  await wds.create(MAPS, configMap('page', {}))
  await wds.create(
    EDGE_PLACEMENTS,
    placement('ep', { ...ALL_MAPS, upsync: [report], wantSingletonReportedState: true }),
  )
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const maps = () => [florin, guilder].map(mailbox => server.names(mailbox, MAPS).map(name => name.split('/')[1]))
  const count = () =>
    server.peek('wds1', MAPS, 'report', 'commonstuff')!.metadata.annotations?.['kubestellar.io/executing-count']
  t.same(maps(), [
    ['page', 'report'],
    ['page', 'report'],
  ])
  t.equal(count(), '2')
  const guilderUp = await server.in('inv1').get(PLACEMENT_GRANTS, { name: 'only-guilder' })
  await server
    .in('inv1')
    .update(PLACEMENT_GRANTS, { ...guilderUp, spec: { ...(guilderUp.spec as object), upsync: [report] } })
  await server.quiet()
  t.same(maps(), [['page', 'report'], ['page']], 'where one does')
  t.same(upsyncIn(server, guilder).length, 1)
  t.equal(count(), '1')
  await setGrant(server, 'wds1', { upsync: [report] })
  await server.quiet()
  t.same(maps(), [['page'], ['page']])
  t.equal(count(), undefined)
  await setGrant(server, 'wds1', { upsync: [] })
  await wds.update(SLICES, { ...(await wds.get(SLICES, { name: 'ep' })), ...slice('ep', 'guilder') })
  await server.quiet()
  t.same(maps(), [[], ['page']])
})

t.test('an upsync set beats what any placement of its space places there, and nothing of another space', async t => {
  const clock = new FakeClock()
  const { server, wds, florin, guilder, workStatuses } = await world(t, clock)
  await consent(server, 'wds2')
  const other = server.in('wds2')
  await other.create(NAMESPACES, namespace('commonstuff'))
  const upsync = [{ apiGroup: '', resources: ['configmaps'], namespaces: ['commonstuff'], names: ['born', 'theirs'] }]
  for (const name of ['born', 'made']) await wds.create(MAPS, configMap(name, {}))
  await wds.create(EDGE_PLACEMENTS, placement('p', ALL_MAPS))
  await wds.create(SLICES, slice('p', 'florin', 'guilder'))
  await other.create(MAPS, configMap('theirs', {}))
  await other.create(EDGE_PLACEMENTS, placement('p', ALL_MAPS))
  await other.create(SLICES, slice('p', 'florin'))
  const maps = async () => {
    await server.quiet()
    return [florin, guilder].map(mailbox => server.names(mailbox, MAPS).map(name => name.split('/')[1]))
  }
  const all = [
    ['born', 'made', 'theirs'],
    ['born', 'made'],
  ]
  const carried = [['made', 'theirs'], all[1]]
  t.same(await maps(), all)
  await wds.create(EDGE_PLACEMENTS, placement('q', { upsync }))
  await wds.create(SLICES, slice('q', 'florin'))
  t.same(await maps(), carried)
  await tick(server, clock)
  const { counts } = server.peek('wds1', EDGE_PLACEMENTS, 'p')!.status as { counts: Record<string, number> }
  t.equal(counts.notPlaced, 1, 'at one of the two clusters that the same grant leads to')
  t.match(
    (await workStatuses()).filter(row => row.includes('CarriedUp')),
    [/florin.*born NotPlaced CarriedUp/],
  )
  await wds.update(SLICES, { ...server.peek('wds1', SLICES, 'q')!, ...slice('q', 'guilder') })
  t.same(await maps(), [all[0], ['made']])
  await wds.update(SLICES, { ...server.peek('wds1', SLICES, 'q')!, ...slice('q', 'florin') })
  t.same(await maps(), carried)
  await wds.update(EDGE_PLACEMENTS, { ...server.peek('wds1', EDGE_PLACEMENTS, 'q')!, spec: { upsync: [] } })
  t.same(await maps(), all)
  await wds.update(EDGE_PLACEMENTS, { ...server.peek('wds1', EDGE_PLACEMENTS, 'q')!, spec: { upsync } })
  t.same(await maps(), carried)
  await setGrant(server, 'wds1', { upsync: [] })
  t.same(await maps(), all, 'what may not be carried up is placed')
  await setGrant(server, 'wds1', { upsync: EVERYTHING.upsync })
  t.same(await maps(), carried)
  await wds.delete(EDGE_PLACEMENTS, { name: 'q' })
  t.same(await maps(), all)
})
