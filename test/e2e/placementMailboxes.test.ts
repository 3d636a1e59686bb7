// A mailbox commands nobody: what would command other clusters is not written there, below, or by a cluster that carries it up.
import t, { type Test } from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { embeddedClient } from '../../src/apiserver/embedded/embeddedClient.ts'
import { httpClient } from '../../src/client/http/httpClient.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { startSyncer } from '../../src/syncer/syncer.ts'
import { Api } from '../support/api.ts'
import { GRANTS, PLACEMENTS, startCenter } from '../support/center.ts'
import { crdsIn } from '../support/crds.ts'
import { accessOf, startTestServer } from '../support/server.ts'
import { timeBy } from '../support/time.ts'
import { virtualClock } from '../syncer/support/virtualClock.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
const EDGE_API = `/apis/${EDGE}`
const RBAC = 'rbac.authorization.k8s.io'
const BINDINGS = `/apis/${RBAC}/v1/clusterrolebindings`
const WORKSPACES = '/apis/tenancy.kcp.io/v1alpha1/workspaces'
const SLICE = 'singleplacementslices.edge.kubestellar.io'

const center = await startCenter(t)
const { world, client, server } = center
const admin = new Api({ ...accessOf(server.kubeconfigPath), url: server.url })
t.teardown(() => admin.close())

const edge = (kind: string, name: string, more: object = {}): KubeObject => ({
  apiVersion: EDGE,
  kind,
  metadata: { name, labels: { env: 'trap' } },
  ...more,
})
/** Everything labelled `x: p`, onto every cluster that there is; and all Secrets of those clusters back. */
const COMMAND = edge('EdgePlacement', 'command', {
  spec: {
    locationSelectors: [{}],
    downsync: [{ labelSelectors: [{ matchLabels: { x: 'p' } }] }],
    upsync: [{ apiGroup: '', resources: ['secrets'], namespaces: ['*'], names: ['*'] }],
  },
})
const MALLORY = {
  apiVersion: `${RBAC}/v1`,
  kind: 'ClusterRoleBinding',
  metadata: { name: 'mallory', labels: { x: 'p' } },
  roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ apiGroup: RBAC, kind: 'User', name: 'mallory' }],
}
const TARGET = edge('SyncTarget', 'trap')
/** One that placements onto the victim would choose. */
const location = (scene: string): KubeObject => ({
  apiVersion: EDGE,
  kind: 'Location',
  metadata: { name: 'trap', labels: { scene, cluster: 'victim' } },
  spec: {
    resource: { group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' },
    instanceSelector: {},
  },
})

/** Rights of a mailbox's syncer, over HTTP with its own token. */
async function syncerOf(mailbox: string): Promise<Api> {
  await world.present(mailbox, 'serviceaccounts default/kubestellar-syncer')
  const path = '/api/v1/namespaces/default/serviceaccounts/kubestellar-syncer/token'
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { status } = await admin.ok(admin.in(mailbox).post(path, request))
  return admin.as((status as { token: string }).token)
}

/** Two clusters of one inventory with a workload; the mailboxes, and the credential of the first one's syncer. */
async function prey(tag: string) {
  const scene = await center.scene(tag, ['evil', 'victim'])
  const [evil, victim] = [await scene.mailbox('evil'), await scene.mailbox('victim')]
  await scene.map('secret')
  await scene.place('ep', { wantSingletonReportedState: true, ...scene.at('victim') })
  await world.present(victim, 'configmaps app/secret')
  return { scene, evil, victim, api: await syncerOf(evil) }
}

async function innocent(t: Test, victim: string): Promise<void> {
  await center.settled()
  t.notOk(world.get(victim, `clusterrolebindings.${RBAC} mallory`), 'the other cluster gets nothing')
  const wanted = world.get(victim, 'syncerconfigs.edge.kubestellar.io the-one')?.spec as
    | { upsync?: unknown[] }
    | undefined
  t.same(wanted?.upsync, [], 'nor is anything of it asked for')
}

t.test('what would command other clusters cannot be written in a mailbox, by nobody', async t => {
  const { scene, evil, victim, api } = await prey('place')
  for (const [who, code] of [
    [api, 403],
    [admin, 404],
  ] as const) {
    for (const [plural, object] of [
      ['edgeplacements', COMMAND],
      ['synctargets', TARGET],
      ['locations', location('place')],
    ] as const)
      t.equal((await who.in(evil).post(`${EDGE_API}/${plural}`, object)).code, code, plural)
  }
  const child = { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name: 'wmw1' } }
  t.equal((await api.in(evil).post(WORKSPACES, child)).code, 403)
  t.equal((await admin.in(evil).post(WORKSPACES, child)).code, 404)
  await innocent(t, victim)
  t.equal((world.get(scene.wdsId, `${SLICE} ep`)!.destinations as unknown[]).length, 1)
})

t.test('a space that is only named like a mailbox is an ordinary one', async () => {
  const { scene } = await prey('name')
  const name = await scene.mailboxName('evil')
  const id = await center.space(name)
  await center.consent('root:name-imw', `root:${name}`)
  await admin.ok(admin.in(id).post(BINDINGS, { ...MALLORY, metadata: { name: 'friend', labels: { x: 'p' } } }))
  const spec = { ...(COMMAND.spec as object), ...scene.at('evil') }
  await admin.ok(admin.in(id).post(`${EDGE_API}/edgeplacements`, { ...COMMAND, spec }))
  await world.present(await scene.mailbox('evil'), `clusterrolebindings.${RBAC} friend`)
  await client.in(id).delete(PLACEMENTS, { name: 'command' })
  await world.absent(await scene.mailbox('evil'), `clusterrolebindings.${RBAC} friend`)
})

t.test('kinds that grant or steer are not carried up, whatever an upsync set names', async t => {
  const { scene, evil, victim } = await prey('up')
  const cluster = await startTestServer(t, { spaces: false })
  const inCluster = embeddedClient({ ...cluster.server, component: 'test' }).in('root')
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  await crdsIn(cluster.api).define({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'edgeplacements.edge.kubestellar.io' },
    spec: {
      group: 'edge.kubestellar.io',
      scope: 'Cluster',
      names: { plural: 'edgeplacements', singular: 'edgeplacement', kind: 'EdgePlacement' },
      versions: [{ name: 'v2alpha1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  })
  const sets = [
    { apiGroup: 'edge.kubestellar.io', resources: ['edgeplacements'], namespaces: ['*'], names: ['*'] },
    { apiGroup: RBAC, resources: ['clusterrolebindings'], namespaces: ['*'], names: ['mallory'] },
    { apiGroup: '', resources: ['configmaps', 'secrets'], namespaces: ['shop'], names: ['*'] },
    { apiGroup: '', resources: ['secrets'], namespaces: ['shop'], names: ['report'] },
  ]
  await client.in(scene.inventory).create(GRANTS, {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'PlacementGrant',
    metadata: { name: 'report' },
    spec: {
      spaces: [{ path: 'root:up-wmw' }],
      upsync: [{ apiGroup: '', resources: ['secrets'], namespaces: ['shop'], names: ['report'] }],
    },
  })
  await scene.place('carry', { ...scene.at('evil'), downsync: [], upsync: sets })
  const api = await syncerOf(evil)
  const http = httpClient({ server: api.access.url, caPem: server.caPem, token: api.access.token! })
  t.teardown(() => http.close())
  const syncer = startSyncer({
    center: http,
    space: evil,
    cluster: inCluster,
    quietMs: 1e9,
    logger: silentLogger,
    ...timeBy(virtualClock(Date.parse('2026-01-01T00:00:00Z'))),
  })
  t.teardown(() => syncer.stop())
  const { api: local } = cluster
  await local.ok(local.post(BINDINGS, MALLORY))
  await local.ok(local.post(`${EDGE_API}/edgeplacements`, COMMAND))
  const inShop = (kind: string, name: string) => ({ apiVersion: 'v1', kind, metadata: { namespace: 'shop', name } })
  await local.ok(local.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }))
  for (const name of ['private', 'report'])
    await local.ok(local.post('/api/v1/namespaces/shop/secrets', inShop('Secret', name)))
  await local.ok(local.post('/api/v1/namespaces/shop/configmaps', inShop('ConfigMap', 'last')))
  await world.present(evil, 'configmaps shop/last')
  await world.present(evil, 'secrets shop/report')
  await innocent(t, victim)
  t.notOk(world.get(evil, 'secrets shop/private'), 'a Secret is carried when its name is said')
  t.notOk(world.get(evil, `clusterrolebindings.${RBAC} mallory`))
  t.notOk(world.get(evil, 'edgeplacements.edge.kubestellar.io command'))
})
