/** Status of a ValidatingAdmissionPolicy: the checked generation, and its faulty expressions. */
import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { ConfigurationLog } from '../../../src/apiserver/admission/configurationLog.ts'
import { PolicyStatus } from '../../../src/apiserver/admission/policyStatus.ts'
import { loadCatalog } from '../../../src/apiserver/catalog/catalog.ts'
import { encodeObject } from '../../../src/apiserver/registry/codec.ts'
import { TypeRegistry } from '../../../src/apiserver/types/typeRegistry.ts'
import { openMemoryStore } from '../../../src/storage/memory/openMemoryStore.ts'
import type { Api } from '../../support/api.ts'
import { createSpace, startTestServer } from '../../support/server.ts'
import { timeBy } from '../../support/time.ts'
import { virtualClock } from '../../syncer/support/virtualClock.ts'

const GROUP = 'admissionregistration.k8s.io'
const POLICIES = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
const deployments = [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['deployments'] }]

interface Status {
  observedGeneration?: number
  typeChecking?: { expressionWarnings?: { fieldRef: string; warning: string }[] }
}
const policy = (name: string, spec: object): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: { matchConstraints: { resourceRules: deployments }, ...spec },
})

/** The status for this generation: it comes some time after the policy. */
async function statusOf(api: Api, name: string, generation = 1): Promise<Status> {
  for (;;) {
    const { body } = await api.get(`${POLICIES}/${name}`)
    const status = body.status as Status | undefined
    if (status?.observedGeneration === generation) return status
    await new Promise(resolve => setImmediate(resolve))
  }
}

const { api, faults } = await startTestServer(t)

/** Warnings for one validation over Deployments, without the kind and the drawing of the place. */
async function warningsFor(expression: string, more: object = {}): Promise<string[]> {
  await api.ok(api.post(POLICIES, policy('p', { validations: [{ expression }], ...more })))
  const { typeChecking } = await statusOf(api, 'p')
  await api.ok(api.delete(`${POLICIES}/p`))
  return (typeChecking?.expressionWarnings ?? []).map(({ warning }) => warning)
}

t.test('a field that the kind does not have is shown, where and of which kind', async t => {
  const validations = [
    { expression: 'object.spec.replicas > 1' },
    { expression: 'object.replicas > 1', messageExpression: "'of ' + object.metadata.nam" },
  ]
  await api.ok(api.post(POLICIES, policy('shown', { validations })))
  t.strictSame(await statusOf(api, 'shown'), {
    observedGeneration: 1,
    typeChecking: {
      expressionWarnings: [
        {
          fieldRef: 'spec.validations[1].expression',
          warning:
            "apps/v1, Kind=Deployment: ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^\n",
        },
        {
          fieldRef: 'spec.validations[1].messageExpression',
          warning:
            "apps/v1, Kind=Deployment: ERROR: <input>:1:24: undefined field 'nam'\n | 'of ' + object.metadata.nam\n | .......................^\n",
        },
      ],
    },
  })
  await api.ok(api.patch(`${POLICIES}/shown`, 'json', [{ op: 'remove', path: '/spec/validations/1' }]))
  t.strictSame(await statusOf(api, 'shown', 2), { observedGeneration: 2, typeChecking: {} }, 'mended')
})

t.test('types of fields, of elements, of variables and of parameters are known', async t => {
  const variables = [
    { name: 'containers', expression: 'object.spec.template.spec.containers' },
    { name: 'first', expression: 'variables.containers[0]' },
  ]
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  const wrong: [expression: string, more: object, warning: RegExp][] = [
    ["object.spec.replicas == 'x'", {}, /found no matching overload for '_==_' applied to '\(int, string\)'/],
    ['object.spec.template.spec.containers.all(c, c.nam == "")', {}, /undefined field 'nam'/],
    ['object.metadata.labels.all(k, object.metadata.labels[k] == 1)', {}, /'\(string, int\)'/],
    ['variables.first.imag != ""', { variables }, /undefined field 'imag'/],
    ['params.dat.size() == 1', { paramKind }, /undefined field 'dat'/],
    ["oldObject.spec.paused == 'x'", {}, /'\(bool, string\)'/],
  ]
  for (const [expression, more, warning] of wrong) {
    const found = await warningsFor(expression, more)
    t.equal(found.length, 1, expression)
    t.match(found[0], warning)
  }
  const right: [expression: string, more?: object][] = [
    ['oldObject == null || object.spec == oldObject.spec'],
    ["has(object.metadata.labels) && object.metadata.labels['a'].startsWith('b')"],
    ['object.spec.template.spec.containers.all(c, c.ports.all(p, p.hostPort == 0))'],
    ["object.spec.template.spec.containers.all(c, quantity(c.resources.limits['cpu']).isLessThan(quantity('1')))"],
    ['object.spec.strategy.rollingUpdate.maxSurge == 1 || object.spec.strategy.rollingUpdate.maxSurge == "1%"'],
    ["request.operation == 'CREATE' && authorizer.group('').resource('pods').check('get').allowed()"],
    ["object.?spec.?nope.orValue('') == ''"],
    ["variables.first.image != '' && params.data['a'] == object.metadata.name", { variables, paramKind }],
  ]
  for (const [expression, more] of right) t.strictSame(await warningsFor(expression, more), [], expression)
})

t.test('kinds: each of them, those of the space too, none behind a wildcard', async t => {
  const space = api.in('root:kinds')
  await createSpace(api, 'kinds')
  await api.ok(
    space.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } },
              },
            },
          },
        ],
      },
    }),
  )
  while ((await space.get('/apis/example.com/v1/namespaces/default/widgets')).code !== 200) {
    await new Promise(resolve => setImmediate(resolve))
  }
  const rule = (apiGroup: string, ...resources: string[]): object => ({
    apiGroups: [apiGroup],
    apiVersions: ['v1'],
    operations: ['*'],
    resources,
  })
  const resourceRules = [rule('example.com', 'widgets', 'widgets/status'), rule('', 'pods', '*'), rule('*', 'secrets')]
  const spec = { matchConstraints: { resourceRules }, validations: [{ expression: "object.spec.size == 'x'" }] }
  await api.ok(space.post(POLICIES, policy('kinds', spec)))
  const { typeChecking } = await statusOf(space, 'kinds')
  const lines = typeChecking?.expressionWarnings?.[0]?.warning.split('\n').filter(line => line.includes('Kind='))
  t.equal(lines?.length, 2)
  t.match(lines, [/^\/v1, Kind=Pod: .*undefined field 'size'/, /^example\.com\/v1, Kind=Widget: .*'\(int, string\)'/])
})

t.test('params without paramKind are refused when the policy is written', async t => {
  const refused = async (spec: object): Promise<string> =>
    (await api.post(`${POLICIES}?dryRun=All`, policy('x', spec))).body.message ?? ''
  const failed = (field: string, source: string, place: number): string =>
    `ValidatingAdmissionPolicy.admissionregistration.k8s.io "x" is invalid: ${field}: Invalid value: ${JSON.stringify(source)}: ` +
    `compilation failed: ERROR: <input>:1:${place}: undeclared reference to 'params' (in container '')\n | ${source}\n | ${'.'.repeat(place - 1)}^`
  const bad = 'params.data.a == object.metadata.name'
  t.equal(await refused({ validations: [{ expression: bad }] }), failed('spec.validations[0].expression', bad, 1))
  const conditions = {
    matchConditions: [{ name: 'c', expression: '1 == params.x' }],
    validations: [{ expression: 'true' }],
  }
  t.equal(await refused(conditions), failed('spec.matchConditions[0].expression', '1 == params.x', 6))
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  t.equal(await refused({ paramKind, validations: [{ expression: bad }] }), '')
  await api.ok(api.post(POLICIES, policy('with', { paramKind, validations: [{ expression: bad }] })))
  const taken = await api.patch(`${POLICIES}/with`, 'merge', { spec: { paramKind: null } })
  t.match(taken, { code: 422, body: { message: /undeclared reference to 'params'/ } }, 'nor can it be taken away')
})

t.test('a policy that names very much is looked at like any other', async t => {
  const names = (letter: string) => Array.from({ length: 2000 }, (_, i) => `${letter}${i}`)
  const named = { operations: ['CREATE'], resources: [...names('r'), 'deployments'] }
  const resourceRules = [
    { ...named, apiGroups: [...names('g'), 'apps'], apiVersions: [...names('v'), 'v1'] },
    { ...named, apiGroups: ['x'], apiVersions: ['v1'] },
  ]
  const variables = names('v').map(name => ({ name, expression: 'object.spec.replicas' }))
  const validations = ['object.spec.nope', 'variables.v0 == "x"', 'variables.v1999 == "x"'].map(expression => ({
    expression,
  }))
  await api.ok(api.post(POLICIES, policy('much', { matchConstraints: { resourceRules }, variables, validations })))
  const { typeChecking } = await statusOf(api, 'much')
  t.strictSame(
    typeChecking?.expressionWarnings?.map(({ fieldRef }) => fieldRef),
    ['spec.validations[0].expression', 'spec.validations[1].expression'],
    'of so many variables not all have types',
  )
})

/** With one policy from before it starts, whose status `write` takes; each write is recorded. */
async function statusAlone(t: Test, write: (object: KubeObject) => void): Promise<void> {
  const store = await openMemoryStore()
  const log = pino({ level: 'silent' })
  const key = { space: 'root', group: GROUP, resource: 'validatingadmissionpolicies', namespace: '', name: 'old' }
  const object = policy('old', { validations: [{ expression: 'object.nope' }] }) as KubeObject
  Object.assign(object.metadata, { generation: 3 })
  await store.update(key, () => ({ type: 'put', text: encodeObject(object) }))
  const settings = new ConfigurationLog({ store, resources: [key] })
  const types = new TypeRegistry(loadCatalog().types)
  // what is tried again is tried at once
  const status = new PolicyStatus({ ...timeBy(virtualClock(0)), settings, types, log })
  t.teardown(async () => {
    await status.stop()
    await store.close()
  })
  status.start({
    async update(_context, _type, _namespace, _name, change) {
      if (typeof change === 'function') write(change(structuredClone(object)))
      return undefined as never
    },
  })
}

t.test('a policy from before the server started is looked at', async t => {
  const written = Promise.withResolvers<KubeObject>()
  await statusAlone(t, written.resolve)
  t.match((await written.promise).status, {
    observedGeneration: 3,
    typeChecking: { expressionWarnings: [{ warning: /undefined field 'nope'/ }] },
  })
})

t.test('what could not be written is written again', async t => {
  let writes = 0
  const written = Promise.withResolvers<KubeObject>()
  await statusAlone(t, object => {
    if (writes++ === 0) throw new Error('the disk is full')
    written.resolve(object)
  })
  t.match((await written.promise).status, { observedGeneration: 3 })
})

t.test('nothing of this is a fault of the server', async t => {
  t.strictSame(faults, [])
})
