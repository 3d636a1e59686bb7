/**
 * A tenant, who administers a space without any inventory's grant, commands clusters that are not theirs. The ways are a placement on all
 * of them, Locations, grants and slices of their own, and the names and marks of others' objects.
 */
import t, { type Test } from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { configMap, MAPS, namespace, placement } from '../support/scene.ts'
import { gone, is } from '../syncer/support/installation.ts'
import { until } from '../syncer/support/processes.ts'
import { EDGE, startFleet } from './support/fleet.ts'

const RBAC_GROUP = 'rbac.authorization.k8s.io'
const CLUSTER_BINDINGS = { group: RBAC_GROUP, version: 'v1', resource: 'clusterrolebindings' }
const DAEMON_SETS = { group: 'apps', version: 'v1', resource: 'daemonsets' }
const SECRETS = { group: '', version: 'v1', resource: 'secrets' }
const SLICES = 'singleplacementslices.edge.kubestellar.io'

const fleet = await startFleet(t)
const { admin, world } = fleet
const florin = await fleet.cluster('florin')
const wmw = admin.in('root:wmw1')
const PAGE = { namespace: 'app', name: 'page' }
const OURS = { title: 'ours' }

// the victims: what the administrator runs in florin, and a Secret that is nobody's but the cluster's
await florin.api.create(SECRETS, {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { namespace: 'kube-system', name: 'edge-only' },
  stringData: { password: 'of-the-edge' },
})
await wmw.ok(wmw.post('/api/v1/namespaces', namespace('app')))
await wmw.ok(wmw.post('/api/v1/namespaces/app/configmaps', configMap('page', OURS)))
const PROD = { locationSelectors: [{ matchLabels: { env: 'prod' } }] }
const maps = { apiGroup: '', resources: ['configmaps'], namespaces: ['app'] }
await wmw.ok(wmw.post(`${EDGE}/edgeplacements`, placement('ours', { ...PROD, downsync: [maps] })))
await until(florin.api, MAPS, PAGE, is('data', OURS))

/** Row 1 of the audit: cluster-admin, a privileged DaemonSet in kube-system, our page replaced, all Secrets carried out. */
async function attack(space: string, name = 'attack'): Promise<void> {
  const alice = fleet.as('alice').in(space)
  const labels = { x: 'p' }
  const make = async (path: string, object: object): Promise<void> => {
    const { code, text } = await alice.post(path, object)
    if (code !== 201 && code !== 409) throw new Error(`${path}: ${code} ${text}`)
  }
  for (const each of ['app', 'kube-system']) await make('/api/v1/namespaces', namespace(each))
  await make(`/apis/${RBAC_GROUP}/v1/clusterrolebindings`, {
    metadata: { name: 'alice-owns-you', labels },
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: RBAC_GROUP, kind: 'User', name: 'alice' }],
  })
  const container = { name: 'c', image: 'evil', securityContext: { privileged: true } }
  await make('/apis/apps/v1/namespaces/kube-system/daemonsets', {
    metadata: { name: 'root-shell', labels },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { hostPID: true, containers: [container] } },
    },
  })
  await make('/api/v1/namespaces/app/configmaps', configMap('page', { title: 'DEFACED BY ALICE' }, { labels }))
  const spec = {
    locationSelectors: [{}],
    downsync: [{ labelSelectors: [{ matchLabels: labels }] }],
    upsync: [{ apiGroup: '', resources: ['secrets'], namespaces: ['*'], names: ['*'] }],
  }
  await make(`${EDGE}/edgeplacements`, placement(name, spec))
}

async function unharmed(t: Test): Promise<void> {
  await fleet.passes(florin.mailbox)
  const inMailbox = [...world.objects(florin.mailbox)]
  t.notMatch(JSON.stringify(inMailbox), /alice-owns-you|root-shell|DEFACED|edge-only/, 'the mailbox')
  const config = world.get(florin.mailbox, 'syncerconfigs.edge.kubestellar.io the-one')
  t.match(config?.spec, { upsync: [] }, 'nothing is asked of the cluster')
  t.notOk(await until(florin.api, CLUSTER_BINDINGS, { name: 'alice-owns-you' }, gone))
  t.notOk(await until(florin.api, DAEMON_SETS, { namespace: 'kube-system', name: 'root-shell' }, gone))
  await until(florin.api, MAPS, PAGE, is('data', OURS))
}

const slice = (space: string, name: string): string => JSON.stringify(world.get(space, `${SLICES} ${name}`) ?? {})
const binding = (name: string, path: string): KubeObject => ({
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'InventoryBinding',
  metadata: { name },
  spec: { path },
})

for (const type of ['universal', 'workload'] as const) {
  t.test(`a placement on all clusters reaches none, from a space of type ${type}`, async t => {
    const name = `alice-${type}`
    const id = await fleet.tenant('alice', name, type)
    await attack(`root:${name}`)
    t.match(await fleet.told(id, 'attack', 'NotBound'), /InventoryBinding/)
    await unharmed(t)
    t.notMatch(slice(id, 'attack'), /florin/, 'and names no cluster')
    t.notMatch(slice(id, 'attack'), fleet.idOf('root:imw1'), 'nor the inventory')
  })

  t.test(`a binding without a grant opens nothing, from a space of type ${type}`, async t => {
    const name = `alice-${type}`
    const alice = fleet.as('alice').in(`root:${name}`)
    await alice.ok(alice.post(`${EDGE}/inventorybindings`, binding('imw1', 'root:imw1')))
    const id = fleet.idOf(`root:${name}`)
    t.match(await fleet.told(id, 'attack', 'NotGranted'), /kubectl kubestellar grant --imw root:imw1 root:alice-/)
    await unharmed(t)
    t.same((await alice.get(`${EDGE}/grantedlocations`)).body.items, [], 'and lists no cluster')
    t.notMatch(slice(id, 'attack'), /florin/)
  })
}

t.test('a grant for some namespaces lets in what it names, and nothing of the attack', async t => {
  const id = fleet.idOf('root:alice-workload')
  t.match(await fleet.ks('grant --imw root:imw1 root:alice-workload --namespaces alice-*'), { code: 0 })
  const alice = fleet.as('alice').in(id)
  const labels = { x: 'p' }
  await alice.ok(alice.post('/api/v1/namespaces', namespace('alice-shop')))
  const hers = { metadata: { name: 'hers', labels }, data: { of: 'alice' } }
  await alice.ok(alice.post('/api/v1/namespaces/alice-shop/configmaps', hers))
  const message = await fleet.told(id, 'attack', 'NamespaceNotGranted')
  t.match(message, /namespace "(app|kube-system)" is not granted; ask who/)
  await until(florin.api, MAPS, { namespace: 'alice-shop', name: 'hers' }, is('data', { of: 'alice' }))
  await unharmed(t)
  const rows = (await alice.get(`${EDGE}/grantedlocations`)).body.items
  t.match(rows, [{ metadata: { name: 'imw1.florin', labels: { env: 'prod' }, annotations: { 'kcp.io/cluster': id } } }])
})

t.test('where a namespace is shared, what others placed there stays theirs, and the later one is told', async t => {
  const id = fleet.idOf('root:alice-workload')
  t.match(await fleet.ks('grant --imw root:imw1 root:alice-workload --namespaces alice-*,app'), { code: 0 })
  const conflict = 'edge.kubestellar.io/object-conflict'
  const page = await world.present(id, 'configmaps app/page', object => conflict in (object.metadata.annotations ?? {}))
  t.match(page.metadata.annotations?.[conflict], new RegExp(`space ${fleet.idOf('root:wmw1')}`))
  t.notMatch(page.metadata.annotations?.[conflict], /root:wmw1/, 'an id, and no path')
  const alice = fleet.as('alice').in(id)
  await alice.ok(alice.post(`${EDGE}/edgeplacements`, placement('pages', { ...PROD, downsync: [maps] })))
  await fleet.told(id, 'pages', 'ObjectConflict')
  // as kubectl get shows them
  const shown = await alice.ok(
    alice.get(`${EDGE}/edgeplacements/pages`, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }),
  )
  const columns = (shown.columnDefinitions as { name: string }[]).map(({ name }) => name)
  t.same(columns.slice(0, 3), ['Name', 'Placed', 'Reason'])
  t.same((shown.rows as { cells: unknown[] }[])[0]!.cells.slice(0, 3), ['pages', 'False', 'ObjectConflict'])
  const events = await alice.ok(alice.get('/api/v1/namespaces/app/events?fieldSelector=reason=ObjectConflict'))
  t.match(events.items, [{ type: 'Warning', involvedObject: { kind: 'ConfigMap', name: 'page' } }])
  t.equal((await alice.delete(`${EDGE}/edgeplacements/pages`)).code, 200)
  for (const title of ['DEFACED BY ALICE again', 'DEFACED BY ALICE once more'])
    await alice.ok(alice.patch('/api/v1/namespaces/app/configmaps/page', 'merge', { data: { title } }))
  const forged = { 'edge.kubestellar.io/owner': id, 'edge.kubestellar.io/projected-keys': '{}' }
  await alice.ok(alice.patch('/api/v1/namespaces/app/configmaps/page', 'merge', { metadata: { annotations: forged } }))
  await unharmed(t)
  t.equal((await alice.delete('/api/v1/namespaces/app/configmaps/page')).code, 200)
  await unharmed(t)
})

t.test('what is not granted is not carried out of the cluster, and Secrets only by name', async t => {
  const id = fleet.idOf('root:alice-workload')
  const alice = fleet.as('alice').in(id)
  t.match(
    await fleet.ks(
      'grant --imw root:imw1 root:alice-workload --namespaces alice-* --upsync-secrets alice-shop/alice-report',
    ),
    {
      code: 0,
    },
  )
  const sets = [
    { apiGroup: '', resources: ['secrets'], namespaces: ['alice-shop'], names: ['alice-report', 'edge-only'] },
  ]
  await alice.ok(
    alice.patch(`${EDGE}/edgeplacements/attack`, 'merge', {
      spec: { upsync: sets, downsync: [{ namespaces: ['alice-shop'] }] },
    }),
  )
  t.match(await fleet.told(id, 'attack', 'UpsyncNotGranted'), /edge-only: it may not be carried up/)
  const secret = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'alice-shop', name },
    stringData: { a: 'b' },
  })
  await florin.api.create(SECRETS, secret('edge-only'))
  await florin.api.create(SECRETS, secret('alice-report'))
  await world.present(florin.mailbox, 'secrets alice-shop/alice-report')
  t.notOk(world.get(florin.mailbox, 'secrets alice-shop/edge-only'))
  t.notOk(world.get(florin.mailbox, 'secrets kube-system/edge-only'))
})
