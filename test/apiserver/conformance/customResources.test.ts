/** CustomResourceDefinitions and their objects. */
import t from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import { startConverter } from '../../support/converter.ts'
import { crdsIn } from '../../support/crds.ts'
import { startTestServer, WEBHOOKS_HERE } from '../../support/server.ts'
import { goes } from './cluster.ts'
import { edit } from './operations.ts'

const { api, faults } = await startTestServer(t, WEBHOOKS_HERE)
const crds = crdsIn(api)
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

interface Definition {
  apiVersion: string
  kind: string
  metadata: { name: string; labels?: Record<string, string> }
  spec: { group: string; versions: { name: string; served: boolean; storage: boolean; [field: string]: unknown }[] }
}
const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

/** A namespaced kind with these versions, the first one stored. */
function definition(kind: string, schemas: Record<string, object>, spec: object = {}): Definition {
  const plural = `${kind.toLowerCase()}s`
  const group = 'custom.example.com'
  const versions = Object.entries(schemas).map(([name, openAPIV3Schema], n) => ({
    name,
    served: true,
    storage: n === 0,
    schema: { openAPIV3Schema },
  }))
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind }, versions, ...spec } as Definition['spec'],
  }
}
const at = (kind: string, version = 'v1'): string =>
  `/apis/custom.example.com/${version}/namespaces/default/${kind.toLowerCase()}s`
const custom = (kind: string, name: string, fields: object = {}, version = 'v1'): object => ({
  apiVersion: `custom.example.com/${version}`,
  kind,
  metadata: { name },
  ...fields,
})

// CustomResourceDefinition Watch watch on custom resource definition objects
// Simple CustomResourceDefinition creating/deleting custom resource definition objects works
t.test('a definition can be made, watched and deleted; its objects too', async t => {
  const definitions = await api.watch(`${DEFINITIONS}?watch=1&fieldSelector=metadata.name=seens.custom.example.com`)
  await crds.define(definition('Seen', { v1: OPEN }))
  const objects = await api.watch(`${at('Seen')}?watch=1`)
  await api.ok(api.post(at('Seen'), custom('Seen', 'one')))
  await api.ok(api.patch(`${at('Seen')}/one`, 'merge', { dummy: 'test' }))
  await api.ok(api.delete(`${at('Seen')}/one`))
  t.same(
    (await objects.take(3)).map(({ type }) => type),
    ['ADDED', 'MODIFIED', 'DELETED'],
  )
  await api.ok(api.delete(crds.path('seens.custom.example.com')))
  await goes(api, crds.path('seens.custom.example.com'))
  const seen = await definitions.until(({ type }) => type === 'DELETED')
  t.equal(seen[0]!.type, 'ADDED')
  t.equal((await api.get(at('Seen'))).code, 404, 'the kind is gone')
  definitions.close()
  objects.close()
})

// Simple CustomResourceDefinition listing custom resource definition objects works
t.test('definitions are listed and deleted by label, and no others', async t => {
  const label = 'e2e-list-test-uuid'
  await crds.define(definition('Other', { v1: OPEN }))
  for (let n = 0; n < 10; n++) {
    const one = definition(`Listed${n}`, { v1: OPEN })
    await api.ok(api.post(DEFINITIONS, { ...one, metadata: { ...one.metadata, labels: { [label]: 'mine' } } }))
  }
  const mine = `${DEFINITIONS}?labelSelector=${label}%3Dmine`
  t.equal((await api.ok(api.get(mine))).items.length, 10)
  await api.ok(api.delete(mine))
  for (let n = 0; n < 10; n++) await goes(api, crds.path(`listed${n}s.custom.example.com`))
  t.equal((await api.ok(api.get(mine))).items.length, 0)
  t.equal((await api.get(crds.path('others.custom.example.com'))).code, 200)
})

// Simple CustomResourceDefinition getting/updating/patching custom resource definition status sub-resource works
t.test('the status of a definition can be read, replaced and patched', async t => {
  await crds.define(definition('Told', { v1: OPEN }))
  const path = `${crds.path('tolds.custom.example.com')}/status`
  const condition = (type: string): object => ({ type, status: 'True', reason: 'E2E', message: 'Set by the test' })
  const conditions = (object: KubeObject): object[] => (object.status as { conditions: object[] }).conditions
  await edit(api, path, object => ({
    ...object,
    status: { ...(object.status as object), conditions: [...conditions(object), condition('StatusUpdate')] },
  }))
  t.ok(conditions(await api.ok(api.get(path))).some(each => (each as { type: string }).type === 'StatusUpdate'))
  const patch = { status: { conditions: [condition('StatusPatched')] } }
  t.match(conditions(await api.ok(api.patch(path, 'merge', patch))), [{ type: 'StatusPatched' }])
})

// custom resource defaulting for requests and from storage works
t.test('defaults are given to what is written and to what is read', async t => {
  const schema = (defaults: Record<string, string>): object => ({
    ...OPEN,
    properties: Object.fromEntries(
      ['a', 'b'].map(key => [key, { type: 'string', ...(defaults[key] && { default: defaults[key] }) }]),
    ),
  })
  await crds.define(definition('Filled', { v1: schema({}) }))
  await api.ok(api.post(at('Filled'), custom('Filled', 'one')))
  const read = async (name: string): Promise<Record<string, unknown>> => api.ok(api.get(`${at('Filled')}/${name}`))
  t.equal((await read('one')).a, undefined)
  await crds.change(definition('Filled', { v1: schema({ a: 'A' }) }))
  t.equal((await read('one')).a, 'A', 'from storage')
  t.equal((await api.ok(api.post(at('Filled'), custom('Filled', 'two')))).a, 'A', 'for a request')
  await crds.change(definition('Filled', { v1: schema({ b: 'B' }) }))
  t.match(await read('two'), { a: 'A', b: 'B' }, 'what was stored stays, what is new comes')
  t.equal((await read('one')).a, undefined, 'what was never stored goes')
})

const reversed = (object: KubeObject, apiVersion: string): KubeObject => {
  const { hostPort, host, port, ...rest } = object as KubeObject & Record<string, string>
  if (apiVersion.endsWith('v2')) {
    const [left, right] = (hostPort ?? '').split(':')
    return { ...rest, apiVersion, host: left, port: right } as KubeObject
  }
  return { ...rest, apiVersion, hostPort: `${host}:${port}` } as KubeObject
}

// CustomResourceConversionWebhook should be able to convert from CR v1 to CR v2; a non homogeneous list of CRs
t.test('a conversion webhook turns each version into the other, lists of both too', async t => {
  const converter = await startConverter(t, reversed)
  const conversion = {
    strategy: 'Webhook',
    webhook: { clientConfig: converter.clientConfig, conversionReviewVersions: ['v1'] },
  }
  const both = definition('Turned', { v1: OPEN, v2: OPEN }, { conversion })
  await crds.define(both)
  await api.ok(api.post(at('Turned'), custom('Turned', 'first', { hostPort: 'localhost:8080' })))
  t.match(await api.ok(api.get(`${at('Turned', 'v2')}/first`)), { host: 'localhost', port: '8080' })
  const stored = {
    ...both,
    spec: { ...both.spec, versions: both.spec.versions.map(v => ({ ...v, storage: v.name === 'v2' })) },
  }
  await crds.change(stored)
  await api.ok(api.post(at('Turned', 'v2'), custom('Turned', 'second', { host: 'other', port: '1' }, 'v2')))
  const inV2 = (await api.ok(api.get(at('Turned', 'v2')))).items
  t.match(inV2, [
    { apiVersion: 'custom.example.com/v2', host: 'localhost', port: '8080' },
    { apiVersion: 'custom.example.com/v2', host: 'other', port: '1' },
  ])
  const inV1 = (await api.ok(api.get(at('Turned')))).items
  t.match(inV1, [{ hostPort: 'localhost:8080' }, { hostPort: 'other:1' }])
})

// CustomResourceFieldSelectors MUST list and watch custom resources matching the field selector
t.test('selectable fields select in lists, watches and deletes', async t => {
  const schema = {
    type: 'object',
    properties: { color: { type: 'string' }, quantity: { type: 'integer' }, size: { type: 'string' } },
  }
  const shirts = definition('Shirt', { v1: schema })
  shirts.spec.versions[0]!.selectableFields = [{ jsonPath: '.color' }, { jsonPath: '.quantity' }]
  await crds.define(shirts)
  const watch = await api.watch(`${at('Shirt')}?watch=1&fieldSelector=color%3Dblue`)
  const make = (name: string, color: string, quantity: number): Promise<KubeObject> =>
    api.ok(api.post(at('Shirt'), custom('Shirt', name, { color, quantity })))
  await make('one', 'blue', 2)
  await make('two', 'blue', 3)
  await make('three', 'green', 2)
  const names = async (selector: string): Promise<(string | undefined)[]> =>
    (await api.ok(api.get(`${at('Shirt')}?fieldSelector=${encodeURIComponent(selector)}`))).items.map(
      ({ metadata }) => metadata.name,
    )
  t.same(await names('color=blue'), ['one', 'two'])
  t.same(await names('quantity=2'), ['one', 'three'])
  t.same(await names('color=blue,quantity!=2'), ['two'])
  t.equal((await api.get(`${at('Shirt')}?fieldSelector=size%3DL`)).code, 400, 'others do not')
  await api.ok(api.patch(`${at('Shirt')}/one`, 'merge', { color: 'green' }))
  await api.ok(api.delete(`${at('Shirt')}?fieldSelector=color%3Dblue`))
  t.same(
    (await watch.take(4)).map(({ type, object }) => `${type} ${object.metadata.name}`),
    ['ADDED one', 'ADDED two', 'DELETED one', 'DELETED two'],
  )
  t.same(await names('color=green'), ['one', 'three'])
  watch.close()
})

// CustomResourceValidationRules: all of them
t.test('rules in CEL judge objects, and definitions with rules that cannot work are refused', async t => {
  const schema = (rule: string, extra: object = {}): object => ({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        'x-kubernetes-validations': [{ rule }],
        properties: { x: { type: 'integer' }, y: { type: 'integer' }, extra },
      },
    },
  })
  await crds.define(definition('Ruled', { v1: schema('self.x + self.y > 0', { type: 'integer' }) }))
  t.equal((await api.post(at('Ruled'), custom('Ruled', 'good', { spec: { x: 1, y: 0 } }))).code, 201)
  const bad = await api.post(at('Ruled'), custom('Ruled', 'bad', { spec: { x: 0, y: 0 } }))
  t.equal(bad.code, 422)
  t.match(bad.body.message, 'failed rule: self.x + self.y > 0')
  const refused = async (kind: string, rule: string, extra: object, message: string | RegExp): Promise<void> => {
    const answer = await api.post(DEFINITIONS, definition(kind, { v1: schema(rule, extra) }))
    t.equal(answer.code, 422, rule)
    t.match(answer.body.message, message)
  }
  const integer = { type: 'integer' }
  await refused('Absent', 'self.z > 0', integer, "undefined field 'z'")
  await refused('Broken', 'self = 42', integer, 'compilation failed')
  const unbounded = { type: 'array', items: { type: 'string' } }
  await refused('Costly', 'self.extra.all(s, self.extra.all(r, r == s))', unbounded, 'exceeds budget')
  await crds.change(definition('Ruled', { v1: schema('self.x >= oldSelf.x', integer) }))
  const back = await api.patch(`${at('Ruled')}/good`, 'merge', { spec: { x: 0 } })
  t.equal(back.code, 422, 'a transition rule holds')
  t.equal((await api.patch(`${at('Ruled')}/good`, 'merge', { spec: { x: 7 } })).code, 200)
})

// CRDValidationRatcheting: MUST NOT fail to update a resource due to JSONSchema errors or CRD validation rules on unchanged fields
t.test('what has become invalid may stay as it is while the rest changes', async t => {
  const schema = (field: object): object => ({
    type: 'object',
    properties: { field: { type: 'string', ...field }, other: { type: 'string' } },
  })
  await crds.define(definition('Ratchet', { v1: schema({}) }))
  await api.ok(api.post(at('Ratchet'), custom('Ratchet', 'old', { field: 'unlisted' })))
  for (const stricter of [{ enum: ['listed'] }, { 'x-kubernetes-validations': [{ rule: 'self == "listed"' }] }]) {
    await crds.change(definition('Ratchet', { v1: schema(stricter) }))
    const touch = { other: JSON.stringify(stricter) }
    t.equal((await api.patch(`${at('Ratchet')}/old`, 'merge', touch)).code, 200, 'unchanged fields are no matter')
    t.equal((await api.patch(`${at('Ratchet')}/old`, 'merge', { field: 'worse' })).code, 422, 'changed fields are')
  }
})

t.test('nothing was logged as an error', async t => t.same(faults, []))
