/**
 * A tenant writes by hand what the center writes, and what leads its controllers: Locations, slices, rows, grants, bindings'
 * status, the marks on copies. In a space of type universal, which serves all of these kinds.
 */
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { configMap, MAPS_OF_APP, namespace, placement } from '../support/scene.ts'
import { EDGE, startFleet } from './support/fleet.ts'

const API = 'edge.kubestellar.io/v2alpha1'
const SLICE = 'singleplacementslices.edge.kubestellar.io ep'

const fleet = await startFleet(t)
const { admin, world } = fleet
const wmw = admin.in('root:wmw1')
const PROD = { locationSelectors: [{ matchLabels: { env: 'prod' } }] }
await fleet.done('ensure location florin --imw root:imw1 env=prod')
await wmw.ok(wmw.post('/api/v1/namespaces', namespace('app')))
await wmw.ok(wmw.post('/api/v1/namespaces/app/configmaps', configMap('ours', { secret: 'of-wmw1' })))
await wmw.ok(wmw.post(`${EDGE}/edgeplacements`, placement('ep', { ...PROD, ...MAPS_OF_APP })))
const inventory = fleet.idOf('root:imw1')
const target = await world.present(inventory, 'synctargets.edge.kubestellar.io florin')
const florin = await fleet.readySpace('root:espw', `${inventory}-mb-${target.metadata.uid}`)
await world.present(florin, 'configmaps app/ours')

const id = await fleet.tenant('alice', 'alice')
const alice = fleet.as('alice').in('root:alice')
const edge = (kind: string, name: string, more: object = {}): KubeObject => ({
  apiVersion: API,
  kind,
  metadata: { name, labels: { env: 'prod' } },
  ...more,
})
const resource = { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' }

t.test("a Location env=prod of a tenant's own draws nothing of what others place on env=prod", async t => {
  const trap = await alice.ok(alice.post(`${EDGE}/synctargets`, edge('SyncTarget', 'trap')))
  await alice.ok(
    alice.post(`${EDGE}/locations`, edge('Location', 'trap', { spec: { resource, instanceSelector: {} } })),
  )
  const grant = edge('PlacementGrant', 'come-in', { spec: { spaces: [{ path: 'root:alice' }], clusterScoped: true } })
  await alice.ok(alice.post(`${EDGE}/placementgrants`, grant))
  const mailbox = await fleet.readySpace('root:espw', `${id}-mb-${trap.metadata.uid}`)
  await fleet.passes(florin)
  t.same(
    world.names(mailbox, 'configmaps').filter(name => name.startsWith('app/')),
    [],
  )
  t.equal((await fleet.as('alice').in(mailbox).get('/api/v1/namespaces')).code, 403, 'nor is its mailbox theirs')
  const { code } = await fleet.ks('prep-for-syncer trap --imw root:alice', fleet.kubeconfigOf('alice'))
  t.not(code, 0, 'an administrator of the server hands out credentials for it')
  const slice = world.get(fleet.idOf('root:wmw1'), SLICE)
  t.strictSame(
    (slice?.destinations as KubeObject[] | undefined)?.map(({ locationName }) => locationName),
    ['florin'],
  )
})

t.test('who may not administer an inventory grants nothing there, and gets no credential of its syncers', async t => {
  const foreign = fleet.as('alice')
  for (const space of ['root:imw1', 'root:wmw1', 'root:espw', florin])
    for (const kind of ['placementgrants', 'inventorybindings', 'synctargets', 'locations'])
      t.match(
        await foreign.in(space).post(`${EDGE}/${kind}`, edge('X', 'x', { spec: {} })),
        { code: 403 },
        space + kind,
      )
  for (const [line, user] of [
    ['grant --imw root:imw1 root:alice', 'alice'],
    ['grant --imw root:imw1 root:alice', 'carol'],
    ['ungrant --imw root:imw1 root:wmw1', 'alice'],
    ['grants --imw root:imw1', 'alice'],
    ['syncer list --imw root:imw1', 'alice'],
    ['prep-for-syncer florin --imw root:imw1', 'alice'],
    ['syncer revoke florin --imw root:imw1', 'carol'],
  ] as const) {
    const { code, err } = await fleet.ks(line, fleet.kubeconfigOf(user))
    t.not(code, 0, line)
    t.match(err, /forbidden|denied/i, `${user}: ${line}`)
  }
})

t.test('a slice that leads to a cluster brings nothing there, and becomes what it should be', async t => {
  await alice.ok(alice.post('/api/v1/namespaces', namespace('app')))
  await alice.ok(alice.post('/api/v1/namespaces/app/configmaps', configMap('forged', { by: 'alice' })))
  await alice.ok(alice.post(`${EDGE}/edgeplacements`, placement('ep', { locationSelectors: [], ...MAPS_OF_APP })))
  await world.present(id, SLICE)
  const destinations = [
    { cluster: inventory, locationName: 'florin', syncTargetName: 'florin', syncTargetUID: target.metadata.uid },
  ]
  const forged = await alice.ok(alice.patch(`${EDGE}/singleplacementslices/ep`, 'merge', { destinations }))
  t.match(forged.destinations, destinations)
  await world.present(
    id,
    SLICE,
    ({ metadata, destinations }) =>
      Number(metadata.resourceVersion) > Number(forged.metadata.resourceVersion) &&
      JSON.stringify(destinations) === '[]',
  )
  await alice.ok(alice.post(`${EDGE}/singleplacementslices`, edge('SinglePlacementSlice', 'alone', { destinations })))
  await fleet.passes(florin)
  t.notOk(world.get(florin, 'configmaps app/forged'))
})

t.test('rows of GrantedLocations and the status of a binding are written by the center alone', async t => {
  const row = { ...edge('GrantedLocation', 'imw1.florin'), inventory: 'root:imw1', location: 'florin', instances: 1 }
  const refused = { code: 403, body: { reason: 'Forbidden', message: /the center writes/ } }
  t.match(await alice.post(`${EDGE}/grantedlocations`, row), refused)
  await alice.ok(
    alice.post(`${EDGE}/inventorybindings`, edge('InventoryBinding', 'imw1', { spec: { path: 'root:imw1' } })),
  )
  const status = { cluster: inventory, conditions: [{ type: 'Granted', status: 'True', reason: 'Granted' }] }
  t.match(await alice.patch(`${EDGE}/inventorybindings/imw1/status`, 'merge', { status }), refused)
  const kept = await alice.ok(alice.patch(`${EDGE}/inventorybindings/imw1`, 'merge', { status }))
  t.notMatch(JSON.stringify(kept.status ?? {}), inventory, 'nor in passing')
  await world.present(id, 'inventorybindings.edge.kubestellar.io imw1', found =>
    JSON.stringify(found.status ?? {}).includes('NotGranted'),
  )
  t.same((await alice.get(`${EDGE}/grantedlocations`)).body.items, [])
})

t.test("the center's marks on a tenant's own object make it nobody else's", async t => {
  t.match(await fleet.ks('grant --imw root:imw1 root:alice --namespaces app'), { code: 0 })
  const wmw1 = fleet.idOf('root:wmw1')
  const E = 'edge.kubestellar.io'
  const metadata = {
    labels: { [`${E}/projected`]: 'yes' },
    annotations: {
      [`${E}/owner`]: wmw1,
      [`${E}/projected-keys`]: '{"labels":[],"annotations":[],"fields":["data"]}',
      [`${E}/upsynced`]: 'ConfigMap/app/marked',
      [`${E}/downsynced`]: 'ConfigMap/app/marked',
      [`${E}/upsynced-for`]: wmw1,
      [`${E}/hand-over-to`]: wmw1,
    },
  }
  await alice.ok(alice.post('/api/v1/namespaces/app/configmaps', configMap('marked', { by: 'alice' }, metadata)))
  await alice.ok(alice.patch(`${EDGE}/edgeplacements/ep`, 'merge', { spec: PROD }))
  const copy = await world.present(florin, 'configmaps app/marked')
  const marks = copy.metadata.annotations ?? {}
  t.equal(marks[`${E}/owner`], id)
  for (const mark of ['upsynced', 'downsynced', 'upsynced-for', 'hand-over-to'])
    t.equal(marks[`${E}/${mark}`], undefined, mark)
  t.notMatch(marks[`${E}/projected-keys`], /"fields":\["data"\],?"?$/)
  await alice.ok(alice.delete('/api/v1/namespaces/app/configmaps/marked'))
  await world.absent(florin, 'configmaps app/marked')
  t.ok(world.get(florin, 'configmaps app/ours'))
  t.equal((await wmw.get('/api/v1/namespaces/app/configmaps/marked')).code, 404, 'nor does it come to another space')
})
