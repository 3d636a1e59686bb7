// A mailbox commands nobody: what a syncer's token writes there, or below, or carries up, is stored and has no effect elsewhere.
// Only mailboxes of an earlier release serve what could command at all, and may have spaces below them: so these are such.
import t, { type Test } from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { embeddedClient } from '../../src/apiserver/embedded/embeddedClient.ts'
import { decodeObject, encodeObject } from '../../src/apiserver/registry/codec.ts'
import { silentLogger } from '../../src/client/logger.ts'
import { startBuiltinControllers } from '../../src/controllers/builtinControllers.ts'
import { startSyncer } from '../../src/syncer/syncer.ts'
import { Api } from '../support/api.ts'
import { Center, PLACEMENTS, startCenter } from '../support/center.ts'
import { crdsIn } from '../support/crds.ts'
import { accessOf, startTestServer } from '../support/server.ts'
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

/** What the syncer of a mailbox may do, over HTTP with its own token. */
async function syncerOf(mailbox: string): Promise<Api> {
  await world.present(mailbox, `clusterrolebindings.${RBAC} kubestellar-syncer`)
  const path = '/api/v1/namespaces/default/serviceaccounts/kubestellar-syncer/token'
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
  const { status } = await admin.ok(admin.in(mailbox).post(path, request))
  return admin.as((status as { token: string }).token)
}

/** Puts an object into a space with the token; where its rights do not reach that far, as somebody whose rights do. */
async function put(api: Api, space: string, path: string, object: object): Promise<void> {
  const answer = await api.in(space).post(path, object)
  if (answer.code !== 201) await admin.ok(admin.in(space).post(path, object))
}

/** Two clusters of one inventory with a workload; the mailboxes, and the credential of the first one's syncer. */
async function prey(tag: string) {
  const scene = await center.scene(tag, ['evil', 'victim'])
  const [evil, victim] = [await scene.mailbox('evil'), await scene.mailbox('victim')]
  await scene.map('secret')
  await scene.place('ep', { wantSingletonReportedState: true, ...scene.at('victim') })
  await world.present(victim, 'configmaps app/secret')
  await makeEarlier(await scene.mailboxName('evil'))
  return { scene, evil, victim, api: await syncerOf(evil) }
}

/** Gives the Workspace of a mailbox the type that it had before mailboxes had one of their own. */
async function makeEarlier(name: string): Promise<void> {
  const [group, resource, space] = ['tenancy.kcp.io', 'workspaces', center.idOf('root:espw')]
  await server.store.update({ space, group, resource, namespace: '', name }, current => {
    const workspace = decodeObject(current!)
    workspace.spec = { ...(workspace.spec as object), type: { name: 'universal', path: 'root' } }
    return { type: 'put', text: encodeObject(workspace) }
  })
}

async function innocent(t: Test, victim: string): Promise<void> {
  await center.settled()
  t.notOk(world.get(victim, `clusterrolebindings.${RBAC} mallory`), 'the other cluster gets nothing')
  const wanted = world.get(victim, 'syncerconfigs.edge.kubestellar.io the-one')?.spec as
    | { upsync?: unknown[] }
    | undefined
  t.same(wanted?.upsync, [], 'nor is anything of it asked for')
}

t.test('a placement in a mailbox reaches no cluster; it is stored and can be read', async t => {
  const { evil, victim, api } = await prey('place')
  await put(api, evil, BINDINGS, MALLORY)
  await put(api, evil, `${EDGE_API}/edgeplacements`, COMMAND)
  await innocent(t, victim)
  t.notOk(world.get(evil, `${SLICE} command`), 'nobody says where it would go')
  const stored = await admin.ok(api.in(evil).get(`${EDGE_API}/edgeplacements/command`))
  t.same(stored.spec, COMMAND.spec)
  t.equal(stored.status, undefined)
})

t.test('a placement that brings its own slice reaches no cluster', async t => {
  const { scene, evil, victim, api } = await prey('slice')
  const { uid = '' } = (
    await client
      .in(scene.inventory)
      .get({ group: 'edge.kubestellar.io', version: 'v2alpha1', resource: 'synctargets' }, { name: 'victim' })
  ).metadata
  const destination = { cluster: scene.inventory, locationName: 'victim', syncTargetName: 'victim', syncTargetUID: uid }
  await put(api, evil, BINDINGS, MALLORY)
  const slice = edge('SinglePlacementSlice', 'command', { destinations: [destination] })
  await put(api, evil, `${EDGE_API}/singleplacementslices`, slice)
  await put(api, evil, `${EDGE_API}/edgeplacements`, COMMAND)
  await innocent(t, victim)
})

t.test('a Location and a SyncTarget in a mailbox draw no objects and make no mailbox', async t => {
  const { scene, evil, victim, api } = await prey('draw')
  await put(api, evil, `${EDGE_API}/synctargets`, TARGET)
  await put(api, evil, `${EDGE_API}/locations`, location('draw'))
  await innocent(t, victim)
  const made = world.names(center.idOf('root:espw'), 'workspaces.tenancy.kcp.io')
  t.same(
    made.filter(name => name.startsWith(evil)),
    [],
  )
  const { destinations } = world.get(scene.wdsId, `${SLICE} ep`)!
  t.equal((destinations as unknown[]).length, 1)
  const count = world.get(scene.wdsId, 'configmaps app/secret')?.metadata.annotations?.[
    'kubestellar.io/executing-count'
  ]
  t.equal(count, '1', 'the one cluster that runs it goes on reporting')
})

t.test('a space that a syncer makes in its mailbox counts as little as the mailbox', async t => {
  const { scene, evil, victim, api } = await prey('below')
  const name = await scene.mailboxName('victim')
  for (const child of ['wmw1', name]) {
    await put(api, evil, WORKSPACES, {
      apiVersion: 'tenancy.kcp.io/v1alpha1',
      kind: 'Workspace',
      metadata: { name: child },
    })
    const below = await center.readySpace(evil, child)
    await put(api, below, BINDINGS, MALLORY)
    await put(api, below, `${EDGE_API}/edgeplacements`, COMMAND)
    await put(api, below, `${EDGE_API}/synctargets`, TARGET)
    await put(api, below, `${EDGE_API}/locations`, location('below'))
    await innocent(t, victim)
    t.notOk(world.get(below, `${SLICE} command`))
    t.same(
      world.names(center.idOf('root:espw'), 'workspaces.tenancy.kcp.io').filter(box => box.startsWith(below)),
      [],
    )
  }
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

t.test('a placement that a cluster carries up to its mailbox reaches no other cluster', async t => {
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
  ]
  await scene.place('carry', { ...scene.at('evil'), downsync: [], upsync: sets })
  const syncer = startSyncer({
    center: client,
    space: evil,
    cluster: inCluster,
    heartbeatMs: 1e9,
    logger: silentLogger,
    clock: virtualClock(Date.parse('2026-01-01T00:00:00Z')),
  })
  t.teardown(() => syncer.stop())
  await cluster.api.ok(cluster.api.post(BINDINGS, MALLORY))
  await cluster.api.ok(cluster.api.post(`${EDGE_API}/edgeplacements`, COMMAND))
  await world.present(evil, `clusterrolebindings.${RBAC} mallory`)
  const carried = await world.present(evil, 'edgeplacements.edge.kubestellar.io command')
  t.same(carried.spec, COMMAND.spec)
  await innocent(t, victim)
  t.notOk(world.get(evil, `${SLICE} command`))
})

t.test('what is in mailboxes when the server starts commands nobody either', async t => {
  const { evil, victim, api } = await prey('start')
  await center.controllers.stop()
  await put(api, evil, BINDINGS, MALLORY)
  await put(api, evil, `${EDGE_API}/edgeplacements`, COMMAND)
  await put(api, evil, `${EDGE_API}/synctargets`, TARGET)
  const controllers = startBuiltinControllers({
    clientFor: component => embeddedClient({ ...server, component }),
    caPem: server.caPem,
    places: server.tree,
    logger: silentLogger,
  })
  t.teardown(() => controllers.stop())
  const again = new Center({ server, client, world, controllers, log: [] })
  await again.settled()
  await innocent(t, victim)
  t.notOk(world.get(evil, `${SLICE} command`))
  t.same(
    world.names(center.idOf('root:espw'), 'workspaces.tenancy.kcp.io').filter(name => name.startsWith(evil)),
    [],
  )
})
