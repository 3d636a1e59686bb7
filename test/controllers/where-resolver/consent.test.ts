// Placing takes two consents: what the where-resolver makes of InventoryBindings and PlacementGrants, and what it tells.

import t, { type Test } from 'tap'
import { isRecord, type KubeObject } from '../../../src/apimachinery/object.ts'
import type { Client } from '../../../src/client/client.ts'
import { silentLogger } from '../../../src/client/logger.ts'
import { startWhereResolver } from '../../../src/controllers/where-resolver/whereResolver.ts'
import {
  EDGE_API_VERSION,
  EDGE_PLACEMENTS,
  GRANTED_LOCATIONS,
  INVENTORY_BINDINGS,
  LOCATIONS,
  PLACEMENT_GRANTS,
  SLICES,
  SYNC_TARGETS,
} from '../../../src/placement/words/placement.ts'
import { realTime } from '../../support/time.ts'
import { bind, consent, grant } from '../consent/consent.ts'
import { unreadable } from '../consent/unreadable.ts'
import { FakeServer } from '../placement/fakeServer.ts'
import { fedByTopology } from '../placement/fedByTopology.ts'

type Labels = Record<string, string>

const edge = (kind: string, name: string, labels: Labels, spec: object): KubeObject => ({
  apiVersion: EDGE_API_VERSION,
  kind,
  metadata: { name, labels },
  spec,
})

async function cluster(server: FakeServer, inventory: string, name: string, labels: Labels = {}): Promise<void> {
  const api = server.in(inventory)
  await api.create(SYNC_TARGETS, edge('SyncTarget', name, { id: name, ...labels }, {}))
  const spec = { instanceSelector: { matchLabels: { id: name } } }
  await api.create(LOCATIONS, edge('Location', name, labels, spec))
}

async function place(server: FakeServer, wds: string, name = 'ep'): Promise<void> {
  await server.in(wds).create(EDGE_PLACEMENTS, edge('EdgePlacement', name, {}, { locationSelectors: [{}] }))
}

function placed(server: FakeServer, wds: string, name = 'ep'): string[] {
  const destinations = server.peek(wds, SLICES, name)?.destinations
  return (Array.isArray(destinations) ? destinations : []).map(row => `${row.cluster}>${row.syncTargetName}`)
}

/** Condition of a binding: `True Granted`. */
function told(server: FakeServer, wds: string, name: string): { text: string; message: string; cluster: unknown } {
  const { status } = server.peek(wds, INVENTORY_BINDINGS, name)!
  const { conditions, cluster } = (isRecord(status) ? status : {}) as { conditions?: Labels[]; cluster?: string }
  const granted = conditions?.find(({ type }) => type === 'Granted')
  return { text: `${granted?.status} ${granted?.reason}`, message: granted?.message ?? '', cluster }
}

function start(t: Test, server: FakeServer, client: Client = server) {
  const resolver = fedByTopology(startWhereResolver, {
    ...realTime(),
    client,
    places: server,
    logger: silentLogger,
    keepMs: 0,
  })
  t.teardown(() => resolver.stop())
  return resolver
}

async function world(t: Test): Promise<FakeServer> {
  const server = new FakeServer()
  start(t, server)
  await cluster(server, 'inv1', 'florin', { env: 'prod' })
  await cluster(server, 'inv1', 'guilder', { env: 'test' })
  await place(server, 'wds1')
  await server.quiet()
  return server
}

t.test('a space places nowhere before it names the inventory and the inventory grants it', async t => {
  const server = await world(t)
  t.same(placed(server, 'wds1'), [])
  t.match(server.peek('wds1', EDGE_PLACEMENTS, 'ep')!.status, { matchingLocationCount: 0 })
  await grant(server, 'inv1', 'wds1')
  await server.quiet()
  t.same(placed(server, 'wds1'), [], 'a grant alone')
  await bind(server, 'wds1', 'inv1')
  await server.quiet()
  t.same(placed(server, 'wds1'), ['inv1>florin', 'inv1>guilder'])
  t.match(server.peek('wds1', EDGE_PLACEMENTS, 'ep')!.status, { matchingLocationCount: 2 })
  await bind(server, 'wds2', 'inv1')
  await place(server, 'wds2')
  await server.quiet()
  t.same(placed(server, 'wds2'), [], 'a binding alone')
})

t.test('a grant or a binding that goes takes the destinations away, and one that comes back gives them', async t => {
  const server = await world(t)
  await consent(server, 'inv1', 'wds1')
  await server.quiet()
  await server.in('inv1').delete(PLACEMENT_GRANTS, { name: 'wds1' })
  await server.quiet()
  t.same(placed(server, 'wds1'), [])
  await grant(server, 'inv1', 'wds1')
  await server.quiet()
  t.equal(placed(server, 'wds1').length, 2)
  await server.in('wds1').delete(INVENTORY_BINDINGS, { name: 'inv1' })
  await server.quiet()
  t.same([placed(server, 'wds1'), server.names('wds1', GRANTED_LOCATIONS)], [[], []])
})

t.test('a grant is for a space and all below it, by path or by id, and for nobody beside it', async t => {
  const server = await world(t)
  server.place('deep', 'root:wds1:deep')
  for (const wds of ['deep', 'wds10']) {
    await bind(server, wds, 'inv1')
    await place(server, wds)
  }
  await grant(server, 'inv1', 'wds1')
  await server.quiet()
  t.same([placed(server, 'deep').length, placed(server, 'wds10').length], [2, 0])
  const spec = { spaces: [{ path: 'root:wds1', cluster: 'another' }] }
  await server.in('inv1').patch(PLACEMENT_GRANTS, { name: 'wds1' }, 'merge', { spec })
  await server.quiet()
  t.same(placed(server, 'deep'), [], 'the id counts before the path')
  const byId = { spaces: [{ cluster: 'wds1' }] }
  await server.in('inv1').patch(PLACEMENT_GRANTS, { name: 'wds1' }, 'merge', { spec: byId })
  await server.quiet()
  t.equal(placed(server, 'deep').length, 2)
})

t.test('a grant of some Locations is judged on the labels of Location and SyncTarget, and grants add up', async t => {
  const server = await world(t)
  await bind(server, 'wds1', 'inv1')
  await grant(server, 'inv1', 'wds1', { locations: { matchLabels: { env: 'prod' } } })
  await server.quiet()
  t.same(placed(server, 'wds1'), ['inv1>florin'])
  const lies = { metadata: { labels: { env: 'prod' } } }
  await server.in('inv1').patch(LOCATIONS, { name: 'guilder' }, 'merge', lies)
  await server.quiet()
  t.same(placed(server, 'wds1'), ['inv1>florin'], 'a Location that calls itself prod in front of another SyncTarget')
  await server.in('inv1').patch(SYNC_TARGETS, { name: 'guilder' }, 'merge', lies)
  await server.quiet()
  t.same(placed(server, 'wds1'), ['inv1>florin', 'inv1>guilder'])
})

t.test('a space is told how many of a Location it may use, and not how many there are', async t => {
  const server = await world(t)
  const api = server.in('inv1')
  for (const env of ['prod', 'test'])
    await api.create(SYNC_TARGETS, edge('SyncTarget', `rack-${env}`, { rack: '1', env }, {}))
  const spec = { instanceSelector: { matchLabels: { rack: '1' } } }
  await api.create(LOCATIONS, edge('Location', 'rack', { env: 'prod' }, spec))
  await bind(server, 'wds1', 'inv1')
  await grant(server, 'inv1', 'wds1', { locations: { matchLabels: { env: 'prod' } } })
  await server.quiet()
  t.match(server.peek('wds1', GRANTED_LOCATIONS, 'inv1.rack'), { location: 'rack', instances: 1 })
  t.match(server.peek('inv1', LOCATIONS, 'rack')!.status, { instances: 2 })
})

t.test('a selector that cannot be read, or a thousand long ones, select nothing', async t => {
  const server = await world(t)
  await bind(server, 'wds1', 'inv1')
  const bad = { matchExpressions: [{ key: 'env', operator: 'Near' }] }
  await grant(server, 'inv1', 'wds1', { locations: bad })
  await server.quiet()
  t.same(placed(server, 'wds1'), [])
  const values = Array.from({ length: 20_000 }, (_, i) => `v${i}`)
  const long = { matchExpressions: [{ key: 'env', operator: 'NotIn', values }] }
  await server.in('inv1').patch(PLACEMENT_GRANTS, { name: 'wds1' }, 'merge', { spec: { locations: long } })
  await server.quiet()
  t.same(placed(server, 'wds1'), [])
})

t.test('a binding tells whether the inventory grants, in the same words where there is none', async t => {
  const server = await world(t)
  await bind(server, 'wds1', 'inv1')
  server.unplaced.add('nowhere')
  await bind(server, 'wds1', 'nowhere')
  await server.quiet()
  const [there, absent] = ['inv1', 'nowhere'].map(name => told(server, 'wds1', name))
  t.equal(there!.text, 'False NotGranted')
  t.match(there!.message, /ask who administers it for: kubectl kubestellar grant --imw root:inv1 root:wds1$/)
  t.equal(there!.message.replaceAll('inv1', 'nowhere'), absent!.message)
  t.equal(absent!.text, there!.text)
  await grant(server, 'inv1', 'wds1')
  await server.quiet()
  t.match(told(server, 'wds1', 'inv1'), { text: 'True Granted', cluster: 'inv1' })
})

t.test('an inventory that is made again under an old path gets nothing of what was meant for the old one', async t => {
  const server = await world(t)
  server.place('old', 'root:org:imw')
  await server.in('wds1').create(INVENTORY_BINDINGS, {
    apiVersion: EDGE_API_VERSION,
    kind: 'InventoryBinding',
    metadata: { name: 'imw' },
    spec: { path: 'root:org:imw' },
  })
  await cluster(server, 'old', 'florin')
  await grant(server, 'old', 'wds1')
  await server.quiet()
  t.same(placed(server, 'wds1'), ['old>florin'])
  server.leave('old')
  await server.quiet()
  t.same(placed(server, 'wds1'), [])
  t.equal(told(server, 'wds1', 'imw').text, 'False NotGranted')
  server.place('new', 'root:org:imw')
  await cluster(server, 'new', 'trap')
  await grant(server, 'new', 'wds1')
  await server.quiet()
  t.same(placed(server, 'wds1'), [])
  t.match(told(server, 'wds1', 'imw'), { text: 'False InventoryReplaced', cluster: 'old' })
})

t.test('a binding that comes before its inventory counts once that is there', async t => {
  const server = await world(t)
  server.unplaced.add('late')
  await bind(server, 'wds1', 'late')
  await server.quiet()
  server.place('late', 'root:late')
  await cluster(server, 'late', 'florin')
  await grant(server, 'late', 'wds1')
  await server.quiet()
  t.same(placed(server, 'wds1'), ['late>florin'])
  t.same(server.names('wds1', GRANTED_LOCATIONS), ['late.florin'])
})

t.test(
  'a space is told the Locations that it may place on, with their labels and how many clusters are ready',
  async t => {
    const server = await world(t)
    await bind(server, 'wds1', 'inv1')
    await grant(server, 'inv1', 'wds1', { locations: { matchLabels: { env: 'prod' } } })
    await server
      .in('inv1')
      .patch(LOCATIONS, { name: 'florin' }, 'merge', { metadata: { annotations: { secret: 'x' } } })
    await server.quiet()
    t.same(server.names('wds1', GRANTED_LOCATIONS), ['inv1.florin'])
    const row = () => server.peek('wds1', GRANTED_LOCATIONS, 'inv1.florin')!
    t.match(row(), { inventory: 'root:inv1', location: 'florin', instances: 1, ready: 0 })
    t.same(row().metadata.labels, { env: 'prod' })
    t.notOk('secret' in (row().metadata.annotations ?? {}))
    const status = { conditions: [{ type: 'Ready', status: 'True' }] }
    await server.in('inv1').patch(SYNC_TARGETS, { name: 'florin' }, 'merge', { status }, { subresource: 'status' })
    await server.quiet()
    t.equal(row().ready, 1)
    await server.in('inv1').delete(LOCATIONS, { name: 'florin' })
    await server.quiet()
    t.same(server.names('wds1', GRANTED_LOCATIONS), [])
  },
)

t.test('the row of a Location with a very long name has a name too, and goes with it', async t => {
  const server = await world(t)
  await consent(server, 'inv1', 'wds1')
  const long = 'l'.repeat(253)
  await cluster(server, 'inv1', long)
  await server.quiet()
  const name = server.names('wds1', GRANTED_LOCATIONS).find(name => name.startsWith('inv1.lll'))!
  t.equal(name.length, 253)
  t.equal(server.peek('wds1', GRANTED_LOCATIONS, name)!.location, long)
  await server.in('inv1').delete(LOCATIONS, { name: long })
  await server.quiet()
  t.same(server.names('wds1', GRANTED_LOCATIONS), ['inv1.florin', 'inv1.guilder'])
})

t.test('rows that nobody grants any more are removed after a restart', async t => {
  const server = new FakeServer()
  await cluster(server, 'inv1', 'florin')
  await consent(server, 'inv1', 'wds1')
  for (const name of ['inv1.florin', 'inv1.lost', 'other.florin']) {
    await server.in('wds1').create(GRANTED_LOCATIONS, edge('GrantedLocation', name, {}, {}))
  }
  start(t, server)
  await server.quiet()
  t.same(server.names('wds1', GRANTED_LOCATIONS), ['inv1.florin'])
})

t.test('a change of one grant writes nothing in a space that it is not for', async t => {
  const server = await world(t)
  for (const wds of ['wds1', 'wds2']) await consent(server, 'inv1', wds)
  await place(server, 'wds2')
  await server.quiet()
  const before = server.writes.length
  await server.in('inv1').delete(PLACEMENT_GRANTS, { name: 'wds1' })
  await server.quiet()
  t.ok(server.writes.slice(before).some(write => write.startsWith('wds1 ')))
  t.notOk(server.writes.slice(before).some(write => write.startsWith('wds2 ')))
})

for (const { resource } of [PLACEMENT_GRANTS, INVENTORY_BINDINGS]) {
  t.test(`after a restart, ${resource} that cannot be read take nothing away, until they can`, async t => {
    const server = new FakeServer()
    const first = start(t, server)
    await cluster(server, 'inv1', 'florin')
    await consent(server, 'inv1', 'wds1')
    await place(server, 'wds1')
    await server.quiet()
    await first.stop()
    start(t, server, unreadable(server, resource))
    await server.quiet()
    t.same(placed(server, 'wds1'), ['inv1>florin'])
    t.same(server.names('wds1', GRANTED_LOCATIONS), ['inv1.florin'])
    t.equal(told(server, 'wds1', 'inv1').text, 'True Granted')
    const space = resource === PLACEMENT_GRANTS.resource ? 'inv1' : 'wds1'
    const name = space === 'inv1' ? 'wds1' : 'inv1'
    await server.in(space).delete({ ...PLACEMENT_GRANTS, resource }, { name })
    await server.quiet()
    t.same([placed(server, 'wds1'), server.names('wds1', GRANTED_LOCATIONS)], [[], []])
  })
}
