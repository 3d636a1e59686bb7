/** CustomResourceDefinitions and the objects of one: from its creation to its end. */
import { apply, del, get, json, merge, post, put, type Rest, type Script, strategic, table, watch } from '../script.ts'
import { of } from './bodies.ts'

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const W = '/apis/diff.example.com/v1/namespaces/{ns}/widgets'
const V2 = W.replace('/v1/', '/v2/')
const SCHEMA = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 10 },
        color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
        list: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, n: { type: 'integer' } },
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
        },
        set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        either: { 'x-kubernetes-int-or-string': true },
        maybe: { type: 'string', nullable: true },
        when: { type: 'string', format: 'date-time' },
        pattern: { type: 'string', pattern: '^a+$', maxLength: 3 },
        map: { type: 'object', additionalProperties: { type: 'integer' } },
      },
    },
    status: { type: 'object', properties: { replicas: { type: 'integer' }, selector: { type: 'string' } } },
  },
}
const version = (name: string, storage: boolean): object => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: SCHEMA },
  subresources: {
    status: {},
    scale: {
      specReplicasPath: '.spec.size',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    },
  },
  additionalPrinterColumns: [
    { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
    { name: 'Color', type: 'string', jsonPath: '.spec.color', priority: 1 },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
})
const crd = (plural: string, spec: object = {}): object =>
  of('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `${plural}.diff.example.com`, {
    spec: {
      group: 'diff.example.com',
      scope: 'Namespaced',
      names: {
        plural,
        kind: plural === 'widgets' ? 'Widget' : 'Thing',
        shortNames: plural === 'widgets' ? ['wd'] : [],
      },
      versions: [version('v1', true), version('v2', false)],
      ...spec,
    },
  })
const widget = (name: string, spec: unknown, rest: object = {}, metadata: object = {}): object =>
  of('diff.example.com/v1', 'Widget', name, { spec, ...rest }, metadata)
/** 1.20 learns the lists of a new schema some time after its objects are served. */
const LATE = 'server-side apply knows the schema late'
const bad = (rest: object): Rest => ({ only: ['code', 'reason', 'details.causes.*.field'], ...rest })
const schema = (openAPIV3Schema: object): object => ({
  versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
})

export const definitions: Script = {
  name: 'definitions',
  peers: ['kube-apiserver', 'apiextensions'],
  steps: [
    post(CRDS, crd('widgets'), {
      only: ['spec', 'metadata.name', 'metadata.generation', 'status.storedVersions'],
      save: { rv: 'metadata.resourceVersion' },
    }),
    get(`${CRDS}?watch=1&resourceVersion={rv}&fieldSelector=metadata.name%3Dwidgets.diff.example.com`, {
      until: 'InitialNamesAccepted',
    }),
    post(CRDS, crd('widgets')),
    ...[
      crd('things', { group: 'other.example.com' }),
      crd('things', { scope: 'Nowhere' }),
      crd('things', { versions: [] }),
      crd('things', { versions: [version('v1', true), version('v2', true)] }),
      crd('things', { versions: [{ name: 'v1', served: true, storage: true }] }),
      crd('things', schema({ type: 'array' })),
      crd('things', schema({ type: 'object', properties: { a: {} } })),
      crd('things', schema({ type: 'object', properties: { a: { type: 'string', default: 5 } } })),
      crd('things', schema({ type: 'object', properties: { a: { type: 'array' } } })),
      crd(
        'things',
        schema({
          type: 'object',
          properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } },
        }),
      ),
      crd('things', { names: { plural: 'things', kind: 'bad kind' } }),
      crd('things', { versions: [version('nope!', true)] }),
    ].map(body => post(CRDS, body, bad({ unlike120: { '?body.details.causes': 'it goes on to the status' } }))),
    get(`${CRDS}/widgets.diff.example.com`, { only: ['metadata.name', 'spec.conversion', 'spec.names'] }),
    table(`${CRDS}/widgets.diff.example.com`, { only: ['columnDefinitions.*.name', 'rows.*.cells'] }),
    put(`${CRDS}/widgets.diff.example.com`, crd('widgets'), { only: ['code', 'message'] }),
    get('/apis/diff.example.com', { only: ['kind', 'name', 'versions', 'preferredVersion'] }),
    get('/apis/diff.example.com/v1', {
      only: [
        'kind',
        'groupVersion',
        'resources.*.name',
        'resources.*.verbs',
        'resources.*.kind',
        'resources.*.shortNames',
        'resources.*.singularName',
        'resources.*.namespaced',
      ],
    }),
  ],
}

export const customResources: Script = {
  name: 'custom-resources',
  peers: ['kube-apiserver', 'apiextensions'],
  managedFields: true,
  steps: [
    post(W, widget('a', { size: 2 }), { save: { rv: 'metadata.resourceVersion' } }),
    get(`${W}/a`),
    get(`${V2}/a`),
    get(W, { only: ['kind', 'apiVersion', 'items'] }),
    table(`${W}/a`),
    table(W, { only: ['columnDefinitions', 'rows.*.cells'] }),
    ...[
      widget('b', {}),
      widget('b', { size: 0 }),
      widget('b', { size: 11 }),
      widget('b', { size: 'x' }),
      widget('b', { size: 1.5 }),
      widget('b', { size: 1, color: 'green' }),
      widget('b', { size: 1, list: [{ n: 1 }] }),
      widget('b', { size: 1, list: [{ name: 'x' }, { name: 'x' }] }),
      widget('b', { size: 1, set: ['x', 'x'] }),
      widget('b', { size: 1, pattern: 'b' }),
      widget('b', { size: 1, pattern: 'aaaa' }),
      widget('b', { size: 1, map: { a: 'b' } }),
      widget('b', { size: 1, when: 'yesterday' }),
      widget('b', 'text'),
      widget('b', [], {}),
    ].map(body =>
      post(W, body, {
        only: ['code', 'reason', 'details.causes.*.field', 'details.causes.*.reason'],
        unlike120: { '?body.details': 'it knows fewer types of causes, and tells some twice' },
      }),
    ),
    post(
      W,
      widget(
        'full',
        {
          size: 1,
          either: 'x',
          any: { deep: { er: [1] } },
          maybe: null,
          map: { a: 1 },
          set: ['b', 'a'],
          list: [{ name: 'x', n: 1 }],
          unknown: 'dropped',
        },
        { status: { replicas: 5 }, extra: 1 },
      ),
      {
        unlike120: { 'headers.warning': '1.25: field validation', 'body.metadata.managedFields': LATE },
      },
    ),
    post(W, { ...widget('no-kind', { size: 1 }), kind: undefined }, { only: ['code', 'reason'] }),
    post(
      W,
      { ...widget('wrong', { size: 1 }), apiVersion: 'diff.example.com/v2' },
      { only: ['code', 'reason', 'message'] },
    ),
    put(`${W}/a`, widget('a', { size: 3 })),
    put(`${W}/a`, widget('a', { size: 3 }, {}, { resourceVersion: '1' }), { only: ['code', 'message'] }),
    put(`${W}/a`, widget('a', { size: 3 }, {}, { resourceVersion: '{rv}' })),
    put(`${W}/a/status`, widget('a', { size: 9 }, { status: { replicas: 1 } })),
    merge(
      `${W}/a/status`,
      { status: { replicas: 2, selector: 'a=b' }, spec: { size: 9 } },
      { unlike120: { 'body.metadata.managedFields': 'entries name their sub-resource since 1.22' } },
    ),
    merge(
      `${W}/a/status`,
      { status: { replicas: 'x' } },
      {
        only: ['code', 'details.causes.*.field'],
        unlike120: { '?body.details': 'it tells it twice' },
      },
    ),
    get(`${W}/a/scale`),
    put(`${W}/a/scale`, {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'a', namespace: '{ns}' },
      spec: { replicas: 4 },
    }),
    put(
      `${W}/a/scale`,
      {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'a', namespace: '{ns}' },
        spec: { replicas: 40 },
      },
      { only: ['code', 'reason'] },
    ),
    merge(`${W}/a/scale`, { spec: { replicas: 5 } }),
    merge(`${W}/a`, { metadata: { labels: { a: 'b' } } }, { only: ['metadata.generation', 'metadata.labels', 'spec'] }),
    merge(`${W}/a`, { spec: { size: 6 } }, { only: ['metadata.generation', 'spec'] }),
    merge(`${W}/a`, { spec: { size: 6 } }, { only: ['metadata.generation', 'spec'] }),
    merge(`${W}/a`, { spec: { size: 60 } }, { only: ['code', 'message'] }),
    json(`${W}/a`, [{ op: 'replace', path: '/spec/size', value: 7 }], { only: ['spec'] }),
    strategic(`${W}/a`, { spec: { size: 8 } }, { only: ['code', 'reason', 'message'] }),
    merge(`${W}/a`, { spec: null }, { only: ['code', 'spec', 'metadata.generation'] }),
    post(`${W}/a`, widget('a', { size: 1 }), {
      only: ['code', 'reason', 'message'],
      unlike120: { '': 'it does not look at the name' },
      unlikeToday: { '': 'it does not look at the name' },
    }),
    { method: 'POST', path: `${W}/a/status`, body: widget('a', { size: 1 }), only: ['code', 'reason', 'message'] },
    get(`${W}/a/nonsense`, { only: ['code', 'reason'] }),
    apply(`${W}/ssa?fieldManager=one`, widget('ssa', { size: 1, list: [{ name: 'x', n: 1 }], set: ['a'] }), {
      since: LATE,
    }),
    apply(`${W}/ssa?fieldManager=two`, widget('ssa', { size: 1, list: [{ name: 'y', n: 1 }], set: ['b'] }), {
      since: LATE,
    }),
    apply(`${W}/ssa?fieldManager=two`, widget('ssa', { size: 2, list: [{ name: 'x', n: 2 }] }), {
      only: ['code', 'message', 'details.causes'],
      since: LATE,
    }),
    apply(`${W}/ssa?fieldManager=two&force=true`, widget('ssa', { size: 2, list: [{ name: 'x', n: 2 }] }), {
      since: LATE,
    }),
    apply(`${W}/ssa?fieldManager=one`, widget('ssa', { color: 'blue' }), { only: ['code', 'spec'], since: LATE }),
    apply(`${W}/ssa?fieldManager=one`, widget('ssa', { size: 2, nonsense: 1 }), {
      only: ['code', 'reason'],
      since: LATE,
      unlikeToday: { '': "it is the client's mistake" },
    }),
    get(`${W}?fieldSelector=metadata.name%3Da`, { only: ['items.*.metadata.name'] }),
    get(`${W}?fieldSelector=spec.size%3D1`),
    get(`${W}?limit=1`, { only: ['items.*.metadata.name'] }),
    watch(`${W}?watch=1&resourceVersion={rv}`, 3, { only: ['type', 'object.metadata.name', 'object.spec'] }),
    del(`${W}/a`),
    del(`${W}?labelSelector=none`, undefined, { only: ['kind', 'items'] }),
    del(CRDS.concat('/widgets.diff.example.com'), undefined, { only: ['code', 'kind'] }),
  ],
}
