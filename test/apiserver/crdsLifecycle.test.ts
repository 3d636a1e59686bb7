/** Definitions that change while their objects live: defaults on read, ratcheting, running watches, conditions, removal. */
import t from 'tap'
import { conditionsOf, crdsIn } from '../support/crds.ts'
import { createSpace, startTestServer } from '../support/server.ts'

const first = await startTestServer(t)
const { api, faults } = first
const GROUP = 'life.example.com'
const THINGS = `/apis/${GROUP}/v1/namespaces/default/things`
const text = { type: 'string' }

const definition = (spec: object, more: { versions?: object[]; names?: object; version?: object } = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `things.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing', ...more.names },
    versions: more.versions ?? [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', ...spec } } } },
        ...more.version,
      },
    ],
  },
})
const thing = (name: string, spec: object, metadata: object = {}) => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'Thing',
  metadata: { name, ...metadata },
  spec,
})

t.test('objects follow their schema', async t => {
  const space = api.in(await createSpace(api, 'following'))
  const crds = crdsIn(space)
  await crds.define(definition({ properties: { a: text, gone: text } }))
  await api.ok(space.post(THINGS, thing('old', { a: 'x', gone: 'y' })))
  const watch = await space.watch(`${THINGS}?watch=1`)
  await watch.take(1)

  await crds.change(
    definition(
      { properties: { a: text, size: { type: 'integer', default: 3 } } },
      { version: { selectableFields: [{ jsonPath: '.spec.size' }] } },
    ),
  )
  t.strictSame((await api.ok(space.get(`${THINGS}/old`))).spec, { a: 'x', size: 3 }, 'pruned and defaulted when read')
  t.strictSame((await api.ok(space.get(THINGS))).items[0]!.spec, { a: 'x', size: 3 })
  t.equal((await api.ok(space.get(`${THINGS}?fieldSelector=spec.size=3`))).items.length, 1, 'selected by what it shows')
  t.equal((await api.ok(space.get(`${THINGS}?fieldSelector=spec.size!=3`))).items.length, 0)
  await api.ok(space.patch(`${THINGS}/old`, 'merge', { metadata: { labels: { b: 'c' } } }))
  t.match(
    await watch.take(1),
    [{ type: 'MODIFIED', object: { spec: { a: 'x', size: 3 } } }],
    'a watch from before goes on, and shows what the kind is now',
  )
  await api.ok(space.post(THINGS, thing('new', { a: 'z' })))
  t.match(await watch.take(1), [{ type: 'ADDED', object: { spec: { size: 3 } } }])
  watch.close()
  const again = await space.watch(`${THINGS}?watch=1&resourceVersion=0&fieldSelector=spec.size=3`)
  t.equal((await again.take(2)).length, 2)
  await api.ok(space.patch(`${THINGS}/new`, 'merge', { spec: { size: 4 } }))
  t.match(await again.take(1), [{ type: 'DELETED', object: { metadata: { name: 'new' }, spec: { size: 3 } } }])
  again.close()
})

t.test('a watch ends when its version is no longer served', async t => {
  const space = api.in(await createSpace(api, 'unserved'))
  const crds = crdsIn(space)
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
  const versions = (served: boolean) => [
    { name: 'v1', served, storage: false, schema },
    { name: 'v2', served: true, storage: true, schema },
  ]
  await crds.define(definition({}, { versions: versions(true) }))
  const watch = await space.watch(`${THINGS}?watch=1`)
  await crds.change(definition({}, { versions: versions(false) }))
  await api.ok(space.post(THINGS.replace('v1', 'v2'), { ...thing('a', {}), apiVersion: `${GROUP}/v2` }))
  t.equal(await watch.next(), undefined)
  t.equal((await space.get(THINGS)).code, 404)
})

t.test('a stricter schema does not lock objects up', async t => {
  const space = api.in(await createSpace(api, 'ratchet'))
  const crds = crdsIn(space)
  const items = { type: 'array', items: { type: 'object', properties: { k: text, v: text }, required: ['k'] } }
  await crds.define(definition({ properties: { a: text, b: text, map: items, set: { type: 'array', items: text } } }))
  const map = [
    { k: 'x', v: 'Bad' },
    { k: 'y', v: 'Bad' },
  ]
  await api.ok(space.post(THINGS, thing('old', { a: 'Bad', b: 'fine', map, set: ['s', 's'] })))
  const lower = { ...text, pattern: '^[a-z]+$' }
  await crds.change(
    definition({
      properties: {
        a: { ...lower, 'x-kubernetes-validations': [{ rule: 'self.size() > 5', message: 'too short' }] },
        b: lower,
        map: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: { type: 'object', properties: { k: text, v: lower }, required: ['k'] },
        },
        set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
      },
    }),
  )
  const change = (spec: object) => space.patch(`${THINGS}/old`, 'merge', { spec })
  await api.ok(change({ b: 'other' }))
  t.match(await change({ b: 'Other' }), {
    code: 422,
    body: { message: /spec\.b in body should match '\^\[a-z\]\+\$'$/ },
  })
  t.match(await change({ a: 'Bad2' }), { code: 422, body: { message: /spec\.a: .* should match .*too short/ } })
  await api.ok(
    change({
      map: [
        { k: 'y', v: 'Bad' },
        { k: 'x', v: 'good' },
        { k: 'z', v: 'good' },
      ],
    }),
  )
  t.match(await change({ map: [{ k: 'y', v: 'Worse' }] }), { code: 422, body: { message: /spec\.map\[0\]\.v/ } })
  await api.ok(change({ set: ['s', 's', 't'] }))
  await api.ok(change({ set: ['s'] }))
  t.match(await change({ set: ['s', 's'] }), { code: 422, body: { message: /spec\.set\[1\]: Duplicate value: "s"/ } })
  t.equal((await space.post(THINGS, thing('new', { a: 'Bad' }))).code, 422, 'new objects are held to it')
  const touched = await space.patch(`${THINGS}/old`, 'merge', { metadata: { labels: { l: 'm' } } })
  t.equal(touched.code, 200)
  t.equal(touched.headers.warning, '299 - "spec.a: Invalid value: \\"Bad\\": too short"', 'what is wrong is told')
  const refused = await space.patch(`${THINGS}/old`, 'merge', { spec: { b: 'Other' } })
  t.match(refused.headers.warning, 'too short', 'also to who is refused')
})

t.test('names are as the definition wants them', async t => {
  const space = api.in(await createSpace(api, 'named'))
  const crds = crdsIn(space)
  const naming = (begin: string) => ({
    type: 'object',
    properties: {
      metadata: {
        type: 'object',
        properties: { name: { ...text, pattern: `^${begin}` }, generateName: { ...text, maxLength: 3 } },
      },
      kind: { ...text, maxLength: 5 },
      spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  })
  const versions = (begin: string) => [
    {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: naming(begin) },
      subresources: { status: {} },
    },
  ]
  await crds.define(definition({}, { versions: versions('a') }))
  const wrong = (name: string, begin: string) => ({
    code: 422,
    body: {
      message: `Thing.life.example.com "${name}" is invalid: metadata.name: Invalid value: "${name}": metadata.name in body should match '^${begin}'`,
      details: { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name' }] },
    },
  })
  t.match(await space.post(THINGS, thing('b', {})), wrong('b', 'a'))
  t.match(await space.patch(`${THINGS}/b?fieldManager=m`, 'apply', thing('b', {})), wrong('b', 'a'), 'applied')
  await api.ok(space.post(THINGS, thing('a', {}, { labels: { l: 'm' }, annotations: { n: 'o' } })))
  const generating = (generateName: string) => ({ ...thing('', {}), metadata: { generateName } })
  const made = await api.ok(space.post(THINGS, generating('ab-')))
  t.match(made.metadata.name, /^ab-/)
  t.match(await space.post(THINGS, generating('bc')), {
    code: 422,
    body: { message: /metadata\.name in body should match/ },
  })
  t.match(await space.post(THINGS, generating('abc-')), {
    code: 422,
    body: { message: /metadata\.generateName: Too long: may not be more than 3 bytes$/ },
  })

  await crds.change(definition({}, { versions: versions('b') }))
  t.match(await space.post(THINGS, thing('ac', {})), wrong('ac', 'b'))
  await api.ok(space.post(THINGS, thing('b', {})))
  const touched = await api.ok(space.patch(`${THINGS}/a`, 'merge', { spec: { a: 1 } }))
  t.strictSame(touched.metadata.labels, { l: 'm' }, 'who had the name before keeps it, and all its metadata')
  await api.ok(space.patch(`${THINGS}/a/status`, 'merge', { status: {} }))
  t.match(await space.patch(`${THINGS}/a`, 'merge', { metadata: { generateName: 'long' } }), {
    code: 422,
    body: { message: /: metadata\.generateName: Too long: may not be more than 3 bytes$/ },
  })
  const long = { ...naming('b'), properties: { kind: { ...text, minLength: 6 } } }
  await crds.change(
    definition({}, { versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: long } }] }),
  )
  t.match(
    await space.patch(`${THINGS}/a`, 'merge', { metadata: { labels: { l: 'n' } } }),
    { code: 422, body: { message: /: kind: Invalid value: "Thing": kind in body should be at least 6 chars long$/ } },
    'kind and version are no part of the object that could stay as it was',
  )
})

t.test('what a definition says about itself', async t => {
  const space = api.in(await createSpace(api, 'saying'))
  const crds = crdsIn(space)
  const body = definition({}) as { metadata: object; spec: object }
  const crd = await crds.define({
    ...body,
    metadata: { name: 'things.x.k8s.io', annotations: { 'api-approved.kubernetes.io': 'unapproved, a test' } },
    spec: { ...body.spec, group: 'x.k8s.io' },
  })
  t.strictSame(conditionsOf(crd), {
    NamesAccepted: 'True',
    Established: 'True',
    KubernetesAPIApprovalPolicyConformant: 'False',
  })
  const path = crds.path('things.x.k8s.io')
  const url = 'https://github.com/kubernetes/kubernetes/pull/78458'
  await api.ok(space.patch(path, 'merge', { metadata: { annotations: { 'api-approved.kubernetes.io': url } } }))
  const approved = await crds.until(
    'things.x.k8s.io',
    c => conditionsOf(c).KubernetesAPIApprovalPolicyConformant === 'True',
  )
  t.match((approved.status as { conditions: object[] }).conditions.at(-1), {
    type: 'KubernetesAPIApprovalPolicyConformant',
    reason: 'ApprovedAnnotation',
    message: `approved in ${url}`,
    lastTransitionTime: /Z$/,
  })

  const held = { ...thing('held', {}, { finalizers: ['x.io/held'] }), apiVersion: 'x.k8s.io/v1' }
  const things = '/apis/x.k8s.io/v1/namespaces/default/things'
  await api.ok(space.post(things, held))
  await api.ok(space.delete(path))
  const going = await crds.until('things.x.k8s.io', c =>
    JSON.stringify(c.status).includes('InstanceDeletionInProgress'),
  )
  t.match((going.status as { conditions: object[] }).conditions.at(-1), {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionInProgress',
    message: 'CustomResource deletion is in progress',
  })
  const watch = await space.watch('/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1')
  await api.ok(space.patch(`${things}/held`, 'merge', { metadata: { finalizers: null } }))
  const last = (await watch.until(event => event.type === 'DELETED')).at(-1)!
  watch.close()
  t.match((last.object.status as { conditions: object[] }).conditions.at(-1), {
    type: 'Terminating',
    status: 'False',
    reason: 'InstanceDeletionCompleted',
    message: 'removed all instances',
  })
})

t.test('names are given to who came first, and become free again', async t => {
  const space = api.in(await createSpace(api, 'names'))
  const crds = crdsIn(space)
  const named = (plural: string, names: object) => ({
    ...definition({}, { names: { plural, ...names } }),
    metadata: { name: `${plural}.${GROUP}` },
  })
  const both = await Promise.all([
    api.ok(space.post(crds.path(''), named('ones', { kind: 'Same' }))),
    api.ok(space.post(crds.path(''), named('twos', { kind: 'Same', categories: ['all'] }))),
  ])
  t.equal(both.length, 2)
  const states = await Promise.all(
    ['ones', 'twos'].map(plural => crds.until(`${plural}.${GROUP}`, c => conditionsOf(c).NamesAccepted !== undefined)),
  )
  const taken = states.filter(c => conditionsOf(c).NamesAccepted === 'True')
  t.equal(taken.length, 1, 'also when both come at the same moment')
  const loser = states.find(c => conditionsOf(c).NamesAccepted === 'False')!
  t.match((loser.status as { conditions: object[] }).conditions, [
    { type: 'NamesAccepted', reason: 'ListKindConflict', message: '"SameList" is already in use' },
    { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
  ])
  await api.ok(space.delete(crds.path(taken[0]!.metadata.name!)))
  const risen = await crds.until(loser.metadata.name!, c => conditionsOf(c).Established === 'True')
  t.equal(conditionsOf(risen).NamesAccepted, 'True')
  t.equal((await space.get(`/apis/${GROUP}/v1/${risen.metadata.name!.split('.')[0]}`)).code, 200)
})

t.test('a definition that was replaced still takes its objects along', async t => {
  const space = api.in(await createSpace(api, 'replaced'))
  const crds = crdsIn(space)
  await crds.define(definition({ properties: { a: text } }))
  await api.ok(space.post(THINGS, thing('left', { a: 'x' })))
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${GROUP}`
  const { metadata } = await api.ok(space.get(path))
  t.strictSame(metadata.finalizers, undefined, 'nothing that a client could drop')
  const { resourceVersion } = metadata
  const again = definition({ properties: { a: text } })
  await api.ok(space.put(path, { ...again, metadata: { ...again.metadata, resourceVersion } }))
  const watch = await space.watch(`${path.replace(/\/[^/]*$/, '')}?watch=1&fieldSelector=metadata.name=things.${GROUP}`)
  const deleted = await api.ok(space.delete(path))
  t.match(deleted.metadata.finalizers, ['customresourcecleanup.apiextensions.k8s.io'], 'it comes with the deletion')
  t.match(conditionsOf(deleted), { Terminating: 'True' })
  await watch.until(({ type }) => type === 'DELETED')
  watch.close()
  await crds.define(definition({ properties: { a: text } }))
  t.strictSame((await api.ok(space.get(THINGS))).items, [], 'and they do not come back with the next definition')
})

t.test('after a restart all is as it was', async t => {
  const space = await createSpace(api, 'lasting')
  const crds = crdsIn(api.in(space))
  await crds.define(definition({ properties: { a: text } }))
  await api.ok(api.in(space).post(THINGS, thing('old', { a: 'x' })))
  await crds.change(definition({ properties: { b: { ...text, default: 'y' } } }))
  const second = await first.restart()
  t.strictSame((await second.api.ok(second.api.in(space).get(`${THINGS}/old`))).spec, { b: 'y' })
  t.strictSame(second.faults, [])
})

t.test('nothing of it was a fault of the server', async t => t.strictSame(faults, []))
