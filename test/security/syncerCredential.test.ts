// Actions open to the thief of a syncer's credential; the syncer itself goes on.
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { Api } from '../support/api.ts'
import { startCenter } from '../support/center.ts'
import { accessOf } from '../support/server.ts'

const EDGE = 'edge.kubestellar.io/v2alpha1'
const RBAC = 'rbac.authorization.k8s.io'
const MAPS = '/api/v1/namespaces/app/configmaps'
const SHOP = '/api/v1/namespaces/shop'
const CONFIG = `/apis/${EDGE}/syncerconfigs/the-one`
const UPSYNCED = 'edge.kubestellar.io/upsynced'
const TOKEN = '/api/v1/namespaces/default/serviceaccounts/kubestellar-syncer/token'

const center = await startCenter(t)
const { world, server } = center
const admin = new Api({ ...accessOf(server.kubeconfigPath), url: server.url })
t.teardown(() => admin.close())

const scene = await center.scene('theft', ['stolen', 'other'])
const [stolen, other] = [await scene.mailbox('stolen'), await scene.mailbox('other')]
await scene.map('placed', { v: '1' })
const sets = [
  { apiGroup: '', resources: ['configmaps'], namespaces: ['shop'], names: ['report-1', 'report-2'] },
  { apiGroup: 'group1.test', resources: ['sprockets'], namespaces: ['shop'], names: ['*'] },
  { apiGroup: '', resources: ['serviceaccounts'], namespaces: ['*'], names: ['*'] },
  { apiGroup: '', resources: ['secrets'], namespaces: ['shop'], names: ['report-3'] },
  { apiGroup: '', resources: ['services'], namespaces: ['shop'], names: ['report-5'] },
]
await admin.ok(
  admin.in(scene.inventory).post(`/apis/${EDGE}/placementgrants`, {
    metadata: { name: 'a-secret' },
    spec: {
      spaces: [{ cluster: scene.wdsId }],
      upsync: [{ apiGroup: '', resources: ['secrets'], names: ['report-3'] }],
    },
  }),
)
await scene.place('ep', { upsync: sets })
await world.present(stolen, 'configmaps app/placed')
await world.present(stolen, 'syncerconfigs.edge.kubestellar.io the-one', ({ spec }) =>
  ['report-1', 'report-3'].every(name => JSON.stringify(spec).includes(name)),
)
const request = (spec: object) => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec })
await world.present(stolen, 'serviceaccounts default/kubestellar-syncer')
const { status } = await admin.ok(admin.in(stolen).post(TOKEN, request({})))
const thief = admin.as((status as { token: string }).token)
t.teardown(() => thief.close())
const mine = thief.in(stolen)

const born = (kind: string, name: string, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'shop', annotations: { [UPSYNCED]: `${kind}/shop/${name}` }, ...metadata },
})
const cluster = (apiVersion: string, kind: string, name: string, more: object = {}): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name },
  ...more,
})

t.test('a report that is larger than any status is turned away before anything is read of it', async t => {
  const message =
    /Request entity too large: limit is 278528 for a status that a syncer reports\. Send a patch of the status alone/
  const large = JSON.stringify({ status: { more: 'x'.repeat(300_000) } })
  // no JSON: whoever had parsed it would say that
  const garbage = `{${'x'.repeat(300_000)}`
  for (const path of [`${CONFIG}/status`, '/api/v1/namespaces/app/pods/x/status']) {
    for (const [method, body] of [
      ['PATCH', large],
      ['PUT', large],
      ['PATCH', garbage],
    ] as const) {
      const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
      t.match(await mine.send(method, path, { body, type }), { code: 413, body: { message } }, `${method} ${path}`)
    }
    const chunked = { body: garbage, type: 'application/merge-patch+json', headers: { 'Transfer-Encoding': 'chunked' } }
    t.match(await mine.send('PATCH', path, chunked), { code: 413, body: { message } }, `in chunks ${path}`)
  }
  t.equal((await mine.patch(`${CONFIG}/status`, 'merge', { status: { lastSyncerHeartbeatTime: null } })).code, 200)
  const byAdmin = await admin.in(stolen).send('PATCH', `${CONFIG}/status`, {
    body: garbage,
    type: 'application/merge-patch+json',
  })
  t.equal(byAdmin.code, 400, "an administrator's is read")
})

t.test('nothing that grants rights, steers or commands can be made', async t => {
  const bindings = `/apis/${RBAC}/v1/clusterrolebindings`
  const attempts: [path: string, object: KubeObject][] = [
    [`/apis/${EDGE}/edgeplacements`, cluster(EDGE, 'EdgePlacement', 'x', { spec: { locationSelectors: [{}] } })],
    [`/apis/${EDGE}/syncerconfigs`, cluster(EDGE, 'SyncerConfig', 'x', { spec: {} })],
    [
      bindings,
      cluster(`${RBAC}/v1`, 'ClusterRoleBinding', 'x', {
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ apiGroup: RBAC, kind: 'User', name: 'mallory' }],
      }),
    ],
    ['/apis/tenancy.kcp.io/v1alpha1/workspaces', cluster('tenancy.kcp.io/v1alpha1', 'Workspace', 'x')],
    [
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
      cluster('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'x', { webhooks: [] }),
    ],
    [
      '/apis/apiregistration.k8s.io/v1/apiservices',
      cluster('apiregistration.k8s.io/v1', 'APIService', 'v1.x.test', { spec: {} }),
    ],
    [
      '/apis/certificates.k8s.io/v1/certificatesigningrequests',
      cluster('certificates.k8s.io/v1', 'CertificateSigningRequest', 'x', { spec: {} }),
    ],
    ['/api/v1/namespaces/default/serviceaccounts', born('ServiceAccount', 'x', { namespace: 'default' })],
    ['/api/v1/namespaces/default/secrets', born('Secret', 'x', { namespace: 'default' })],
    ['/api/v1/namespaces/default/configmaps', born('ConfigMap', 'x', { namespace: 'default' })],
    [TOKEN, request({ expirationSeconds: 315_360_000 }) as unknown as KubeObject],
    [TOKEN, request({}) as unknown as KubeObject],
  ]
  for (const [path, object] of attempts) {
    const { code, body } = await mine.post(path, object)
    t.match({ code, reason: body.reason }, { code: 403, reason: 'Forbidden' }, `${object.kind} ${path}`)
    t.match(body.message, /a syncer (may|writes)|no upsync set/, 'which says what is allowed')
  }
})

t.test('its orders are read, not given', async t => {
  const all = [{ apiGroup: '', resources: ['secrets'], namespaces: ['*'], names: ['*'] }]
  t.equal((await mine.patch(CONFIG, 'merge', { spec: { upsync: all } })).code, 403)
  t.equal((await thief.in(other).patch(CONFIG, 'merge', { spec: { upsync: all } })).code, 403)
  t.equal((await mine.delete(CONFIG)).code, 403)
  t.equal((await mine.delete(MAPS)).code, 403, 'no collection is deleted')
  t.equal((await mine.delete(`${MAPS}/placed`)).code, 403)
  const placed = await mine.patch(`${MAPS}/placed`, 'merge', { data: { v: 'mine' } })
  t.match(placed, {
    code: 403,
    body: { message: /it is a copy on its way to a cluster, so only its status can be written/ },
  })
})

t.test('elsewhere it is nobody', async t => {
  for (const space of ['root', 'root:wmw1', 'root:espw', scene.inventory, scene.wdsId, other]) {
    for (const path of ['/apis/tenancy.kcp.io/v1alpha1/workspaces', '/api/v1/namespaces', '/metrics', '/api'])
      t.equal((await thief.in(space).get(path)).code, 403, `${space} ${path}`)
    const { code } = await thief.get(`/services/stream/clusters/${space}`)
    t.equal(code, 403, `stream of ${space}`)
  }
  t.equal((await mine.get('/metrics')).code, 403)
  const as = await mine.get('/api/v1/namespaces', { 'Impersonate-User': 'mallory' })
  t.equal(as.code, 403)
})

t.test('what it carries up is what was asked for, and takes no mark of the center', async t => {
  t.equal((await mine.post('/api/v1/namespaces', cluster('v1', 'Namespace', 'unasked'))).code, 403)
  await mine.ok(mine.post('/api/v1/namespaces', cluster('v1', 'Namespace', 'shop')))
  for (const [what, metadata, message] of [
    [
      'a projected label',
      { labels: { 'edge.kubestellar.io/projected': 'yes' } },
      /only the center labels objects of a mailbox/,
    ],
    ['a finalizer', { finalizers: ['a.test/b'] }, /metadata\.finalizers/],
    [
      'an owner',
      { annotations: { [UPSYNCED]: 'ConfigMap/shop/report-1', 'edge.kubestellar.io/owner': 'x' } },
      /edge\.kubestellar\.io\/owner is the center's/,
    ],
    ['no mark', { annotations: {} }, /metadata\.annotations: what a syncer carries has/],
  ] as const) {
    const { code, body } = await mine.post(`${SHOP}/configmaps`, born('ConfigMap', 'report-1', metadata))
    t.match({ code, message: body.message }, { code: 403, message }, what)
  }
  t.equal((await mine.post(`${SHOP}/configmaps`, born('ConfigMap', 'private'))).code, 403)
  const crd = (name: string, conversion?: object): KubeObject => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name, annotations: { [UPSYNCED]: `CustomResourceDefinition//${name}` } },
    spec: {
      group: 'group1.test',
      scope: 'Namespaced',
      names: { plural: name.split('.')[0], singular: 'sprocket', kind: 'Sprocket' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      ...(conversion && { conversion }),
    },
  })
  const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  t.equal((await mine.post(crds, crd('cogs.group1.test'))).code, 403)
  const webhook = { clientConfig: { url: 'https://127.0.0.1:1/' }, conversionReviewVersions: ['v1'] }
  t.match(await mine.post(crds, crd('sprockets.group1.test', { strategy: 'Webhook', webhook })), { code: 403 })
  t.equal((await mine.post(crds, crd('sprockets.group1.test'))).code, 201, 'the definition that is needed')
})

t.test('a Secret that it may carry up is no credential of the center', async t => {
  const secrets = `${SHOP}/secrets`
  const account = { 'kubernetes.io/service-account.name': 'default' }
  for (const [type, annotations] of [
    ['kubernetes.io/service-account-token', account],
    ['bootstrap.kubernetes.io/token', {}],
    ['edge.kubestellar.io/syncer-credential', {}],
  ] as const) {
    const { metadata, ...secret } = born('Secret', 'report-3')
    const marked = { ...metadata, annotations: { ...metadata.annotations, ...annotations } }
    t.match(
      await mine.post(secrets, { ...secret, type, metadata: marked }),
      { code: 403, body: { message: /is a credential of the server that holds it/ } },
      type,
    )
  }
  t.equal((await mine.post(secrets, born('Secret', 'report-3'))).code, 201, 'one that is nothing else')
  t.equal((await mine.post(secrets, born('Secret', 'report-4'))).code, 403, 'by its name only')
})

t.test('it reports on what was placed or carried up, not on what else is in the mailbox', async t => {
  const services = `${SHOP}/services`
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'own', namespace: 'shop' } }
  await admin.ok(admin.in(stolen).post(services, { ...service, spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }))
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }
  const message = /a syncer reports the status of what was placed here/
  t.match(await mine.patch(`${services}/own/status`, 'merge', { status }), { code: 403, body: { message } })
})

t.test('a report of a status changes no mark, so that no other space is shown what is carried up', async t => {
  const services = `${SHOP}/services`
  await world.present(stolen, 'syncerconfigs.edge.kubestellar.io the-one', ({ spec }) =>
    JSON.stringify(spec).includes('report-5'),
  )
  await mine.ok(
    mine.post(services, { ...born('Service', 'report-5'), spec: { type: 'LoadBalancer', ports: [{ port: 80 }] } }),
  )
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } }
  const report = (metadata: object) => mine.patch(`${services}/report-5/status`, 'merge', { metadata, status })
  for (const [metadata, message] of [
    [{ annotations: { 'edge.kubestellar.io/upsynced-for': 'x' } }, /upsynced-for is the center's/],
    [{ annotations: { 'edge.kubestellar.io/owner': 'x' } }, /owner is the center's/],
    [{ annotations: { [UPSYNCED]: null } }, /what a syncer carries has edge\.kubestellar\.io\/upsynced/],
    [{ labels: { 'edge.kubestellar.io/projected': 'yes' } }, /only the center labels objects of a mailbox/],
    [{ finalizers: ['a.test/b'] }, /metadata\.finalizers: they stay in the cluster/],
  ] as const)
    t.match(await report(metadata), { code: 403, body: { message } }, JSON.stringify(metadata))
  t.match(await report({}), { code: 200, body: { status } })
})

t.test('a ServiceAccount that somebody left in a mailbox does not act, whatever its roles say', async t => {
  const box = admin.in(stolen)
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'back-door', namespace: 'default' } }
  await box.ok(box.post('/api/v1/namespaces/default/serviceaccounts', account))
  const subjects = ['back-door', 'kubestellar-syncer'].map(name => {
    return { kind: 'ServiceAccount', name, namespace: 'default' }
  })
  const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name: 'cluster-admin' }
  const binding = cluster(`${RBAC}/v1`, 'ClusterRoleBinding', 'back-door', { roleRef, subjects })
  await box.ok(box.post(`/apis/${RBAC}/v1/clusterrolebindings`, binding))
  const path = '/api/v1/namespaces/default/serviceaccounts/back-door/token'
  const made = await box.ok(box.post(path, request({})))
  const back = admin.as((made.status as { token: string }).token).in(stolen)
  const answer = await back.get('/api/v1/namespaces')
  t.equal(answer.code, 403)
  t.equal((await mine.post('/api/v1/namespaces/default/serviceaccounts', account)).code, 403, 'nor has a syncer roles')
  const rules = await mine.post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectRulesReview',
    spec: { namespace: 'default' },
  })
  t.match(rules.body.status, { resourceRules: [], evaluationError: /is decided by the server, not by roles/ })
  back.close()
})

t.test('the syncer itself goes on: it reads, reports and carries up', async t => {
  const own = await thief.watch(`/services/stream/clusters/${stolen}?protocol=2-2`)
  const seen = await own.until(line => line.type === 'BOOKMARK' && line.synced === true)
  t.ok(seen.some(line => line.resource === 'configmaps' && line.name === 'placed'))
  own.close()
  for (const path of ['/api', '/apis', '/openapi/v3', '/version', MAPS, CONFIG])
    t.equal((await mine.get(path)).code, 200, path)
  t.equal((await mine.patch(`${CONFIG}/status`, 'merge', { status: { paused: true } })).code, 200)
  await mine.ok(mine.patch(`${CONFIG}/status`, 'merge', { status: { paused: null } }))
  const report = born('ConfigMap', 'report-2')
  const apply = `${SHOP}/configmaps/report-2?fieldManager=kubestellar-syncer&force=true`
  t.equal((await mine.patch(apply, 'apply', { ...report, data: { a: '1' } })).code, 201)
  t.equal((await mine.patch(apply, 'apply', { ...report, data: { a: '2' } })).code, 200)
  t.equal((await mine.delete(`${SHOP}/configmaps/report-2`)).code, 200)
})

t.test('it takes away what it carried up, also when nobody asks for that any more', async t => {
  const maps = `${SHOP}/configmaps`
  await mine.ok(mine.post(maps, born('ConfigMap', 'report-2')))
  const unmarked = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'report-1', namespace: 'shop' } }
  await admin.ok(admin.in(stolen).post(maps, unmarked))
  const placement = `/apis/${EDGE}/edgeplacements/ep`
  await admin.ok(admin.in(scene.wdsId).patch(placement, 'merge', { spec: { upsync: null } }))
  await world.present(
    stolen,
    'syncerconfigs.edge.kubestellar.io the-one',
    ({ spec }) => !JSON.stringify(spec).includes('report-1'),
  )
  t.equal((await mine.patch(`${maps}/report-2`, 'merge', { data: { more: 'x' } })).code, 403, 'it is not added to')
  t.match(await mine.delete(`${maps}/report-1`), { code: 403, body: { message: /was not carried here/ } })
  t.equal((await mine.delete(`${MAPS}/placed`)).code, 403)
  t.equal((await mine.delete('/api/v1/namespaces/default/configmaps/kube-root-ca.crt')).code, 403)
  t.equal((await mine.delete('/api/v1/namespaces/shop')).code, 403)
  t.equal((await mine.delete(maps)).code, 403, 'no collection is deleted')
  t.equal((await mine.delete(`${maps}/report-2`)).code, 200)
})
