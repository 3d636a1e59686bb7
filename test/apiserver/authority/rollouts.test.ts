/** Strategies are refused with the field that is wrong; of revisions and rollouts people write what is theirs, and it is noted who did. */
import t from 'tap'
import { embeddedClient } from '../../../src/apiserver/embedded/embeddedClient.ts'
import { PLACEMENT_CONTENTS, PLACEMENT_REVISIONS, PLACEMENT_ROLLOUTS } from '../../../src/placement/words/placement.ts'
import { ALICE, BOB, createSpace, ON_MAIN_THREAD, startTestServer, WEBHOOKS_HERE } from '../../support/server.ts'
import { CONFIGURATIONS, configuration, startWebhookServer, webhook } from '../admission/webhookServer.ts'

const { api, server } = await startTestServer(t, { more: { ...ON_MAIN_THREAD.more, ...WEBHOOKS_HERE.more } })
await createSpace(api, 'shop')
const shop = api.in('root:shop')
const { services, store, tree } = server
const center = embeddedClient({ services, store, tree, component: 'placement-translator' }).in(tree.idAt('root:shop')!)
const PLACEMENTS = '/apis/edge.kubestellar.io/v2alpha1/edgeplacements'
const V1ALPHA1 = '/apis/edge.kubestellar.io/v1alpha1'
const ROLLOUT = `${V1ALPHA1}/placementrollouts/web.2`
const REVISION = `${V1ALPHA1}/placementrevisions/web.2`
const RBAC = '/apis/rbac.authorization.k8s.io/v1'

const groups = [
  { groupName: 'canary', locationSelector: { matchLabels: { env: 'canary' } } },
  { groupName: 'prod', locationSelector: { matchLabels: { env: 'prod' } }, approval: true },
]
const strategy = { type: 'Progressive', progressive: { maxConcurrency: 1 }, decisionGroups: groups }
const about = { placement: 'web', placementUID: 'u', revision: 2, by: 'carol', at: '2026-11-30T12:00:00Z' }
await center.create(PLACEMENT_ROLLOUTS, {
  apiVersion: 'edge.kubestellar.io/v1alpha1',
  kind: 'PlacementRollout',
  metadata: { name: 'web.2' },
  spec: { ...about, from: 1, strategy },
})
await center.create(PLACEMENT_REVISIONS, {
  apiVersion: 'edge.kubestellar.io/v1alpha1',
  kind: 'PlacementRevision',
  metadata: { name: 'web.2' },
  spec: { ...about, objects: 3 },
})

const place = (rolloutStrategy: unknown) =>
  shop.post(PLACEMENTS, { metadata: { generateName: 'p-' }, spec: { rolloutStrategy } })

t.test('contents of revisions are for nobody but the server, whatever roles say', async t => {
  const content = {
    apiVersion: 'edge.kubestellar.io/v1alpha1',
    kind: 'PlacementContent',
    metadata: { name: 'c' },
    spec: {
      ...{ placement: 'web', placementUID: 'u', key: '|secrets|default|s', from: 1 },
      resource: { group: '', version: 'v1', resource: 'secrets' },
      object: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 's', managedFields: [] },
        data: { key: 'dmFsdWU=' },
      },
    },
  }
  const stored = await center.create(PLACEMENT_CONTENTS, content)
  t.match(stored.spec, content.spec, 'nothing of the object is pruned')
  const url = `${V1ALPHA1}/placementcontents`
  const alice = shop.as(ALICE)
  await shop.post(`${RBAC}/clusterrolebindings`, {
    metadata: { name: 'all' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }],
  })
  t.match(await alice.get('/api/v1/secrets'), { code: 200 })
  for (const answer of [await alice.get(url), await alice.get(`${url}/c`), await alice.delete(`${url}/c`)])
    t.match(answer, { code: 403, body: { message: /the server alone reads/ } })
  const streamed = async (as: typeof api) => {
    const watch = await as.watch('/services/stream/clusters/root:shop')
    const lines = await watch.until(({ type, synced }) => type === 'BOOKMARK' && synced === true)
    watch.close()
    return lines.filter(({ resource }) => resource === 'placementcontents').length
  }
  t.equal(await streamed(api.as(ALICE)), 0, 'a stream of all that the space holds leaves them out')
  t.equal(await streamed(api), 1)
  t.match(await shop.get(`${url}/c`), { code: 200 }, 'who runs the server may look')
  for (const query of ['', '?resources=placementcontents.edge.kubestellar.io,configmaps', '?brief=true']) {
    const stream = await api.as(ALICE).watch(`/services/stream/clusters/root:shop${query}`)
    const lines = await stream.until(({ synced }) => synced === true)
    await center.patch(PLACEMENT_CONTENTS, { name: 'c' }, 'merge', { spec: { until: query.length + 2 } })
    await shop.ok(shop.post('/api/v1/namespaces/default/configmaps', { metadata: { generateName: 'end-' } }))
    lines.push(...(await stream.until(({ name, type }) => type === 'ADDED' && String(name).startsWith('end-'))))
    stream.close()
    t.strictSame(
      lines.filter(({ resource }) => resource === 'placementcontents'),
      [],
      `no stream of the space tells of them: ${query}`,
    )
  }
  await shop.delete(`${RBAC}/clusterrolebindings/all`)
})

t.test('no webhook of the space sees contents of revisions, whoever writes or deletes them', async t => {
  const hooks = await startWebhookServer(t)
  hooks.on('/see', () => ({ allowed: true }))
  const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'] }]
  const see = configuration('Validating', 'see', [webhook('see.example.com', hooks.at('/see'), { rules })])
  await shop.ok(shop.post(CONFIGURATIONS.Validating, see))
  const collector = embeddedClient({ services, store, tree, component: 'garbage-collector-controller' })
  await collector.in(tree.idAt('root:shop')!).delete(PLACEMENT_CONTENTS, { name: 'c' })
  await shop.ok(shop.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'seen' } }))
  await shop.ok(shop.delete(`${CONFIGURATIONS.Validating}/see`))
  t.strictSame(
    hooks.seen.map(({ request }) => request.name),
    ['seen'],
  )
})

t.test('a strategy is refused with its field', async t => {
  const base = String.raw`spec\.rolloutStrategy`
  for (const [given, message] of [
    [{ type: 'Canary' }, new RegExp(`${base}\\.type: Unsupported value: "Canary"`)],
    [{ type: 'Progressive', progressive: { maxConcurrency: '5' } }, /must be the number 5 without quotes/],
    [{ type: 'Progressive', progressive: { maxFailures: '200%' } }, /must be at most "100%"/],
    [{ type: 'Progressive', windows: [{ from: '09:00', to: '09:00' }] }, /the window never opens/],
    [{ type: 'Progressive', onFailure: 'Explode' }, new RegExp(`${base}\\.onFailure: Unsupported value`)],
  ] as const)
    t.match(await place(given), { code: 422, body: { reason: 'Invalid', message } }, JSON.stringify(given))
  t.match(await place({ ...strategy, all: {} }), {
    code: 201,
    headers: { warning: /all: it has no effect with type Progressive/ },
  })
})

t.test('a placement whose strategy is edited is judged again, and one that is edited elsewhere is not', async t => {
  const { body } = await place(strategy)
  const url = `${PLACEMENTS}/${body.metadata.name}`
  const wrong = { spec: { rolloutStrategy: { progressive: { maxConcurrency: 0 } } } }
  t.match(await shop.patch(url, 'merge', wrong), { code: 422, body: { message: /no cluster could ever begin/ } })
  t.match(await shop.patch(url, 'merge', { spec: { paused: true } }), { code: 200 })
})

t.test('the center writes revisions and rollouts', async t => {
  const theirs = {
    code: 403,
    body: { message: /the center writes it, and it goes with its EdgePlacement; people set spec\./ },
  }
  for (const url of [ROLLOUT, REVISION]) {
    t.match(await shop.delete(url), theirs)
    const { body } = await shop.get(url)
    const copy = { ...body, metadata: { name: 'web.9' } }
    t.match(await shop.post(url.replace('/web.2', ''), copy), theirs)
    t.match(await shop.patch(url, 'merge', { spec: { revision: 7 } }), {
      code: 422,
      body: { message: /spec\.revision: Forbidden: the center writes it; people set spec\./ },
    })
  }
  t.match(await shop.patch(`${ROLLOUT}/status`, 'merge', { status: { state: 'Done' } }), theirs)
  t.match(await center.get(PLACEMENT_ROLLOUTS, { name: 'web.2' }), { spec: { revision: 2 } })
  t.match(await center.get(PLACEMENT_REVISIONS, { name: 'web.2' }), { spec: { revision: 2 } })
})

t.test("labels, owners and finalizers of revisions and rollouts are the center's, annotations are free", async t => {
  for (const url of [ROLLOUT, REVISION]) {
    for (const [name, value] of [
      ['labels', { 'edge.kubestellar.io/edge-placement': 'other' }],
      ['ownerReferences', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: 'u' }]],
      ['finalizers', ['example.com/keep']],
    ] as const)
      t.match(await shop.patch(url, 'merge', { metadata: { [name]: value } }), {
        code: 422,
        body: { reason: 'Invalid', message: new RegExp(`metadata\\.${name}: Forbidden: the center writes it`) },
      })
    t.match(await shop.patch(url, 'merge', { metadata: { annotations: { note: 'mine' } } }), { code: 200 })
  }
})

t.test('a pause and a pin keep who set them, whatever a request says of that', async t => {
  for (const [url, field, noted] of [
    [ROLLOUT, 'paused', 'pausedBy'],
    [REVISION, 'pinned', 'pinnedBy'],
  ] as const) {
    const forged = { spec: { [field]: true, [noted]: { by: 'mallory', at: '2020-01-01T00:00:00Z' } } }
    const { body } = await shop.patch(url, 'merge', forged)
    const spec = body.spec as Record<string, { by: string; at: string }>
    t.not(spec[noted]?.by, 'mallory')
    t.match(spec[noted], { by: /\w/, at: /^20/ })
    t.match(await shop.patch(url, 'merge', { spec: { [noted]: { by: 'mallory' } } }), {
      body: { spec: { [noted]: spec[noted] } },
    })
    const lifted = await shop.patch(url, 'merge', { spec: { [field]: false } })
    t.notHas(lifted.body.spec, { [noted]: {} })
  }
})

t.test('an approval is of a group that waits for one', async t => {
  const approve = (group: string) => shop.patch(ROLLOUT, 'merge', { spec: { approvals: [{ group }] } })
  t.match(await approve('canary'), {
    code: 422,
    body: { message: /approvals\[0\]\.group: Unsupported value: "canary": supported values: "prod"/ },
  })
  t.match(await approve('prod'), { code: 200, body: { spec: { approvals: [{ group: 'prod', by: /\w/, at: /^20/ }] } } })
  await shop.patch(ROLLOUT, 'merge', { spec: { approvals: null } })
})

t.test('approving and hurrying take verbs of their own', async t => {
  const rules = [
    { nonResourceURLs: ['/'], verbs: ['access'] },
    { apiGroups: ['edge.kubestellar.io'], resources: ['placementrollouts'], verbs: ['get', 'patch', 'update'] },
  ]
  await shop.ok(shop.post(`${RBAC}/clusterroles`, { metadata: { name: 'alice' }, rules }))
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'alice' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'alice' }]
  await shop.ok(shop.post(`${RBAC}/clusterrolebindings`, { metadata: { name: 'alice' }, roleRef, subjects }))
  const alice = shop.as(ALICE)
  t.match(await alice.patch(ROLLOUT, 'merge', { spec: { paused: true } }), {
    code: 200,
    body: { spec: { pausedBy: { by: 'alice' } } },
  })
  const approval = { spec: { approvals: [{ group: 'prod' }] } }
  t.match(await alice.patch(ROLLOUT, 'merge', approval), {
    code: 403,
    body: { message: /"alice" cannot approve resource "placementrollouts"/ },
  })
  t.match(await alice.patch(ROLLOUT, 'merge', { spec: { urgent: true } }), {
    code: 403,
    body: { message: /cannot expedite/ },
  })
  const ofThis = { resources: ['placementrollouts'], resourceNames: ['web.2'] }
  const value = { apiGroups: ['edge.kubestellar.io'], ...ofThis, verbs: ['approve'] }
  await shop.ok(shop.patch(`${RBAC}/clusterroles/alice`, 'json', [{ op: 'add', path: '/rules/-', value }]))
  t.match(await alice.patch(ROLLOUT, 'merge', approval), {
    code: 200,
    body: { spec: { approvals: [{ group: 'prod', by: 'alice' }] } },
  })
  t.match(await alice.patch(ROLLOUT, 'merge', { spec: { urgent: true } }), { code: 403 })
  t.match(await shop.patch(ROLLOUT, 'merge', { spec: { urgent: true } }), {
    code: 200,
    body: { spec: { urgent: true, urgentBy: { by: /\w/ }, approvals: [{ by: 'alice' }] } },
  })
})

t.test('the end of the stages takes the verb expedite, and other edits of a strategy do not', async t => {
  const { body } = await place(strategy)
  const url = `${PLACEMENTS}/${body.metadata.name}`
  const rules = [
    { nonResourceURLs: ['/'], verbs: ['access'] },
    { apiGroups: ['edge.kubestellar.io'], resources: ['edgeplacements'], verbs: ['get', 'create', 'patch', 'update'] },
  ]
  await shop.ok(shop.post(`${RBAC}/clusterroles`, { metadata: { name: 'editor' }, rules }))
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'editor' }
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'bob' }]
  await shop.ok(shop.post(`${RBAC}/clusterrolebindings`, { metadata: { name: 'editor' }, roleRef, subjects }))
  const bob = shop.as(BOB)
  const write = (rolloutStrategy: unknown) => bob.patch(url, 'merge', { spec: { rolloutStrategy } })
  for (const unstaged of [{ type: 'All', progressive: null, decisionGroups: null }, null])
    t.match(await write(unstaged), {
      code: 403,
      body: { message: /spec\.rolloutStrategy: without stages all clusters get .*"bob" cannot expedite/ },
    })
  t.match(await write({ progressive: { maxConcurrency: 2 } }), { code: 200 })
  t.match(await bob.post(PLACEMENTS, { metadata: { name: 'unstaged' }, spec: {} }), { code: 201 }, 'a new one has none')
  const more = { apiGroups: ['edge.kubestellar.io'], resources: ['placementrollouts'], verbs: ['expedite'] }
  const patch = [{ op: 'add', path: '/rules/-', value: more }]
  await shop.ok(shop.patch(`${RBAC}/clusterroles/editor`, 'json', patch))
  t.match(await write(null), { code: 200 })
  t.match(await write({ type: 'All' }), { code: 200 }, 'nothing was staged')
})
