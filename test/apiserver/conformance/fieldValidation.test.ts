/** `fieldValidation=Strict`: typos are refused, whatever writes them and wherever they are. */
import t, { type Test } from 'tap'
import { crdsIn } from '../../support/crds.ts'
import { startTestServer } from '../../support/server.ts'

const { api, faults } = await startTestServer(t)
const crds = crdsIn(api)
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments'
const APPLY = { type: 'application/apply-patch+yaml' }

/** The template of a Pod, as text: only text can say a key twice. */
const deployment = (name: string, { metadata = '', spec = '' }: { metadata?: string; spec?: string } = {}): string => `{
  "apiVersion": "apps/v1", "kind": "Deployment",
  "metadata": {"name": "${name}", ${metadata} "labels": {"app": "nginx"}},
  "spec": {${spec} "selector": {"matchLabels": {"app": "nginx"}}, "template": {
    "metadata": {"labels": {"app": "nginx"}}, "spec": {"containers": [{"name": "nginx", "image": "nginx:latest"}]}}}
}`

async function refuses(t: Test, path: string, body: string, messages: (string | RegExp)[]): Promise<void> {
  const collection = path.slice(0, path.lastIndexOf('/'))
  const created = await api.post(`${collection}?fieldValidation=Strict`, body)
  t.equal(created.code, 400, created.text)
  for (const message of messages) t.match(created.body.message, message, 'create')
}

// FieldValidation should detect unknown and duplicate fields of a typed object
t.test('of a built-in kind: unknown and repeated fields, by create and by apply', async t => {
  const spec = '"unknownField": "unknown", "replicas": 1, "replicas": 2,'
  const messages = ['strict decoding error', 'unknown field "spec.unknownField"', 'duplicate field "spec.replicas"']
  await refuses(t, `${DEPLOYMENTS}/typed`, deployment('typed', { spec }), messages)
  const query = 'fieldManager=e2e&fieldValidation=Strict'
  const applied = await api.send('PATCH', `${DEPLOYMENTS}/typed?${query}`, {
    body: deployment('typed', { spec: '"unknownField": "unknown",' }),
    ...APPLY,
  })
  t.ok(applied.code === 400 || applied.code === 500, applied.text)
  t.match(applied.body.message, /unknownField.*field not declared in schema|unknown field "spec.unknownField"/)
  t.equal((await api.get(`${DEPLOYMENTS}/typed`)).code, 404, 'nothing was stored')
})

t.test('without Strict they are warnings, in the order of the text; Ignore is silent', async t => {
  const body = deployment('warned', {
    metadata: '"name": "warned",',
    spec: '"unknown1": "a", "unknownDupe": 1, "unknownDupe": 2, "paused": false, "paused": true,',
  })
  const dry = `${DEPLOYMENTS}?dryRun=All`
  const warned = await api.post(dry, body)
  t.equal(warned.code, 201)
  const texts = ['duplicate field "metadata.name"', 'unknown field "spec.unknown1"', 'unknown field "spec.unknownDupe"']
  t.equal(
    warned.headers.warning,
    [...texts, 'duplicate field "spec.paused"'].map(text => `299 - ${JSON.stringify(text)}`).join(', '),
  )
  t.match(warned.body.spec, { paused: true }, 'the last one counts')
  t.equal((await api.post(`${dry}&fieldValidation=Ignore`, body)).headers.warning, undefined)
})

t.test('patches tell what they repeat before what is unknown', async t => {
  await api.ok(api.post(DEPLOYMENTS, deployment('patched')))
  const body = '{"spec": {"unknown1": 1, "unknown1": 2, "replicas": 2, "replicas": 3}}'
  for (const kind of ['merge', 'strategic-merge']) {
    const type = `application/${kind}-patch+json`
    const answer = await api.send('PATCH', `${DEPLOYMENTS}/patched?fieldValidation=Strict`, { body, type })
    t.equal(answer.code, 422)
    const texts = 'duplicate field "spec.unknown1", duplicate field "spec.replicas", unknown field "spec.unknown1"'
    t.match(answer.body.message, `strict decoding error: ${texts}`, kind)
  }
  const operations = '[{"op": "replace", "path": "/spec/replicas", "path": "/spec/replicas", "value": 4}]'
  const type = 'application/json-patch+json'
  const answer = await api.send('PATCH', `${DEPLOYMENTS}/patched?fieldValidation=Strict`, { body: operations, type })
  t.match(answer.body.message, 'strict decoding error: json patch duplicate field "[0].path"')
})

t.test('YAML tells the line', async t => {
  const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: twice\ndata:\n  a: x\n  a: z\n'
  const path = '/api/v1/namespaces/default/configmaps'
  const created = await api.post(`${path}?fieldValidation=Strict`, body, { type: 'application/yaml' })
  t.equal(created.code, 400)
  t.match(created.body.message, 'strict decoding error: yaml: unmarshal errors:\n  line 7: key "a" already set in map')
  const query = 'fieldManager=e2e&fieldValidation='
  const applied = await api.send('PATCH', `${path}/twice?${query}Strict`, { body, ...APPLY })
  t.equal(applied.code, 400)
  const why = 'error converting YAML to JSON: yaml: unmarshal errors:\n  line 7: key "a" already set in map'
  t.equal(applied.body.message, `error strict decoding YAML: ${why}`)
  const warned = await api.send('PATCH', `${path}/twice?${query}Warn`, { body, ...APPLY })
  t.equal(warned.code, 201)
  t.equal(warned.headers.warning, '299 - "line 7: key \\"a\\" already set in map"')
})

// FieldValidation should detect unknown metadata fields of a typed object
t.test('of a built-in kind: unknown metadata', async t => {
  const body = deployment('meta', { metadata: '"unknownMeta": "foo",' })
  await refuses(t, `${DEPLOYMENTS}/meta`, body, ['unknown field "metadata.unknownMeta"'])
})

const definition = (kind: string, schema: object): object => {
  const plural = `${kind.toLowerCase()}s`
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.strict.example.com` },
    spec: {
      group: 'strict.example.com',
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  }
}
const at = (kind: string, name: string): string =>
  `/apis/strict.example.com/v1/namespaces/default/${kind.toLowerCase()}s/${name}`
const custom = (kind: string, name: string, rest: string, metadata = ''): string =>
  `{"apiVersion": "strict.example.com/v1", "kind": "${kind}", "metadata": {"name": "${name}"${metadata}}, ${rest}}`
const apply = (kind: string, name: string, body: string) =>
  api.send('PATCH', `${at(kind, name)}?fieldManager=e2e&fieldValidation=Strict`, { body, ...APPLY })

const SPEC = {
  type: 'object',
  properties: {
    foo: { type: 'string' },
    cronSpec: { type: 'string' },
    ports: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
      items: {
        type: 'object',
        required: ['containerPort', 'protocol'],
        properties: { containerPort: { type: 'integer' }, protocol: { type: 'string' } },
      },
    },
  },
}
const OPEN = 'x-kubernetes-preserve-unknown-fields'

// FieldValidation should create/apply a CR with unknown fields for CRD with no validation schema
t.test('of a kind that keeps everything, nothing is unknown', async t => {
  await crds.define(definition('Free', { type: 'object', [OPEN]: true }))
  const body = custom('Free', 'free', '"spec": {"foo": "foo1", "unknown": "uk1", "ports": [{"containerPort": 80}]}')
  const applied = await apply('Free', 'free', body)
  t.equal(applied.code, 201, applied.text)
  t.match(applied.body.spec, { unknown: 'uk1' })
})

// FieldValidation should create/apply a valid CR for CRD with validation schema
t.test('of a kind with a schema: what it knows is taken', async t => {
  await crds.define(definition('Known', { type: 'object', properties: { spec: SPEC } }))
  const ports = '"ports": [{"containerPort": 8080, "protocol": "TCP"}]'
  const body = custom('Known', 'known', `"spec": {"foo": "foo1", "cronSpec": "* * * * */5", ${ports}}`)
  t.equal((await apply('Known', 'known', body)).code, 201)
})

// FieldValidation should create/apply an invalid CR with extra properties for CRD with validation schema
t.test('of a kind with a schema: what it does not know is refused', async t => {
  await crds.define(definition('Extra', { type: 'object', properties: { spec: SPEC } }))
  const body = custom('Extra', 'extra', '"spec": {"foo": "foo1", "unknownField": "bar"}')
  await refuses(t, at('Extra', 'extra'), body, ['unknown field "spec.unknownField"'])
  const applied = await apply('Extra', 'extra', body)
  t.equal(applied.code >= 400, true, applied.text)
  t.match(applied.body.message, /unknownField/)
})

// FieldValidation should detect unknown metadata fields in both the root and embedded object of a CR
t.test('metadata is known wherever an object is, also inside of another', async t => {
  const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true, [OPEN]: true }
  const spec = { type: 'object', properties: { template: embedded } }
  await crds.define(definition('Nested', { type: 'object', properties: { spec } }))
  const template = (unknown: string): string =>
    `"spec": {"template": {"apiVersion": "foo/v1", "kind": "Sub", "metadata": {"name": "subobject"${unknown}}}}`
  const unknown = ', "unknownMeta": "unknown"'
  await refuses(t, at('Nested', 'nested'), custom('Nested', 'nested', template(', "unknownSubMeta": "u"'), unknown), [
    'unknown field "metadata.unknownMeta"',
    'unknown field "spec.template.metadata.unknownSubMeta"',
  ])
  t.equal(
    (
      await api.post(
        `${at('Nested', '')}?fieldValidation=Strict`.replace('/?', '?'),
        custom('Nested', 'nested', template('')),
      )
    ).code,
    201,
  )
})

// FieldValidation should detect duplicates in a CR when preserving unknown fields
t.test('a key that is said twice is refused, also where everything is kept', async t => {
  const body = custom('Free', 'twice', '"spec": {"unknown": "uk1", "unknown": "uk2", "cronSpec": "x"}')
  await refuses(t, at('Free', 'twice'), body, ['duplicate field "spec.unknown"'])
  const applied = await apply('Free', 'twice', body)
  t.equal(applied.code, 400, applied.text)
  t.match(applied.body.message, /unknown.*already set|duplicate field/)
})

t.test('nothing was logged as an error', async t => t.same(faults, []))
