/** Admission policies in CEL: what they refuse and in which words, what they warn of, what they change. */
import t from 'tap'
import type { Answer } from '../../support/api.ts'
import { CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t)
const GROUP = '/apis/admissionregistration.k8s.io/v1'
type Kind = 'Validating' | 'Mutating'

interface Case {
  kind?: Kind
  policy: object
  binding?: object
}

/** Puts one policy with one binding in force for the time of `during`; it is about creates and updates of ConfigMaps. */
async function withPolicy(
  { kind = 'Validating', policy, binding = {} }: Case,
  during: () => Promise<void>,
): Promise<void> {
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] }]
  const made: string[] = []
  const make = async (suffix: string, path: string, name: string, spec: object) => {
    const object = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: `${kind}AdmissionPolicy${suffix}`,
      metadata: { name },
      spec,
    }
    await api.ok(api.post(`${GROUP}/${kind.toLowerCase()}${path}`, object))
    made.push(`${GROUP}/${kind.toLowerCase()}${path}/${name}`)
  }
  const more = kind === 'Mutating' ? { reinvocationPolicy: 'Never' } : {}
  await make('', 'admissionpolicies', 'p', { matchConstraints: { resourceRules: rules }, ...more, ...policy })
  const actions = kind === 'Validating' ? { validationActions: ['Deny'] } : {}
  await make('Binding', 'admissionpolicybindings', 'b', { policyName: 'p', ...actions, ...binding })
  try {
    await during()
  } finally {
    for (const path of made) await api.ok(api.delete(path))
  }
}
const create = (name: string, data: Record<string, string> = {}, metadata: object = {}): Promise<Answer> =>
  api.post(`${CONFIGMAPS}?dryRun=All`, configMap(name, data, metadata))
const why = (name: string, text: string): string =>
  `configmaps "${name}" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${text}`

t.test('a failed validation refuses with its message, reason and code', async t => {
  const cases: [validation: object, code: number, reason: string, text: string][] = [
    [{ expression: '!has(object.data)' }, 422, 'Invalid', 'failed expression: !has(object.data)'],
    [{ expression: '!has(object.data)', message: 'no data', reason: 'Forbidden' }, 403, 'Forbidden', 'no data'],
    [{ expression: 'false', messageExpression: "'size ' + string(size(object.data))" }, 422, 'Invalid', 'size 1'],
    [{ expression: 'false', message: 'fixed', messageExpression: "'two\\nlines'" }, 422, 'Invalid', 'fixed'],
    [
      { expression: "object.data.nope == 'x'" },
      422,
      'Invalid',
      "expression 'object.data.nope == 'x'' resulted in error: no such key: nope",
    ],
  ]
  for (const [validation, code, reason, text] of cases) {
    await withPolicy({ policy: { validations: [validation] } }, async () => {
      const { body } = await create('x', { a: 'b' })
      t.match(body, { code, reason, message: why('x', text) })
    })
  }
  t.equal((await create('x', { a: 'b' })).code, 201, 'without a policy all is well')
})

t.test('expressions see object, oldObject, request, namespaceObject and variables', async t => {
  await api.ok(api.post(CONFIGMAPS, configMap('counter', { n: '1' })))
  const variables = [
    { name: 'now', expression: 'int(object.data.n)' },
    { name: 'before', expression: 'oldObject == null ? 0 : int(oldObject.data.n)' },
    { name: 'grows', expression: 'variables.now > variables.before' },
  ]
  const validations = [
    { expression: 'variables.grows', message: 'it only grows' },
    { expression: "request.userInfo.username == 'orrery-admin' && request.namespace == 'default'" },
    { expression: "namespaceObject.metadata.name == 'default'" },
  ]
  await withPolicy({ policy: { variables, validations } }, async () => {
    t.equal((await api.patch(`${CONFIGMAPS}/counter`, 'merge', { data: { n: '2' } })).code, 200)
    const answer = await api.patch(`${CONFIGMAPS}/counter`, 'merge', { data: { n: '1' } })
    t.equal(answer.body.message, why('counter', 'it only grows'))
    t.equal((await create('other', { n: '5' })).code, 201)
  })
})

t.test('match conditions and bindings choose; a failing condition refuses unless errors are ignored', async t => {
  const validations = [{ expression: 'false' }]
  const condition = (expression: string) => ({ matchConditions: [{ name: 'c', expression }], validations })
  await withPolicy({ policy: condition("object.metadata.name.startsWith('a')") }, async () => {
    t.equal((await create('apple')).code, 422)
    t.equal((await create('pear')).code, 201)
  })
  await withPolicy({ policy: condition('object.nope') }, async () => {
    t.equal((await create('x')).code, 422)
  })
  const ignoring = { ...condition('object.nope'), failurePolicy: 'Ignore' }
  await withPolicy({ policy: ignoring }, async () => {
    t.equal((await create('x')).code, 201)
  })
  const binding = { matchResources: { objectSelector: { matchLabels: { strict: 'yes' } } } }
  await withPolicy({ policy: { validations }, binding }, async () => {
    t.equal((await create('x')).code, 201)
    t.equal((await create('x', {}, { labels: { strict: 'yes' } })).code, 422)
  })
  const exclude = {
    matchResources: {
      excludeResourceRules: [
        { apiGroups: [''], apiVersions: ['*'], operations: ['CREATE'], resources: ['configmaps'] },
      ],
    },
  }
  await withPolicy({ policy: { validations }, binding: exclude }, async () => {
    t.equal((await create('x')).code, 201)
    t.equal((await api.patch(`${CONFIGMAPS}/counter`, 'merge', { data: { n: '3' } })).code, 422)
  })
})

t.test('Warn lets pass with a warning, Audit silently', async t => {
  const policy = { validations: [{ expression: 'false', message: 'mind the gap' }] }
  await withPolicy({ policy, binding: { validationActions: ['Warn', 'Audit'] } }, async () => {
    const { code, headers } = await create('x')
    t.equal(code, 201)
    const text = "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': mind the gap"
    t.equal(headers.warning, `299 - "${text}"`)
  })
  await withPolicy({ policy, binding: { validationActions: ['Audit'] } }, async () => {
    const { code, headers } = await create('x')
    t.strictSame([code, headers.warning], [201, undefined])
  })
})

t.test('parameters: by name and by label, missing ones as the binding says', async t => {
  const policy = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    matchConditions: [{ name: 'not-params', expression: "!object.metadata.name.startsWith('limit')" }],
    validations: [{ expression: 'size(object.data) <= int(params.data.max)' }],
  }
  await api.ok(api.post(CONFIGMAPS, configMap('limit', { max: '1' }, { labels: { limits: 'yes' } })))
  await api.ok(api.post(CONFIGMAPS, configMap('limit-2', { max: '2' }, { labels: { limits: 'yes' } })))
  const ref = (paramRef: object) => ({ paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } })
  await withPolicy({ policy, binding: ref({ name: 'limit-2' }) }, async () => {
    t.equal((await create('x', { a: '', b: '' })).code, 201)
    t.equal((await create('x', { a: '', b: '', c: '' })).code, 422)
  })
  await withPolicy({ policy, binding: ref({ selector: { matchLabels: { limits: 'yes' } } }) }, async () => {
    t.equal((await create('x', { a: '', b: '' })).code, 422, 'every parameter must be content')
    t.equal((await create('x', { a: '' })).code, 201)
  })
  await withPolicy({ policy, binding: ref({ name: 'none' }) }, async () => {
    const text = 'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction'
    t.equal((await create('x', { a: '' })).body.message, why('x', text))
  })
  await withPolicy({ policy, binding: ref({ name: 'none', parameterNotFoundAction: 'Allow' }) }, async () => {
    t.equal((await create('x', { a: '', b: '', c: '' })).code, 201)
  })
  const unknown = { ...policy, paramKind: { apiVersion: 'rules.example.com/v1', kind: 'Limit' } }
  await withPolicy({ policy: unknown, binding: ref({ name: 'limit' }) }, async () => {
    const text =
      "failed to configure policy: failed to find resource referenced by paramKind: 'rules.example.com/v1, Kind=Limit'"
    t.equal((await create('x', { a: '' })).body.message, why('x', text))
  })
})

t.test('expressions may ask what the caller, or an account, is allowed to do', async t => {
  const cases: [expression: string, allowed: boolean][] = [
    ["authorizer.group('').resource('pods').namespace('default').check('create').allowed()", true],
    ["authorizer.serviceAccount('default', 'robot').group('').resource('pods').check('create').allowed()", false],
    ["authorizer.path('/healthz').check('get').allowed()", true],
    [
      "authorizer.requestResource.check('custom').allowed() && !authorizer.serviceAccount('a', 'b').path('/x').check('get').allowed()",
      true,
    ],
  ]
  for (const [expression, allowed] of cases) {
    await withPolicy({ policy: { validations: [{ expression }] } }, async () => {
      t.equal((await create('x')).code, allowed ? 201 : 422, expression)
    })
  }
})

t.test('what does not compile is refused when it is written', async t => {
  const cases: [spec: object, field: string, why: string][] = [
    [
      { validations: [{ expression: 'object.' }] },
      'spec.validations[0].expression',
      'compilation failed: ERROR: <input>:1:',
    ],
    [{ validations: [{ expression: "'text'" }] }, 'spec.validations[0].expression', 'must evaluate to bool'],
    [
      { validations: [{ expression: 'true', messageExpression: '1' }] },
      'spec.validations[0].messageExpression',
      'must evaluate to string',
    ],
    [{ validations: [{ expression: 'nobody == 1' }] }, 'spec.validations[0].expression', 'compilation failed'],
  ]
  const matchConstraints = {
    resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['pods'] }],
  }
  for (const [spec, field, text] of cases) {
    const object = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'bad' },
      spec: { matchConstraints, ...spec },
    }
    const { code, body } = await api.post(`${GROUP}/validatingadmissionpolicies`, object)
    t.equal(code, 422)
    t.ok(
      body.message?.startsWith(
        `ValidatingAdmissionPolicy.admissionregistration.k8s.io "bad" is invalid: ${field}: Invalid value: `,
      ),
    )
    t.match(body.message, text)
  }
})

t.test('a mutating policy applies configurations and patches, in their order', async t => {
  const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })
  const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })
  const mutations = [
    apply('Object{metadata: Object.metadata{labels: {"by": "policy"}}}'),
    patch(
      `[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a.b/c"), value: object.metadata.labels.by}]`,
    ),
  ]
  await withPolicy({ kind: 'Mutating', policy: { mutations } }, async () => {
    const { body } = await create('x', { a: 'b' }, { labels: { own: 'yes' } })
    t.strictSame(body.metadata.labels, { own: 'yes', by: 'policy', 'a.b/c': 'policy' })
    t.strictSame(Object.keys(body.metadata.managedFields![0]!.fieldsV1!), ['f:data', 'f:metadata'])
    t.notOk(JSON.stringify(body.metadata.managedFields).includes('f:by'), 'nobody owns what a policy adds')
  })
  const wrong = { mutations: [patch('[JSONPatch{op: "replace", path: "/nope/x", value: 1}]')] }
  await withPolicy({ kind: 'Mutating', policy: wrong }, async () => {
    const { code, body } = await create('x')
    t.equal(code, 403)
    t.match(body.message, `configmaps "x" is forbidden: policy 'p' with binding 'b' denied request: `)
  })
  await withPolicy({ kind: 'Mutating', policy: { ...wrong, failurePolicy: 'Ignore' } }, async () => {
    t.equal((await create('x')).code, 201)
  })
})

t.test('a mutating policy merges lists by their keys', async t => {
  const expression =
    'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{' +
    'containers: [Object.spec.template.spec.containers{name: "c", tty: true}, ' +
    'Object.spec.template.spec.containers{name: "side", image: "s"}]}}}}'
  const labels = { a: 'b' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const rules = [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }]
  const policy = {
    matchConstraints: { resourceRules: rules },
    mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
  }
  await withPolicy({ kind: 'Mutating', policy }, async () => {
    const spec = { selector: { matchLabels: labels }, template }
    const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec }
    const { body } = await api.post('/apis/apps/v1/namespaces/default/deployments?dryRun=All', object)
    t.match(body.spec, {
      template: {
        spec: {
          containers: [
            { name: 'c', image: 'i', tty: true },
            { name: 'side', image: 's', imagePullPolicy: 'Always' },
          ],
        },
      },
    })
  })
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
