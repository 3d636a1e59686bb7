/** CustomResourceDefinitions: served a moment after they are made, validated, seen in discovery, and gone with all they brought. */
import t from 'tap'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import type { Api } from '../support/api.ts'
import { createSpace, startTestServer } from '../support/server.ts'

const { api, server, faults } = await startTestServer(t)
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const WIDGETS = '/apis/shop.example.com/v1/namespaces/default/widgets'

function definition(more: { scope?: string; versions?: object[]; plural?: string; kind?: string } = {}): object {
  const { plural = 'widgets', kind = 'Widget' } = more
  const properties = {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1 },
        color: { type: 'string', default: 'blue', enum: ['blue', 'red'] },
        replicas: { type: 'integer' },
      },
      'x-kubernetes-validations': [{ rule: "self.color != 'red' || self.size < 10", message: 'red ones are small' }],
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' }, state: { type: 'string' } } },
  }
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties } },
    subresources: { status: {}, scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
    additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
    selectableFields: [{ jsonPath: '.spec.color' }],
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.shop.example.com` },
    spec: {
      group: 'shop.example.com',
      scope: more.scope ?? 'Namespaced',
      names: {
        plural,
        singular: kind.toLowerCase(),
        kind,
        listKind: `${kind}List`,
        shortNames: [plural.slice(0, 2)],
        categories: ['all'],
      },
      versions: more.versions ?? [version],
    },
  }
}
const conditions = (object: KubeObject): string[] =>
  ((object.status as { conditions?: { type: string; status: string }[] })?.conditions ?? []).map(
    c => `${c.type}=${c.status}`,
  )
const widget = (name: string, spec: object = { size: 3 }, metadata: object = {}): object => ({
  apiVersion: 'shop.example.com/v1',
  kind: 'Widget',
  metadata: { name, ...metadata },
  spec,
})
/** Makes a CRD and waits until it is established. */
async function define(space: Api, body: object): Promise<KubeObject> {
  let object: KubeObject = await space.ok(space.post(CRDS, body))
  const { name, resourceVersion } = object.metadata
  const watch = await space.watch(
    `${CRDS}?watch=1&fieldSelector=metadata.name=${name}&resourceVersion=${resourceVersion}`,
  )
  while (!conditions(object).includes('Established=True')) object = (await watch.take(1))[0]!.object
  watch.close()
  return object
}
async function gone(space: Api, path: string, name: string, remove: () => Promise<unknown>): Promise<void> {
  const watch = await space.watch(`${path}?watch=1&fieldSelector=metadata.name=${name}`)
  await remove()
  await watch.until(event => event.type === 'DELETED')
  watch.close()
}

const space = api.in(await createSpace(api, 'shop'))
const other = api.in(await createSpace(api, 'empty'))

t.test('before there is a definition there is nothing', async t => {
  t.equal((await space.get(WIDGETS)).code, 404)
  t.equal((await space.get('/apis/shop.example.com/v1')).code, 404)
})

t.test('a definition is served as soon as it says so', async t => {
  const made = await define(space, definition())
  t.strictSame(conditions(made).sort(), ['Established=True', 'NamesAccepted=True'])
  t.match(made.status, { acceptedNames: { plural: 'widgets', kind: 'Widget' }, storedVersions: ['v1'] })
  t.equal((await space.get(WIDGETS)).code, 200)
  const resources = await api.ok(space.get('/apis/shop.example.com/v1'))
  const entries = (resources as unknown as { resources: { name: string; shortNames?: string[] }[] }).resources
  t.strictSame(
    entries.map(r => r.name),
    ['widgets', 'widgets/status', 'widgets/scale'],
  )
  t.strictSame(entries[0]!.shortNames, ['wi'])
  const groups = await api.ok(space.get('/apis'))
  t.ok((groups as unknown as { groups: { name: string }[] }).groups.some(g => g.name === 'shop.example.com'))
  t.match((await space.get('/openapi/v3/apis/shop.example.com/v1')).text, 'Widget')
  t.equal((await other.get(WIDGETS)).code, 404, 'in its own space only')
  t.notMatch((await other.get('/apis')).text, 'shop.example.com')
})

t.test('its objects are checked against its schema', async t => {
  const made = await api.ok(space.post(WIDGETS, widget('good')))
  t.strictSame(made.spec, { size: 3, color: 'blue' }, 'defaults are filled in')
  t.equal(made.metadata.generation, 1)
  const unchecked =
    '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation'
  const invalid = (errors: string): string => `Widget.shop.example.com "bad" is invalid: [${errors}]`
  for (const [spec, message] of [
    [{}, invalid(`spec.size: Required value, ${unchecked}`)],
    [
      { size: 0 },
      'Widget.shop.example.com "bad" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
    ],
    [
      { size: 'x' },
      invalid(`spec.size: Invalid value: "string": spec.size in body must be of type integer: "string", ${unchecked}`),
    ],
    [
      { size: 1, color: 'green' },
      invalid(`spec.color: Unsupported value: "green": supported values: "blue", "red", ${unchecked}`),
    ],
    [
      { size: 10, color: 'red' },
      /^Widget\.shop\.example\.com "bad" is invalid: spec: Invalid value: (.*: )?red ones are small$/,
    ],
  ] as const) {
    t.match(await space.post(WIDGETS, widget('bad', spec)), { code: 422, body: { reason: 'Invalid', message } })
  }
  const unknown = { size: 3, weight: 2 }
  t.match(await space.post(`${WIDGETS}?fieldValidation=Strict`, widget('bad', unknown)), {
    code: 400,
    body: { message: /strict decoding error: unknown field "spec\.weight"/ },
  })
  const warned = await space.post(`${WIDGETS}?dryRun=All`, widget('warned', unknown))
  t.match(warned.headers.warning, 'unknown field \\"spec.weight\\"')
  t.strictSame(warned.body.spec, { size: 3, color: 'blue' })
  t.equal(
    (await space.post(WIDGETS, { metadata: { name: 'x' }, spec: { size: 1 } })).code,
    400,
    'kind and version must be said',
  )
  t.equal((await space.patch(`${WIDGETS}/good`, 'strategic-merge', {})).code, 415)
})

t.test('columns, selectable fields, status and scale', async t => {
  await api.ok(space.post(WIDGETS, widget('red', { size: 2, color: 'red', replicas: 4 })))
  const table = (await api.ok(
    space.get(WIDGETS, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }),
  )) as unknown as {
    columnDefinitions: { name: string }[]
    rows: { cells: unknown[] }[]
  }
  t.strictSame(
    table.columnDefinitions.map(c => c.name),
    ['Name', 'Size'],
  )
  t.strictSame(
    table.rows.map(r => r.cells),
    [
      ['good', 3],
      ['red', 2],
    ],
  )
  const red = await api.ok(space.get(`${WIDGETS}?fieldSelector=spec.color=red`))
  t.strictSame(
    red.items.map(o => o.metadata.name),
    ['red'],
  )
  t.match(await space.get(`${WIDGETS}?fieldSelector=spec.size=2`), {
    code: 400,
    body: { message: 'field label not supported: spec.size' },
  })
  const status = await api.ok(
    space.patch(`${WIDGETS}/red/status`, 'merge', { status: { state: 'sold', replicas: 1 }, spec: { size: 9 } }),
  )
  t.match(status, { status: { state: 'sold' }, spec: { size: 2 }, metadata: { generation: 1 } })
  t.equal(
    (await api.ok(space.patch(`${WIDGETS}/red`, 'merge', { status: { state: 'lost' } }))).status instanceof Object &&
      status.status !== undefined,
    true,
  )
  t.match(
    await api.ok(space.get(`${WIDGETS}/red`)),
    { status: { state: 'sold' } },
    'the main resource leaves the status alone',
  )
  t.match(await api.ok(space.get(`${WIDGETS}/red/scale`)), {
    kind: 'Scale',
    spec: { replicas: 4 },
    status: { replicas: 1 },
  })
  await api.ok(space.patch(`${WIDGETS}/red/scale`, 'merge', { spec: { replicas: 6 } }))
  t.match(await api.ok(space.get(`${WIDGETS}/red`)), { spec: { replicas: 6 }, metadata: { generation: 2 } })
})

t.test('a scale path that is no JSONPath is read as names with dots, and no fault of the server', async t => {
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    subresources: { scale: { specReplicasPath: '.spec.a[', statusReplicasPath: '.status.b[' } },
  }
  await define(space, definition({ versions: [version], plural: 'brackets', kind: 'Bracket' }))
  const path = '/apis/shop.example.com/v1/namespaces/default/brackets'
  await api.ok(
    space.post(path, {
      apiVersion: 'shop.example.com/v1',
      kind: 'Bracket',
      metadata: { name: 'odd' },
      spec: { 'a[': 3 },
    }),
  )
  t.match(await api.ok(space.get(`${path}/odd/scale`)), { spec: { replicas: 3 } })
  const name = 'brackets.shop.example.com'
  await gone(space, CRDS, name, () => api.ok(space.delete(`${CRDS}/${name}`)))
})

t.test('the same name means another thing in another space', async t => {
  const versions = [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    },
  ]
  await define(other, definition({ scope: 'Cluster', versions }))
  const path = '/apis/shop.example.com/v1/widgets'
  await api.ok(other.post(path, widget('free', { anything: ['goes'] })))
  t.equal((await other.get(WIDGETS)).code, 404, 'there it has no namespaces')
  t.strictSame(
    (await api.ok(space.get(path))).items.map(o => o.metadata.name),
    ['good', 'red'],
  )
})

t.test('names that are taken are not accepted', async t => {
  await api.ok(space.post(CRDS, definition({ plural: 'wigwams', kind: 'Widget' })))
  const watch = await space.watch(`${CRDS}?watch=1&fieldSelector=metadata.name=wigwams.shop.example.com`)
  const events = await watch.until(event => conditions(event.object).length > 0)
  watch.close()
  t.ok(conditions(events.at(-1)!.object).includes('NamesAccepted=False'))
  t.equal((await space.get('/apis/shop.example.com/v1/wigwams')).code, 404)
  t.equal((await space.get(WIDGETS)).code, 200)
  await gone(space, CRDS, 'wigwams.shop.example.com', () => space.delete(`${CRDS}/wigwams.shop.example.com`))
  t.equal((await space.get(WIDGETS)).code, 200, 'the refused one takes nothing along')
})

t.test('definitions that cannot work are refused', async t => {
  const invalid = async (body: object, message: string | RegExp) =>
    t.match(await space.post(CRDS, body), { code: 422, body: { reason: 'Invalid', message } })
  const good = definition({ plural: 'gadgets', kind: 'Gadget' }) as { metadata: object; spec: { versions: object[] } }
  await invalid(
    { ...good, metadata: { name: 'other' } },
    /metadata\.name: Invalid value: "other": must be spec\.names\.plural\+"\."\+spec\.group/,
  )
  await invalid({ ...good, spec: { ...good.spec, versions: [] } }, /spec\.versions: /)
  const loose = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { properties: { a: {} } } } }
  await invalid({ ...good, spec: { ...good.spec, versions: [loose] } }, /type: Required value: must not be empty/)
})

t.test('a new version is served beside the old one', async t => {
  const crd = await api.ok(space.get(`${CRDS}/widgets.shop.example.com`))
  const spec = crd.spec as { versions: { name: string; storage: boolean }[] }
  const [first] = spec.versions
  await api.ok(
    space.put(`${CRDS}/widgets.shop.example.com`, {
      ...crd,
      spec: {
        ...spec,
        versions: [
          { ...first, storage: false },
          { ...first, name: 'v2', storage: true },
        ],
      },
    }),
  )
  const watch = await space.watch(`${CRDS}?watch=1&fieldSelector=metadata.name=widgets.shop.example.com`)
  await watch.until(
    event => (event.object.status as { storedVersions?: string[] }).storedVersions?.includes('v2') === true,
  )
  watch.close()
  const path = '/apis/shop.example.com/v2/namespaces/default/widgets'
  const read = await api.ok(space.get(`${path}/good`))
  t.equal(read.apiVersion, 'shop.example.com/v2')
  const written = await api.ok(space.put(`${path}/good`, { ...read, spec: { size: 5 } }))
  t.equal(written.apiVersion, 'shop.example.com/v2')
  t.match(await api.ok(space.get(`${WIDGETS}/good`)), { apiVersion: 'shop.example.com/v1', spec: { size: 5 } })
  const list = await api.ok(space.get(path))
  t.strictSame(new Set(list.items.map(o => o.apiVersion)), new Set(['shop.example.com/v2']))
})

t.test('a deleted definition takes its objects along and ends their watches', async t => {
  await api.ok(space.post(WIDGETS, widget('held', { size: 1 }, { finalizers: ['x.io/held'] })))
  const { resourceVersion } = (await api.ok(space.get(WIDGETS))).metadata
  const watch = await space.watch(`${WIDGETS}?watch=1&resourceVersion=${resourceVersion}`)
  const crd = await api.ok(space.delete(`${CRDS}/widgets.shop.example.com`))
  t.ok(crd.metadata.deletionTimestamp)
  const ends = await watch.take(3)
  t.strictSame(ends.map(e => `${e.type} ${e.object.metadata.name}`).sort(), [
    'DELETED good',
    'DELETED red',
    'MODIFIED held',
  ])
  t.equal((await space.get(`${WIDGETS}/held`)).code, 200, 'what a finalizer holds can still be read')
  t.equal((await space.post(WIDGETS, widget('late'))).code, 405, 'nothing new is taken')
  await gone(space, CRDS, 'widgets.shop.example.com', () =>
    api.ok(space.patch(`${WIDGETS}/held`, 'merge', { metadata: { finalizers: null } })),
  )
  await watch.rest()
  t.equal((await space.get(WIDGETS)).code, 404)
  t.equal((await space.get('/apis/shop.example.com/v1')).code, 404)
  t.equal(await server.store.count({ group: 'shop.example.com', resource: 'widgets' }), 1, "the other space's stay")
  await define(space, definition())
  t.equal((await api.ok(space.get(WIDGETS))).items.length, 0, 'defined again it starts empty')
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
