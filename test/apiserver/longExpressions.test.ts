// Rules and policies that cost much, but not more than upstream allows. They hold on every machine, under any load, and delay only the
// sender of the object.
import t from 'tap'
import { crdsIn } from '../support/crds.ts'
import { CONFIGMAPS, configMap, createSpace, startTestServer } from '../support/server.ts'

const { api, faults } = await startTestServer(t)
const GROUP = '/apis/admissionregistration.k8s.io/v1'
const RULES = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }]
const THINGS = '/apis/example.dev/v1/namespaces/default/things'
const ITEMS = 400
/** Some 600,000 units, within the bound of one evaluation, and much time. */
const pairs = (list: string, last: string): string => `${list}.all(a, ${list}.all(b, ${last}))`
const many = <T>(count: number, value: T): T[] => Array(count).fill(value)
const list = { type: 'array', maxItems: ITEMS, items: { type: 'integer' } }
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { l: list, m: { type: 'integer' } },
      'x-kubernetes-validations': [
        ...many(2, { rule: pairs('self.l', 'a + b >= 0') }),
        { rule: '!has(self.m) || self.m != 7 || self.l.size() < 3', message: 'seven is for short lists' },
        { rule: '!has(self.m) || self.m != 8', messageExpression: "'not ' + (self.m == 8 ? 'eight' : 'this')" },
      ],
    },
  },
}
const crds = crdsIn(api)
const define = (plural: string, kind: string, openAPIV3Schema: object) =>
  crds.define({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.example.dev` },
    spec: {
      group: 'example.dev',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  })
await define('things', 'Thing', schema)

const thing = (name: string, spec: object): object => ({
  apiVersion: 'example.dev/v1',
  kind: 'Thing',
  metadata: { name },
  spec,
})
const numbers = Array.from({ length: ITEMS }, (_, i) => i)

t.test('an object whose rules cost much is stored, changed and refused as others are', async t => {
  t.equal((await api.post(THINGS, thing('a', { l: numbers }))).code, 201)
  const changed = await api.patch(`${THINGS}/a`, 'merge', { spec: { m: 5 } })
  t.match(changed, { code: 200, body: { spec: { m: 5 } } })
  const refused = await api.patch(`${THINGS}/a`, 'merge', { spec: { m: 7 } })
  t.equal(refused.code, 422)
  t.equal(refused.body.message, 'Thing.example.dev "a" is invalid: spec: Invalid value: seven is for short lists')
  const computed = await api.post(THINGS, thing('b', { l: numbers, m: 8 }))
  t.equal(computed.body.message, 'Thing.example.dev "b" is invalid: spec: Invalid value: not eight')
})

t.test('what costs more than upstream lets it is told where', async t => {
  const rule = `!self.s.contains('${'y'.repeat(1000)}')`
  const s = { type: 'string', maxLength: 30_000 }
  const spec = { type: 'object', properties: { s }, 'x-kubernetes-validations': many(40, { rule }) }
  await define('others', 'Other', { type: 'object', properties: { spec } })
  const other = { ...thing('a', { s: 'x'.repeat(30_000) }), kind: 'Other' }
  const { code, body } = await api.post(THINGS.replace('things', 'others'), other)
  t.equal(code, 422)
  const why = 'validation failed due to running out of cost budget, no further validation rules will be run'
  t.equal(body.message, `Other.example.dev "a" is invalid: spec: Invalid value: ${why}`)
})

interface PolicyCase {
  kind?: 'Validating' | 'Mutating'
  spec: object
}

async function createUnder({ kind = 'Validating', spec }: PolicyCase, base = '') {
  const policies = `${base}${GROUP}/${kind.toLowerCase()}admissionpolicies`
  const bindings = `${base}${GROUP}/${kind.toLowerCase()}admissionpolicybindings`
  const apiVersion = 'admissionregistration.k8s.io/v1'
  const metadata = { name: 'p' }
  const more = kind === 'Mutating' ? { reinvocationPolicy: 'Never' } : {}
  const policy = { matchConstraints: { resourceRules: RULES }, ...more, ...spec }
  await api.ok(api.post(policies, { apiVersion, kind: `${kind}AdmissionPolicy`, metadata, spec: policy }))
  const actions = kind === 'Validating' ? { validationActions: ['Deny'] } : {}
  const binding = { policyName: 'p', ...actions }
  await api.ok(api.post(bindings, { apiVersion, kind: `${kind}AdmissionPolicyBinding`, metadata, spec: binding }))
  const answer = await api.post(`${base}${CONFIGMAPS}?dryRun=All`, configMap('c', { a: 'x' }))
  for (const path of [`${policies}/p`, `${bindings}/p`]) await api.ok(api.delete(path))
  return answer
}

const slow = pairs('variables.l', 'a + b >= 0')
/** 300,000 units and next to no time. */
const costly = `!variables.s.contains('${'y'.repeat(1000)}')`
const variables = [
  { name: 'l', expression: `[${'0,'.repeat(ITEMS - 1)}0]` },
  { name: 's', expression: `'${'x'.repeat(30_000)}'` },
]
t.test('a policy whose validations cost much lets pass and refuses as others do', async t => {
  const validations = many(2, { expression: slow })
  const passed = await createUnder({ spec: { variables, validations } })
  t.equal(passed.code, 201, passed.body.message ?? '')
  const last = { expression: "object.data.a != 'x'", messageExpression: "'no ' + object.data.a" }
  const refused = await createUnder({ spec: { variables, validations: [...validations, last] } })
  const who = `configmaps "c" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'p' denied request`
  t.equal(refused.body.message, `${who}: no x`)
})

t.test('such a policy may ask the authorizer', async t => {
  const check = "authorizer.group('').resource('configmaps').namespace('default').check('create').allowed()"
  const validations = [
    ...many(2, { expression: costly }),
    { expression: check },
    { expression: `!${check}`, message: 'no' },
  ]
  const refused = await createUnder({ spec: { variables, validations } })
  t.match(refused.body.message, /denied request: no$/)
})

t.test('match conditions and mutations that cost much', async t => {
  const matchConditions = many(2, { name: 'c', expression: costly }).map((each, i) => ({ ...each, name: `c${i}` }))
  const unmatched = [...matchConditions, { name: 'never', expression: 'false' }]
  const left = await createUnder({
    spec: { variables, matchConditions: unmatched, validations: [{ expression: 'false' }] },
  })
  t.equal(left.code, 201, left.body.message ?? '')
  const expression = `[JSONPatch{op: 'add', path: '/data/b', value: ${costly} ? 'y' : 'n'}]`
  const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression } }]
  const changed = await createUnder({ kind: 'Mutating', spec: { variables, matchConditions, mutations } })
  t.match(changed, { code: 201, body: { data: { b: 'y' } } })
})

t.test('others are answered meanwhile', async t => {
  const other = await createSpace(api, 'other')
  let done = false
  const validations = many(2, { expression: slow })
  const base = `/clusters/${await createSpace(api, 'busy')}`
  const answer = createUnder({ spec: { variables, validations } }, base).then(answer => {
    done = true
    return answer
  })
  const codes = new Set<number>()
  while (!done) codes.add((await api.get(`/clusters/${other}${CONFIGMAPS}`)).code)
  t.strictSame([...codes], [200])
  t.equal((await answer).code, 201)
})

t.test('no fault of the server', async t => t.same(faults, []))
