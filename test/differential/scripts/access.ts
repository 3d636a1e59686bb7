/** Rights and refusals; discovery and OpenAPI documents. */
import { get, merge, post, put, type Rest, type Script, type Step, table } from '../script.ts'
import { CM, configMap, NS, of } from './bodies.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const ROLES = `${RBAC}/namespaces/{ns}/roles`
const BINDINGS = `${RBAC}/namespaces/{ns}/rolebindings`
const rule = (resources: string[], verbs: string[], more: object = {}): object => ({
  apiGroups: [''],
  resources,
  verbs,
  ...more,
})
const role = (name: string, ...rules: object[]): object => of('rbac.authorization.k8s.io/v1', 'Role', name, { rules })
const binding = (name: string, to: string, user: string): object =>
  of('rbac.authorization.k8s.io/v1', 'RoleBinding', name, {
    subjects: [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }],
    roleRef: { kind: 'Role', name: to, apiGroup: 'rbac.authorization.k8s.io' },
  })
const as = (step: Step, user = 'jane'): Step => ({ ...step, as: user })
const may = (resourceAttributes: object): object => ({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SelfSubjectAccessReview',
  spec: { resourceAttributes },
})
/** Reviews are answered, not kept: who would own their fields does not matter. */
const REVIEW: Rest = { only: ['kind', 'spec', 'status'] }
const REFUSED: Rest = { only: ['code', 'reason', 'message'] }
const OWNER = { apiVersion: 'v1', kind: 'ConfigMap', name: 'c', uid: '00000000-0000-0000-0000-000000000001' }
const SSAR = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

export const access: Script = {
  name: 'access',
  managedFields: true,
  steps: [
    as(get(CM)),
    as(get(`${CM}/a`)),
    as(get('/api/v1/configmaps')),
    as(post(CM, configMap('x'))),
    as(put(`${CM}/x`, configMap('x'))),
    as(merge(`${CM}/x`, {})),
    as({ method: 'DELETE', path: `${CM}/x` }),
    as({ method: 'DELETE', path: CM }),
    as(get(`${CM}?watch=1`)),
    as(get('/api/v1/namespaces/{ns}')),
    as(get('/apis/apps/v1/namespaces/{ns}/deployments/d/scale')),
    as(get('/apis/nonsense.example.com/v1/namespaces/{ns}/things')),
    as(get('/metrics')),
    as(get('/api', { only: ['kind', 'versions'] })),
    as(get('/healthz')),
    as(get('/nonsense')),
    post(
      ROLES,
      role('reader', rule(['configmaps'], ['get', 'list']), rule(['secrets'], ['get'], { resourceNames: ['one'] })),
    ),
    table(`${ROLES}/reader`, { only: ['columnDefinitions.*.name', 'rows.*.cells.0'] }),
    post(BINDINGS, binding('readers', 'reader', 'jane')),
    table(`${BINDINGS}/readers`),
    post(ROLES, role('bad', {})),
    post(ROLES, role('bad2', rule([], ['get']))),
    post(ROLES, of('rbac.authorization.k8s.io/v1', 'Role', 'none')),
    post(
      BINDINGS,
      of('rbac.authorization.k8s.io/v1', 'RoleBinding', 'bad', { roleRef: { kind: 'Nope', name: '', apiGroup: 'x' } }),
    ),
    post(
      BINDINGS,
      of('rbac.authorization.k8s.io/v1', 'RoleBinding', 'short', {
        subjects: [
          { kind: 'ServiceAccount', name: 'sa', namespace: 'x' },
          { kind: 'User', name: 'u' },
        ],
        roleRef: { kind: 'ClusterRole', name: 'view' },
      }),
    ),
    post(
      BINDINGS,
      of('rbac.authorization.k8s.io/v1', 'RoleBinding', 'bad2', {
        subjects: [
          { kind: 'Nope', name: 'u' },
          { kind: 'ServiceAccount', name: 'x' },
        ],
        roleRef: { kind: 'Role', name: 'reader' },
      }),
    ),
    merge(`${BINDINGS}/readers`, { roleRef: { name: 'other' } }),
    as(get(CM, { only: ['kind'] })),
    as(get(`${CM}/nope`)),
    as(post(CM, configMap('x'))),
    as(get(`${NS}/secrets/one`)),
    as(get(`${NS}/secrets/two`)),
    as(get(`${NS}/secrets?fieldSelector=metadata.name%3Done`)),
    as(post(SSAR, may({ namespace: '{ns}', verb: 'get', resource: 'configmaps' }), REVIEW)),
    as(post(SSAR, may({ namespace: '{ns}', verb: 'delete', resource: 'configmaps' }), REVIEW)),
    post(
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: 'jane',
          groups: ['system:authenticated'],
          resourceAttributes: { namespace: '{ns}', verb: 'list', resource: 'configmaps' },
        },
      },
      REVIEW,
    ),
    post(
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user: 'jane', groups: ['system:authenticated'], nonResourceAttributes: { path: '/x', verb: 'get' } },
      },
      REVIEW,
    ),
    post(
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: {} },
      { unlike120: { body: 'it quotes the null' } },
    ),
    post('/apis/authorization.k8s.io/v1/namespaces/{ns}/localsubjectaccessreviews', {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'LocalSubjectAccessReview',
      spec: { user: 'jane', resourceAttributes: { namespace: 'other', verb: 'list', resource: 'configmaps' } },
    }),
    as(
      post(
        '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
        { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace: '{ns}' } },
        { only: ['kind', 'status.incomplete'] },
      ),
    ),
    post(
      '/apis/authentication.k8s.io/v1/tokenreviews',
      { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: 'nonsense' } },
      { only: ['kind', 'spec', 'status.authenticated'] },
    ),
    // nobody gives away what they do not have
    post(ROLES, role('writer', rule(['roles'], ['*'], { apiGroups: ['rbac.authorization.k8s.io'] })), {
      only: ['metadata.name'],
    }),
    post(BINDINGS, binding('writers', 'writer', 'joe'), { only: ['metadata.name'] }),
    as(post(ROLES, role('more', rule(['pods'], ['get'])), { only: ['code', 'reason'] }), 'joe'),
    as(
      post(ROLES, role('less', rule(['roles'], ['get'], { apiGroups: ['rbac.authorization.k8s.io'] })), {
        only: ['code', 'metadata.name'],
      }),
      'joe',
    ),
    as(post(BINDINGS, binding('more', 'reader', 'joe')), 'joe'),
    // nor changes what grants it, be it a label; but for owners (which asks for delete) and finalizers
    post(
      ROLES,
      role(
        'clerk',
        rule(['roles', 'rolebindings'], ['get', 'update', 'patch', 'delete'], {
          apiGroups: ['rbac.authorization.k8s.io'],
        }),
      ),
      { only: ['metadata.name'] },
    ),
    post(BINDINGS, binding('clerks', 'clerk', 'jim'), { only: ['metadata.name'] }),
    ...[`${ROLES}/reader`, `${BINDINGS}/readers`].flatMap(path => [
      as(merge(path, { metadata: { labels: { a: 'b' } } }, REFUSED), 'jim'),
      as(merge(path, { metadata: { annotations: { a: 'b' } } }, REFUSED), 'jim'),
      as(merge(path, { metadata: { generateName: 'x' } }, REFUSED), 'jim'),
      as(merge(path, { metadata: { labels: {} } }, { only: ['code', 'metadata.name'] }), 'jim'),
      as(
        merge(path, { metadata: { ownerReferences: [OWNER] } }, { only: ['code', 'metadata.ownerReferences'] }),
        'jim',
      ),
      as(merge(path, { metadata: { finalizers: ['a.io/b'] } }, { only: ['code', 'metadata.finalizers'] }), 'jim'),
      as(merge(path, { metadata: { finalizers: null, labels: { a: 'b' } } }, REFUSED), 'jim'),
      as(merge(path, { metadata: { finalizers: null } }, { only: ['code', 'metadata.finalizers'] }), 'jim'),
    ]),
    as(merge(`${ROLES}/clerk`, { metadata: { labels: { a: 'b' } } }, { only: ['code', 'metadata.labels'] }), 'jim'),
    post(
      `${RBAC}/clusterroles`,
      of('rbac.authorization.k8s.io/v1', 'ClusterRole', 'agg-diff', {
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { never: 'there' } }] },
        rules: [],
      }),
    ),
    post(
      `${RBAC}/clusterroles`,
      of('rbac.authorization.k8s.io/v1', 'ClusterRole', 'nr-diff', {
        rules: [{ nonResourceURLs: ['/x'], verbs: ['get'] }],
      }),
    ),
    post(
      `${RBAC}/clusterroles`,
      of('rbac.authorization.k8s.io/v1', 'ClusterRole', 'nr-bad', {
        rules: [{ nonResourceURLs: ['/x'], apiGroups: [''], resources: ['x'], verbs: ['get'] }],
      }),
    ),
    get(CM, { headers: { 'Impersonate-User': 'jane', 'Impersonate-Group': 'system:masters' }, only: ['kind'] }),
    get(CM, { headers: { 'Impersonate-Group': 'x' }, only: ['code', 'reason'], unlike120: { '': 'it says 500' } }),
  ],
}

const resources = ['kind', 'groupVersion']
const SAME_GROUPS = [
  '',
  'apps',
  'autoscaling',
  'networking.k8s.io',
  'rbac.authorization.k8s.io',
  'coordination.k8s.io',
  'scheduling.k8s.io',
  'events.k8s.io',
  'certificates.k8s.io',
  'apiextensions.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
]

export const discovery: Script = {
  name: 'discovery',
  steps: [
    get('/api', { only: ['kind', 'versions'] }),
    get('/api/', { only: ['code', 'kind'] }),
    get('/apis', { only: ['kind', 'apiVersion'] }),
    get('/api/v9'),
    get('/apis/nonsense.example.com', { unlike120: { '': 'it answers plain text' } }),
    get('/apis/apps/v9'),
    ...SAME_GROUPS.map(group => get(group === '' ? '/api/v1' : `/apis/${group}/v1`, { only: resources })),
    get('/apis/apps'),
    get('/apis/rbac.authorization.k8s.io/v1', {
      only: ['resources.*.name', 'resources.*.verbs', 'resources.*.namespaced'],
    }),
    get('/apis/apps/v1', {
      only: [
        'resources.*.name',
        'resources.*.verbs',
        'resources.*.shortNames',
        'resources.*.categories',
        'resources.*.kind',
        'resources.*.group',
        'resources.*.version',
      ],
    }),
    get('/version', { only: ['major', 'compiler'], unlike120: { 'body.compiler': 'another compiler' } }),
    get('/healthz', { only: [] }),
    get('/livez'),
    get('/readyz'),
    get('/openapi/v2', {
      unlike120: { headers: 'it says text/plain' },
      only: [
        'swagger',
        'paths./api/v1/namespaces/{namespace}/configmaps.post.x-kubernetes-group-version-kind',
        'definitions.io~1k8s~1api~1core~1v1~1ConfigMap.x-kubernetes-group-version-kind',
        'definitions.io~1k8s~1api~1core~1v1~1ConfigMap.type',
      ],
    }),
    get('/nonsense', { only: ['code'], unlike120: { body: 'it lists its paths' } }),
    get('/', { only: ['kind'] }),
  ],
}
