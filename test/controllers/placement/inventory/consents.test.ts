// A destination needs both consents: a workload space names the inventory, and the inventory grants.
import t from 'tap'
import { CRDS, NAMESPACES } from '../../../../src/apimachinery/resources.ts'
import { Consents } from '../../../../src/controllers/placement/inventory/consents.ts'
import { TopologyFacts } from '../../../../src/controllers/placement/inventory/topologyFacts.ts'
import {
  ADOPT,
  CUSTOMIZERS,
  EDGE_PLACEMENTS,
  INVENTORY_BINDINGS,
  LOCATIONS,
  PLACEMENT_GRANTS,
  SLICES,
  SYNC_TARGETS,
  SYNCER_CONFIGS,
} from '../../../../src/placement/words/placement.ts'
import { FakeClock } from '../../../client/support/fakeClock.ts'
import { unreadable } from '../../consent/unreadable.ts'
import { FakeServer, namespace } from '../fakeServer.ts'
import { signalTo } from '../signalTo.ts'
import {
  ALL_MAPS,
  configMap,
  confirmHeld,
  EDGE,
  FLORIN_UID,
  grant,
  inventory,
  MAPS,
  placed,
  placement,
  replicaSet,
  SETS,
  setGrant,
  slice,
  tick,
  upsyncIn,
  world,
} from '../translatorWorld.ts'

const ROLES = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'clusterroles' }

const RESTRICTED = { namespaces: ['team-*'], deny: [{ apiGroup: 'apps', resources: ['replicasets'] }] }

t.test('nothing goes where no grant is; it goes when one comes, and leaves when it is withdrawn', async t => {
  const clock = new FakeClock()
  const { server, wds, florin } = await world(t, clock)
  await server.in('inv1').delete(PLACEMENT_GRANTS, { name: 'wds1' })
  await wds.create(MAPS, configMap('page', { a: '1' }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  t.same(server.names(florin, MAPS), [])
  t.notOk(server.peek(florin, NAMESPACES, 'commonstuff'), 'nor its Namespace')
  const refused = placed(server)!
  t.match(refused, { status: 'False', reason: 'NotGranted' })
  t.equal(
    refused.message,
    'NotGranted: 1 refused (1 copy): configmaps "commonstuff/page": inventory "root:inv1" does not grant this space the place; ask who administers it for: kubectl kubestellar grant --imw root:inv1 root:wds1',
  )

  await server.in('inv1').create(PLACEMENT_GRANTS, grant('wds1', 'wds1'))
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/page'])
  t.equal(placed(server)!.status, 'False', 'told at most once a second')
  await tick(server, clock)
  t.match(placed(server), { status: 'True', reason: 'AllPlaced' })

  await server.in('inv1').delete(PLACEMENT_GRANTS, { name: 'wds1' })
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/page'], 'all that the placement carries is held')
  await tick(server, clock)
  await confirmHeld(server)
  t.same(server.names(florin, MAPS), [])
  await server.in('inv1').create(PLACEMENT_GRANTS, grant('wds1', 'wds1'))
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/page'])
  await wds.delete(INVENTORY_BINDINGS, { name: 'inv1' })
  await tick(server, clock)
  await confirmHeld(server)
  t.same(server.names(florin, MAPS), [], 'the other consent counts as much')
  await tick(server, clock)
  t.match(placed(server), { status: 'False', reason: 'NotBound' })
})

t.test('each object is judged: by kind, namespace, scope, and whether it grants rights', async t => {
  const clock = new FakeClock()
  const { server, wds, florin } = await world(t, clock)
  await setGrant(server, 'wds1', { ...RESTRICTED, clusterScoped: false, grantingKinds: false })
  await wds.create(NAMESPACES, namespace('team-a', { app: 'x' }))
  await wds.create(MAPS, configMap('page', {}))
  await wds.create(MAPS, configMap('page', {}, { namespace: 'team-a' }))
  await wds.create(SETS, replicaSet('run'))
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'all' }, rules: [] }
  await wds.create(ROLES, role)
  const crd = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'crontabs.stable.example.com' },
    spec: { group: 'stable.example.com', names: { plural: 'crontabs' } },
  }
  await wds.create(CRDS, crd)
  await wds.create(EDGE_PLACEMENTS, placement('ep', { downsync: [{}], wantSingletonReportedState: true }))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  t.same(server.names(florin, MAPS), ['team-a/page'])
  t.same(server.peek(florin, NAMESPACES, 'team-a')!.metadata.labels!.app, 'x', 'Namespaces are judged by their name')
  t.notOk(server.peek(florin, NAMESPACES, 'commonstuff'))
  for (const resource of [SETS, ROLES, CRDS]) t.same(server.names(florin, resource), [], resource.resource)
  const listed = JSON.stringify(server.peek(florin, SYNCER_CONFIGS, 'the-one')!.spec)
  for (const name of ['commonstuff', 'all', 'run', 'crontabs']) t.notOk(listed.includes(name), name)
  const { status, reason, message } = placed(server)!
  t.same([status, reason], ['False', 'NamespaceNotGranted'])
  for (const part of [
    'NamespaceNotGranted: 2 refused (4 copies): ',
    'configmaps "commonstuff/page"',
    'namespaces "commonstuff"',
    'GrantingKindNotGranted: 1 refused (2 copies): clusterroles.rbac.authorization.k8s.io "all"',
    'ClusterScopedNotGranted: 1 refused (2 copies): customresourcedefinitions.apiextensions.k8s.io "crontabs',
    'KindNotGranted: 1 refused (2 copies): replicasets.apps "commonstuff/run"',
    'extend PlacementGrant "wds1" (spec.namespaces)',
  ]) {
    t.ok(message.includes(part), `${part} in ${message}`)
  }
  const count = (name: string, of = MAPS, at = 'commonstuff') =>
    server.peek('wds1', of, name, at)!.metadata.annotations!['kubestellar.io/executing-count']
  t.equal(count('page'), '0', 'what is refused runs nowhere')
  t.equal(count('page', MAPS, 'team-a'), '2')

  await setGrant(server, 'wds1', { deny: [], namespaces: ['team-*', 'commonstuff'], grantingKinds: true })
  await tick(server, clock)
  t.same(server.names(florin, MAPS), ['commonstuff/page', 'team-a/page'])
  t.same(server.names(florin, SETS), ['commonstuff/run'])
  t.same(server.names(florin, ROLES), [], 'it is cluster-scoped as well')
  t.match(placed(server), { status: 'False', reason: 'ClusterScopedNotGranted' })
})

t.test('a slice that somebody made up leads nowhere', async t => {
  const { server, wds, florin } = await world(t)
  await inventory(server, 'open', '44444444-4444-4444-8444-444444444444')
  await setGrant(server, 'wds1', { locations: { matchLabels: { 'loc-name': 'open' } } })
  await wds.create(MAPS, configMap('page', {}))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  const row = { cluster: 'inv1', locationName: 'open', syncTargetName: 'open', syncTargetUID: FLORIN_UID }
  const destinations = [row, { ...row, locationName: 'florin' }, { ...row, locationName: 'nowhere' }]
  await wds.create(SLICES, { ...slice('ep'), destinations })
  await server.quiet()
  t.same(server.names(florin, MAPS), [], 'neither by a granted Location nor by one that does not exist')
  t.match(placed(server), { status: 'False', reason: 'NotGranted' })
})

t.test('one of several Locations is enough, and labels of Locations and SyncTargets are live', async t => {
  const clock = new FakeClock()
  const { server, wds, florin } = await world(t, clock)
  const labels = { tier: 'gold', 'loc-name': 'second' }
  await server
    .in('inv1')
    .create(LOCATIONS, { apiVersion: EDGE, kind: 'Location', metadata: { name: 'second', labels } })
  await setGrant(server, 'wds1', { locations: { matchLabels: { tier: 'gold' } } })
  const annotations = { 'edge.kubestellar.io/expand-parameters': 'true' }
  await wds.create(MAPS, configMap('page', { at: '%(loc-name)' }, { annotations }))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  const row = { cluster: 'inv1', locationName: 'florin', syncTargetName: 'florin', syncTargetUID: FLORIN_UID }
  await wds.create(SLICES, { ...slice('ep'), destinations: [row, { ...row, locationName: 'second' }] })
  await server.quiet()
  t.same(server.names(florin, MAPS), [], 'its SyncTarget has no such label')
  const relabel = async (resource: typeof LOCATIONS, name: string, tier: string) => {
    const object = await server.in('inv1').get(resource, { name })
    const { labels } = object.metadata
    await server
      .in('inv1')
      .update(resource, { ...object, metadata: { ...object.metadata, labels: { ...labels, tier } } })
    await server.quiet()
  }
  await relabel(SYNC_TARGETS, 'florin', 'gold')
  t.same(
    server.peek(florin, MAPS, 'page', 'commonstuff')!.data,
    { at: 'second' },
    'its parameters are those that count',
  )
  await relabel(LOCATIONS, 'florin', 'gold')
  t.same(server.peek(florin, MAPS, 'page', 'commonstuff')!.data, { at: 'florin' })
  await relabel(SYNC_TARGETS, 'florin', 'none')
  await tick(server, clock)
  await confirmHeld(server)
  t.same(server.names(florin, MAPS), [])
})

t.test('an inventory that is not known yet is no refusal', async t => {
  const { server, wds, florin, restart } = await world(t)
  await wds.create(MAPS, configMap('page', {}))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const { uid } = server.peek(florin, MAPS, 'page', 'commonstuff')!.metadata
  await restart(async () => server.unplaced.add('inv1'))
  await server.quiet()
  t.equal(server.peek(florin, MAPS, 'page', 'commonstuff')?.metadata.uid, uid, 'nothing is removed')
  t.match(placed(server), { status: 'True' })
  server.place('inv1')
  await wds.create(MAPS, configMap('second', {}))
  await server.quiet()
  t.same(server.names(florin, MAPS), ['commonstuff/page', 'commonstuff/second'], 'work goes on once it is known')
})

for (const resource of [PLACEMENT_GRANTS, INVENTORY_BINDINGS]) {
  t.test(`${resource.resource} that are there and cannot be read are no refusal`, async t => {
    const clock = new FakeClock()
    const { server, wds, florin, restart, errors } = await world(t, clock)
    const page = { apiGroup: '', resources: ['configmaps'], namespaces: ['commonstuff'], names: ['report'] }
    const security = { 'pod-security.kubernetes.io/enforce': 'privileged' }
    await wds.create(NAMESPACES, namespace('shop', security))
    await wds.create(MAPS, configMap('page', { a: '1' }))
    const namespaces = { apiGroup: '', resources: ['namespaces'], objectNames: ['shop'] }
    const downsync = [...ALL_MAPS.downsync, namespaces]
    await wds.create(EDGE_PLACEMENTS, placement('ep', { downsync, upsync: [page], wantSingletonReportedState: true }))
    await wds.create(SLICES, slice('ep', 'florin'))
    await server.quiet()
    await tick(server, clock)
    t.match(placed(server), { status: 'True' })
    const writes = server.writes.length
    await restart(async () => {}, unreadable(server, resource.resource))
    await tick(server, clock)
    t.same(server.writes.slice(writes), [], 'nothing is removed, refused or counted anew')
    const data = () => server.peek(florin, MAPS, 'page', 'commonstuff')?.data
    await wds.update(MAPS, { ...(await wds.get(MAPS, { name: 'page', namespace: 'commonstuff' })), data: { a: '2' } })
    await wds.delete(NAMESPACES, { name: 'shop' })
    await tick(server, clock)
    t.same([data(), server.names(florin, NAMESPACES)], [{ a: '1' }, ['commonstuff', 'default']], 'who is gone is gone')
    const [space, name] = resource === PLACEMENT_GRANTS ? ['inv1', 'wds1'] : ['wds1', 'inv1']
    const object = await server.in(space!).get(resource, { name: name! })
    await server.in(space!).update(resource, { ...object, metadata: { ...object.metadata, labels: { of: 'now' } } })
    await tick(server, clock)
    t.same(data(), { a: '2' }, 'work goes on once it is known')
    await server.in(space!).delete(resource, { name: name! })
    await tick(server, clock)
    await confirmHeld(server)
    await tick(server, clock)
    t.same([data(), upsyncIn(server, florin)], [undefined, []], 'what is gone allows nothing')
    t.match(placed(server), { status: 'False' })
    t.ok(errors.length > 0 && errors.every(error => error.includes('spoilt')), 'each was told to the log')
    errors.length = 0
  })
}

t.test('an inventory that is made anew under the old path is another one', async t => {
  const { server, wds, florin } = await world(t)
  await wds.create(MAPS, configMap('page', {}))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin'))
  const binding = await wds.get(INVENTORY_BINDINGS, { name: 'inv1' })
  await wds.update(INVENTORY_BINDINGS, { ...binding, status: { cluster: 'earlier' } }, { subresource: 'status' })
  await server.quiet()
  t.same(server.names(florin, MAPS), [])
  t.match(placed(server), { status: 'False', reason: 'NotBound' })
})

t.test('a placement that leads nowhere says why', async t => {
  const clock = new FakeClock()
  const { server, wds } = await world(t, clock)
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await server.quiet()
  t.equal(placed(server), undefined, 'nobody knows yet')
  await wds.create(SLICES, slice('ep'))
  await server.quiet()
  t.match(placed(server), {
    status: 'False',
    reason: 'NoLocation',
    message: /^spec\.locationSelectors choose no Location/,
  })
  await server.in('inv1').delete(PLACEMENT_GRANTS, { name: 'wds1' })
  await tick(server, clock)
  t.match(placed(server), { reason: 'NotGranted', message: /kubectl kubestellar grant --imw root:inv1 root:wds1$/ })
  await wds.delete(INVENTORY_BINDINGS, { name: 'inv1' })
  await tick(server, clock)
  t.match(placed(server), { reason: 'NotBound', message: /create an InventoryBinding \(spec\.path\)$/ })
})

t.test('many refusals make one short text, and no second write', async t => {
  const clock = new FakeClock()
  const { server, wds } = await world(t, clock)
  await setGrant(server, 'wds1', { namespaces: ['none'] })
  for (let i = 0; i < 300; i++) await wds.create(MAPS, configMap(`page-${'x'.repeat(200)}-${i}`, {}))
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  await tick(server, clock)
  const { message } = placed(server)!
  t.ok(message.startsWith('NamespaceNotGranted: 300 refused (600 copies): configmaps'), message)
  t.ok(message.length <= 2000)
  const told = () => server.writes.filter(write => write.startsWith('wds1 status edgeplacements')).length
  const before = told()
  t.ok(before <= 2)
  await setGrant(server, 'wds1', { deny: [{ apiGroup: 'batch', resources: ['jobs'] }] })
  await tick(server, clock)
  t.equal(told(), before, 'it says the same')
})

t.test('labels by which Namespaces loosen the security of Pods need a grant for the cluster scope', async t => {
  const { server, wds, florin, guilder } = await world(t)
  await server.in('inv1').create(PLACEMENT_GRANTS, {
    ...grant('florin', 'wds1', { locations: { matchLabels: { 'loc-name': 'florin' } } }),
  })
  await setGrant(server, 'wds1', { locations: { matchLabels: { 'loc-name': 'guilder' } } })
  const labels = { team: 'a', 'pod-security.kubernetes.io/enforce': 'privileged' }
  await wds.create(NAMESPACES, namespace('shop', labels))
  const downsync = [{ apiGroup: '', resources: ['namespaces'], objectNames: ['shop'] }]
  await wds.create(EDGE_PLACEMENTS, placement('ep', { downsync }))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const at = (mailbox: string) => Object.keys(server.peek(mailbox, NAMESPACES, 'shop')!.metadata.labels!)
  t.same(at(guilder), ['team', 'pod-security.kubernetes.io/enforce', 'edge.kubestellar.io/projected'])
  t.same(at(florin), ['team', 'edge.kubestellar.io/projected'])
})

t.test('labels that a Customizer adds to a Namespace need that grant, too', async t => {
  const { server, wds, florin, guilder } = await world(t)
  await server.in('inv1').create(PLACEMENT_GRANTS, {
    ...grant('florin', 'wds1', { locations: { matchLabels: { 'loc-name': 'florin' } } }),
  })
  await setGrant(server, 'wds1', { locations: { matchLabels: { 'loc-name': 'guilder' } } })
  const enforce = "$.metadata.labels['pod-security.kubernetes.io/enforce']"
  await wds.create(CUSTOMIZERS, {
    apiVersion: EDGE,
    kind: 'Customizer',
    metadata: { name: 'loosen', namespace: 'commonstuff' },
    replacements: [
      { path: enforce, value: '"privileged"' },
      { mergePatch: { metadata: { labels: { 'pod-security.kubernetes.io/warn': 'privileged' } } } },
    ],
  })
  const annotations = { 'edge.kubestellar.io/customizer': 'commonstuff/loosen' }
  const shop = namespace('shop', { team: 'a' })
  await wds.create(NAMESPACES, { ...shop, metadata: { ...shop.metadata, annotations } })
  const downsync = [{ apiGroup: '', resources: ['namespaces'], objectNames: ['shop'] }]
  await wds.create(EDGE_PLACEMENTS, placement('ep', { downsync }))
  await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
  await server.quiet()
  const at = (mailbox: string) => Object.keys(server.peek(mailbox, NAMESPACES, 'shop')!.metadata.labels!).sort()
  const given = ['pod-security.kubernetes.io/enforce', 'pod-security.kubernetes.io/warn']
  t.same(at(guilder), ['edge.kubestellar.io/projected', ...given, 'team'])
  t.same(at(florin), ['edge.kubestellar.io/projected', 'team'])
})

t.test('a space whose only InventoryBinding names no inventory is told which one and what to do', async t => {
  const clock = new FakeClock()
  const { server, wds } = await world(t, clock)
  await wds.delete(INVENTORY_BINDINGS, { name: 'inv1' })
  const old = { apiVersion: EDGE, kind: 'InventoryBinding', metadata: { name: 'old' }, spec: { inventory: 'imw1' } }
  await wds.create(INVENTORY_BINDINGS, old)
  await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
  await wds.create(SLICES, slice('ep'))
  await tick(server, clock)
  t.match(placed(server), {
    status: 'False',
    reason: 'NotBound',
    message: /InventoryBinding "old" names no inventory \(spec\.path\)/,
  })
})

t.test(
  'a snapshot of many clusters says once that all may be otherwise, one of few says what, and later news are told at once',
  async t => {
    const told: { space: string | undefined; leads: boolean }[] = []
    const way = (i: number) => ({ cluster: 'inv1', locationName: `l${i}`, mailbox: `m${i}` })
    const places = new FakeServer()
    const { inventory, consents: index } = new TopologyFacts(places)
    const consents = new Consents(
      places,
      inventory,
      index,
      signalTo((space, through) => told.push({ space, leads: through(way(3)) })),
    )
    const setLocation = (i: number, isThere = true) => {
      const [name, metadata] = [`l${i}`, { name: `l${i}` }]
      const object = isThere ? { apiVersion: EDGE, kind: 'Location', metadata } : undefined
      consents.locationChanged(inventory.setLocation({ space: 'inv1', name }, object))
    }
    consents.begin()
    for (let i = 0; i < 1000; i++) setLocation(i)
    t.strictSame(told, [])
    consents.synced()
    t.strictSame(told.splice(0), [{ space: undefined, leads: true }])
    consents.begin()
    for (let i = 0; i < 1000; i++) if (i !== 3) setLocation(i)
    setLocation(3, false)
    consents.synced()
    t.strictSame(told.splice(0), [{ space: undefined, leads: true }])
    setLocation(4, false)
    t.strictSame(told, [{ space: undefined, leads: false }])
  },
)

t.test('what a grant lets take over says so in its copies, as long as it does, and never a definition', async t => {
  const clock = new FakeClock()
  const { server, wds, florin } = await world(t, clock)
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: { group: 'example.com', names: { plural: 'widgets', kind: 'Widget' }, versions: [] },
  }
  const kept = configMap('kept', { a: '1' })
  await wds.create(MAPS, configMap('page', { a: '1' }))
  await wds.create(MAPS, { ...kept, metadata: { ...kept.metadata, annotations: { [ADOPT]: 'false' } } })
  await wds.create(CRDS, definition)
  const all = [
    ...ALL_MAPS.downsync,
    { apiGroup: CRDS.group, resources: ['customresourcedefinitions'], objectNames: ['*'] },
  ]
  await wds.create(EDGE_PLACEMENTS, placement('ep', { ...ALL_MAPS, downsync: all }))
  await wds.create(SLICES, slice('ep', 'florin'))
  await server.quiet()
  const says = (name: string) => server.peek(florin, MAPS, name, 'commonstuff')?.metadata.annotations?.[ADOPT]
  t.equal(says('page'), undefined, 'by default nothing does')

  await setGrant(server, 'wds1', { adoptExisting: true })
  await server.quiet()
  t.equal(says('page'), 'true')
  t.equal(says('kept'), 'false', 'whoever placed it says otherwise')
  const sent = server.peek(florin, CRDS, 'widgets.example.com')
  t.ok(sent)
  t.notOk(sent?.metadata.annotations?.[ADOPT])

  await setGrant(server, 'wds1', { adoptExisting: false })
  await server.quiet()
  t.equal(says('page'), undefined)
  t.equal(says('kept'), 'false')

  const one = grant('maps', 'wds1', { adoptExisting: true, namespaces: ['elsewhere'] })
  await server.in('inv1').create(PLACEMENT_GRANTS, one)
  await server.quiet()
  t.equal(says('page'), undefined, 'a grant for other Namespaces lets nothing here take over')
})

for (const [resource, says] of [
  [LOCATIONS, 'Location "florin" of inventory "root:inv1" does not exist any more'],
  [SYNC_TARGETS, 'the SyncTarget of Location "florin" of inventory "root:inv1" does not exist any more'],
] as const)
  t.test(`where nothing is any more, no grant is missing: ${resource.resource}`, async t => {
    const clock = new FakeClock()
    const { server, wds, florin, guilder } = await world(t, clock)
    await wds.create(MAPS, configMap('page', {}))
    await wds.create(EDGE_PLACEMENTS, placement('ep', ALL_MAPS))
    await wds.create(SLICES, slice('ep', 'florin', 'guilder'))
    await server.quiet()
    t.same(server.names(florin, MAPS), ['commonstuff/page'])
    await server.in('inv1').delete(resource, { name: 'florin' })
    await server.quiet()
    await tick(server, clock)
    t.match(placed(server), { status: 'False', message: says })
    t.notMatch(placed(server), { message: /kubestellar grant/ })
    t.same(server.names(guilder, MAPS), ['commonstuff/page'])
    // without a grant, a space learns nothing of the inventory's content
    await server.in('inv1').delete(PLACEMENT_GRANTS, { name: 'wds1' })
    await server.quiet()
    await tick(server, clock)
    t.notMatch(placed(server), { message: /any more/ })
  })
