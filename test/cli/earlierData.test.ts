/** Data of a release without types and consent: what a first start makes of it, and that it is made once. */
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { EARLIER_DATA } from '../../src/cli/earlierData.ts'
import { FIRST_OBJECTS } from '../../src/cli/firstObjects.ts'
import { type Center, startCenter } from '../support/center.ts'
import {
  CORE,
  type EarlierObject,
  earlierObjects,
  edge,
  INVENTORY_A,
  INVENTORY_B,
  MAILBOX,
  MAILBOX_NAME,
  object,
  WORKLOAD,
  workspace,
  writeEarlierStore,
} from '../support/earlierStore.ts'
import { startTestServer, temporaryDir } from '../support/server.ts'

const EDGE = '/apis/edge.kubestellar.io/v2alpha1'
const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
const GRANTS = { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'placementgrants' }
const BINDINGS = { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'inventorybindings' }

async function startOn(t: Parameters<typeof startTestServer>[0], objects: readonly EarlierObject[]) {
  const dataDir = temporaryDir(t)
  await writeEarlierStore(dataDir, objects)
  return await startTestServer(t, { dataDir, more: { firstObjects: FIRST_OBJECTS, earlierData: EARLIER_DATA } })
}

type Running = Awaited<ReturnType<typeof startOn>>

async function listed(server: Running, path: string, url: string): Promise<KubeObject[]> {
  const { items } = await server.api.ok(server.api.in(path).get(url))
  return items as KubeObject[]
}

async function typesBelow(server: Running, path: string): Promise<Record<string, string>> {
  const items = await listed(server, path, WORKSPACES)
  return Object.fromEntries(
    items.map(({ metadata, spec }) => [metadata.name, (spec as { type: { name: string } }).type.name]),
  )
}

async function names(server: Running, path: string, plural: string): Promise<string[]> {
  const items = await listed(server, path, `${EDGE}/${plural}`)
  return items.map(({ metadata }) => metadata.name!)
}

t.test('the first spaces and the mailboxes get their types, all others are universal', async t => {
  const server = await startOn(t, [
    ...earlierObjects(),
    workspace('root', 'meant-nothing', 'else000000000001', { name: 'inventory', path: 'root:team' }),
    workspace('root', 'a-name', 'else000000000002', { name: 'organization', path: 'root' }),
    workspace(CORE, 'no-mailbox', 'else000000000003'),
  ])
  t.same(await typesBelow(server, 'root'), {
    'a-name': 'organization',
    compute: 'universal',
    espw: 'core',
    imw1: 'inventory',
    imw2: 'universal',
    'meant-nothing': 'universal',
    wmw1: 'workload',
  })
  t.same(await typesBelow(server, 'root:espw'), { [MAILBOX_NAME]: 'mailbox', 'no-mailbox': 'universal' })
  t.match(await server.api.in('root:imw1').get(`${EDGE}/edgeplacements`), { code: 404 }, 'types count at once')
  t.same(server.faults, [])
})

t.test('a space that holds what its type would not serve stays universal, and serves it', async t => {
  const server = await startOn(t, [
    ...earlierObjects(),
    edge(WORKLOAD, 'synctargets', 'SyncTarget', { metadata: { name: 'here-too' }, spec: {} }),
    workspace(MAILBOX, 'below', 'else000000000001'),
  ])
  t.match(await typesBelow(server, 'root'), { espw: 'core', imw1: 'inventory', wmw1: 'universal' })
  t.match(await typesBelow(server, 'root:espw'), { [MAILBOX_NAME]: 'universal' })
  t.same(await names(server, 'root:wmw1', 'synctargets'), ['here-too'])
  t.match(await server.api.in(`root:espw:${MAILBOX_NAME}:below`).get('/api/v1/namespaces'), { code: 200 })
})

t.test('nobody loses rights or accounts: where some were given they go on acting', async t => {
  const binding = (name: string) =>
    object(WORKLOAD, 'clusterrolebindings', 'rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
    })
  const account = (name: string) =>
    object(WORKLOAD, 'serviceaccounts', 'v1', 'ServiceAccount', { metadata: { name, namespace: 'app' } })
  const born = [...earlierObjects(), binding('workspace-admin'), account('default')]
  for (const [type, more] of [
    ['workload', []],
    ['workload-rbac', [binding('team')]],
    ['workload-rbac', [account('robot')]],
  ] as const) {
    t.match(await typesBelow(await startOn(t, [...born, ...more]), 'root'), { wmw1: type })
  }
})

t.test('bindings and grants are there for exactly what slices lead to', async t => {
  const server = await startOn(t, [
    ...earlierObjects(),
    workspace('root', 'wmw2', 'else000000000001'),
    // a slice without its placement, and one that leads to a space that is gone, lead nowhere
    edge('else000000000001', 'singleplacementslices', 'SinglePlacementSlice', {
      metadata: { name: 'orphan' },
      destinations: [{ cluster: INVENTORY_B, locationName: 'guilder', syncTargetName: 'x', syncTargetUID: 'y' }],
    }),
    edge('else000000000001', 'edgeplacements', 'EdgePlacement', { metadata: { name: 'gone' }, spec: {} }),
    edge('else000000000001', 'singleplacementslices', 'SinglePlacementSlice', {
      metadata: { name: 'gone' },
      destinations: [{ cluster: 'gone000000000001', locationName: 'a', syncTargetName: 'x', syncTargetUID: 'y' }],
    }),
    // what stands in a mailbox commands nobody
    edge(MAILBOX, 'edgeplacements', 'EdgePlacement', { metadata: { name: 'shop' }, spec: {} }),
    edge(MAILBOX, 'singleplacementslices', 'SinglePlacementSlice', {
      metadata: { name: 'shop' },
      destinations: [{ cluster: INVENTORY_B, locationName: 'guilder', syncTargetName: 'x', syncTargetUID: 'y' }],
    }),
  ])
  t.match(await server.api.in('root:wmw1').get(`${EDGE}/inventorybindings/imw1`), {
    body: { spec: { path: 'root:imw1' } },
  })
  t.match(await server.api.in('root:imw1').get(`${EDGE}/placementgrants/wmw1`), {
    body: { spec: { spaces: [{ path: 'root:wmw1' }], clusterScoped: true, grantingKinds: true } },
  })
  t.same(await names(server, 'root:wmw1', 'inventorybindings'), ['imw1'])
  t.same(await names(server, 'root:imw1', 'placementgrants'), ['wmw1'])
  for (const path of ['root:wmw2', 'root:imw2']) {
    t.same(await names(server, path, 'inventorybindings'), [], path)
    t.same(await names(server, path, 'placementgrants'), [], path)
  }
})

t.test('inventories whose bindings would be called the same get one each', async t => {
  const to = (cluster: string) => ({ cluster, locationName: 'a', syncTargetName: 'x', syncTargetUID: 'y' })
  const objects = earlierObjects().filter(({ resource }) => resource !== 'singleplacementslices')
  const server = await startOn(t, [
    ...objects,
    workspace('root', 'a', 'else000000000001'),
    workspace('else000000000001', 'b', 'else000000000002'),
    workspace('root', 'a-b', 'else000000000003'),
    edge(WORKLOAD, 'singleplacementslices', 'SinglePlacementSlice', {
      metadata: { name: 'shop' },
      destinations: [to('else000000000002'), to('else000000000003')],
    }),
  ])
  const items = await listed(server, 'root:wmw1', `${EDGE}/inventorybindings`)
  const paths = items.map(({ metadata, spec }) => [metadata.name, (spec as { path: string }).path])
  t.same(paths, [
    ['a-b', 'root:a-b'],
    ['a-b-2', 'root:a:b'],
  ])
})

t.test('a space that used more inventories than it could bind by hand goes on using them', async t => {
  const ids = Array.from({ length: 40 }, (_, i) => `inventory${String(i).padStart(7, '0')}`)
  const server = await startOn(t, [
    ...earlierObjects().filter(({ resource }) => resource !== 'singleplacementslices'),
    ...ids.map(id => workspace('root', id, id)),
    edge(WORKLOAD, 'singleplacementslices', 'SinglePlacementSlice', {
      metadata: { name: 'shop' },
      destinations: ids.map(cluster => ({ cluster, locationName: 'a', syncTargetName: 'x', syncTargetUID: 'y' })),
    }),
  ])
  t.equal((await names(server, 'root:wmw1', 'inventorybindings')).length, ids.length)
  t.same(server.faults, [])
})

t.test('a second start changes nothing, and a grant withdrawn later does not come back', async t => {
  const first = await startOn(t, earlierObjects())
  const versions = async (server: Running) =>
    (await listed(server, 'root', WORKSPACES)).map(({ metadata }) => metadata.resourceVersion)
  const before = await versions(first)
  const second = await first.restart()
  t.same(await versions(second), before)
  t.same(await names(second, 'root:imw1', 'placementgrants'), ['wmw1'])
  await second.api.ok(second.api.in('root:imw1').delete(`${EDGE}/placementgrants/wmw1`))
  const third = await second.restart()
  t.same(await names(third, 'root:imw1', 'placementgrants'), [])
  t.same(await names(third, 'root:wmw1', 'inventorybindings'), ['imw1'])
})

t.test('a start that was cut short before its mark is set is done again, to the same end', async t => {
  const server = await startOn(t, [
    ...earlierObjects().filter(({ object }) => object.metadata.name !== 'imw1'),
    workspace('root', 'imw1', INVENTORY_A, { name: 'inventory', path: 'root' }),
    edge(INVENTORY_A, 'placementgrants', 'PlacementGrant', {
      metadata: { name: 'wmw1' },
      spec: { spaces: [{ path: 'root:wmw1', cluster: WORKLOAD }], clusterScoped: true },
    }),
    edge(WORKLOAD, 'inventorybindings', 'InventoryBinding', {
      metadata: { name: 'imw1' },
      spec: { path: 'root:imw1' },
    }),
  ])
  t.match(await typesBelow(server, 'root'), { espw: 'core', imw1: 'inventory', wmw1: 'workload' })
  t.same(await names(server, 'root:imw1', 'placementgrants'), ['wmw1'])
  t.same(await names(server, 'root:wmw1', 'inventorybindings'), ['imw1'])
  t.same(server.faults, [])
})

function uidsIn(center: Center, space: string): Set<string> {
  return new Set([...center.world.objects(space)].map(([key, { metadata }]) => `${key} ${metadata.uid}`))
}

t.test('nothing in a mailbox is deleted on the way, and what was placed goes on being placed', async t => {
  const dataDir = temporaryDir(t)
  const objects = earlierObjects()
  await writeEarlierStore(dataDir, objects)
  const center = await startCenter(t, { dataDir })
  await center.settled()
  const now = uidsIn(center, MAILBOX)
  for (const { space, resource, object } of objects) {
    const { namespace, name, uid } = object.metadata
    if (space === MAILBOX)
      t.ok(now.has(`${resource} ${namespace ? `${namespace}/` : ''}${name} ${uid}`), `${resource} ${name}`)
  }
  const api = center.client.in('root:wmw1')
  const map = { group: '', version: 'v1', resource: 'configmaps' }
  await api.patch(map, { namespace: 'app', name: 'greeting' }, 'merge', { data: { text: 'hello again' } })
  await center.world.until('the new text to arrive', () => {
    const text = JSON.stringify(center.world.get(MAILBOX, 'configmaps app/greeting')?.data)
    return text !== '{"text":"hello again"}' && `found ${text}`
  })
  t.equal((await center.client.in('root:imw1').list(GRANTS)).items.length, 1)
  t.equal((await api.list(BINDINGS)).items.length, 1)
})
