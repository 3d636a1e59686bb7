/** Refusals of kinds about access, admission and served APIs, field by field. */
import type { Script } from '../../script.ts'
import { CA, IN, type Refused, refuse, since, unlike } from './refuse.ts'

const roles: Refused = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'Role',
  path: `/apis/rbac.authorization.k8s.io/v1/${IN}/roles`,
}
const clusterRoles: Refused = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  path: '/apis/rbac.authorization.k8s.io/v1/clusterroles',
}
const bindings: Refused = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  path: `/apis/rbac.authorization.k8s.io/v1/${IN}/rolebindings`,
  base: { roleRef: { kind: 'ClusterRole', name: 'view' } },
}
const clusterBindings: Refused = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  path: '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings',
  base: { roleRef: { kind: 'ClusterRole', name: 'view' } },
}
const webhooks: Refused = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  path: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
}
const HOOK = {
  name: 'a.b.c',
  clientConfig: { url: 'https://a.example' },
  rules: [],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
}
const RULE = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }
const hook = (...all: readonly object[]): object => ({
  webhooks: all.map((each, i) => ({ ...HOOK, name: `h${i}.b.c`, ...each })),
})
const rules = (...all: readonly object[]): object => hook({ rules: all.map(each => ({ ...RULE, ...each })) })
const client = (...all: readonly object[]): object => hook(...all.map(clientConfig => ({ clientConfig })))
const vaps: Refused = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
}
const maps: Refused = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingAdmissionPolicy',
  path: '/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies',
}
const vapBindings: Refused = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  path: '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings',
}
const MATCH = { matchConstraints: { resourceRules: [RULE] } }
const vap = (rest: object): object =>
  since('1.30', { spec: { ...MATCH, validations: [{ expression: 'true' }], ...rest } })
const map = (rest: object): object =>
  since('1.36', { spec: { ...MATCH, reinvocationPolicy: 'Never', mutations: [], ...rest } })
const bind = (rest: object): object =>
  since('1.30', { spec: { policyName: 'p', validationActions: ['Deny'], ...rest } })
const apiServices: Refused = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  path: '/apis/apiregistration.k8s.io/v1/apiservices',
}
const api = (rest: object, name = 'v1.a.b'): object => ({
  metadata: { name },
  spec: { group: 'a.b', version: 'v1', groupPriorityMinimum: 10, versionPriority: 10, ...rest },
})

export const accessRefusals: Script = {
  name: 'refusals-access',
  steps: [
    ...refuse(
      roles,
      { rules: [{ apiGroups: [''], resources: ['pods'] }] },
      { rules: [{ verbs: ['get'] }] },
      { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], apiGroups: [''], resources: ['a'] }] },
    ),
    ...refuse(
      clusterRoles,
      { rules: [{ verbs: ['get'], nonResourceURLs: ['/x'], resourceNames: ['a'] }] },
      { rules: null, aggregationRule: {} },
      { rules: null, aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'a b': 'c' } }] } },
      { rules: null, metadata: { name: 'a/b' } },
    ),
    ...refuse(
      bindings,
      { roleRef: { kind: 'Role', name: '' } },
      { roleRef: { apiGroup: 'x', kind: 'Robot', name: 'a/b' } },
      {
        subjects: [
          { kind: 'User', name: '' },
          { kind: 'Group', name: 'g', apiGroup: 'x' },
        ],
      },
      {
        subjects: [
          { kind: 'ServiceAccount', name: 'A_b', apiGroup: 'x' },
          { kind: 'Robot', name: 'r' },
        ],
      },
    ),
    ...refuse(
      clusterBindings,
      { roleRef: { kind: 'Role', name: 'r' } },
      { subjects: [{ kind: 'ServiceAccount', name: 's' }] },
    ),
    ...refuse(
      webhooks,
      hook({ name: '' }, { name: 'a.b' }, { name: 'A.b.c' }, { name: 'a.b.c' }, { name: 'a.b.c' }),
      hook({ failurePolicy: 'X', matchPolicy: 'X', sideEffects: 'Some', timeoutSeconds: 31 }),
      hook({ sideEffects: null, admissionReviewVersions: [] }),
      hook({ admissionReviewVersions: ['v1', 'v1', 'V2'] }, { admissionReviewVersions: ['v0'] }),
      hook({
        namespaceSelector: { matchLabels: { 'a b': 'c' } },
        objectSelector: { matchExpressions: [{ key: 'a' }] },
      }),
      rules({ operations: [] }, { operations: ['*', 'CREATE'] }, { operations: ['READ'] }),
      rules({ apiGroups: [] }, { apiGroups: ['*', 'a'] }, { apiVersions: [] }, { apiVersions: ['', '*'] }),
      rules({ resources: [] }, { resources: [''] }, { resources: ['*', 'pods'] }, { resources: ['pods', '*'] }),
      rules({ resources: ['pods/*', 'pods/status'] }, { resources: ['*/a', 'b/a'] }, { resources: ['*/*', 'a'] }),
      rules({ scope: 'Here' }),
      client({}, { url: 'https://a', service: { name: 'n', namespace: 'm' } }),
      unlike(
        'elder words',
        client({ service: { name: '', namespace: 'm' } }, { service: { name: 'n', namespace: '' } }),
      ),
      client({ service: { name: 'n', namespace: 'm', port: 70_000, path: 'a' } }),
      client(
        { service: { name: 'n', namespace: 'm', path: '//' } },
        { service: { name: 'n', namespace: 'm', path: '/a//B/' } },
      ),
      unlike('elder words', client({ url: 'http://a' }, { url: 'https://u@a/b?c#d' }, { url: 'https:///a' })),
      since(
        '1.28: match conditions',
        hook({
          matchConditions: [
            { name: '', expression: ' ' },
            { name: 'a b', expression: 'true' },
          ],
        }),
      ),
      since('1.28: match conditions', hook({ matchConditions: [1, 2].map(() => ({ name: 'a', expression: 'true' })) })),
    ),
    ...refuse(
      vaps,
      vap({ matchConstraints: null, validations: [] }),
      vap({ matchConstraints: { resourceRules: [] } }),
      vap({
        failurePolicy: 'X',
        matchConstraints: { matchPolicy: 'X', resourceRules: [{ ...RULE, resourceNames: ['a/b', 'c', 'c'] }] },
      }),
      vap({ matchConstraints: { resourceRules: [RULE], excludeResourceRules: [{ ...RULE, scope: 'Here' }] } }),
      vap({ paramKind: {} }),
      vap({ paramKind: { apiVersion: 'a/b/c', kind: 'A b' } }),
      vap({ paramKind: { apiVersion: 'A/', kind: 'K' } }),
      vap({ matchConditions: [{ name: 'a b', expression: '' }] }),
      vap({
        variables: [
          { name: 'in', expression: '1' },
          { name: ' ', expression: ' ' },
        ],
      }),
      vap({ validations: [{ expression: ' ', message: ' ', messageExpression: ' ', reason: 'Because' }] }),
      vap({ validations: [{ expression: 'true', message: 'a\nb' }] }),
      vap({
        auditAnnotations: [
          { key: 'a b', valueExpression: '' },
          { key: 'c', valueExpression: '"d"' },
          { key: 'c', valueExpression: '"d"' },
        ],
      }),
    ),
    ...refuse(
      maps,
      map({}),
      map({ mutations: [{}, { patchType: 'X' }, { patchType: 'JSONPatch' }], reinvocationPolicy: 'X' }),
      map({ mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: ' ' }, jsonPatch: {} }] }),
    ),
    ...refuse(
      vapBindings,
      bind({ policyName: '', validationActions: [] }),
      bind({ policyName: 'A', validationActions: ['Deny', 'Warn', 'Deny', 'X'] }),
      bind({ paramRef: {} }),
      bind({ paramRef: { name: 'a/b', selector: {}, parameterNotFoundAction: 'X' } }),
      bind({ matchResources: { resourceRules: [{ ...RULE, operations: [] }] } }),
    ),
    ...refuse(
      apiServices,
      api({}, 'v2.a.b'),
      api({ version: 'V1' }, 'V1.a.b'),
      api({ group: 'A', groupPriorityMinimum: 0, versionPriority: 1001 }, 'v1.A'),
      api({ group: '', version: 'v2' }, 'v2.'),
      api({ service: { port: 0 } }),
      api({ service: { name: 'n', namespace: 'm', port: 70_000 } }),
      api({ service: { name: 'n', namespace: 'm' }, insecureSkipTLSVerify: true, caBundle: CA }),
      api({ insecureSkipTLSVerify: true, caBundle: CA }),
    ),
  ],
}
