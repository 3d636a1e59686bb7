/** A body of very many small things is refused in every form, and ordinary ones are accepted. */
import t from 'tap'
import { MEMBERS_LIMIT, VALUES_LIMIT } from '../../src/apimachinery/objectSize.ts'
import { PROTOBUF_MEDIA_TYPE, protobufCodec } from '../../src/apimachinery/protobuf/protobufCodec.ts'
import { readProtobufFields } from '../../src/program/dataFiles.ts'
import { CONFIGMAPS, configMap, startTestServer } from '../support/server.ts'

const { api, faults } = await startTestServer(t)
const REFUSED = {
  code: 413,
  body: {
    reason: 'RequestEntityTooLarge',
    message: /^the request body has more than 100000 fields and elements; send/,
  },
}
const TOO_WIDE = {
  code: 413,
  body: { reason: 'RequestEntityTooLarge', message: /^one map of the request body has more than 40000 fields; send/ },
}
const object = (name: string, spec: string): string =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"x":[${spec}]}`
const empty = (count: number): string => Array.from({ length: count }, () => '{}').join(',')
const codec = protobufCodec(readProtobufFields)
const keys = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']))
const types = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
}

t.test('JSON, also when nothing would be written', async t => {
  const body = object('many', empty(VALUES_LIMIT))
  t.match(await api.post(CONFIGMAPS, body), REFUSED)
  t.match(await api.post(`${CONFIGMAPS}?dryRun=All`, body), REFUSED)
  t.match(await api.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', body), REFUSED)
})

t.test('a patch of each form', async t => {
  await api.ok(api.post(CONFIGMAPS, configMap('patched')))
  for (const [form, type] of Object.entries(types)) {
    const body = form === 'json' ? `[${empty(VALUES_LIMIT + 1)}]` : object('patched', empty(VALUES_LIMIT))
    t.match(await api.send('PATCH', `${CONFIGMAPS}/patched?fieldManager=me`, { type, body }), REFUSED, form)
  }
})

t.test('YAML that comes to as many', async t => {
  const type = 'application/yaml'
  const aliases = `a: &a [${'b,'.repeat(1000)}b]\nx: [${Array.from({ length: 100 }, () => '*a').join(',')}]\n`
  const body = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: aliases}\n${aliases}`
  t.match(await api.send('POST', CONFIGMAPS, { type, body }), REFUSED)
  t.match(await api.send('POST', CONFIGMAPS, { type, body: object('as-yaml', empty(VALUES_LIMIT)) }), REFUSED)
})

t.test('Protobuf', async t => {
  const post = (count: number, managedFields: readonly object[] = []) => {
    const metadata = { name: 'p', managedFields }
    return api.send('POST', `${CONFIGMAPS}?dryRun=All`, {
      type: PROTOBUF_MEDIA_TYPE,
      body: codec.encode({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: keys(count) }),
    })
  }
  t.match(await post(VALUES_LIMIT + 1), REFUSED)
  const claims = { fieldsV1: { 'f:data': keys(MEMBERS_LIMIT + 1) } }
  t.match(await post(1, [claims]), TOO_WIDE)
  t.equal((await post(5000)).code, 201)
})

t.test('one map of very many fields, sent at once or grown by patches', async t => {
  t.match(await api.post(CONFIGMAPS, configMap('too-wide', keys(MEMBERS_LIMIT + 1))), TOO_WIDE)
  await api.ok(api.post(CONFIGMAPS, configMap('widest', keys(MEMBERS_LIMIT))))
  const more = { data: { more: 'v' } }
  t.match(await api.send('PATCH', `${CONFIGMAPS}/widest`, { type: types.merge, body: more }), {
    code: 413,
    body: { message: 'the object would have more than 40000 fields in one map: split it' },
  })
  const other = { data: { k1: 'w' }, metadata: { labels: { a: 'b' } } }
  await api.ok(api.send('PATCH', `${CONFIGMAPS}/widest`, { type: types.merge, body: other }))
})

t.test('what people send is taken', async t => {
  await api.ok(api.post(CONFIGMAPS, configMap('long', { a: 'x,'.repeat(500_000) })))
  await api.ok(api.post(CONFIGMAPS, configMap('wide', keys(20_000))))
  const properties = Object.fromEntries(
    Array.from({ length: 2000 }, (_, i) => [`p${i}`, { type: 'string', description: 'What it is, in some words.' }]),
  )
  const names = { plural: 'bigs', singular: 'big', kind: 'Big', listKind: 'BigList' }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'bigs.example.org' },
    spec: { group: 'example.org', scope: 'Namespaced', names, versions },
  }
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  await api.ok(api.post(definitions, definition))
  await api.ok(api.patch(`${definitions}/bigs.example.org?fieldManager=me&force=true`, 'apply', definition))
  t.same(faults, [])
})
