// Policies whose expressions would fill the memory or run for ever: the request fails, and the server goes on.
import t from 'tap'
import { CONFIGMAPS, configMap, startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t)
const GROUP = '/apis/admissionregistration.k8s.io/v1'
const RULES = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]
const LARGE = 'x'.repeat(900_000)
const LIMIT = 'operation cancelled: actual cost limit exceeded'
const DOUBLING = `[object.data.b]${'.map(a,a+a)'.repeat(8)}.all(a,a.replace('z','y').size()>0)`
/** 3,600 looks through 900 kB. */
const READING = `[${'0,'.repeat(59)}0].all(i,[${'0,'.repeat(59)}0].all(j,object.data.b.contains('z')||true))`
const WORDS = `expression '${DOUBLING}' resulted in error: ${LIMIT}`

interface Case {
  kind?: 'Validating' | 'Mutating'
  policy: object
  actions?: string[]
  binding?: object
  /** Default: large. */
  data?: string
}

/** The answer to creating a large ConfigMap, for nothing but a look, while the policy is in force. */
async function createUnder({ kind = 'Validating', policy, actions = ['Deny'], binding = {}, data = LARGE }: Case) {
  const base = `${GROUP}/${kind.toLowerCase()}admissionpolicies`
  const bindings = `${GROUP}/${kind.toLowerCase()}admissionpolicybindings`
  const make = (path: string, suffix: string, spec: object) =>
    api.ok(
      api.post(path, {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: `${kind}AdmissionPolicy${suffix}`,
        metadata: { name: 'p' },
        spec,
      }),
    )
  const more = kind === 'Mutating' ? { reinvocationPolicy: 'Never' } : {}
  await make(base, '', { matchConstraints: { resourceRules: RULES }, ...more, ...policy })
  const validationActions = kind === 'Validating' ? { validationActions: actions } : {}
  await make(bindings, 'Binding', { policyName: 'p', ...validationActions, ...binding })
  const answer = await api.post(`${CONFIGMAPS}?dryRun=All`, configMap('large', { b: data }))
  for (const path of [`${base}/p`, `${bindings}/p`]) await api.ok(api.delete(path))
  return answer
}

t.test('a string that doubles is an error in words, and the failure policy decides', async t => {
  const denied = await createUnder({ policy: { validations: [{ expression: DOUBLING }] } })
  t.equal(denied.code, 422)
  t.equal(
    denied.body.message,
    `configmaps "large" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request: ${WORDS}`,
  )
  const open = await createUnder({ policy: { failurePolicy: 'Ignore', validations: [{ expression: DOUBLING }] } })
  t.equal(open.code, 201, 'Ignore lets it pass')
  const audited = await createUnder({ policy: { validations: [{ expression: DOUBLING }] }, actions: ['Audit'] })
  t.equal(audited.code, 201)
  const warned = await createUnder({ policy: { validations: [{ expression: DOUBLING }] }, actions: ['Warn'] })
  t.match(String(warned.headers.warning), LIMIT)
})

t.test('reading a large value again and again ends', async t => {
  const { code, body } = await createUnder({ policy: { validations: [{ expression: READING }] } })
  t.equal(code, 422)
  t.match(body.message ?? '', LIMIT)
  const all = await createUnder({ policy: { validations: Array(12).fill({ expression: READING }) } })
  t.equal(all.code, 422)
})

t.test('so do match conditions, variables and message expressions', async t => {
  const matchConditions = [{ name: 'c', expression: DOUBLING }]
  const condition = await createUnder({ policy: { matchConditions, validations: [{ expression: 'true' }] } })
  t.match(condition.body.message ?? '', LIMIT)
  const variables = [{ name: 'v', expression: DOUBLING }]
  const variable = await createUnder({ policy: { variables, validations: [{ expression: 'variables.v' }] } })
  t.match(variable.body.message ?? '', LIMIT)
  const messageExpression = `[object.data.b]${'.map(a,a+a)'.repeat(8)}[0]`
  const validations = [{ expression: 'false', message: 'fixed', messageExpression }]
  const message = await createUnder({ policy: { validations } })
  t.match(message.body.message, /denied request: fixed$/)
})

t.test('a mutation cannot write out what stands in itself many times', async t => {
  const tree = `[['x']]${'.map(a, [a, a])'.repeat(40)}`
  const expression = `[JSONPatch{op: 'add', path: '/data', value: ${tree}}]`
  const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression } }]
  const { code, body } = await createUnder({ kind: 'Mutating', policy: { mutations } })
  t.equal(code, 403)
  t.match(body.message, /the expression's value is larger as JSON than 3145728 characters/)
})

t.test('mutations cannot make the object larger than a request may be, nor go on for ever', async t => {
  const add = (i: number) => ({
    patchType: 'JSONPatch',
    jsonPatch: { expression: `[JSONPatch{op: 'add', path: '/data/k${i}', value: object.data.b}]` },
  })
  const grown = await createUnder({ kind: 'Mutating', policy: { mutations: [1, 2, 3, 4].map(add) } })
  t.equal(grown.code, 403)
  t.match(grown.body.message, /the object would be larger as JSON than 3145728 characters$/)
  const again = { patchType: 'ApplyConfiguration', applyConfiguration: { expression: "Object{data: {'a': 'x'}}" } }
  const long = await createUnder({ kind: 'Mutating', policy: { mutations: Array(120).fill(again) } })
  t.equal(long.code, 403)
  t.match(long.body.message, /the changes of all policies for the request take too much work$/)
})

t.test('many parameters cost a request no more than a few', async t => {
  for (let i = 0; i < 30; i++) {
    const metadata = { name: `params-${i}`, labels: { params: 'yes' } }
    await api.ok(api.post(CONFIGMAPS, { ...configMap(`params-${i}`), metadata }))
  }
  // each alone is allowed: what is read costs much by the count and little time
  const expression = `[${'0,'.repeat(7)}0].all(i, object.data.b.contains('z') || true)`
  const policy = {
    paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
    validations: Array.from({ length: 10 }, () => ({ expression })),
  }
  const paramRef = { selector: { matchLabels: { params: 'yes' } }, parameterNotFoundAction: 'Deny' }
  const { code, body } = await createUnder({ policy, binding: { paramRef } })
  t.equal(code, 422)
  t.match(body.message, /running out of cost budget|actual cost limit exceeded/)
})

t.test('the server answers as before', async t => {
  t.equal((await api.post(`${CONFIGMAPS}?dryRun=All`, configMap('small', { b: 'x' }))).code, 201)
  t.same(faults, [])
})
