/** Admission webhooks and policies, as cluster administrators rely on them. */
import t, { type Test } from 'tap'
import { crdsIn } from '../../support/crds.ts'
import { CONFIGMAPS, configMap, startTestServer, WEBHOOKS_HERE } from '../../support/server.ts'
import { CONFIGURATIONS, configuration, startWebhookServer, webhook } from '../admission/webhookServer.ts'
import { pod, podTemplate } from './cluster.ts'
import { edit } from './operations.ts'

const { api, faults } = await startTestServer(t, WEBHOOKS_HERE)
const hooks = await startWebhookServer(t)
const crds = crdsIn(api)
const PODS = '/api/v1/namespaces/default/pods'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

type Kind = 'Mutating' | 'Validating'
const rules = (resources: string[], operations = ['CREATE'], apiGroups = ['']): object => ({
  rules: [{ operations, apiGroups, apiVersions: ['*'], resources }],
})

/** Puts webhooks in force for the time of `during`. */
async function withHooks(kind: Kind, webhooks: object[], during: () => Promise<void>): Promise<void> {
  await api.ok(api.post(CONFIGURATIONS[kind], configuration(kind, 'conformance', webhooks)))
  try {
    await during()
  } finally {
    await api.ok(api.delete(`${CONFIGURATIONS[kind]}/conformance`))
  }
}

const denies = (t: Test, answer: { code: number; body: { message?: string } }, words: string | RegExp): void => {
  t.ok(answer.code >= 400, 'denied')
  t.match(answer.body.message, words)
}
hooks.on('/deny', () => ({ allowed: false, status: { message: 'the webhook says no' } }))
hooks.on('/hang', () => 'hang')
const add = (key: string) => () => ({
  allowed: true,
  patch: [{ op: 'add', path: `/data/${key}`, value: 'yes' }],
})
hooks.on('/stage-1', add('mutation-stage-1'))
hooks.on('/stage-2', add('mutation-stage-2'))

const custom = (kind: string, schema: object): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${kind.toLowerCase()}s.webhook.example.com` },
  spec: {
    group: 'webhook.example.com',
    scope: 'Namespaced',
    names: { plural: `${kind.toLowerCase()}s`, kind },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } },
      { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: schema } },
    ],
  },
})
const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const at = (kind: string, version = 'v1'): string =>
  `/apis/webhook.example.com/${version}/namespaces/default/${kind.toLowerCase()}s`

// AdmissionWebhook should be able to deny pod and configmap creation
t.test('what does not comply is denied: by create, by update, by patch, and when the webhook hangs', async t => {
  hooks.on('/comply', ({ request }) => ({
    allowed: (request.object as { data?: { bad?: string } } | null)?.data?.bad === undefined,
    status: { message: 'bad data' },
  }))
  const elsewhere = { namespaceSelector: { matchExpressions: [{ key: 'skip', operator: 'DoesNotExist' }] } }
  const all = ['CREATE', 'UPDATE']
  await withHooks(
    'Validating',
    [
      webhook('maps.example.com', hooks.at('/comply'), { ...rules(['configmaps'], all), ...elsewhere }),
      webhook('pods.example.com', hooks.at('/hang'), { ...rules(['pods']), timeoutSeconds: 1 }),
    ],
    async () => {
      denies(t, await api.post(CONFIGMAPS, configMap('bad', { bad: 'x' })), 'denied the request: bad data')
      await api.ok(api.post(CONFIGMAPS, configMap('good', {})))
      const path = `${CONFIGMAPS}/good`
      const object = await api.ok(api.get(path))
      denies(t, await api.put(path, { ...object, data: { bad: 'x' } }), 'bad data')
      denies(t, await api.patch(path, 'merge', { data: { bad: 'x' } }), 'bad data')
      denies(t, await api.post(PODS, pod('hangs')), /failed calling webhook "pods.example.com".*deadline exceeded/)
      const labels = { skip: 'yes' }
      await api.ok(
        api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'exempt', labels } }),
      )
      const outside = await api.post('/api/v1/namespaces/exempt/configmaps', configMap('bad', { bad: 'x' }))
      t.equal(outside.code, 201, 'a namespace outside of the selector')
    },
  )
})

// AdmissionWebhook should be able to deny custom resource creation, update and deletion
t.test('custom resources can be denied, their deletion too', async t => {
  await crds.define(custom('Guarded', OPEN))
  await api.ok(
    api.post(at('Guarded'), { apiVersion: 'webhook.example.com/v1', kind: 'Guarded', metadata: { name: 'one' } }),
  )
  const all = rules(['guardeds'], ['CREATE', 'UPDATE', 'DELETE'], ['webhook.example.com'])
  await withHooks('Validating', [webhook('guard.example.com', hooks.at('/deny'), all)], async () => {
    const two = { apiVersion: 'webhook.example.com/v1', kind: 'Guarded', metadata: { name: 'two' } }
    denies(t, await api.post(at('Guarded'), two), 'the webhook says no')
    denies(t, await api.patch(`${at('Guarded')}/one`, 'merge', { a: 1 }), 'the webhook says no')
    denies(t, await api.delete(`${at('Guarded')}/one`), 'the webhook says no')
  })
  t.equal((await api.delete(`${at('Guarded')}/one`)).code, 200)
})

// AdmissionWebhook should deny crd creation
t.test('definitions can be denied', async t => {
  const all = rules(['customresourcedefinitions'], ['CREATE'], ['apiextensions.k8s.io'])
  await withHooks('Validating', [webhook('crd.example.com', hooks.at('/deny'), all)], async () => {
    denies(t, await api.post(DEFINITIONS, custom('Never', OPEN)), 'the webhook says no')
  })
})

// AdmissionWebhook should unconditionally reject operations on fail closed webhook
t.test('a webhook that nobody can call denies what it is asked about', async t => {
  const nowhere = { url: 'https://127.0.0.1:1/closed' }
  await withHooks('Validating', [webhook('closed.example.com', nowhere, { failurePolicy: 'Fail' })], async () => {
    denies(t, await api.post(CONFIGMAPS, configMap('closed')), 'failed calling webhook "closed.example.com"')
  })
})

// AdmissionWebhook should honor timeout
t.test('the timeout of a webhook counts, and its failure policy says what then', async t => {
  const waiting = (failurePolicy: string, resource: string): object => {
    const more = { ...rules([resource]), failurePolicy, timeoutSeconds: 1 }
    return webhook(`${failurePolicy.toLowerCase()}.example.com`, hooks.at('/hang'), more)
  }
  await withHooks('Validating', [waiting('Fail', 'configmaps'), waiting('Ignore', 'podtemplates')], async () => {
    const template = { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'slow' }, template: podTemplate({}) }
    const [fails, ignored] = await Promise.all([
      api.post(CONFIGMAPS, configMap('slow')),
      api.post('/api/v1/namespaces/default/podtemplates', template),
    ])
    t.equal(fails.code, 500)
    t.match(fails.body.message, /deadline exceeded/)
    t.equal(ignored.code, 201)
  })
})

// AdmissionWebhook should mutate configmap
t.test('webhooks change an object one after the other', async t => {
  const both = [
    webhook('first.example.com', hooks.at('/stage-1'), rules(['configmaps'])),
    webhook('second.example.com', hooks.at('/stage-2'), rules(['configmaps'])),
  ]
  await withHooks('Mutating', both, async () => {
    const made = await api.ok(api.post(CONFIGMAPS, configMap('mutated', { 'mutation-start': 'yes' })))
    t.same(made.data, { 'mutation-start': 'yes', 'mutation-stage-1': 'yes', 'mutation-stage-2': 'yes' })
  })
})

// AdmissionWebhook should mutate pod and apply defaults after mutation
t.test('what a webhook adds gets its defaults', async t => {
  hooks.on('/init', () => ({
    allowed: true,
    patch: [{ op: 'add', path: '/spec/initContainers', value: [{ name: 'added', image: 'i:1', resources: {} }] }],
  }))
  await withHooks('Mutating', [webhook('init.example.com', hooks.at('/init'), rules(['pods']))], async () => {
    const { spec } = await api.ok(api.post(PODS, pod('initialized')))
    t.match((spec as { initContainers: object[] }).initContainers, [
      { name: 'added', terminationMessagePolicy: 'File', terminationMessagePath: '/dev/termination-log' },
    ])
  })
})

// AdmissionWebhook should mutate custom resource; with pruning; with different stored version
t.test('custom resources are mutated, pruned, and stored in whatever version', async t => {
  const data = (properties: object): object => ({ type: 'object', properties })
  const text = { type: 'string' }
  const kept = { 'mutation-start': text, 'mutation-stage-1': text, note: text }
  await crds.define(custom('Pruned', { type: 'object', properties: { data: data(kept) } }))
  const object = { apiVersion: 'webhook.example.com/v1', kind: 'Pruned', metadata: { name: 'one' } }
  const both = ['/stage-1', '/stage-2'].map(path =>
    webhook(
      `${path.slice(1)}.example.com`,
      hooks.at(path),
      rules(['pruneds'], ['CREATE', 'UPDATE'], ['webhook.example.com']),
    ),
  )
  await withHooks('Mutating', both, async () => {
    const made = await api.ok(api.post(at('Pruned'), { ...object, data: { 'mutation-start': 'yes' } }))
    t.same(made.data, { 'mutation-start': 'yes', 'mutation-stage-1': 'yes' }, 'what the schema lacks is pruned')
    await edit(api, crds.path('pruneds.webhook.example.com'), crd => {
      const { versions, ...spec } = crd.spec as { versions: { name: string }[] }
      return { ...crd, spec: { ...spec, versions: versions.map(v => ({ ...v, storage: v.name === 'v2' })) } }
    })
    const patched = await api.ok(api.patch(`${at('Pruned')}/one`, 'merge', { data: { note: 'mutated-by-patch' } }))
    t.match(patched, { apiVersion: 'webhook.example.com/v1', data: { note: 'mutated-by-patch' } })
  })
})

// AdmissionWebhook should not be able to mutate or prevent deletion of webhook configuration objects
t.test('nobody can lock the door from inside: configurations are out of reach of webhooks', async t => {
  const resources = ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations']
  const all = rules(resources, ['*'], ['admissionregistration.k8s.io'])
  await withHooks('Validating', [webhook('deny.example.com', hooks.at('/deny'), all)], async () => {
    const mine = configuration('Mutating', 'mine', [webhook('mine.example.com', hooks.at('/deny'), rules(['nothing']))])
    await api.ok(api.post(CONFIGURATIONS.Mutating, mine))
    t.equal((await api.delete(`${CONFIGURATIONS.Mutating}/mine`)).code, 200)
  })
})

// AdmissionWebhook listing validating webhooks should work; listing mutating webhooks should work
for (const kind of ['Validating', 'Mutating'] as const) {
  t.test(`${kind} configurations are listed and deleted by label, and then no longer in force`, async t => {
    const path = kind === 'Validating' ? '/deny' : '/stage-1'
    for (let n = 0; n < 10; n++) {
      const one = configuration(kind, `listed-${n}`, [
        webhook('listed.example.com', hooks.at(path), rules(['configmaps'])),
      ])
      await api.ok(
        api.post(CONFIGURATIONS[kind], { ...one, metadata: { name: `listed-${n}`, labels: { list: 'mine' } } }),
      )
    }
    const mine = `${CONFIGURATIONS[kind]}?labelSelector=list%3Dmine`
    t.equal((await api.ok(api.get(mine))).items.length, 10)
    const before = await api.post(CONFIGMAPS, configMap(`before-${kind.toLowerCase()}`, { a: 'b' }))
    if (kind === 'Validating') denies(t, before, 'the webhook says no')
    else t.match(before.body.data, { 'mutation-stage-1': 'yes' })
    await api.ok(api.delete(mine))
    const after = await api.ok(api.post(CONFIGMAPS, configMap(`after-${kind.toLowerCase()}`, { a: 'b' })))
    t.same(after.data, { a: 'b' })
  })
}

// AdmissionWebhook patching/updating a validating webhook should work; patching/updating a mutating webhook should work
t.test('a changed configuration is in force with the answer to the change', async t => {
  for (const kind of ['Validating', 'Mutating'] as const) {
    const path = kind === 'Validating' ? '/deny' : '/stage-1'
    await withHooks(kind, [webhook('changed.example.com', hooks.at(path), rules(['configmaps']))], async () => {
      const touched = async (name: string): Promise<boolean> => {
        const answer = await api.post(`${CONFIGMAPS}?dryRun=All`, configMap(name, { a: 'b' }))
        return answer.code !== 201 || Object.keys(answer.body.data as object).length > 1
      }
      const operations = (...names: string[]): object[] => [
        { op: 'replace', path: '/webhooks/0/rules/0/operations', value: names },
      ]
      const at = `${CONFIGURATIONS[kind]}/conformance`
      t.equal(await touched('one'), true, kind)
      await edit(api, at, object => {
        const [hook] = object.webhooks as object[]
        return { ...object, webhooks: [{ ...hook, ...rules(['configmaps'], ['UPDATE']) }] }
      })
      t.equal(await touched('two'), false, `${kind}: not about creates`)
      await api.ok(api.patch(at, 'json', operations('CREATE')))
      t.equal(await touched('three'), true, `${kind}: about creates again`)
    })
  }
})

// AdmissionWebhook should be able to create and update validating / mutating webhook configurations with match conditions.
// AdmissionWebhook should reject validating / mutating webhook configurations with invalid match conditions.
// AdmissionWebhook should mutate everything except 'skip-me' configmaps.
t.test('match conditions are kept, judged, and refused when they do not compile', async t => {
  const conditions = [{ name: 'skip', expression: "object.metadata.name != 'skip-me'" }]
  for (const kind of ['Validating', 'Mutating'] as const) {
    const bad = [{ name: 'bad', expression: '... [] bad expression' }]
    const hook = webhook('bad.example.com', hooks.at('/deny'), { matchConditions: bad })
    const refused = await api.post(CONFIGURATIONS[kind], configuration(kind, 'bad', [hook]))
    t.equal(refused.code, 422)
    t.match(refused.body.message, 'compilation failed')
  }
  const hook = webhook('skip.example.com', hooks.at('/stage-1'), {
    ...rules(['configmaps']),
    matchConditions: conditions,
  })
  await withHooks('Mutating', [hook], async () => {
    const at = `${CONFIGURATIONS.Mutating}/conformance`
    t.match((await api.ok(api.get(at))).webhooks, [{ matchConditions: conditions }])
    t.same((await api.ok(api.post(CONFIGMAPS, configMap('skip-me', { a: 'b' })))).data, { a: 'b' })
    t.match((await api.ok(api.post(CONFIGMAPS, configMap('not-skipped', { a: 'b' })))).data, {
      'mutation-stage-1': 'yes',
    })
    const more = [...conditions, { name: 'more', expression: 'true' }]
    const updated = await edit(api, at, object => {
      const [first] = object.webhooks as object[]
      return { ...object, webhooks: [{ ...first, matchConditions: more }] }
    })
    t.match(updated.webhooks, [{ matchConditions: more }])
  })
})

const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const deployment = (name: string, replicas: number): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name },
  spec: { replicas, selector: { matchLabels: { app: 'p' } }, template: podTemplate({ app: 'p' }) },
})

// ValidatingAdmissionPolicy should validate against a Deployment; should allow expressions to refer variables
t.test('a policy with its binding judges Deployments, with variables too', async t => {
  const resourceRules = [
    { apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] },
  ]
  const versions = { apiVersion: 'admissionregistration.k8s.io/v1' }
  const cases = {
    plain: { validations: [{ expression: 'object.spec.replicas > 1', messageExpression: "'wants replicas > 1'" }] },
    variables: {
      variables: [
        { name: 'replicas', expression: 'object.spec.replicas' },
        { name: 'oddReplicas', expression: 'variables.replicas % 2 == 1' },
      ],
      validations: [
        { expression: 'variables.replicas > 1' },
        { expression: 'variables.oddReplicas', messageExpression: "'must be odd, is ' + string(variables.replicas)" },
      ],
    },
  }
  for (const [name, spec] of Object.entries(cases)) {
    const policy = {
      ...versions,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: { ...spec, matchConstraints: { resourceRules } },
    }
    await api.ok(api.post(POLICIES, policy))
    const binding = { policyName: name, validationActions: ['Deny'] }
    const bindings = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings'
    await api.ok(
      api.post(bindings, { ...versions, kind: 'ValidatingAdmissionPolicyBinding', metadata: { name }, spec: binding }),
    )
    t.equal((await api.post(DEPLOYMENTS, deployment(`${name}-3`, 3))).code, 201)
    denies(t, await api.post(DEPLOYMENTS, deployment(`${name}-1`, 1)), /denied request/)
    const even = await api.post(DEPLOYMENTS, deployment(`${name}-2`, 2))
    if (name === 'plain') t.equal(even.code, 201)
    else denies(t, even, 'must be odd, is 2')
    await api.ok(api.delete(`${bindings}/${name}`))
    await api.ok(api.delete(`${POLICIES}/${name}`))
    t.equal((await api.post(DEPLOYMENTS, deployment(`${name}-free`, 1))).code, 201, 'without it nothing is denied')
  }
})

t.test('nothing was logged as an error', async t => t.same(faults, []))
