/** In a workload space what steers a server and who may what in it are descriptions of clusters, unless a label says otherwise. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Api } from '../../support/api.ts'
import { ALICE, BOB, CONFIGMAPS, configMap, createSpace, startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t, { serviceAccounts: true })
const NATURED = { 'edge.kubestellar.io/natured': 'true' }
const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const ADMISSION = '/apis/admissionregistration.k8s.io/v1'
const CLUSTER_ADMIN = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' }
const user = (name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name })
const binding = (name: string, to: string, labels = {}, roleRef = CLUSTER_ADMIN) => ({
  metadata: { name, labels },
  roleRef,
  subjects: [user(to)],
})
const role = (name: string, rules: object[], labels = {}) => ({ metadata: { name, labels }, rules })
const toRole = (name: string) => ({ ...CLUSTER_ADMIN, name })
const ENTRY = { nonResourceURLs: ['/'], verbs: ['access'] }

/** A space of a type under the root. `by`: who makes it. */
async function spaceOf(name: string, type: string, by: Api = api): Promise<Api> {
  return api.in(await createSpace(by, name, type))
}

t.test('a binding in a workload space gives nobody anything, until it is labelled', async t => {
  const space = await spaceOf('bindings', 'workload')
  const alice = api.as(ALICE).in('root:bindings')
  const made = await space.post(`${RBAC}/clusterrolebindings`, binding('edge-admin', 'alice'))
  t.equal(made.code, 201)
  t.match(
    made.headers.warning,
    /this ClusterRoleBinding does not act in this space: .* label edge[.]kubestellar[.]io.natured: ..true../,
  )
  t.equal((await alice.get(CONFIGMAPS)).code, 403)
  const labels = (value: string | null) => ({ metadata: { labels: { 'edge.kubestellar.io/natured': value } } })
  const on = await space.patch(`${RBAC}/clusterrolebindings/edge-admin`, 'merge', labels('true'))
  t.match([on.code, on.headers.warning], [200, undefined])
  t.equal((await alice.get(CONFIGMAPS)).code, 200, 'with the next request')
  const off = await space.patch(`${RBAC}/clusterrolebindings/edge-admin`, 'merge', labels(null))
  t.match(off.headers.warning, /this ClusterRoleBinding no longer acts in this space/)
  t.equal((await alice.get(CONFIGMAPS)).code, 403)
  t.equal((await space.patch(`${RBAC}/clusterrolebindings/edge-admin`, 'merge', labels('yes'))).code, 200)
  t.equal((await alice.get(CONFIGMAPS)).code, 403, 'only the value true counts')
})

t.test('a role that only describes is none for a binding that acts', async t => {
  const space = await spaceOf('roles', 'workload')
  const alice = api.as(ALICE).in('root:roles')
  await api.ok(space.post(`${RBAC}/clusterroles`, role('reader', [ENTRY, READ_MAPS])))
  const made = await space.post(`${RBAC}/clusterrolebindings`, binding('reads', 'alice', NATURED, toRole('reader')))
  t.match(
    [made.code, made.headers.warning],
    [201, /roleRef: no ClusterRole .*reader.* acts in this space, so this binding grants nothing/],
  )
  t.equal((await alice.get(CONFIGMAPS)).code, 403)
  await api.ok(space.patch(`${RBAC}/clusterroles/reader`, 'merge', { metadata: { labels: NATURED } }))
  t.equal((await alice.get(CONFIGMAPS)).code, 200)
})
const READ_MAPS = { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }

t.test('a description of a role that every space has leaves that role what it is', async t => {
  const space = await spaceOf('shared', 'workload')
  await api.ok(space.post(`${RBAC}/clusterrolebindings`, binding('admins', 'alice', NATURED)))
  await api.ok(space.put(`${RBAC}/clusterroles/cluster-admin`, role('cluster-admin', [ENTRY])))
  t.equal((await api.as(ALICE).in('root:shared').get(CONFIGMAPS)).code, 200)
})

t.test('whoever describes needs not hold what is described, whoever makes it act does', async t => {
  const space = await spaceOf('writers', 'workload')
  const writer = role(
    'writer',
    [ENTRY, { apiGroups: ['rbac.authorization.k8s.io'], resources: ['*'], verbs: ['create', 'update', 'patch'] }],
    NATURED,
  )
  const labeller = role(
    'labeller',
    [ENTRY, { apiGroups: ['', 'rbac.authorization.k8s.io'], resources: ['*'], verbs: ['update', 'patch'] }],
    NATURED,
  )
  for (const each of [writer, labeller]) await api.ok(space.post(`${RBAC}/clusterroles`, each))
  await api.ok(space.post(`${RBAC}/clusterrolebindings`, binding('w', 'alice', NATURED, toRole('writer'))))
  await api.ok(space.post(`${RBAC}/clusterrolebindings`, binding('l', 'bob', NATURED, toRole('labeller'))))
  const alice = api.as(ALICE).in('root:writers')
  const bob = api.as(BOB).in('root:writers')
  const all = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  t.equal((await alice.post(`${RBAC}/clusterroles`, role('everything', all))).code, 201)
  t.equal((await alice.post(`${RBAC}/clusterrolebindings`, binding('mine', 'alice'))).code, 201)
  const nature = { metadata: { labels: NATURED } }
  const held = /attempting to grant RBAC permissions not currently held/
  for (const path of ['clusterroles/everything', 'clusterrolebindings/mine']) {
    t.match(await alice.patch(`${RBAC}/${path}`, 'merge', nature), { code: 403, body: { message: held } })
  }
  t.match(await alice.post(`${RBAC}/clusterrolebindings`, binding('at-once', 'alice', NATURED)), {
    code: 403,
    body: { message: held },
  })
  // no rules, so nothing to hold: but to make one act is to create it
  await api.ok(space.post(`${RBAC}/clusterroles`, role('empty', [])))
  t.match(await bob.patch(`${RBAC}/clusterroles/empty`, 'merge', nature), {
    code: 403,
    body: {
      reason: 'Forbidden',
      message: /cannot create resource "clusterroles" .* makes it act, as if it were created/,
    },
  })
  t.equal((await alice.patch(`${RBAC}/clusterroles/empty`, 'merge', nature)).code, 200)
  const hard = { hard: { configmaps: '0' } }
  const quotas = '/api/v1/namespaces/default/resourcequotas'
  await api.ok(space.post(quotas, { metadata: { name: 'q' }, spec: hard }))
  t.equal((await bob.patch(`${quotas}/q`, 'merge', { metadata: { annotations: { a: 'b' } } })).code, 200)
  for (const path of [`${quotas}/q`, `${quotas}/q/status`])
    t.match(await bob.patch(path, 'merge', nature), { code: 403, body: { message: /cannot create resource/ } })
  t.equal((await space.post(CONFIGMAPS, configMap('free'))).code, 201)
})

t.test('who makes a workload space administers it', async t => {
  const rules = [
    ENTRY,
    { apiGroups: ['tenancy.kcp.io'], resources: ['workspaces'], verbs: ['create', 'list', 'watch'] },
  ]
  await api.ok(api.post(`${RBAC}/clusterroles`, role('maker', rules)))
  await api.ok(api.post(`${RBAC}/clusterrolebindings`, binding('maker', 'alice', {}, toRole('maker'))))
  await spaceOf('hers', 'workload', api.as(ALICE))
  const alice = api.as(ALICE).in('root:hers')
  t.equal((await alice.get(CONFIGMAPS)).code, 200)
  t.match(await alice.get(`${RBAC}/clusterrolebindings/workspace-admin`), { body: { metadata: { labels: NATURED } } })
})

t.test('settings in a workload space steer nothing', async t => {
  const space = await spaceOf('settings', 'workload')
  const quota = { metadata: { name: 'q' }, spec: { hard: { configmaps: '0', pods: '0' } } }
  await api.ok(space.post('/api/v1/namespaces/default/resourcequotas', quota))
  const limits = [{ type: 'Container', default: { cpu: '1' }, max: { cpu: '1' } }]
  await api.ok(space.post('/api/v1/namespaces/default/limitranges', { metadata: { name: 'l' }, spec: { limits } }))
  const webhooks = [
    {
      name: 'w.example.com',
      clientConfig: { service: { namespace: 'engine', name: 'webhook' } },
      rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*/*'] }],
      failurePolicy: 'Fail',
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ]
  for (const kind of ['mutating', 'validating'])
    await api.ok(space.post(`${ADMISSION}/${kind}webhookconfigurations`, { metadata: { name: 'w' }, webhooks }))
  const policy = {
    metadata: { name: 'p' },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'] }],
      },
      validations: [{ expression: 'false', message: 'never' }],
    },
  }
  await api.ok(space.post(`${ADMISSION}/validatingadmissionpolicies`, policy))
  const bound = { metadata: { name: 'p' }, spec: { policyName: 'p', validationActions: ['Deny'] } }
  await api.ok(space.post(`${ADMISSION}/validatingadmissionpolicybindings`, bound))
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }], serviceAccountName: 'edge' } }
  const { spec } = await api.ok(space.post('/api/v1/namespaces/default/pods', pod))
  t.match(spec, { serviceAccountName: 'edge', containers: [{ resources: {} }] })
  t.notOk('volumes' in (spec as object), 'its account is one of the cluster, and so is the token')
  t.equal((await space.post(CONFIGMAPS, configMap('free'))).code, 201)
  const judged = await api.ok(space.get(`${ADMISSION}/validatingadmissionpolicies/p`))
  t.notOk('observedGeneration' in (judged.status as object), 'nobody judges what it says')

  await api.ok(space.patch('/api/v1/namespaces/default/resourcequotas/q', 'merge', { metadata: { labels: NATURED } }))
  t.match(await space.post(CONFIGMAPS, configMap('too-many')), { code: 403, body: { message: /exceeded quota: q/ } })
  await api.ok(space.delete('/api/v1/namespaces/default/resourcequotas/q'))
  await api.ok(
    space.patch(`${ADMISSION}/validatingadmissionpolicybindings/p`, 'merge', { metadata: { labels: NATURED } }),
  )
  t.equal((await space.post(CONFIGMAPS, configMap('half'))).code, 201, 'its policy describes')
  await api.ok(space.patch(`${ADMISSION}/validatingadmissionpolicies/p`, 'merge', { metadata: { labels: NATURED } }))
  t.match(await space.post(CONFIGMAPS, configMap('refused')), { code: 422, body: { message: /never/ } })
})

const TOKEN_REQUEST = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts'

t.test('a ServiceAccount that describes has no tokens, and those that it had end', async t => {
  const space = await spaceOf('accounts', 'workload')
  await api.ok(space.post(ACCOUNTS, { metadata: { name: 'engine' } }))
  const ask = () => space.post(`${ACCOUNTS}/engine/token`, TOKEN_REQUEST)
  t.match(await ask(), {
    code: 403,
    body: { message: /"engine" is forbidden: it describes an account of clusters .* edge[.]kubestellar[.]io.natured/ },
  })
  await api.ok(space.patch(`${ACCOUNTS}/engine`, 'merge', { metadata: { labels: NATURED } }))
  const { status } = await api.ok(ask())
  const engine = api.as((status as { token: string }).token).in('root:accounts')
  const whoAmI = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
  const asks = () => engine.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', whoAmI)
  t.equal((await asks()).code, 201)
  await api.ok(
    space.patch(`${ACCOUNTS}/engine`, 'merge', { metadata: { labels: { 'edge.kubestellar.io/natured': null } } }),
  )
  t.equal((await asks()).code, 401)
})

t.test('a token Secret of an account that describes is left alone, one of an account that acts is filled', async t => {
  const space = await spaceOf('secrets', 'workload')
  const SECRETS = '/api/v1/namespaces/default/secrets'
  const secret = (name: string, account: string) => ({
    metadata: { name, annotations: { 'kubernetes.io/service-account.name': account } },
    type: 'kubernetes.io/service-account-token',
  })
  const hasToken = ({ object }: { object: KubeObject }): boolean =>
    (object.data as { token?: string } | undefined)?.token !== undefined
  const filled = async (name: string): Promise<void> => {
    const watch = await space.watch(`${SECRETS}?watch=1&fieldSelector=metadata.name=${name}`)
    await watch.until(hasToken)
    watch.close()
  }
  await api.ok(space.post(ACCOUNTS, { metadata: { name: 'engine' } }))
  await api.ok(space.post(SECRETS, secret('described', 'engine')))
  await api.ok(space.post(SECRETS, secret('orphan', 'of-the-chart')))
  await api.ok(space.post(ACCOUNTS, { metadata: { name: 'robot', labels: NATURED } }))
  await api.ok(space.post(SECRETS, secret('acting', 'robot')))
  await filled('acting')
  for (const name of ['described', 'orphan']) t.notOk((await api.ok(space.get(`${SECRETS}/${name}`))).data, name)
  await api.ok(space.patch(`${ACCOUNTS}/engine`, 'merge', { metadata: { labels: NATURED } }))
  await filled('described')
  const gone = await space.watch(`${SECRETS}?watch=1&fieldSelector=metadata.name=described`)
  await api.ok(space.delete(`${ACCOUNTS}/engine`))
  await gone.until(({ type }) => type === 'DELETED')
  gone.close()
  t.equal((await space.get(`${SECRETS}/orphan`)).code, 200)
})

t.test('in a space of type workload-rbac rights and accounts act, settings do not', async t => {
  const space = await spaceOf('gitops', 'workload-rbac')
  const made = await space.post(`${RBAC}/clusterrolebindings`, binding('admins', 'alice'))
  t.match([made.code, made.headers.warning], [201, undefined])
  t.equal((await api.as(ALICE).in('root:gitops').get(CONFIGMAPS)).code, 200)
  await api.ok(space.post(ACCOUNTS, { metadata: { name: 'robot' } }))
  t.equal((await space.post(`${ACCOUNTS}/robot/token`, TOKEN_REQUEST)).code, 201)
  const quota = { metadata: { name: 'q' }, spec: { hard: { configmaps: '0' } } }
  t.match(await space.post('/api/v1/namespaces/default/resourcequotas', quota), {
    code: 201,
    headers: { warning: /this ResourceQuota does not act/ },
  })
  t.equal((await space.post(CONFIGMAPS, configMap('free'))).code, 201)
})

t.test('in a space of another type everything acts, whatever it is labelled', async t => {
  const space = await spaceOf('plain', 'universal')
  const made = await space.post(`${RBAC}/clusterrolebindings`, binding('admins', 'alice'))
  t.match([made.code, made.headers.warning], [201, undefined])
  const alice = api.as(ALICE).in('root:plain')
  t.equal((await alice.get(CONFIGMAPS)).code, 200)
  const labels = { 'edge.kubestellar.io/projected': 'yes', 'edge.kubestellar.io/natured': 'false' }
  await api.ok(space.patch(`${RBAC}/clusterrolebindings/admins`, 'merge', { metadata: { labels } }))
  t.equal((await alice.get(CONFIGMAPS)).code, 200)
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
