/** Reports of a cluster for a space read as an API server of their own, and show nothing of other spaces. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { Api } from '../../support/api.ts'
import { CRDS, configMap, NAMESPACES, namespace, PLACEMENTS, placement, startCenter } from '../../support/center.ts'
import { GRANTS, MAPS, TARGETS, WORKSPACES } from '../../support/scene.ts'
import { accessOf } from '../../support/server.ts'
import { account } from './account.ts'

const UPSYNCED = 'edge.kubestellar.io/upsynced'
const ASKED = 'edge.kubestellar.io/upsynced-for'
const LOCATION = 'edge.kubestellar.io/location'
const MAPS_PATH = '/api/v1/namespaces/app/configmaps'
const REPORTS: { group: string; version: string; resource: string } = {
  group: 'wgpolicyk8s.io',
  version: 'v1alpha2',
  resource: 'policyreports',
}
const DEFINITION: KubeObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'policyreports.wgpolicyk8s.io', annotations: {} },
  spec: {
    group: REPORTS.group,
    scope: 'Namespaced',
    names: { plural: 'policyreports', singular: 'policyreport', kind: 'PolicyReport', shortNames: ['polr'] },
    versions: [
      {
        name: REPORTS.version,
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
}

const center = await startCenter(t)
const { client, world } = center
const admin = new Api({ ...accessOf(center.server.kubeconfigPath), url: center.server.url })
t.teardown(() => admin.close())

const scene = await center.scene('a', ['paris', 'rome'])
const a = scene.wdsId
const b = await center.space('b-wmw')
await center.consent('root:a-imw', 'root:b-wmw')
const paris = await scene.mailbox('paris')
const rome = await scene.mailbox('rome')
const [ofA, ofB] = [client.in(a), client.in(b)]
await ofB.create(NAMESPACES, namespace('app'))
await ofB.create(NAMESPACES, namespace('theirs'))
await client.in(scene.inventory).create(GRANTS, {
  apiVersion: 'edge.kubestellar.io/v2alpha1',
  kind: 'PlacementGrant',
  metadata: { name: 'secrets' },
  spec: {
    spaces: [{ path: 'root:a-wmw' }],
    upsync: [{ apiGroup: '', resources: ['secrets'], namespaces: ['app'], names: ['granted'] }],
  },
})
const upsync = [
  { apiGroup: REPORTS.group, resources: [REPORTS.resource], namespaces: ['app'], names: ['*'] },
  { apiGroup: '', resources: ['secrets'], namespaces: ['app'], names: ['granted'] },
]
await scene.place('p', { upsync })
await ofA.create(MAPS, configMap('page', { x: '1' }, { labels: { tier: 'web' } }))
await ofA.create(MAPS, configMap('other', {}))
await center.settled()
await ofB.create(
  PLACEMENTS,
  placement('q', {
    ...scene.everywhere(),
    downsync: [
      { apiGroup: '', resources: ['configmaps', 'secrets'], namespaces: ['app', 'theirs'], objectNames: ['*'] },
    ],
  }),
)
await ofB.create(MAPS, configMap('page', { x: 'of b' }))
await ofB.create(MAPS, configMap('plans', { x: 'of b' }, { namespace: 'theirs' }))
await center.settled()

const view = (space: string, location: string): string => `/services/reported/clusters/${space}/locations/${location}`
const PARIS = view(a, 'imw.paris')
const ROME = view(a, 'imw.rome')
const names = ({ items }: { items: KubeObject[] }): string[] => items.map(({ metadata }) => metadata.name!)

/** As a syncer writes it. */
const born = (kind: string, name: string, more: object = {}): KubeObject => ({
  apiVersion: kind === 'PolicyReport' ? `${REPORTS.group}/${REPORTS.version}` : 'v1',
  kind,
  metadata: { name, namespace: 'app', annotations: { [UPSYNCED]: `${kind}/app/${name}` } },
  ...more,
})

t.test('placed objects are there with the status that each cluster reports', async t => {
  const found = await admin.ok(admin.get(`${PARIS}${MAPS_PATH}/page`))
  t.match(found, { data: { x: '1' }, metadata: { namespace: 'app', name: 'page', labels: { tier: 'web' } } })
  t.same(found.metadata.annotations, { 'kcp.io/cluster': a, [LOCATION]: 'imw.paris' }, 'no mark of the center shows')
  t.same(Object.keys(found.metadata.labels ?? {}).sort(), [LOCATION, 'tier'])
  t.equal(found.metadata.managedFields, undefined)
  t.not(found.metadata.uid, (await admin.ok(admin.get(`${ROME}${MAPS_PATH}/page`))).metadata.uid)
  t.same(names(await admin.ok(admin.get(`${PARIS}${MAPS_PATH}`))), ['other', 'page'])
  t.same(names(await admin.ok(admin.get(`${PARIS}${MAPS_PATH}?labelSelector=tier%3Dweb`))), ['page'])
  t.same(names(await admin.ok(admin.get(`${PARIS}/api/v1/configmaps?fieldSelector=metadata.name%3Dpage`))), ['page'])
  t.same(
    names(await admin.ok(admin.get(`${PARIS}${MAPS_PATH}?labelSelector=edge.kubestellar.io/location=imw.rome`))),
    [],
  )
  const table = await admin.ok(
    admin.get(`${PARIS}${MAPS_PATH}`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' }),
  )
  t.same(
    (table as unknown as { rows: { cells: unknown[] }[] }).rows.map(({ cells }) => cells.slice(0, 2)),
    [
      ['other', 0],
      ['page', 1],
    ],
  )
  const protobuf = await admin.get(`${PARIS}${MAPS_PATH}/page`, { accept: 'application/vnd.kubernetes.protobuf' })
  t.match(protobuf.text, /^k8s\0/)
})

t.test('a list has pages of one moment, and its tokens name the space that their client knows', async t => {
  const first = await admin.ok(admin.get(`${PARIS}${MAPS_PATH}?limit=1`))
  t.same(names(first), ['other'])
  const token = (first.metadata as { continue?: string }).continue!
  t.equal((JSON.parse(Buffer.from(token, 'base64url').toString()) as { s: string }).s, a)
  t.equal((first.metadata as { remainingItemCount?: number }).remainingItemCount, undefined)
  const last = await admin.ok(admin.get(`${PARIS}${MAPS_PATH}?limit=1&continue=${token}`))
  t.same(names(last), ['page'])
  await world.present(paris, 'configmaps theirs/plans')
  for (const page of [last, await admin.ok(admin.get(`${PARIS}/api/v1/configmaps?limit=2`))]) {
    t.equal(names(page).at(-1), 'page')
    t.equal((page.metadata as { continue?: string }).continue, undefined, 'what others have behind it makes no page')
  }
  const forged = Buffer.from(JSON.stringify({ v: 1, rv: -1, s: rome, g: '', r: 'secrets', ns: '', n: '' }))
  t.same(
    names(await admin.ok(admin.get(`${PARIS}${MAPS_PATH}?continue=${forged.toString('base64url')}`))).filter(
      name => !['other', 'page'].includes(name),
    ),
    [],
  )
})

t.test('each cluster is told of alone, in the order of the center', async t => {
  const list = await admin.ok(admin.get(`${PARIS}${MAPS_PATH}`))
  const from = list.metadata.resourceVersion
  const watch = await admin.watch(`${PARIS}${MAPS_PATH}?watch=1&resourceVersion=${from}&allowWatchBookmarks=true`)
  t.teardown(() => watch.close())
  await ofA.patch(MAPS, { namespace: 'app', name: 'page' }, 'merge', { data: { x: '2' } })
  await ofA.create(MAPS, configMap('fresh', {}))
  await center.settled()
  await ofB.patch(MAPS, { namespace: 'theirs', name: 'plans' }, 'merge', { data: { x: 'others' } })
  await center.settled()
  await ofA.delete(MAPS, { namespace: 'app', name: 'fresh' })
  const events = await watch.until(({ type }) => type === 'DELETED')
  t.same(
    events.map(({ type, object }) => [type, object.metadata.name, object.metadata.annotations?.[LOCATION]]),
    [
      ['MODIFIED', 'page', 'imw.paris'],
      ['ADDED', 'fresh', 'imw.paris'],
      ['DELETED', 'fresh', 'imw.paris'],
    ],
  )
  const revisions = events.map(({ object }) => Number(object.metadata.resourceVersion))
  t.same(
    revisions,
    revisions.toSorted((x, y) => x - y),
  )
  const again = await admin.watch(`${PARIS}${MAPS_PATH}?watch=1&resourceVersion=${revisions[1]}`)
  t.teardown(() => again.close())
  t.match(await again.take(1), [{ type: 'DELETED' }], 'a watch goes on where another ended')
  const old = await admin.watch(
    `${PARIS}${MAPS_PATH}?watch=1&resourceVersion=0&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
  )
  t.teardown(() => old.close())
  t.match(await old.take(3), [{ type: 'ADDED' }, { type: 'ADDED' }, { type: 'BOOKMARK' }])
})

t.test('objects carried up for a space are there, in their own kind, once the cluster is asked for them', async t => {
  const path = `/apis/${REPORTS.group}/${REPORTS.version}/namespaces/app/policyreports`
  t.equal((await admin.get(`${PARIS}${path}`)).code, 404, 'nothing defines the kind')
  await client.in(paris).create(CRDS, {
    ...DEFINITION,
    metadata: {
      ...DEFINITION.metadata,
      annotations: { [UPSYNCED]: `CustomResourceDefinition//${DEFINITION.metadata.name}` },
    },
  })
  await world.present(
    paris,
    `customresourcedefinitions.apiextensions.k8s.io ${DEFINITION.metadata.name}`,
    ({ metadata }) => metadata.annotations?.[ASKED] === a,
  )
  const watch = await admin.watch(`${PARIS}${path}?watch=1`)
  t.teardown(() => watch.close())
  await client.in(paris).create(REPORTS, born('PolicyReport', 'best-practices', { summary: { fail: 3 } }))
  const [added] = await watch.take(1)
  t.match(added, {
    type: 'ADDED',
    object: { kind: 'PolicyReport', metadata: { name: 'best-practices' }, summary: { fail: 3 } },
  })
  t.notOk(Object.keys(added!.object.metadata.annotations ?? {}).includes(ASKED))
  t.match(await admin.ok(admin.get(`${PARIS}${path}/best-practices`)), { summary: { fail: 3 } })
  t.equal((await admin.get(`${ROME}${path}`)).code, 404, 'the other cluster has no such kind')
  t.equal((await admin.get(`${view(b, 'imw.paris')}${path}`)).code, 404, 'the other space did not ask for it')
  const groups = async (at: string): Promise<string> => (await admin.get(`${at}/apis`)).text
  t.match(await groups(PARIS), /wgpolicyk8s/)
  t.notMatch(await groups(view(b, 'imw.paris')), /wgpolicyk8s/)
  t.notMatch(await groups(PARIS), /kubestellar|kcp\.io/)
  t.notMatch((await admin.get(`${view(b, 'imw.paris')}/openapi/v3`)).text, /wgpolicyk8s/)
  t.equal((await admin.get(`${PARIS}/openapi/v3/apis/${REPORTS.group}/${REPORTS.version}`)).code, 200)
  const { resources } = (await admin.ok(admin.get(`${PARIS}/api/v1`))) as unknown as {
    resources: { name: string; verbs: string[] }[]
  }
  t.same([...new Set(resources.flatMap(({ verbs }) => verbs))].sort(), ['get', 'list', 'watch'])
  t.notOk(
    resources.some(({ name }) => name.includes('/')),
    'and no sub-resources',
  )
  // the set no longer names it
  await scene.replace('p', { upsync: upsync.slice(1) })
  t.match(await watch.take(1), [{ type: 'DELETED', object: { metadata: { name: 'best-practices' } } }])
})

t.test(
  'a custom kind that a space places is there for that space, and a neighbour who defines its like learns nothing',
  async t => {
    const group = 'plans.example.com'
    const kind = { group, version: 'v1', resource: 'plans' }
    const schema = (field: string) => ({
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: { type: 'object', properties: { [field]: { type: 'string' } } } },
      },
    })
    const definition = (field: string): KubeObject => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `plans.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural: 'plans', singular: 'plan', kind: 'Plan' },
        versions: [{ name: 'v1', served: true, storage: true, schema: schema(field) }],
      },
    })
    await ofA.create(CRDS, definition('secretField'))
    await ofB.create(CRDS, definition('guessed'))
    await center.settled()
    await scene.place('plans', {
      downsync: [{ apiGroup: group, resources: ['plans'], namespaces: ['app'], objectNames: ['*'] }],
    })
    await ofA.create(kind, {
      apiVersion: `${group}/v1`,
      kind: 'Plan',
      metadata: { name: 'one', namespace: 'app' },
      spec: { secretField: 'x' },
    })
    await world.present(rome, `plans.${group} app/one`)
    t.same(names(await admin.ok(admin.get(`${ROME}/apis/${group}/v1/plans`))), ['one'])
    t.match((await admin.get(`${ROME}/openapi/v3/apis/${group}/v1`)).text, /secretField/)
    for (const path of [`/apis/${group}/v1/plans`, `/apis/${group}/v1`, `/openapi/v3/apis/${group}/v1`])
      t.equal((await admin.get(`${view(b, 'imw.rome')}${path}`)).code, 404, path)
    t.notMatch((await admin.get(`${view(b, 'imw.rome')}/openapi/v2`)).text, /secretField/)
    await ofA.delete(PLACEMENTS, { name: 'plans' })
    await center.settled()
  },
)

t.test('Secrets are there where they are placed from the space, or a grant and a set name them', async t => {
  for (const name of ['granted', 'private'])
    await client.in(paris).create({ ...MAPS, resource: 'secrets' }, born('Secret', name, { data: { x: 'c2VjcmV0' } }))
  await ofB.create(
    { ...MAPS, resource: 'secrets' },
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'b', namespace: 'app' }, data: { x: 'Yg==' } },
  )
  await world.present(paris, 'secrets app/granted', ({ metadata }) => metadata.annotations?.[ASKED] === a)
  await world.present(paris, 'secrets app/b')
  t.same(names(await admin.ok(admin.get(`${PARIS}/api/v1/secrets`))), ['granted'])
  t.equal((await admin.get(`${PARIS}/api/v1/namespaces/app/secrets/private`)).code, 404)
  t.same(names(await admin.ok(admin.get(`${view(b, 'imw.paris')}/api/v1/secrets`))), ['b'])
})

t.test('a Secret that nobody granted does not come by a forged mark, and one whose grant ends goes', async t => {
  const SECRETS = { ...MAPS, resource: 'secrets' }
  const marks = { [UPSYNCED]: 'Secret/app/forged', [ASKED]: `${a},${b}` }
  await client.in(paris).create(SECRETS, {
    ...born('Secret', 'forged', { data: { x: 'c2VjcmV0' } }),
    metadata: { name: 'forged', namespace: 'app', annotations: marks },
  })
  await world.present(paris, 'secrets app/forged', ({ metadata }) => metadata.annotations?.[ASKED] === undefined)
  const path = (name: string): string => `${PARIS}/api/v1/namespaces/app/secrets/${name}`
  t.equal((await admin.get(path('forged'))).code, 404)
  const watch = await admin.watch(`${PARIS}/api/v1/secrets?watch=1&resourceVersion=0`)
  t.teardown(() => watch.close())
  t.match(await watch.take(1), [{ type: 'ADDED', object: { metadata: { name: 'granted' } } }])
  await client.in(scene.inventory).delete(GRANTS, { name: 'secrets' })
  t.match(await watch.take(1), [{ type: 'DELETED', object: { metadata: { name: 'granted' } } }])
  t.equal((await admin.get(path('granted'))).code, 404)
})

t.test('names of 253 characters, and such with a colon', async t => {
  const long = `a${'.b'.repeat(126)}`
  await ofA.create(MAPS, configMap(long, {}))
  await scene.place('roles', {
    downsync: [
      { apiGroup: 'rbac.authorization.k8s.io', resources: ['roles'], namespaces: ['app'], objectNames: ['*'] },
    ],
  })
  const roles = { group: 'rbac.authorization.k8s.io', version: 'v1', resource: 'roles' }
  const metadata = { name: 'team:reader', namespace: 'app' }
  await ofA.create(roles, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules: [] })
  await world.present(paris, 'roles.rbac.authorization.k8s.io app/team:reader')
  await world.present(paris, `configmaps app/${long}`)
  t.match(await admin.ok(admin.get(`${PARIS}${MAPS_PATH}/${long}`)), { metadata: { name: long } })
  const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/app/roles'
  for (const name of ['team:reader', 'team%3Areader'])
    t.match(await admin.ok(admin.get(`${PARIS}${path}/${name}`)), { metadata: { name: 'team:reader' } })
  t.same(names(await admin.ok(admin.get(`${PARIS}${path}?fieldSelector=metadata.name%3Dteam%3Areader`))), [
    'team:reader',
  ])
  t.equal((await admin.get(`${PARIS}${MAPS_PATH}/${'x'.repeat(254)}`)).code, 404)
  const write = await admin.delete(`${PARIS}${path}/team:reader`)
  t.match(write.body, { code: 405, message: /write at \/clusters\/root:a-wmw\/apis\/rbac.*\/roles\/team:reader/ })
  await ofA.delete(PLACEMENTS, { name: 'roles' })
  await ofA.delete(MAPS, { namespace: 'app', name: long })
  await center.settled()
})

t.test('rights are those of the space, and a tenant finds nothing of another', async t => {
  const reader = await account(admin, a, 'reader', [
    { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] },
  ])
  const stranger = await account(admin, b, 'stranger', [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }])
  t.equal((await reader.get(`${PARIS}${MAPS_PATH}/page`)).code, 200)
  t.equal((await reader.get(`${PARIS}/api/v1/namespaces/app/secrets/granted`)).code, 403)
  t.equal((await reader.get(`${PARIS}/api`)).code, 200)
  for (const path of [
    `${PARIS}${MAPS_PATH}`,
    `${PARIS}/api`,
    `${view(a, 'none')}${MAPS_PATH}`,
    `${view('root:none', 'x')}${MAPS_PATH}`,
  ]) {
    const { code, body } = await stranger.get(path)
    t.equal(code, 403, path)
    t.match(body.message, /workspace access not permitted/)
  }
  t.equal((await stranger.get(`${view('*', 'imw.paris')}${MAPS_PATH}`)).code, 403)
  const own = await stranger.ok(stranger.get(`${view(b, 'imw.paris')}/api/v1/configmaps`))
  t.same(names(own), ['plans'], 'a name that another space owns there is not to be seen')
  t.match((await stranger.get(`${view(b, 'imw.paris')}${MAPS_PATH}/page`)).body, {
    message: 'configmaps "page" not found',
    details: { name: 'page' },
  })
  t.same(names(await stranger.ok(stranger.get(`${view(b, 'imw.paris')}/api/v1/namespaces`))), [])
  for (const path of [
    '/apis/edge.kubestellar.io/v2alpha1/syncerconfigs',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    '/api/v1/serviceaccounts',
    '/api/v1/events',
    '/metrics',
    '/apis/edge.kubestellar.io/v1alpha1/workstatuses',
  ]) {
    const { code, text } = await stranger.get(`${view(b, 'imw.paris')}${path}`)
    t.notOk(code === 200 && (JSON.parse(text) as { items: unknown[] }).items.length > 0, path)
  }
  const watch = await reader.watch(`${PARIS}${MAPS_PATH}?watch=1`)
  await admin.in(a).delete('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/reader')
  t.match(
    (await watch.rest()).at(-1),
    { type: 'ERROR', object: { reason: 'Forbidden' } },
    'a right that ends, ends the watch',
  )
})

t.test('wrong requests are refused in words that help', async t => {
  const write = await admin.post(`${PARIS}${MAPS_PATH}`, configMap('new', {}))
  t.equal(write.code, 405)
  t.equal(write.headers.allow, 'GET')
  t.equal(
    write.body.message,
    'reports of clusters are read-only; write at /clusters/root:a-wmw/api/v1/namespaces/app/configmaps, and its placements carry that to clusters',
  )
  for (const answer of [
    admin.delete(`${PARIS}${MAPS_PATH}/page`),
    admin.delete(`${PARIS}${MAPS_PATH}`),
    admin.put(`${PARIS}${MAPS_PATH}/page/status`, {}),
    admin.patch(`${PARIS}${MAPS_PATH}/page`, 'merge', {}),
    admin.post(`${PARIS}/api/v1/namespaces/app/serviceaccounts/default/token`, {}),
    admin.post(`${PARIS}/api/v1/namespaces/app/pods/x/exec`, {}),
  ])
    t.equal((await answer).code, 405)
  const unknown = await admin.get(`${view(a, 'imw.pari')}${MAPS_PATH}`)
  t.equal(unknown.code, 404)
  t.equal(
    unknown.body.message,
    'location "imw.pari" not found: no placement of this space leads there; they lead to imw.paris, imw.rome',
  )
  for (const odd of ['a%3Ab', 'x'.repeat(253), '..%2F..%2Froot', '%00', 'imw.paris%2F'])
    t.equal((await admin.get(`${view(a, odd)}${MAPS_PATH}`)).code, 404, odd)
  t.equal((await admin.get(`${view(a, '%zz')}${MAPS_PATH}`)).code, 400)
  t.match((await admin.get(`${view('*', 'imw.paris')}${MAPS_PATH}`)).body, { code: 400 })
  t.equal((await admin.get(`${view('*', 'imw.paris')}/api`)).code, 400)
  for (const path of [
    '/services/reported',
    '/services/reported/',
    '/services/reported/api/v1/secrets',
    `/services/reported/clusters/${a}/locations`,
    `/services/reported/clusters/${a}/locations/`,
    `/services/reported/clusters/${a}/locations//api/v1/secrets`,
  ])
    t.equal((await admin.get(path)).code, 404, path)
  t.match((await admin.get(`${PARIS}/api/v1/nonsense`)).code, 404)
  t.equal((await admin.get(`${PARIS}${MAPS_PATH}/page/status`)).code, 404)
  t.equal((await admin.get(`${PARIS}${MAPS_PATH}?watch=1&resourceVersion=99999999`)).code, 504)
})

t.test('a location that leaves sends its deletions, and is not found afterwards', async t => {
  const watch = await admin.watch(`${ROME}${MAPS_PATH}?watch=1`)
  t.teardown(() => watch.close())
  await scene.replace('p', scene.at('paris'))
  const events = await watch.until(({ type, object }) => type === 'DELETED' && object.metadata.name === 'page')
  t.match(
    events
      .filter(({ type }) => type === 'DELETED')
      .map(({ object }) => object.metadata.name)
      .sort(),
    ['other', 'page'],
  )
  await center.settled()
  t.match((await admin.get(`${ROME}${MAPS_PATH}`)).body.message, /they lead to imw\.paris$/)
})

t.test('a watch of a cluster does not go on in another one that is made under its name', async t => {
  const { metadata } = await admin.ok(admin.get(`${PARIS}${MAPS_PATH}`))
  const former = await scene.mailboxName('paris')
  await client.in(scene.inventory).delete(TARGETS, { name: 'paris' })
  await world.absent(center.idOf('root:espw'), `workspaces.${WORKSPACES.group} ${former}`)
  await client.in(scene.inventory).create(TARGETS, {
    apiVersion: 'edge.kubestellar.io/v2alpha1',
    kind: 'SyncTarget',
    metadata: { name: 'paris', labels: { id: 'paris' } },
    spec: {},
  })
  const anew = await scene.mailbox('paris')
  // of a name that both spaces place there, either may be the first
  await world.present(anew, 'configmaps app/other')
  await center.settled()
  const watch = await admin.watch(`${PARIS}${MAPS_PATH}?watch=1&resourceVersion=${metadata.resourceVersion}`)
  t.match(await watch.rest(), [
    {
      type: 'ERROR',
      object: { code: 410, reason: 'Expired', message: /a location is another cluster, or has another name, since/ },
    },
  ])
  const list = await admin.ok(admin.get(`${PARIS}${MAPS_PATH}`))
  t.ok(names(list).includes('other'))
  await ofA.patch(MAPS, { namespace: 'app', name: 'other' }, 'merge', { data: { x: '3' } })
  const goesOn = await admin.watch(`${PARIS}${MAPS_PATH}?watch=1&resourceVersion=${list.metadata.resourceVersion}`)
  t.teardown(() => goesOn.close())
  t.match(await goesOn.take(1), [{ type: 'MODIFIED', object: { metadata: { name: 'other' } } }])
})

t.test('a watch ends with the space that it is for', async t => {
  const watch = await admin.watch(`${view(b, 'imw.paris')}/api/v1/configmaps?watch=1`)
  await client.in('root').delete(WORKSPACES, { name: 'b-wmw' })
  const [first] = await watch.rest()
  t.match(first, { type: 'ADDED' })
  await world.absent('root', 'workspaces.tenancy.kcp.io b-wmw')
  await center.settled()
})
