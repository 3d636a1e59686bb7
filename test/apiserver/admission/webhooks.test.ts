/** Webhooks: their requests, their allowed changes, and the messages of their refusals and failures. */
import t from 'tap'
import type { Answer as Response } from '../../support/api.ts'
import { crdsIn } from '../../support/crds.ts'
import { ALICE, CONFIGMAPS, configMap, createSpace, startTestServer, WEBHOOKS_HERE } from '../../support/server.ts'
import { CONFIGURATIONS, configuration, startWebhookServer, webhook } from './webhookServer.ts'

const { api, faults } = await startTestServer(t, WEBHOOKS_HERE)
const hooks = await startWebhookServer(t)

/** Puts webhooks in force for the time of `during`. */
async function withWebhooks(
  kind: 'Mutating' | 'Validating',
  webhooks: object[],
  during: () => Promise<void>,
): Promise<void> {
  const { length } = hooks.seen
  await api.ok(api.post(CONFIGURATIONS[kind], configuration(kind, 'test', webhooks)))
  try {
    await during()
  } finally {
    await api.ok(api.delete(`${CONFIGURATIONS[kind]}/test`))
    hooks.seen.splice(0, length)
  }
}
const message = ({ body }: Response): string => body.message ?? ''

t.test('a refusal says who refused and why, with the code and the warnings of the webhook', async t => {
  hooks.on('/deny', () => ({ allowed: false, status: { message: 'no way' }, warnings: ['careful'] }))
  await withWebhooks('Validating', [webhook('deny.example.com', hooks.at('/deny'))], async () => {
    const answer = await api.post(CONFIGMAPS, configMap('denied'))
    t.equal(answer.code, 400)
    t.equal(message(answer), 'admission webhook "deny.example.com" denied the request: no way')
    t.equal(answer.headers.warning, '299 - "careful"')
  })
  hooks.on('/deny', () => ({ allowed: false, status: { code: 409, reason: 'Conflict' } }))
  await withWebhooks('Validating', [webhook('deny.example.com', hooks.at('/deny'))], async () => {
    const { body } = await api.post(CONFIGMAPS, configMap('denied'))
    t.match(body, {
      code: 409,
      reason: 'Conflict',
      message: 'admission webhook "deny.example.com" denied the request: Conflict',
    })
  })
  hooks.on('/deny', () => ({ allowed: false }))
  await withWebhooks('Validating', [webhook('deny.example.com', hooks.at('/deny'))], async () => {
    const answer = await api.post(CONFIGMAPS, configMap('denied'))
    t.equal(message(answer), 'admission webhook "deny.example.com" denied the request without explanation')
    for (const code of [399, 600, 1000, 422.5, 1e300, -1]) {
      hooks.on('/deny', () => ({ allowed: false, status: { code, message: 'no such code' } }))
      t.match(await api.post(CONFIGMAPS, configMap('denied')), { code: 400, body: { code: 400 } }, `${code}`)
    }
  })
  t.equal((await api.get(`${CONFIGMAPS}/denied`)).code, 404)
})

t.test('the review tells the request as kube-apiserver does', async t => {
  hooks.on('/see', () => ({ allowed: true }))
  await withWebhooks('Validating', [webhook('see.example.com', hooks.at('/see'))], async () => {
    const from = hooks.seen.length
    await api.ok(api.post(`${CONFIGMAPS}?fieldManager=me`, configMap('seen', { a: 'b' })))
    await api.ok(api.patch(`${CONFIGMAPS}/seen`, 'merge', { data: { a: 'c' } }))
    await api.ok(api.delete(`${CONFIGMAPS}/seen`, { propagationPolicy: 'Background' }))
    const [made, changed, gone] = hooks.seen.slice(from)
    const kind = { group: '', version: 'v1', kind: 'ConfigMap' }
    const resource = { group: '', version: 'v1', resource: 'configmaps' }
    t.match(made, { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' })
    t.match(made!.request, {
      kind,
      resource,
      requestKind: kind,
      requestResource: resource,
      name: 'seen',
      namespace: 'default',
      operation: 'CREATE',
      userInfo: { username: 'orrery-admin', groups: ['system:masters', 'system:authenticated'] },
      object: { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' }, metadata: { uid: /./ } },
      dryRun: false,
      options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' },
    })
    t.equal(made!.request.oldObject, null)
    t.match(changed!.request, {
      operation: 'UPDATE',
      object: { data: { a: 'c' } },
      oldObject: { data: { a: 'b' } },
      options: { kind: 'PatchOptions' },
    })
    t.equal(gone!.request.object, null)
    t.match(gone!.request, {
      operation: 'DELETE',
      name: 'seen',
      oldObject: { data: { a: 'c' } },
      options: { kind: 'DeleteOptions', propagationPolicy: 'Background' },
    })
  })
})

t.test('a webhook that cannot be asked refuses, unless its failure policy is Ignore', async t => {
  hooks.on('/hang', () => 'hang')
  hooks.on('/json', () => '{"a":')
  hooks.on('/uid', () =>
    JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: 'q', allowed: true },
    }),
  )
  hooks.on('/absent', () => JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }))
  hooks.raw('/broken', 500, {}, 'boom')
  hooks.raw('/elsewhere', 302, { location: `${hooks.url}/see` }, '')
  hooks.raw('/huge', 200, {}, 'x'.repeat(3 * 1024 * 1024 + 1))
  const cases: [object, string | RegExp][] = [
    [hooks.at('/hang'), `failed to call webhook: Post "${hooks.url}/hang?timeout=1s": context deadline exceeded`],
    [hooks.at('/json'), "failed to call webhook: couldn't get version/kind; json parse error: "],
    [hooks.at('/uid'), /received invalid webhook response: expected response.uid="[^"]+", got "q"/],
    [hooks.at('/absent'), 'received invalid webhook response: webhook response was absent'],
    [hooks.at('/broken'), 'an error on the server ("boom") has prevented the request from succeeding'],
    [hooks.at('/elsewhere'), 'the server responded with the status code 302'],
    [hooks.at('/huge'), 'the webhook answered with more than'],
    [{ url: `${hooks.url}/see` }, 'tls: failed to verify certificate: x509: certificate signed by unknown authority'],
    [{ url: 'https://127.0.0.1:1/see' }, 'dial tcp 127.0.0.1:1: connect: connection refused'],
    [
      { service: { name: 'sv', namespace: 'default', path: '/p' } },
      'Post "https://sv.default.svc:443/p?timeout=1s": service "sv" not found',
    ],
  ]
  for (const [client, why] of cases) {
    const failing = webhook('fail.example.com', client, { timeoutSeconds: 1 })
    await withWebhooks('Validating', [failing], async () => {
      const answer = await api.post(CONFIGMAPS, configMap('unasked'))
      t.equal(answer.code, 500)
      t.ok(message(answer).startsWith('Internal error occurred: failed calling webhook "fail.example.com": '))
      t.match(message(answer), why)
    })
    await withWebhooks('Validating', [{ ...failing, failurePolicy: 'Ignore' }], async () => {
      t.equal((await api.post(`${CONFIGMAPS}?dryRun=All`, configMap('unasked'))).code, 201, String(why))
    })
  }
})

t.test('what a mutating webhook adds is stored, checked, and owned by nobody', async t => {
  hooks.on('/add', () => ({
    allowed: true,
    patch: [
      { op: 'add', path: '/metadata/labels', value: { by: 'hook' } },
      { op: 'add', path: '/metadata/uid', value: 'mine' },
      { op: 'add', path: '/unknown', value: 1 },
    ],
  }))
  await withWebhooks('Mutating', [webhook('add.example.com', hooks.at('/add'))], async () => {
    const made = await api.ok(api.post(CONFIGMAPS, configMap('added', { a: 'b' })))
    t.strictSame(made.metadata.labels, { by: 'hook' })
    t.not(made.metadata.uid, 'mine')
    t.notOk('unknown' in made)
    const owned = made.metadata.managedFields!.map(entry => Object.keys(entry.fieldsV1 ?? {}))
    t.strictSame(owned, [['f:data']])
    const again = await api.ok(
      api.patch(`${CONFIGMAPS}/added`, 'merge', { metadata: { labels: null }, data: { a: 'c' } }),
    )
    t.strictSame(
      [again.metadata.labels, again.data, again.metadata.uid],
      [{ by: 'hook' }, { a: 'c' }, made.metadata.uid],
    )
  })
  hooks.on('/add', () => ({ allowed: true, patch: [{ op: 'add', path: '/data', value: 7 }] }))
  await withWebhooks('Mutating', [webhook('add.example.com', hooks.at('/add'))], async () => {
    t.match(message(await api.post(CONFIGMAPS, configMap('bad'))), 'json: cannot unmarshal number')
  })
  hooks.on('/add', () => ({ allowed: true, patch: [{ op: 'add', path: '/metadata/labels', value: { a: '!' } }] }))
  await withWebhooks('Mutating', [webhook('add.example.com', hooks.at('/add'))], async () => {
    t.equal((await api.post(CONFIGMAPS, configMap('bad'))).code, 422, 'validation comes behind mutation')
  })
})

t.test('a mutating webhook cannot make the metadata of a custom resource unreadable', async t => {
  const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
  const schema = { openAPIV3Schema: { type: 'object' } }
  await crdsIn(api).define({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.hooked.example.com' },
    spec: {
      group: 'hooked.example.com',
      scope: 'Cluster',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  })
  const rules = [
    { operations: ['CREATE'], apiGroups: ['hooked.example.com'], apiVersions: ['v1'], resources: ['widgets'] },
  ]
  const widget = { apiVersion: 'hooked.example.com/v1', kind: 'Widget', metadata: { name: 'w' } }
  for (const [place, value] of [
    ['labels', 7],
    ['labels', { a: 1 }],
    ['finalizers', 'x'],
  ] as const) {
    hooks.on('/wrong', () => ({ allowed: true, patch: [{ op: 'add', path: `/metadata/${place}`, value }] }))
    await withWebhooks('Mutating', [webhook('wrong.example.com', hooks.at('/wrong'), { rules })], async () => {
      const answer = await api.post('/apis/hooked.example.com/v1/widgets', widget)
      t.match(message(answer), 'json: cannot unmarshal', `${place} ${JSON.stringify(value)}: ${answer.text}`)
    })
  }
})

t.test('earlier webhooks are asked again, once, when a later one has changed the object and they wish it', async t => {
  const count = (path: string): string => `${path}-count`
  for (const path of ['/first', '/second']) {
    hooks.on(path, ({ request }) => {
      const labels = request.object!.metadata.labels ?? {}
      const times = Number(labels[count(path.slice(1))] ?? 0) + 1
      const value = { ...labels, [count(path.slice(1))]: String(times) }
      return { allowed: true, patch: [{ op: 'add', path: '/metadata/labels', value }] }
    })
  }
  const both = (more: object) => [
    webhook('first.example.com', hooks.at('/first'), more),
    webhook('second.example.com', hooks.at('/second')),
  ]
  await withWebhooks('Mutating', both({}), async () => {
    const { metadata } = await api.ok(api.post(CONFIGMAPS, configMap('once')))
    t.strictSame(metadata.labels, { 'first-count': '1', 'second-count': '1' })
  })
  await withWebhooks('Mutating', both({ reinvocationPolicy: 'IfNeeded' }), async () => {
    const { metadata } = await api.ok(api.post(CONFIGMAPS, configMap('twice')))
    t.strictSame(metadata.labels, { 'first-count': '2', 'second-count': '1' })
  })
})

t.test('rules, selectors and conditions choose the requests', async t => {
  hooks.on('/choose', () => ({ allowed: false }))
  const asked = async (more: object, request: () => Promise<Response>): Promise<boolean> => {
    let code = 0
    await withWebhooks('Validating', [webhook('choose.example.com', hooks.at('/choose'), more)], async () => {
      code = (await request()).code
    })
    return code === 400
  }
  const create = () => api.post(`${CONFIGMAPS}?dryRun=All`, configMap('chosen', {}, { labels: { tier: 'web' } }))
  const rule = (more: object) => ({
    rules: [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], ...more }],
  })
  t.equal(await asked({}, create), true)
  t.equal(await asked(rule({ operations: ['UPDATE', 'DELETE'] }), create), false)
  t.equal(await asked(rule({ resources: ['secrets'] }), create), false)
  t.equal(await asked(rule({ resources: ['*/*'] }), create), true)
  t.equal(await asked(rule({ resources: ['configmaps/status'] }), create), false)
  t.equal(await asked(rule({ scope: 'Cluster' }), create), false)
  t.equal(await asked(rule({ scope: 'Namespaced' }), create), true)
  t.equal(await asked({ objectSelector: { matchLabels: { tier: 'web' } } }, create), true)
  t.equal(await asked({ objectSelector: { matchLabels: { tier: 'db' } } }, create), false)
  const inDefault = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'default' } } }
  const elsewhere = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'other' } } }
  t.equal(await asked(inDefault, create), true)
  t.equal(await asked(elsewhere, create), false)
  const condition = (expression: string) => ({ matchConditions: [{ name: 'c', expression }] })
  t.equal(await asked(condition("request.operation == 'CREATE' && object.metadata.labels.tier == 'web'"), create), true)
  t.equal(await asked(condition("object.metadata.name == 'other'"), create), false)
  await withWebhooks(
    'Validating',
    [webhook('c.example.com', hooks.at('/choose'), condition('object.nope == 1'))],
    async () => {
      const answer = await create()
      t.equal(answer.code, 403)
      t.match(message(answer), "expression 'object.nope == 1' resulted in error: no such key: nope")
    },
  )
})

t.test('a rule for one version sees requests for another one, converted, unless it wants them exactly', async t => {
  const scaler = {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'h' },
    spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'd' }, targetCPUUtilizationPercentage: 50 },
  }
  const path = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers?dryRun=All'
  const rules = [{ operations: ['*'], apiGroups: ['autoscaling'], apiVersions: ['v2'], resources: ['*'] }]
  hooks.on('/version', () => ({ allowed: false, status: { message: 'seen' } }))
  await withWebhooks('Validating', [webhook('v.example.com', hooks.at('/version'), { rules })], async () => {
    t.match(message(await api.post(path, scaler)), 'seen')
    t.match(hooks.seen.at(-1)!.request, {
      kind: { version: 'v2' },
      resource: { version: 'v2' },
      requestKind: { version: 'v1' },
      requestResource: { version: 'v1' },
      object: { apiVersion: 'autoscaling/v2', spec: { metrics: [{ type: 'Resource' }] } },
    })
  })
  const exact = webhook('v.example.com', hooks.at('/version'), { rules, matchPolicy: 'Exact' })
  await withWebhooks('Validating', [exact], async () => {
    t.equal((await api.post(path, scaler)).code, 201)
  })
})

t.test('sub-resources: status as a whole object, scale as a Scale that may be changed', async t => {
  const deployments = '/apis/apps/v1/namespaces/default/deployments'
  const labels = { a: 'b' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const spec = { replicas: 1, selector: { matchLabels: labels }, template }
  await api.ok(api.post(deployments, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec }))
  const on = (resource: string) => ({
    rules: [{ operations: ['UPDATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: [resource] }],
  })
  hooks.on('/scale', () => ({ allowed: true, patch: [{ op: 'replace', path: '/spec/replicas', value: 4 }] }))
  const scale = webhook('scale.example.com', hooks.at('/scale'), on('deployments/scale'))
  await withWebhooks('Mutating', [scale], async () => {
    const scaled = await api.ok(api.patch(`${deployments}/d/scale`, 'merge', { spec: { replicas: 3 } }))
    t.strictSame(scaled.spec, { replicas: 4 })
    t.match(hooks.seen.at(-1)!.request, {
      kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
      resource: { group: 'apps', resource: 'deployments' },
      subResource: 'scale',
      object: { kind: 'Scale', spec: { replicas: 3 } },
      oldObject: { kind: 'Scale', spec: { replicas: 1 } },
    })
  })
  t.match((await api.get(`${deployments}/d`)).body.spec, { replicas: 4 })
  hooks.on('/status', () => ({ allowed: false }))
  const status = webhook('status.example.com', hooks.at('/status'), on('deployments/status'))
  await withWebhooks('Validating', [status], async () => {
    t.equal((await api.patch(`${deployments}/d/status`, 'merge', { status: { replicas: 1 } })).code, 400)
    t.equal((await api.patch(`${deployments}/d`, 'merge', { spec: { replicas: 2 } })).code, 200)
  })
})

t.test('deletes can be refused, one by one also in a collection', async t => {
  for (const name of ['keep-1', 'keep-2'])
    await api.ok(api.post(CONFIGMAPS, configMap(name, {}, { labels: { keep: 'me' } })))
  hooks.on('/keep', ({ request }) => ({ allowed: request.oldObject?.metadata.name !== 'keep-1' }))
  await withWebhooks('Validating', [webhook('keep.example.com', hooks.at('/keep'))], async () => {
    t.equal((await api.delete(`${CONFIGMAPS}/keep-1`)).code, 400)
    t.equal((await api.delete(`${CONFIGMAPS}?labelSelector=keep=me`)).code, 400)
  })
  t.equal((await api.get(`${CONFIGMAPS}/keep-1`)).code, 200)
  t.equal((await api.get(`${CONFIGMAPS}/keep-2`)).code, 404)
})

t.test('a deletion cannot be mutated', async t => {
  await api.ok(api.post(CONFIGMAPS, configMap('leaving')))
  hooks.on('/leaving', () => ({ allowed: true, patch: [{ op: 'add', path: '/data', value: {} }] }))
  await withWebhooks('Mutating', [webhook('leaving.example.com', hooks.at('/leaving'))], async () => {
    const answer = await api.delete(`${CONFIGMAPS}/leaving`)
    t.equal(answer.code, 500)
    t.match(message(answer), 'attempted to modify the object, which is not supported for this operation')
  })
})

t.test('configurations are never subject to webhooks, and act in their own space alone', async t => {
  hooks.on('/all', () => ({ allowed: false }))
  const rules = [{ operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'] }]
  const space = await createSpace(api, 'other')
  await withWebhooks('Validating', [webhook('all.example.com', hooks.at('/all'), { rules })], async () => {
    t.equal(
      (await api.patch(`${CONFIGURATIONS.Validating}/test`, 'merge', { metadata: { labels: { a: 'b' } } })).code,
      200,
    )
    t.equal((await api.post(CONFIGMAPS, configMap('refused'))).code, 400)
    t.equal((await api.in(space).post(CONFIGMAPS, configMap('free'))).code, 201)
  })
  t.equal((await api.post(CONFIGMAPS, configMap('refused'))).code, 201, 'it ends with its configuration')
})

t.test('authorization comes first: who may not write learns nothing from webhooks', async t => {
  hooks.on('/alice', () => ({ allowed: false }))
  await withWebhooks('Validating', [webhook('alice.example.com', hooks.at('/alice'))], async () => {
    const { length } = hooks.seen
    t.equal((await api.as(ALICE).post(CONFIGMAPS, configMap('alice'))).code, 403)
    t.equal(hooks.seen.length, length)
  })
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
