/** Writes whose body and URL disagree about which object is meant, or about which version of it. */
import { apply, del, get, json, merge, post, put, type Rest, type Script, type Step, unlike } from '../script.ts'
import { CM, configMap, NS, of } from './bodies.ts'

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases'
const lease = (name: string, metadata: object = {}): object =>
  of('coordination.k8s.io/v1', 'Lease', name, { spec: { holderIdentity: 'h' } }, metadata)
const role = (name: string, metadata: object = {}): object =>
  of(
    'rbac.authorization.k8s.io/v1',
    'ClusterRole',
    name,
    { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
    metadata,
  )
const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles'

const GROUP = 'identities.example.com'
const GADGETS = `/apis/${GROUP}/v1/namespaces/{ns}/gadgets`
const gadget = (name: string, metadata: object = {}): object => of(`${GROUP}/v1`, 'Gadget', name, { size: 1 }, metadata)
const definition = of('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `gadgets.${GROUP}`, {
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
})

/** They call the client's mistake their own. */
const NO_500: Rest = {
  unlikeToday: { '?code': 'it says 500', '?body': 'as above' },
  unlike120: {
    code: 'it says 500',
    'body.code': 'it says 500',
    'body.reason': 'it says 500',
    '?body.message': 'it names what is in its Go code',
    '?body.details': 'it has none',
  },
}
const KEYS: Rest = {
  unlike120: { 'body.message': 'it names keys of etcd' },
  unlikeToday: { 'body.message': 'it names keys of etcd' },
}
const WORDS: Rest = {
  unlike120: { '?body.message': 'decoders word it differently', '?body.details.causes': 'as above' },
  unlikeToday: { '?body.message': 'decoders word it differently', '?body.details.causes': 'as above' },
}
const NO_VERSION: Rest = { unlike120: { '?code': 'it says 500 for custom resources', '?body': 'as above' } }
const TWICE = { 'body.details.causes': 'it tells it twice', '?body.message': 'as above' }
const TOLD_TWICE: Rest = { unlikeToday: TWICE }
/** An object without a namespace may name any. */
const ELSEWHERE: Rest = { unlike120: { '?body.message': 'it words it otherwise than for a POST' } }
const APPLIED_KIND: Rest = { unlike120: NO_500.unlike120! }
const APPLIED_VERSION: Rest = { unlike120: { 'body.message': 'it speaks of the version alone' } }
const TIMES: Rest = {
  unlike120: { 'body.message': 'it shows times as Go does', 'body.details.causes.0.message': 'as above' },
  unlikeToday: TWICE,
}
/** Only kinds that an update makes look at the uid where nothing is. */
const LOOKS_FIRST: Rest = { unlike120: { '?body': 'it looks at the uid first', '?code': 'as above' } }
const GENERATED_NAME: Rest = unlike('1.30: the name is taken, however it came about')

/** The same mistakes for one kind; `{rv}` and `{uid}` are those of the object `a`. */
const mistakes = (path: string, make: (name: string, metadata?: object) => object): Step[] => {
  const body = (metadata: object, rest: object = {}): object => {
    const whole = make('a', metadata) as { metadata: Record<string, unknown> }
    for (const [name, value] of Object.entries(whole.metadata)) if (value === undefined) delete whole.metadata[name]
    return { ...whole, ...rest }
  }
  return [
    post(path, make('a'), { save: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' } }),
    // versions
    put(`${path}/a`, body({ resourceVersion: 'x' }), NO_500),
    put(`${path}/a`, body({ resourceVersion: '-1' }), NO_500),
    put(`${path}/a`, body({ resourceVersion: '0' })),
    put(`${path}/a`, body({ resourceVersion: '1' })),
    put(`${path}/a`, body({ resourceVersion: '99999999' })),
    put(`${path}/a`, body({ resourceVersion: '99999999999999999999999' }), NO_500),
    put(`${path}/a`, body({ resourceVersion: '' })),
    put(`${path}/a`, body({ resourceVersion: 5 }), WORDS),
    // identities
    put(`${path}/a`, body({ resourceVersion: '{rv}', uid: 'other' }), KEYS),
    put(`${path}/a`, body({ resourceVersion: '1', uid: 'other' }), KEYS),
    put(`${path}/a`, body({ resourceVersion: '{rv}', name: 'b' })),
    put(`${path}/a`, body({ resourceVersion: '{rv}', name: '' })),
    put(`${path}/a`, body({ resourceVersion: '{rv}', name: undefined })),
    put(`${path}/a`, body({ resourceVersion: '{rv}', name: undefined, generateName: 'a' })),
    put(`${path}/a`, body({ resourceVersion: '{rv}', name: 7 }), WORDS),
    put(`${path}/a`, body({ resourceVersion: '{rv}', namespace: 'elsewhere' }), ELSEWHERE),
    put(`${path}/a`, body({ resourceVersion: '{rv}', namespace: '' })),
    put(`${path}/a`, body({ resourceVersion: '{rv}' }, { kind: 'Secret' }), WORDS),
    put(`${path}/a`, body({ resourceVersion: '{rv}' }, { kind: 'Nonsense' }), WORDS),
    put(`${path}/a`, body({ resourceVersion: '{rv}' }, { kind: 'ConfigMap' }), WORDS),
    put(`${path}/a`, body({}, { kind: '' }), WORDS),
    put(`${path}/a`, body({ resourceVersion: '{rv}' }, { apiVersion: 'v2' }), WORDS),
    put(`${path}/a`, body({ resourceVersion: '{rv}' }, { apiVersion: 'apps/v1beta9' }), WORDS),
    put(`${path}/a`, body({ resourceVersion: '{rv}' }, { apiVersion: 'a/b/c' }), WORDS),
    put(`${path}/a`, body({}, { apiVersion: '' }), NO_VERSION),
    put(`${path}/a`, body({ resourceVersion: '{rv}' }, { metadata: null })),
    put(`${path}/a`, body({ resourceVersion: '{rv}' }, { metadata: [] }), WORDS),
    get(`${path}/a`),
    // nothing there
    put(`${path}/gone`, make('gone')),
    put(`${path}/gone`, make('gone', { resourceVersion: '{rv}' })),
    put(`${path}/gone`, make('gone', { resourceVersion: '{rv}', uid: '{uid}' }), LOOKS_FIRST),
    put(`${path}/gone2`, make('gone2', { uid: '{uid}' }), LOOKS_FIRST),
    put(`${path}/Bad_Name`, make('Bad_Name')),
    // the system's own fields
    put(
      `${path}/a`,
      body({
        resourceVersion: '{rv}',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 3,
        generation: 77,
        selfLink: '/self',
        generateName: 'changed',
      }),
      TIMES,
    ),
    // patches
    merge(`${path}/a`, { metadata: { resourceVersion: '1' } }),
    merge(`${path}/a`, { metadata: { resourceVersion: 'x' } }, NO_500),
    merge(`${path}/a`, { metadata: { resourceVersion: null } }),
    merge(`${path}/a`, { metadata: { uid: 'other' } }, TOLD_TWICE),
    merge(`${path}/a`, { metadata: { uid: null } }),
    merge(`${path}/a`, { metadata: { name: 'b' } }),
    merge(`${path}/a`, { metadata: { name: null } }),
    merge(`${path}/a`, { metadata: { namespace: 'elsewhere' } }, ELSEWHERE),
    merge(`${path}/a`, { metadata: { creationTimestamp: null, generateName: 'z' } }),
    merge(`${path}/a`, { kind: 'Secret' }, WORDS),
    merge(`${path}/a`, { apiVersion: 'v2' }, WORDS),
    merge(`${path}/a`, { metadata: null }),
    merge(`${path}/a`, { kind: null }, WORDS),
    merge(`${path}/gone`, { metadata: { labels: { a: 'b' } } }),
    json(`${path}/a`, [{ op: 'replace', path: '/metadata/name', value: 'b' }]),
    json(`${path}/a`, [{ op: 'replace', path: '/metadata/uid', value: 'other' }], TOLD_TWICE),
    json(`${path}/a`, [{ op: 'remove', path: '/metadata/resourceVersion' }]),
    json(`${path}/a`, [{ op: 'remove', path: '/kind' }], WORDS),
    json(`${path}/a`, [{ op: 'remove', path: '/metadata' }]),
    // creation
    post(path, make('a')),
    post(path, make('a', { generateName: 'a-gen-' }), GENERATED_NAME),
    post(path, make('n1', { resourceVersion: 'x' })),
    post(path, make('n2', { resourceVersion: '0' })),
    post(path, make('n3', { resourceVersion: '7' }), NO_500),
    post(path, make('n4', { uid: 'mine' })),
    post(path, make('n5', { namespace: 'elsewhere' })),
    post(path, make('n6', { namespace: '' })),
    post(path, body({ name: '' })),
    post(path, body({ name: 5 }), WORDS),
    post(path, body({ name: undefined, generateName: `${'long'.repeat(80)}-` }), { only: ['code', 'reason', 'kind'] }),
    post(path, body({ name: 'n7' }, { kind: 'Secret' }), WORDS),
    post(path, body({ name: 'n7' }, { apiVersion: 'v7' }), WORDS),
    post(path, body({ name: 'a/b' })),
    post(path, body({ name: '..' })),
    post(path, body({ name: 'a%b' })),
    post(path, body({ name: ' a' })),
    // apply
    apply(`${path}/a?fieldManager=m`, body({ name: 'b' })),
    apply(`${path}/a?fieldManager=m`, body({ name: undefined })),
    apply(`${path}/a?fieldManager=m`, body({ namespace: 'elsewhere' }), {
      unlike120: {
        ...ELSEWHERE.unlike120,
        '?body.metadata.resourceVersion': 'it writes the time of a claim that is renewed',
      },
    }),
    apply(`${path}/a?fieldManager=m`, body({ resourceVersion: '1' })),
    apply(`${path}/a?fieldManager=m`, body({ uid: 'other' }), TOLD_TWICE),
    apply(`${path}/a?fieldManager=m`, body({}, { kind: 'Secret' }), APPLIED_KIND),
    apply(`${path}/a?fieldManager=m`, body({}, { apiVersion: 'v7' }), APPLIED_VERSION),
    apply(`${path}/a?fieldManager=m`, body({ managedFields: [{ manager: 'x' }] })),
    apply(`${path}/new1?fieldManager=m`, make('new1', { uid: 'mine' })),
    apply(`${path}/new2?fieldManager=m`, make('new2', { resourceVersion: '5' })),
    // deletion
    del(`${path}/a`, { preconditions: { uid: 'other', resourceVersion: '1' } }),
    del(`${path}/a`, { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { resourceVersion: 'x' } }),
    del(`${path}/a`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }, NO_500),
    del(`${path}/a`),
    del(`${path}/a`),
    put(`${path}/a`, body({ uid: '{uid}', resourceVersion: '{rv}' }), LOOKS_FIRST),
  ]
}

export const identities: Script = {
  name: 'identities',
  steps: mistakes(CM, (name, metadata) => configMap(name, { k: 'v' }, metadata)),
}
export const identitiesOfOthers: Script = {
  name: 'identities-others',
  steps: [
    ...mistakes(LEASES, lease),
    ...mistakes(ROLES, role),
    // who may only change may not create
    post(ROLES, {
      ...role('identities-changer'),
      rules: [
        {
          apiGroups: ['', 'coordination.k8s.io'],
          resources: ['configmaps', 'leases'],
          verbs: ['update', 'patch', 'get'],
        },
      ],
    }),
    post(ROLES.replace('clusterroles', 'clusterrolebindings'), {
      ...of('rbac.authorization.k8s.io/v1', 'ClusterRoleBinding', 'identities-changer'),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'identities-changer' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'changer' }],
    }),
    put(`${LEASES}/by-changer`, lease('by-changer'), { as: 'changer' }),
    put(`${LEASES}/by-changer?dryRun=All`, lease('by-changer'), { as: 'changer' }),
    put(`${CM}/by-changer`, configMap('by-changer'), { as: 'changer' }),
    apply(`${CM}/by-changer?fieldManager=m`, configMap('by-changer'), { as: 'changer' }),
    apply(`${CM}/by-changer?fieldManager=m&dryRun=All`, configMap('by-changer'), { as: 'changer' }),
    apply(`${CM}/by-changer?fieldManager=m`, configMap('by-changer', { k: 'v' })),
    apply(`${CM}/by-changer?fieldManager=m`, configMap('by-changer', { k: 'w' }), { as: 'changer' }),
    put(`${NS}/status`, of('v1', 'Namespace', '{ns}', {}, { uid: 'other' }), KEYS),
    put(`${NS}/status`, of('v1', 'Namespace', 'other')),
    put(`${NS}/finalize`, of('v1', 'Namespace', 'other')),
  ],
}
export const identitiesOfCustomResources: Script = {
  name: 'identities-custom',
  peers: ['kube-apiserver', 'apiextensions'],
  steps: [
    post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition, { only: ['code', 'kind'] }),
    {
      ...get(
        `/apis/apiextensions.k8s.io/v1/customresourcedefinitions?watch=1&fieldSelector=metadata.name%3Dgadgets.${GROUP}`,
      ),
      until: 'InitialNamesAccepted',
    },
    ...mistakes(GADGETS, gadget),
  ],
}
