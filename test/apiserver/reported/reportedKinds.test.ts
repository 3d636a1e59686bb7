/** Clusters with several definitions of one kind: it is served where they agree, and never in another form than its cluster has. */
import t from 'tap'
import { conditionOf } from '../../../src/apimachinery/conditions.ts'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { Api } from '../../support/api.ts'
import { CRDS, NAMESPACES, namespace, startCenter } from '../../support/center.ts'
import { accessOf } from '../../support/server.ts'

const EDGE = 'edge.kubestellar.io'
const UPSYNCED = `${EDGE}/upsynced`
const ASKED = `${EDGE}/upsynced-for`
const GROUP = 'wgpolicyk8s.io'
const NAME = `policyreports.${GROUP}`
const CLUSTERS = ['oslo', 'paris', 'rome'] as const
type Cluster = (typeof CLUSTERS)[number] | 'bern' | 'turin'

const center = await startCenter(t)
const { client, world } = center
const admin = new Api({ ...accessOf(center.server.kubeconfigPath), url: center.server.url })
t.teardown(() => admin.close())
const upsync = [{ apiGroup: GROUP, resources: ['policyreports'], namespaces: ['app'], names: ['*'] }]
const boxes = {} as Record<Cluster, string>

/** A team with clusters of its own, which reports of policies are carried up from. */
async function team(name: string, clusters: readonly Cluster[]) {
  const scene = await center.scene(name, clusters)
  await scene.place('p', { upsync })
  for (const cluster of clusters) {
    boxes[cluster] = await scene.mailbox(cluster)
    await client.in(boxes[cluster]).create(NAMESPACES, {
      ...namespace('app'),
      metadata: { name: 'app', annotations: { [UPSYNCED]: 'Namespace//app' } },
    })
  }
  return scene
}

const scene = await team('a', ['oslo', 'paris', 'rome'])
const VIEW = `/services/reported/clusters/${scene.wdsId}`
const REPORTS = `/apis/${GROUP}/v1alpha2/policyreports`

const version = (name: string, fields: object = {}, storage = true): object => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: { type: 'object', properties: { summary: { type: 'object', properties: fields } } } },
})
const COUNT = { fail: { type: 'integer' } }

/** As a syncer writes them. */
async function define(cluster: Cluster, ...versions: object[]): Promise<void> {
  const api = client.in(boxes[cluster])
  const names = { plural: 'policyreports', singular: 'policyreport', kind: 'PolicyReport' }
  await api.create(CRDS, {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: NAME, annotations: { [UPSYNCED]: `CustomResourceDefinition//${NAME}` } },
    spec: { group: GROUP, scope: 'Namespaced', names, versions },
  })
  await report(cluster, cluster)
}

async function report(cluster: Cluster, name: string): Promise<void> {
  const path = `${REPORTS.replace('/policyreports', '/namespaces/app/policyreports')}`
  const object: KubeObject = {
    apiVersion: `${GROUP}/v1alpha2`,
    kind: 'PolicyReport',
    metadata: { name, namespace: 'app', annotations: { [UPSYNCED]: `PolicyReport/app/${name}` } },
    summary: { fail: 3 },
  }
  await world.present(boxes[cluster], `customresourcedefinitions.apiextensions.k8s.io ${NAME}`)
  await admin.ok(admin.in(boxes[cluster]).post(path, object))
  await world.present(
    boxes[cluster],
    `${NAME} app/${name}`,
    ({ metadata }) => metadata.annotations?.[ASKED] !== undefined,
  )
}

/** Message of the condition of the placement, once it has that status. */
async function differs(status: 'True' | 'False'): Promise<unknown> {
  const conditionIn = (object: KubeObject) => conditionOf(object, 'DefinitionsDiffer')
  const is = (object: KubeObject): boolean => conditionIn(object)?.status === status
  return conditionIn(await world.present(scene.wdsId, 'edgeplacements.edge.kubestellar.io p', is))?.message
}

const namesAt = async (path: string): Promise<string[]> => {
  const { items } = (await admin.ok(admin.get(path))) as unknown as { items: KubeObject[] }
  return items.map(({ metadata }) => metadata.name!)
}

t.test('a kind that one cluster knows is there, from that cluster', async t => {
  await define('paris', version('v1alpha2', COUNT))
  t.same(await namesAt(`${VIEW}${REPORTS}`), ['paris'])
  t.equal((await admin.get(`${VIEW}/locations/imw.rome${REPORTS}`)).code, 404)
})

t.test('clusters that define it alike are served together', async t => {
  await define('rome', version('v1alpha2', COUNT))
  t.same(await namesAt(`${VIEW}${REPORTS}`), ['paris', 'rome'])
  t.same((await namesAt(`/clusters/*${REPORTS}`)).sort(), ['paris', 'rome'], 'and administrators read all mailboxes')
})

t.test('where one defines it otherwise, the 404 names the clusters, and each is read alone', async t => {
  const watch = await admin.watch(`${VIEW}${REPORTS}?watch=1`)
  await define('oslo', version('v1alpha2', { fail: { type: 'integer' }, pass: { type: 'integer' } }))
  t.match(
    (await watch.rest()).at(-1),
    { type: 'ERROR', object: { code: 410 } },
    'a watch ends, and shows nothing of it',
  )
  const { code, body } = await admin.get(`${VIEW}${REPORTS}`)
  t.match({ code, reason: body.reason }, { code: 404, reason: 'NotFound' })
  t.equal(
    body.message,
    `clusters define version v1alpha2 of ${NAME} otherwise: imw.oslo; imw.paris, imw.rome. Read each at /locations/<location>`,
  )
  t.match((await admin.get(`/services/reported/clusters/*${REPORTS}`)).body.message, /imw.oslo; imw.paris, imw.rome/)
  t.equal((await admin.get(`${VIEW}/apis/${GROUP}/v1alpha2`)).code, 404, 'nor does discovery offer it')
  const mailboxes = new RegExp(`^spaces define version v1alpha2 of ${NAME} otherwise: .*root:espw:.*; root:espw:`)
  t.match((await admin.get(`/clusters/*${REPORTS}`)).body.message, mailboxes)
  t.equal(
    await differs('True'),
    `clusters define kinds otherwise: ${NAME}: imw.oslo; imw.paris, imw.rome. Reports of all clusters leave these out; read each location, or install one definition`,
    'a condition names them, too',
  )
  for (const cluster of CLUSTERS) t.same(await namesAt(`${VIEW}/locations/imw.${cluster}${REPORTS}`), [cluster])
})

t.test('a version that some clusters lack is not made of their objects', async t => {
  for (const cluster of ['oslo', 'rome'] as const) await client.in(boxes[cluster]).delete(CRDS, { name: NAME })
  for (const cluster of ['oslo', 'rome'] as const)
    await world.absent(boxes[cluster], `customresourcedefinitions.apiextensions.k8s.io ${NAME}`)
  t.equal(await differs('False'), '')
  await define('rome', version('v1alpha2', COUNT), version('v1beta1', COUNT, false))
  const beta = REPORTS.replace('v1alpha2', 'v1beta1')
  t.match((await admin.get(`${VIEW}${beta}`)).body, {
    code: 404,
    message: `clusters define version v1beta1 of ${NAME} otherwise: imw.paris without it; imw.rome. Read each at /locations/<location>`,
  })
  t.same(await namesAt(`${VIEW}/locations/imw.rome${beta}`), ['rome'])
  t.equal((await admin.get(`${VIEW}/locations/imw.paris${beta}`)).code, 404)
  t.match((await admin.get(`${VIEW}${REPORTS}`)).body.message, /: imw.paris; imw.rome\./, 'whole definitions count')
  t.equal((await admin.get(`${VIEW}${REPORTS.replace('v1alpha2', 'v9')}`)).code, 404)
})

t.test(
  'a definition of one tenant takes the kind from no other: spaces with another one are left out and counted',
  async t => {
    const ALL = '/services/reported/clusters/*'
    await client.in(boxes.rome).delete(CRDS, { name: NAME })
    await world.absent(boxes.rome, `customresourcedefinitions.apiextensions.k8s.io ${NAME}`)
    await team('b', ['bern'])
    await team('c', ['turin'])
    await define('bern', version('v1alpha2', COUNT))
    await define('turin', version('v1alpha2', { other: { type: 'string' } }))
    const list = await admin.get(`${ALL}${REPORTS}`)
    t.same(
      [await namesAt(`${ALL}${REPORTS}`), list.headers.warning],
      [['bern', 'paris'], '299 - "1 space is left out: policyreports are defined otherwise there"'],
    )
    const { resources } = (await admin.get(`${ALL}/apis/${GROUP}/v1alpha2`)).body as unknown as { resources: unknown[] }
    t.match(resources, [{ name: 'policyreports' }], 'discovery offers it')
    const from = `${ALL}${REPORTS}?watch=1&resourceVersion=`
    const watch = await admin.watch(`${from}${list.body.metadata.resourceVersion}`)
    await report('turin', 'second')
    await report('bern', 'second')
    t.match(
      await watch.take(1),
      [{ type: 'ADDED', object: { metadata: { name: 'second' } } }],
      'of those that are served',
    )
    await client.in(boxes.turin).delete(CRDS, { name: NAME })
    await world.absent(boxes.turin, `customresourcedefinitions.apiextensions.k8s.io ${NAME}`)
    const expired = { type: 'ERROR', object: { code: 410, reason: 'Expired' } }
    t.match((await watch.rest()).at(-1), expired)
    await define('turin', version('v1alpha2', COUNT))
    const old = await admin.watch(`${from}${list.body.metadata.resourceVersion}`)
    t.match(await old.rest(), [expired], 'nor does it go on later, over a space whose objects it lacks')
    const later = await admin.get(`${ALL}${REPORTS}`)
    t.same(
      [await namesAt(`${ALL}${REPORTS}`), later.headers.warning],
      [['bern', 'paris', 'second', 'turin'], undefined],
    )
  },
)
