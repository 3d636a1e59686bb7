/** Kinds of API machinery, access and policy: the whole round of operations. */
import t from 'tap'
import { createSpace, startTestServer } from '../../support/server.ts'
import { type Kind, playRound } from './operations.ts'

const { api, faults } = await startTestServer(t)

const FLOW = 'flowcontrol.apiserver.k8s.io'
const ADMISSION = 'admissionregistration.k8s.io'
const RULES = [{ apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['widgets'] }]
const condition = (type: string) => ({
  type,
  status: 'False',
  reason: 'Round',
  message: 'told by the round',
  lastTransitionTime: '2024-01-01T00:00:00Z',
})
const webhooks = (n: number) => [
  {
    name: `w${n}.example.com`,
    clientConfig: { url: 'https://localhost:1/' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    rules: RULES,
  },
]

const kinds: Kind[] = [
  // API priority and fairness should support FlowSchema API operations
  {
    group: FLOW,
    kind: 'FlowSchema',
    resource: 'flowschemas',
    statusKeepsMetadata: false,
    body: () => ({
      spec: { priorityLevelConfiguration: { name: 'global-default' }, matchingPrecedence: 10_000 },
    }),
    patches: [{ spec: { matchingPrecedence: 9999 } }],
    status: { conditions: [condition('Dangling')] },
  },
  // API priority and fairness should support PriorityLevelConfiguration API operations
  {
    group: FLOW,
    kind: 'PriorityLevelConfiguration',
    resource: 'prioritylevelconfigurations',
    statusKeepsMetadata: false,
    body: () => ({
      spec: { type: 'Limited', limited: { nominalConcurrencyShares: 2, limitResponse: { type: 'Reject' } } },
    }),
    patches: [{ spec: { limited: { nominalConcurrencyShares: 4 } } }],
    status: { conditions: [condition('Round')] },
  },
  // AdmissionWebhook should include webhook resources in discovery documents
  {
    group: ADMISSION,
    kind: 'MutatingWebhookConfiguration',
    resource: 'mutatingwebhookconfigurations',
    body: n => ({ webhooks: webhooks(n) }),
  },
  {
    group: ADMISSION,
    kind: 'ValidatingWebhookConfiguration',
    resource: 'validatingwebhookconfigurations',
    body: n => ({ webhooks: webhooks(n) }),
  },
  // ValidatingAdmissionPolicy should support ValidatingAdmissionPolicy API operations
  {
    group: ADMISSION,
    kind: 'ValidatingAdmissionPolicy',
    resource: 'validatingadmissionpolicies',
    statusKeepsMetadata: false,
    body: () => ({
      spec: {
        matchConstraints: { resourceRules: RULES },
        validations: [{ expression: 'object.spec.size < 3', message: 'too large' }],
      },
    }),
    patches: [{ spec: { failurePolicy: 'Ignore' } }],
    status: { conditions: [condition('Round')] },
  },
  // ValidatingAdmissionPolicy should support ValidatingAdmissionPolicyBinding API operations
  {
    group: ADMISSION,
    kind: 'ValidatingAdmissionPolicyBinding',
    resource: 'validatingadmissionpolicybindings',
    body: () => ({ spec: { policyName: 'nobody.example.com', validationActions: ['Deny'] } }),
    patches: [{ spec: { matchResources: { namespaceSelector: { matchLabels: { a: 'b' } } } } }],
  },
  // MutatingAdmissionPolicy should support MutatingAdmissionPolicy API operations
  {
    group: ADMISSION,
    kind: 'MutatingAdmissionPolicy',
    resource: 'mutatingadmissionpolicies',
    body: () => ({
      spec: {
        matchConstraints: { resourceRules: RULES },
        reinvocationPolicy: 'Never',
        mutations: [
          { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "add", path: "/spec/a", value: 1}]' } },
        ],
      },
    }),
    patches: [{ spec: { failurePolicy: 'Ignore' } }],
  },
  // MutatingAdmissionPolicy should support MutatingAdmissionPolicyBinding API operations
  {
    group: ADMISSION,
    kind: 'MutatingAdmissionPolicyBinding',
    resource: 'mutatingadmissionpolicybindings',
    body: () => ({ spec: { policyName: 'nobody.example.com' } }),
  },
  // CustomResourceDefinition resources should include custom resource definition resources in discovery documents
  {
    group: 'apiextensions.k8s.io',
    kind: 'CustomResourceDefinition',
    resource: 'customresourcedefinitions',
    name: n => `round${n}s.conformance.example.com`,
    statusKeepsMetadata: false,
    body: n => ({
      spec: {
        group: 'conformance.example.com',
        scope: 'Namespaced',
        names: { plural: `round${n}s`, kind: `Round${n}` },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    }),
    patches: [{ spec: { names: { shortNames: ['rnd'] } } }],
    status: { conditions: [condition('Round')] },
  },
  // Aggregator should manage the lifecycle of an APIService
  {
    group: 'apiregistration.k8s.io',
    kind: 'APIService',
    resource: 'apiservices',
    statusKeepsMetadata: false,
    name: n => `v1.round${n}.example.com`,
    body: n => ({
      spec: {
        group: `round${n}.example.com`,
        version: 'v1',
        service: { namespace: 'default', name: 'round', port: 443 },
        groupPriorityMinimum: 2000,
        versionPriority: 200,
        insecureSkipTLSVerify: true,
      },
    }),
    patches: [{ spec: { versionPriority: 100 } }],
    status: { conditions: [condition('Round')] },
  },
  // ResourceQuota should manage the lifecycle of a ResourceQuota; should apply changes to a resourcequota status
  {
    group: '',
    kind: 'ResourceQuota',
    resource: 'resourcequotas',
    namespace: 'default',
    body: () => ({ spec: { hard: { cpu: '500m', memory: '500Mi' } } }),
    patches: [{ spec: { hard: { memory: '750Mi' } } }],
    status: { hard: { cpu: '1', memory: '1Gi' }, used: { cpu: '0', memory: '0' } },
  },
  {
    group: 'rbac.authorization.k8s.io',
    kind: 'Role',
    resource: 'roles',
    namespace: 'default',
    body: () => ({ rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] }),
  },
  {
    group: 'rbac.authorization.k8s.io',
    kind: 'ClusterRoleBinding',
    resource: 'clusterrolebindings',
    body: () => ({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'round' }],
    }),
  },
]

// In the root space the server itself writes their status.
const space = api.in(await createSpace(api, 'round'))
for (const kind of kinds) {
  const at = kind.group === FLOW ? space : api
  t.test(`${kind.kind}: every operation does its part`, t => playRound(t, at, kind))
}

t.test('nothing was logged as an error', async t => t.same(faults, []))
