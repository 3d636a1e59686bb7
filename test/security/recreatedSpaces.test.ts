/**
 * A tenant makes a space under the path of one that is gone, and hopes for the former one's grants, objects and placements. It is tried as
 * a workload space, as an inventory, and with the certificates, tokens and roles of the former one.
 */
import t from 'tap'
import { configMap, MAPS_OF_APP, namespace, placement } from '../support/scene.ts'
import { EDGE, RBAC, startFleet } from './support/fleet.ts'

const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
const SLICE = 'singleplacementslices.edge.kubestellar.io ep'
const PROD = { locationSelectors: [{ matchLabels: { env: 'prod' } }] }
const fleet = await startFleet(t)
const { admin, world } = fleet
const wmw = admin.in('root:wmw1')
await fleet.done('ensure location florin --imw root:imw1 env=prod')
const inventory = fleet.idOf('root:imw1')
const { uid } = (await world.present(inventory, 'synctargets.edge.kubestellar.io florin')).metadata
const florin = await fleet.readySpace('root:espw', `${inventory}-mb-${uid}`)
await wmw.ok(wmw.post('/api/v1/namespaces', namespace('app')))
await wmw.ok(wmw.post(`${EDGE}/edgeplacements`, placement('ours', { ...PROD, ...MAPS_OF_APP })))

/** As the administrator: the space ends, and everything with it. */
async function end(path: string): Promise<void> {
  const name = path.split(':')[1]!
  await admin.ok(admin.in('root').delete(`${WORKSPACES}/${name}`))
  await world.absent('root', `workspaces.tenancy.kcp.io ${name}`)
}
/** Actions of a tenant who wants to place ConfigMap `name` everywhere. */
async function places(user: 'alice' | 'bob', path: string, name: string): Promise<void> {
  const api = fleet.as(user).in(path)
  await api.ok(api.post('/api/v1/namespaces', namespace('app')))
  await api.ok(api.post('/api/v1/namespaces/app/configmaps', configMap(name, { by: user })))
  await api.ok(api.post(`${EDGE}/edgeplacements`, placement('ep', { ...PROD, ...MAPS_OF_APP })))
  await api.ok(api.post(`${EDGE}/inventorybindings`, { metadata: { name: 'imw1' }, spec: { path: 'root:imw1' } }))
}

t.test(
  'a workload space under an old path places nothing by the grant of the former, which is left as it is',
  async t => {
    const former = await fleet.tenant('alice', 'team', 'workload')
    await fleet.done('grant --imw root:imw1 root:team')
    await places('alice', 'root:team', 'of-alice')
    const copy = await world.present(florin, 'configmaps app/of-alice')
    t.equal(copy.metadata.annotations?.['edge.kubestellar.io/owner'], former)
    await end('root:team')
    await world.absent(florin, 'configmaps app/of-alice')
    const id = await fleet.tenant('bob', 'team', 'workload')
    t.not(id, former)
    await places('bob', 'root:team', 'of-bob')
    t.match(await fleet.told(id, 'ep', 'NotGranted'), /does not grant this space the place/)
    await fleet.passes(florin)
    t.notOk(world.get(florin, 'configmaps app/of-bob'))
    t.match(world.get(id, SLICE), { destinations: [] })
    const bob = fleet.as('bob').in('root:team')
    t.same((await bob.get(`${EDGE}/grantedlocations`)).body.items, [])
    t.match(
      await fleet.as('alice').in('root:team').get('/api/v1/namespaces'),
      { code: 403 },
      'nor is alice anybody there',
    )
    t.match(await fleet.ks('grant --imw root:imw1 root:team'), {
      code: 1,
      err: /root:team is another space now than the one that was granted; first: .* ungrant --imw root:imw1 root:team/,
    })
    await fleet.done('ungrant --imw root:imw1 root:team')
    await fleet.done('grant --imw root:imw1 root:team')
    await world.present(florin, 'configmaps app/of-bob')
  },
)

t.test('a grant for a space that is gone is refused', async t => {
  const imw = admin.in('root:imw1')
  const grant = (spaces: object[]) => ({ metadata: { name: 'gone' }, spec: { spaces } })
  t.match(await imw.post(`${EDGE}/placementgrants`, grant([{ path: 'root:never' }])), {
    code: 422,
    body: { reason: 'Invalid', message: /spec\.spaces\[0\]\.path: .*there is no such space/ },
  })
  t.match(await fleet.ks('grant --imw root:imw1 root:never'), { code: 1, err: /root:never/ })
})

t.test('an inventory under an old path gets nothing of what was placed on the former, and is told', async t => {
  const former = await fleet.tenant('alice', 'depot', 'inventory')
  const hers = fleet.kubeconfigOf('alice')
  t.match(await fleet.ks('ensure location tills --imw root:depot env=prod', hers), { code: 0 })
  t.match(await fleet.ks('grant --imw root:depot root:wmw1', hers), { code: 0 })
  await wmw.ok(wmw.post(`${EDGE}/inventorybindings`, { metadata: { name: 'depot' }, spec: { path: 'root:depot' } }))
  await wmw.ok(wmw.post('/api/v1/namespaces/app/configmaps', configMap('confidential')))
  const target = await world.present(former, 'synctargets.edge.kubestellar.io tills')
  const tills = await fleet.readySpace('root:espw', `${former}-mb-${target.metadata.uid}`)
  await world.present(tills, 'configmaps app/confidential')
  const BINDING = 'inventorybindings.edge.kubestellar.io depot'
  const says = (reason: string) =>
    world.present(fleet.idOf('root:wmw1'), BINDING, object => JSON.stringify(object.status ?? {}).includes(reason))
  await says(former)
  await end('root:depot')
  const id = await fleet.tenant('bob', 'depot', 'inventory')
  const his = fleet.kubeconfigOf('bob')
  t.match(await fleet.ks('ensure location tills --imw root:depot env=prod', his), { code: 0 })
  t.match(await fleet.ks('grant --imw root:depot root:wmw1', his), { code: 0 })
  await says('InventoryReplaced')
  const trap = await world.present(id, 'synctargets.edge.kubestellar.io tills')
  const mailbox = await fleet.readySpace('root:espw', `${id}-mb-${trap.metadata.uid}`)
  await fleet.passes(florin)
  t.same(
    world.names(mailbox, 'configmaps').filter(name => name.startsWith('app/')),
    [],
  )
  const slice = world.get(fleet.idOf('root:wmw1'), 'singleplacementslices.edge.kubestellar.io ours')
  t.notMatch(JSON.stringify(slice), id)
})

t.test('credentials and rights of a space end with it, and count in none that has its name', async t => {
  await fleet.tenant('alice', 'shop')
  const alice = fleet.as('alice').in('root:shop')
  const account = '/api/v1/namespaces/default/serviceaccounts'
  const robot = { metadata: { name: 'robot' } }
  await alice.ok(alice.post(account, robot))
  const subjects = [
    { kind: 'ServiceAccount', name: 'robot', namespace: 'default' },
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'carol' },
  ]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
  await alice.ok(alice.post(`${RBAC}/clusterrolebindings`, { metadata: { name: 'robots' }, roleRef, subjects }))
  const { status } = await alice.ok(alice.post(`${account}/robot/token`, {}))
  const token = (status as { token: string }).token
  const [old, carol] = [admin.as(token).in('root:shop'), fleet.as('carol').in('root:shop')]
  for (const each of [old, carol]) t.teardown(() => each.close())
  for (const each of [old, carol]) t.equal((await each.get('/api/v1/namespaces')).code, 200)
  await end('root:shop')
  await fleet.tenant('bob', 'shop')
  const bob = fleet.as('bob').in('root:shop')
  await bob.ok(bob.post(account, robot))
  for (const each of [old, carol, alice]) t.match((await each.get('/api/v1/namespaces')).code, /40[13]/)
  t.equal((await bob.get('/api/v1/namespaces')).code, 200)
})
