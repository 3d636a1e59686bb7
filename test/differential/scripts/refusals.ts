/** What kinds outside the core group refuse, field by field. Nothing is stored: all are tried. */
import { post, type Rest, type Script, type Step } from '../script.ts'
import { APPS, of, SELECTOR, TEMPLATE } from './bodies.ts'

const TRY = '?dryRun=All'
const IN = 'namespaces/{ns}'

interface Refused {
  apiVersion: string
  kind: string
  path: string
  /** What every body of the kind has. */
  base?: object
}

/** One refused creation for each body; a body may come with what its step says more. */
const refuse = (
  { apiVersion, kind, path, base = {} }: Refused,
  ...bodies: readonly (object | readonly [object, Rest])[]
): Step[] =>
  bodies.map((each, i) => {
    const [body, rest] = (Array.isArray(each) ? each : [each, {}]) as [Record<string, unknown>, Rest]
    const { metadata, ...fields } = body
    const name = `${kind.toLowerCase()}-${i}`
    return post(`${path}${TRY}`, of(apiVersion, kind, name, { ...base, ...fields }, metadata as object), rest)
  })
const since = (release: string, body: object): readonly [object, Rest] => [body, { since: release }]
const unlike = (why: string, body: object): readonly [object, Rest] => [body, { unlike120: { '?body': why } }]
/** Of 1.20, which thinks that these kinds live in another group. */
const OTHER_GROUP = { '?body.message': 'it names the group extensions', '?body.details.group': 'it names extensions' }
const ofOtherGroup = (steps: readonly Step[]): Step[] =>
  steps.map(step => ({ ...step, unlike120: { ...step.unlike120, ...OTHER_GROUP } }))

const POD = { containers: [{ name: 'c', image: 'registry.example/i:1' }] }
const spec = (rest: object = {}): object => ({ spec: { selector: SELECTOR, template: TEMPLATE, ...rest } })
const BAD_SELECTORS = [
  { selector: { matchExpressions: [{ key: 'app', operator: 'Near', values: ['x'] }] } },
  { selector: { matchExpressions: [{ key: 'app', operator: 'In' }] } },
  { selector: { matchLabels: { app: 'a b' } } },
  { selector: {} },
  { selector: null },
].map(rest => spec(rest))

const deployments: Refused = { apiVersion: 'apps/v1', kind: 'Deployment', path: `${APPS}/deployments` }
const replicaSets: Refused = { apiVersion: 'apps/v1', kind: 'ReplicaSet', path: `${APPS}/replicasets` }
const daemonSets: Refused = { apiVersion: 'apps/v1', kind: 'DaemonSet', path: `${APPS}/daemonsets` }
const statefulSets: Refused = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  path: `${APPS}/statefulsets`,
}
const jobs: Refused = { apiVersion: 'batch/v1', kind: 'Job', path: `/apis/batch/v1/${IN}/jobs` }
const cronJobs: Refused = { apiVersion: 'batch/v1', kind: 'CronJob', path: `/apis/batch/v1/${IN}/cronjobs` }
const rolling = (rollingUpdate: object, type = 'RollingUpdate'): object =>
  spec({ updateStrategy: { type, rollingUpdate } })
const job = (rest: object, podSpec: object = {}): object => ({
  spec: { template: { spec: { ...POD, restartPolicy: 'Never', ...podSpec } }, ...rest },
})
const cron = (rest: object, jobSpec: object = {}): object => ({
  spec: {
    schedule: '* * * * *',
    jobTemplate: { spec: { template: { spec: { ...POD, restartPolicy: 'Never' } }, ...jobSpec } },
    ...rest,
  },
})
const policy = (rules: readonly object[], rest: object = {}): object =>
  since('1.25: pod failure policies', job({ podFailurePolicy: { rules }, ...rest }))
const INDEXED = { completionMode: 'Indexed', completions: 5, parallelism: 2 }
const success = (rules: readonly object[]): object =>
  since('1.30: success policies', job({ ...INDEXED, successPolicy: { rules } }))
const NEWER_STATEFUL = 'since 1.27 its pods and claims are judged'

export const workloadRefusals: Script = {
  name: 'refusals-workloads',
  steps: [
    ...refuse(
      deployments,
      ...BAD_SELECTORS,
      spec({ strategy: { rollingUpdate: { maxSurge: 'abc', maxUnavailable: 0 } } }),
      spec({ strategy: { rollingUpdate: { maxSurge: '0%', maxUnavailable: '00%' } } }),
      spec({ strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } }),
      spec({ template: { ...TEMPLATE, spec: { ...POD, activeDeadlineSeconds: 5 } } }),
      spec({ minReadySeconds: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: -1 }),
    ),
    ...refuse(replicaSets, ...BAD_SELECTORS, spec({ minReadySeconds: -1, replicas: -1 })),
    ...refuse(
      daemonSets,
      ...BAD_SELECTORS.slice(0, 3),
      spec({ selector: {} }),
      since('1.22: surge', rolling({ maxSurge: 1, maxUnavailable: 1 })),
      since('1.22: surge', rolling({ maxSurge: 0, maxUnavailable: 0 })),
      since('1.22: surge', rolling({ maxSurge: '101%', maxUnavailable: 0 })),
      spec({ minReadySeconds: -1, revisionHistoryLimit: -1 }),
      spec({ updateStrategy: { type: 'Sometimes' } }),
    ),
    ...refuse(
      statefulSets,
      ...BAD_SELECTORS.map(body => [body, { unlike120: { '?body': NEWER_STATEFUL } }] as const),
      rolling({ partition: -1 }),
      rolling({ partition: 1 }, 'OnDelete'),
      rolling({}, 'Sometimes'),
      spec({ podManagementPolicy: 'Sometimes' }),
      since('1.24: more pods at a time', rolling({ maxUnavailable: 0 })),
      since('1.24: more pods at a time', rolling({ maxUnavailable: '150%' })),
      since('1.26: ordinals', spec({ ordinals: { start: -1 } })),
      since('1.23: claims are kept or not', spec({ persistentVolumeClaimRetentionPolicy: { whenScaled: 'Maybe' } })),
      since('1.33: names are labels', { ...spec(), metadata: { name: 'a.b' } }),
    ),
    ...refuse(
      { apiVersion: 'apps/v1', kind: 'ControllerRevision', path: `${APPS}/controllerrevisions` },
      { revision: 1 },
      { data: { a: 1 }, revision: -1 },
    ),
    ...refuse(
      jobs,
      job({
        parallelism: -1,
        completions: -1,
        activeDeadlineSeconds: -1,
        backoffLimit: -1,
      }),
      job({}, { restartPolicy: 'Always' }),
      job({ selector: SELECTOR }),
      job({ manualSelector: true }),
      job({ manualSelector: true, selector: { matchLabels: { a: 'b' } } }),
      since('1.21: completion modes', job({ completionMode: 'Sometimes' })),
      since('1.21: completion modes', job({ completionMode: 'Indexed', parallelism: 2 })),
      since('1.21: completion modes', job({ ...INDEXED, parallelism: 100_001 })),
      since('1.27: names of pods', { ...job(INDEXED), metadata: { name: 'a.b' } }),
      since('1.28: limits per index', job({ backoffLimitPerIndex: 1, maxFailedIndexes: 1 })),
      since('1.28: limits per index', job({ ...INDEXED, maxFailedIndexes: 6 })),
      since(
        '1.28: limits per index',
        job({ ...INDEXED, completions: 100_001, parallelism: 10_001, backoffLimitPerIndex: 1 }),
      ),
      since('1.28: when pods are replaced', job({ podReplacementPolicy: 'Sometimes' })),
      since('1.30: other managers', job({ managedBy: 'me' })),
      since('1.30: other managers', job({ managedBy: 'Example.com/me' })),
      since('1.30: other managers', job({ managedBy: `example.com/${'a'.repeat(63)}` })),
      policy([{ action: 'Ignore' }]),
      policy([{ action: 'Sometimes', onExitCodes: { operator: 'Near', values: [] } }]),
      policy([
        { onExitCodes: { operator: 'In', values: [0, 2, 1, 2] }, onPodConditions: [{ type: 'a b', status: 'Yes' }] },
      ]),
      policy([{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [1], containerName: 'd' } }]),
      policy([{ action: 'Count', onPodConditions: [{ type: 'Ready' }] }], {
        podReplacementPolicy: 'TerminatingOrFailed',
      }),
      since('1.25: pod failure policies', job({ podFailurePolicy: { rules: [] } }, { restartPolicy: 'OnFailure' })),
      success([]),
      success([{}]),
      success([{ succeededIndexes: '0-7', succeededCount: 9 }, { succeededIndexes: '3,1' }]),
      success([{ succeededIndexes: '1-2-3' }, { succeededIndexes: 'a' }, { succeededIndexes: '2-1' }]),
      success([{ succeededIndexes: '0-1', succeededCount: 3 }]),
      since('1.30: success policies', job({ successPolicy: { rules: [{ succeededCount: 1 }] } })),
    ),
    ...refuse(
      cronJobs,
      ...[
        cron({ schedule: '' }),
        cron({ schedule: '* * *' }),
        cron({ schedule: 'TZ=UTC * * * * *' }),
        cron({ schedule: 'CRON_TZ=Nowhere/City * * * * *' }),
        cron({ timeZone: '' }),
        cron({ timeZone: 'Local' }),
        cron({ timeZone: 'Nowhere/City' }),
        cron({ timeZone: '../UTC' }),
        cron({ concurrencyPolicy: 'Sometimes', startingDeadlineSeconds: -1 }),
        cron({ successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1 }),
        cron({}, { selector: SELECTOR, manualSelector: true }),
        cron({}, { backoffLimit: -1 }),
        { ...cron({}), metadata: { name: 'a'.repeat(53) } },
      ].map(body => since('1.21: batch/v1', body)),
    ),
  ],
}

const ingresses: Refused = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  path: `/apis/networking.k8s.io/v1/${IN}/ingresses`,
}
const service = (port: object, name = 's'): object => ({ service: { name, port } })
const BACKEND = service({ number: 80 })
const paths = (...all: readonly object[]): object => ({
  spec: { rules: [{ http: { paths: all.map(path => ({ backend: BACKEND, ...path })) } }] },
})
const classes: Refused = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IngressClass',
  path: '/apis/networking.k8s.io/v1/ingressclasses',
}
const policies: Refused = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  path: `/apis/networking.k8s.io/v1/${IN}/networkpolicies`,
}
const from = (...peers: readonly object[]): object => ({ spec: { podSelector: {}, ingress: [{ from: peers }] } })
const ports = (...all: readonly object[]): object => ({ spec: { podSelector: {}, egress: [{ ports: all }] } })
const slices: Refused = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  path: `/apis/discovery.k8s.io/v1/${IN}/endpointslices`,
  base: { addressType: 'IPv4', endpoints: [], ports: [] },
}
const endpoint = (rest: object): object => ({ endpoints: [{ addresses: ['1.2.3.4'], ...rest }] })
const addresses: Refused = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IPAddress',
  path: '/apis/networking.k8s.io/v1/ipaddresses',
}
const ranges: Refused = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  path: '/apis/networking.k8s.io/v1/servicecidrs',
}
const cidrs = (...all: readonly string[]): object => since('1.33', { spec: { cidrs: all } })
const parent = (name: string, parentRef?: object): object =>
  since('1.33', { metadata: { name }, spec: { ...(parentRef && { parentRef }) } })

export const networkRefusals: Script = {
  name: 'refusals-network',
  steps: [
    ...ofOtherGroup(
      refuse(
        ingresses,
        { spec: {} },
        { spec: { defaultBackend: {} } },
        { spec: { defaultBackend: { ...BACKEND, resource: { kind: 'a', name: 'b' } } } },
        unlike('elder words', { spec: { defaultBackend: { resource: { apiGroup: 'A', kind: '', name: 'a/b' } } } }),
        { spec: { defaultBackend: service({ number: 80, name: 'http' }) } },
        { spec: { defaultBackend: service({ number: 99_999 }) } },
        unlike('elder words', { spec: { defaultBackend: service({ name: 'UPPER' }) } }),
        { spec: { defaultBackend: service({}, '') } },
        paths({ path: '/' }),
        paths(
          { path: 'a', pathType: 'Exact' },
          { pathType: 'Prefix' },
          { path: 'a', pathType: 'ImplementationSpecific' },
        ),
        paths({ path: '/a//b/./../c%2f%2F/..', pathType: 'Prefix' }, { path: '/.', pathType: 'Exact' }),
        paths({ path: '/', pathType: 'Sometimes' }),
        { spec: { rules: [{ host: '1.2.3.4' }, { host: '*.a_b' }, { host: 'UPPER' }, { http: { paths: [] } }] } },
        { spec: { defaultBackend: BACKEND, tls: [{ hosts: ['*', 'A'], secretName: 'a_b' }], ingressClassName: 'a_b' } },
        unlike('elder words', {
          spec: { defaultBackend: BACKEND, ingressClassName: 'a' },
          metadata: { annotations: { 'kubernetes.io/ingress.class': 'b' } },
        }),
      ),
    ),
    ...refuse(
      classes,
      { spec: {} },
      { spec: { controller: 'a' } },
      { spec: { controller: 'A/b c' } },
      unlike('elder words', { spec: { controller: `a.b/${'c'.repeat(250)}` } }),
      unlike('elder words', { spec: { controller: 'a/b', parameters: { apiGroup: 'A', kind: '', name: 'a/b' } } }),
      since('1.21: scopes', { spec: { controller: 'a/b', parameters: { kind: 'K', name: 'n', scope: 'Here' } } }),
      since('1.21: scopes', { spec: { controller: 'a/b', parameters: { kind: 'K', name: 'n', scope: 'Namespace' } } }),
      since('1.21: scopes', {
        spec: { controller: 'a/b', parameters: { kind: 'K', name: 'n', scope: 'Cluster', namespace: 'x' } },
      }),
    ),
    ...ofOtherGroup(
      refuse(
        policies,
        from({}),
        from({ podSelector: {}, ipBlock: { cidr: '10.0.0.0/8' } }),
        unlike('elder words', from({ ipBlock: { cidr: '' } }, { ipBlock: { cidr: '1.2.3' } })),
        unlike(
          'it stops at the first that cannot be read',
          from({ ipBlock: { cidr: '10.0.0.0/8', except: ['11.0.0.0/16', 'x', '10.0.0.0/8'] } }),
        ),
        since('1.36: strict forms', from({ ipBlock: { cidr: '10.0.0.1/8' } }, { ipBlock: { cidr: '010.0.0.0/8' } })),
        ports({ port: 0, protocol: 'TCP' }, { port: 'a--b' }, { protocol: 'ICMP' }),
        since(
          '1.21: ranges of ports',
          ports({ port: 80, endPort: 79 }, { endPort: 80 }, { port: 'http', endPort: 80 }),
        ),
        since('1.21: ranges of ports', ports({ port: 80, endPort: 70_000 })),
        { spec: { podSelector: { matchLabels: { 'a b': 'c' } }, policyTypes: ['Sideways'] } },
        { spec: { podSelector: {}, policyTypes: ['Ingress', 'Egress', 'Ingress'] } },
      ),
    ),
    ...refuse(
      slices,
      ...[
        { addressType: '' },
        { addressType: 'Mail' },
        { endpoints: [{ addresses: [] }] },
        { endpoints: [{ addresses: ['::1', '127.0.0.1', '0.0.0.0', '169.254.1.1', '224.0.0.1'] }] },
        { addressType: 'IPv6', endpoints: [{ addresses: ['1.2.3.4', 'fe80::1', '::'] }] },
        { addressType: 'FQDN', endpoints: [{ addresses: ['a_b.c', 'local', `${'a'.repeat(64)}.b`] }] },
        endpoint({ hostname: 'A', nodeName: 'a_b', deprecatedTopology: { 'a b': 'c' } }),
        endpoint({ hints: { forZones: [{ name: 'a' }, { name: 'a' }, { name: 'a b' }] } }),
        endpoint({ hints: { forZones: 'abcdefghi'.split('').map(name => ({ name })) } }),
        endpoint({ hints: { forNodes: [{ name: 'A' }] } }),
        { ports: [{ name: 'A' }, { name: 'b' }, { name: 'b', protocol: 'ICMP', appProtocol: 'a b' }] },
      ].map(body => since('1.21: v1', body)),
    ),
    ...refuse(
      addresses,
      parent('x', { resource: 'services', name: 's' }),
      parent('010.0.0.1', { resource: 'services', name: 's' }),
      parent('fe80::0001', { resource: 'services', name: 's' }),
      parent('10.0.0.1'),
      parent('10.0.0.1', { group: 'A', resource: '', name: 'a/b', namespace: 'c%d' }),
    ),
    ...refuse(
      ranges,
      cidrs(),
      cidrs('10.0.0.0/8', '2001:db8::/64', '11.0.0.0/8'),
      cidrs('10.0.0.0/8', '11.0.0.0/8'),
      cidrs('10.0.0.1/8', '2001:DB8::/64'),
    ),
  ],
}

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
const CA = Buffer.from('ca').toString('base64')

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

const storage = (kind: string, resource: string, base: object = {}): Refused => ({
  apiVersion: 'storage.k8s.io/v1',
  kind,
  path: `/apis/storage.k8s.io/v1/${resource}`,
  base,
})
const topology = (...all: readonly object[]): object => ({
  provisioner: 'a/b',
  allowedTopologies: all.map(each => ({ matchLabelExpressions: [each] })),
})
const attach = (rest: object): object => ({
  spec: { attacher: 'a.b', nodeName: 'n', source: { persistentVolumeName: 'p' }, ...rest },
})
const driver = (...drivers: readonly object[]): object => ({
  spec: { drivers: drivers.map(each => ({ name: 'a.b', nodeID: 'n', topologyKeys: null, ...each })) },
})
const autoscalers = (version: string): Refused => ({
  apiVersion: `autoscaling/${version}`,
  kind: 'HorizontalPodAutoscaler',
  path: `/apis/autoscaling/${version}/${IN}/horizontalpodautoscalers`,
})
const scaled = (rest: object): object => ({
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'd' }, maxReplicas: 3, ...rest },
})
const metrics = (...all: readonly object[]): object => since('1.23: v2', scaled({ metrics: all }))
const behavior = (rest: object): object => since('1.23: v2', scaled({ behavior: { scaleUp: rest } }))
const TARGET = { type: 'Value', value: '1' }
const CPU = (target: object): object => ({ type: 'Resource', resource: { name: 'cpu', target } })
const schemas: Refused = {
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'FlowSchema',
  path: '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas',
}
const levels: Refused = {
  apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
  kind: 'PriorityLevelConfiguration',
  path: '/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations',
}
const schema = (rest: object): object =>
  since('1.29: v1', { spec: { priorityLevelConfiguration: { name: 'l' }, ...rest } })
const flow = (rest: object): object =>
  schema({
    rules: [
      {
        subjects: [{ kind: 'User', user: { name: 'u' } }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        ...rest,
      },
    ],
  })
const level = (spec: object): object => since('1.29: v1', { spec })
const queue = (queuing: object): object =>
  level({ type: 'Limited', limited: { limitResponse: { type: 'Queue', queuing } } })
const request = (kind: string, resource: string): Refused => ({
  apiVersion: 'resource.k8s.io/v1',
  kind,
  path: `/apis/resource.k8s.io/v1/${resource}`,
})
const claim = (devices: object): object => since('1.34', { spec: { devices } })
const EXACTLY = { exactly: { deviceClassName: 'c' } }
const slice = (spec: object): object =>
  since('1.34', { spec: { driver: 'a.b', pool: { name: 'p', resourceSliceCount: 1 }, nodeName: 'n', ...spec } })
const device = (rest: object): object => slice({ devices: [{ name: 'd', ...rest }] })
const budget: Refused = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  path: `/apis/policy/v1/${IN}/poddisruptionbudgets`,
}

export const clusterRefusals: Script = {
  name: 'refusals-cluster',
  steps: [
    ...refuse(
      storage('StorageClass', 'storageclasses'),
      { provisioner: '' },
      { provisioner: 'a b', reclaimPolicy: 'Recycle', volumeBindingMode: 'X' },
      { provisioner: 'a/b', parameters: { '': 'x' } },
      topology({ key: 'a b', values: [] }, { key: 'a', values: ['b', 'b'] }),
      topology({ key: 'a', values: ['b', 'c'] }, { key: 'a', values: ['c', 'b'] }),
    ),
    ...refuse(
      storage('VolumeAttributesClass', 'volumeattributesclasses'),
      since('1.34', {}),
      since('1.34', { driverName: 'a b', parameters: { '': '' } }),
    ),
    ...refuse(
      storage('CSIDriver', 'csidrivers'),
      { spec: { volumeLifecycleModes: ['X'] } },
      since('1.23: GA', { spec: { fsGroupPolicy: 'X' } }),
      since('1.22: GA', {
        spec: { tokenRequests: [{ audience: 'a' }, { audience: 'a' }, { audience: 'b', expirationSeconds: 5 }] },
      }),
      since('1.34', { spec: { nodeAllocatableUpdatePeriodSeconds: 5 } }),
      { spec: {}, metadata: { name: 'A' } },
    ),
    ...refuse(
      storage('CSINode', 'csinodes'),
      driver({ name: '' }),
      driver({ name: 'a_b', nodeID: '', allocatable: { count: -1 } }),
      unlike('it shows all keys', driver({ topologyKeys: ['a b', 'c', 'c', ''] })),
      driver({}, {}),
      unlike('elder words', driver({ name: 'a'.repeat(64) })),
    ),
    ...refuse(
      storage('VolumeAttachment', 'volumeattachments'),
      { spec: {} },
      attach({ attacher: 'A_b', nodeName: 'A' }),
      attach({ source: { persistentVolumeName: '' } }),
      attach({ source: { persistentVolumeName: 'A_b' } }),
      attach({ source: { persistentVolumeName: 'p', inlineVolumeSpec: {} } }),
    ),
    ...refuse(
      { ...storage('CSIStorageCapacity', `${IN}/csistoragecapacities`) },
      since('1.24: v1', { storageClassName: '' }),
      since('1.24: v1', { storageClassName: 'A', capacity: '-1', nodeTopology: { matchLabels: { 'a b': 'c' } } }),
    ),
    ...refuse(
      { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', path: '/apis/scheduling.k8s.io/v1/priorityclasses' },
      { value: 1_000_000_001 },
      { value: 1, preemptionPolicy: 'X' },
      { value: 1, metadata: { name: 'system-mine' } },
      { value: 1, metadata: { name: 'system-node-critical' } },
    ),
    ...refuse(
      { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', path: '/apis/node.k8s.io/v1/runtimeclasses' },
      { handler: '' },
      { handler: 'A.b' },
      unlike('its path names tolerations twice', {
        handler: 'h',
        scheduling: { nodeSelector: { 'a b': 'c' }, tolerations: [{ operator: 'Equal' }] },
      }),
      unlike('shown as Go shows it', {
        handler: 'h',
        scheduling: {
          tolerations: [
            { key: 'a', operator: 'Exists' },
            { key: 'a', operator: 'Exists' },
          ],
        },
      }),
      { handler: 'h', overhead: { podFixed: { cpu: '-1' } } },
      { handler: 'h', overhead: { podFixed: { 'a b': '1' } } },
    ),
    ...refuse(
      {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        path: `/apis/coordination.k8s.io/v1/${IN}/leases`,
      },
      unlike('elder words', { spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }),
      since('1.31', { spec: { strategy: 'X', preferredHolder: 'a' } }),
      since('1.31', { spec: { strategy: 'a b/c' } }),
      since('1.31', { spec: { preferredHolder: 'a' } }),
    ),
    ...refuse(
      {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
      },
      ...['', 'a', 'a/b', 'A.b/c', 'a.b/C_d', 'a.b/c/d', 'kubernetes.io/legacy-unknown'].map(signerName => ({
        spec: { request: CA, signerName, usages: ['client auth', 'client auth', 'fly'] },
      })),
      since('1.22: duration', { spec: { request: CA, signerName: 'a.b/c', usages: [], expirationSeconds: 5 } }),
    ).map(step => ({ ...step, unlike120: { '?body.message': 'no PEM', '?body.details.causes.0.message': 'no PEM' } })),
    ...refuse(
      autoscalers('v1'),
      scaled({ minReplicas: 0 }),
      scaled({ maxReplicas: 0, minReplicas: 2 }),
      scaled({ scaleTargetRef: { kind: 'a/b', name: '' } }),
    ),
    ...refuse(
      autoscalers('v2'),
      metrics({ type: '' }, { type: 'X' }, { type: 'Pods' }),
      metrics({ type: 'Resource', resource: { name: '', target: { type: '' } } }),
      metrics(CPU({ type: 'Utilization', averageUtilization: 0, averageValue: '-1' }), CPU({ type: 'X' })),
      metrics({ ...CPU(TARGET), pods: { metric: { name: 'a' }, target: { type: 'AverageValue', averageValue: '1' } } }),
      metrics({ type: 'Pods', pods: { metric: { name: 'a/b' }, target: TARGET } }),
      metrics({ type: 'Object', object: { describedObject: {}, metric: {}, target: { type: 'Utilization' } } }),
      metrics({ type: 'External', external: { metric: { name: 'a' }, target: { ...TARGET, averageValue: '1' } } }),
      metrics({ type: 'ContainerResource', containerResource: { name: 'x', container: 'A', target: TARGET } }),
      behavior({
        stabilizationWindowSeconds: 3601,
        selectPolicy: 'X',
        policies: [{ type: 'X', value: 0, periodSeconds: 1801 }],
      }),
      behavior({ stabilizationWindowSeconds: -1, tolerance: '-1' }),
    ),
    ...refuse(
      budget,
      ...[
        { spec: { minAvailable: 1, maxUnavailable: 1 } },
        { spec: { minAvailable: '101%' } },
        { spec: { maxUnavailable: -1, unhealthyPodEvictionPolicy: 'X', selector: { matchLabels: { 'a b': 'c' } } } },
      ].map(body => since('1.21: v1', body)),
    ),
    ...refuse(
      schemas,
      schema({ priorityLevelConfiguration: { name: '' }, matchingPrecedence: -1 }),
      schema({ matchingPrecedence: 10_001, distinguisherMethod: { type: 'X' } }),
      schema({ matchingPrecedence: 1 }),
      flow({ subjects: [] }),
      flow({
        subjects: [{ kind: 'X' }, { kind: 'User', group: { name: 'g' } }, { kind: 'Group', group: { name: '' } }],
      }),
      flow({ subjects: [{ kind: 'ServiceAccount', serviceAccount: { name: 'A', namespace: '' } }] }),
      flow({ nonResourceRules: [] }),
      flow({
        nonResourceRules: [
          { verbs: ['fly'], nonResourceURLs: ['x', '/a b', '/a//b', '/a*', '/*/b'] },
          { verbs: [], nonResourceURLs: ['*', '/'] },
        ],
      }),
      flow({ resourceRules: [{ verbs: ['*', 'get'], apiGroups: ['*', 'a'], resources: [], namespaces: [] }] }),
      flow({ resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['a'], namespaces: ['A', '*'] }] }),
      flow({ resourceRules: [{ verbs: ['get'], apiGroups: [''], resources: ['a'], namespaces: ['A'] }] }),
      since('1.29: v1', { metadata: { name: 'catch-all' }, spec: { priorityLevelConfiguration: { name: 'l' } } }),
    ),
    ...refuse(
      levels,
      level({ type: 'Exempt' }),
      level({ type: 'X' }),
      level({ type: 'Limited' }),
      level({
        type: 'Limited',
        limited: { nominalConcurrencyShares: -1, lendablePercent: 101, borrowingLimitPercent: -1 },
      }),
      level({ type: 'Limited', exempt: {}, limited: { limitResponse: { type: 'Reject', queuing: {} } } }),
      level({ type: 'Limited', limited: { limitResponse: { type: 'Queue' } } }),
      queue({ queues: -1, handSize: -1, queueLengthLimit: -1 }),
      queue({ queues: 2, handSize: 3 }),
      queue({ queues: 1000, handSize: 8 }),
      since('1.29: v1', {
        metadata: { name: 'exempt' },
        spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
      }),
    ),
    ...refuse(
      request('ResourceClaim', `${IN}/resourceclaims`),
      claim({
        requests: [{ name: 'A' }, { name: 'a', ...EXACTLY, firstAvailable: [{ name: 'b', deviceClassName: 'c' }] }],
      }),
      claim({ requests: [{ name: 'a', exactly: { deviceClassName: '', allocationMode: 'X', selectors: [{}] } }] }),
      claim({
        requests: [
          { name: 'a', exactly: { deviceClassName: 'C', allocationMode: 'All', count: 2 } },
          { name: 'a', ...EXACTLY },
        ],
      }),
      claim({
        requests: [
          {
            name: 'a',
            exactly: {
              deviceClassName: 'c',
              tolerations: [{ operator: 'Exists', value: 'x', effect: 'X' }, { operator: 'X' }],
            },
          },
        ],
      }),
      claim({
        requests: [{ name: 'a', ...EXACTLY }],
        constraints: [{ requests: ['b', 'a/b/c', 'a', 'a'] }, { matchAttribute: 'x' }, { matchAttribute: '/' }],
      }),
      claim({
        requests: [{ name: 'a', ...EXACTLY }],
        config: [{}, { opaque: { driver: '', parameters: {} } }, { opaque: { driver: 'A_b' } }],
      }),
      claim({ requests: Array.from({ length: 33 }, (_, i) => ({ name: `a${i}`, ...EXACTLY })) }),
    ),
    ...refuse(
      request('DeviceClass', 'deviceclasses'),
      since('1.34', { spec: { selectors: [{}], config: [{}], extendedResourceName: 'cpu' } }),
    ),
    ...refuse(
      request('ResourceSlice', 'resourceslices'),
      since('1.34', { spec: { driver: '', pool: { name: '', resourceSliceCount: 0, generation: -1 } } }),
      slice({ nodeName: '', allNodes: true, perDeviceNodeSelection: false }),
      slice({ allNodes: true }),
      slice({ nodeName: null, nodeSelector: { nodeSelectorTerms: [] } }),
      device({ name: 'A', attributes: { 'a/b': {}, 'x y': { bool: true, int: 1 }, v: { version: '1' } } }),
      device({
        taints: [
          { key: 'a b', value: 'c d' },
          { key: 'k', effect: 'X' },
        ],
        consumesCounters: [{ counterSet: '' }],
      }),
      device({ nodeName: 'n', bindingConditions: ['a'] }),
      device({ capacity: { c: { value: '10', requestPolicy: { validValues: ['1'] } } } }),
      device({
        allowMultipleAllocations: true,
        capacity: { c: { value: '10', requestPolicy: { default: '3', validValues: ['2', '1', '11'] } } },
      }),
      device({
        allowMultipleAllocations: true,
        capacity: {
          c: { value: '10', requestPolicy: { default: '3', validRange: { min: '4', max: '12', step: '3' } } },
        },
      }),
      slice({
        sharedCounters: [
          { name: '', counters: {} },
          { name: 'A', counters: { B: { value: '1' } } },
        ],
      }),
    ),
  ],
}
