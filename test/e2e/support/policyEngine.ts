/** A policy engine as somebody would install it: everything that such a thing brings along, of our own making. */
import type { GroupVersionResource, KubeObject } from '../../../src/apimachinery/object.ts'

export interface Part {
  resource: GroupVersionResource
  object: KubeObject
  /** Not in clusters of Kubernetes 1.20. */
  recent?: true
}

export const HOME = 'guardian-system'
/** On every part. */
export const PART_OF = { 'app.kubernetes.io/part-of': 'guardian' }

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource })
const rbac = (resource: string): GroupVersionResource => ({ group: RBAC, version: 'v1', resource })
const admission = (resource: string): GroupVersionResource => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource,
})
const RBAC = 'rbac.authorization.k8s.io'
const GROUP = 'guardian.example.com'
export const POLICIES: GroupVersionResource = { group: GROUP, version: 'v1', resource: 'guardrules' }

function part(resource: GroupVersionResource, kind: string, name: string, body: object, more: object = {}): Part {
  const { labels = {}, ...metadata } = more as { labels?: Record<string, string> }
  const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
  const object = { apiVersion, kind, metadata: { name, labels: { ...PART_OF, ...labels }, ...metadata }, ...body }
  return { resource, object }
}
const inside = { namespace: HOME }
const account = (name: string) => ({ kind: 'ServiceAccount', name, namespace: HOME })
const toRole = (kind: string, name: string) => ({ roleRef: { apiGroup: RBAC, kind, name } })
const rule = (apiGroups: string[], resources: string[], ...verbs: string[]) => ({ apiGroups, resources, verbs })
const webhook = (name: string, path: string) => ({
  name: `${name}.${GROUP}`,
  clientConfig: { service: { namespace: HOME, name: 'guardian', path, port: 443 } },
  rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: '*' }],
  failurePolicy: 'Fail',
  sideEffects: 'None',
  timeoutSeconds: 2,
  admissionReviewVersions: ['v1'],
})
const text = { type: 'string' }
const version = (name: string, storage: boolean) => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties: { match: text, deny: text } } },
    },
  },
})
const app = { 'app.kubernetes.io/name': 'guardian' }

/** In the order in which an installer applies them. */
export const POLICY_ENGINE: readonly Part[] = [
  part(core('namespaces'), 'Namespace', HOME, {}),
  part(
    { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
    'CustomResourceDefinition',
    `guardrules.${GROUP}`,
    {
      spec: {
        group: GROUP,
        scope: 'Cluster',
        names: { plural: 'guardrules', singular: 'guardrule', kind: 'GuardRule', listKind: 'GuardRuleList' },
        versions: [version('v1', true), version('v1beta1', false)],
        conversion: {
          strategy: 'Webhook',
          webhook: {
            clientConfig: { service: { namespace: HOME, name: 'guardian', path: '/convert', port: 443 } },
            conversionReviewVersions: ['v1'],
          },
        },
      },
    },
  ),
  part(core('serviceaccounts'), 'ServiceAccount', 'guardian-admission', {}, inside),
  part(core('serviceaccounts'), 'ServiceAccount', 'guardian-background', {}, inside),
  part(
    rbac('clusterroles'),
    'ClusterRole',
    'guardian:pods',
    { rules: [rule([''], ['pods'], 'get', 'list')] },
    {
      labels: { 'guardian.example.com/to-core': 'true' },
    },
  ),
  part(rbac('clusterroles'), 'ClusterRole', 'guardian:core', {
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'guardian.example.com/to-core': 'true' } }] },
  }),
  part(
    rbac('clusterroles'),
    'ClusterRole',
    'guardian:view',
    { rules: [rule([GROUP], ['*'], 'get', 'list')] },
    {
      labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
    },
  ),
  part(rbac('clusterrolebindings'), 'ClusterRoleBinding', 'guardian:core', {
    ...toRole('ClusterRole', 'guardian:core'),
    subjects: [account('guardian-admission'), account('guardian-background')],
  }),
  part(rbac('clusterrolebindings'), 'ClusterRoleBinding', 'guardian:operators', {
    ...toRole('ClusterRole', 'cluster-admin'),
    subjects: [{ apiGroup: RBAC, kind: 'Group', name: 'guardian-operators' }],
  }),
  part(
    rbac('roles'),
    'Role',
    'guardian:leader',
    { rules: [rule(['coordination.k8s.io'], ['leases'], 'get', 'create', 'update')] },
    inside,
  ),
  part(
    rbac('rolebindings'),
    'RoleBinding',
    'guardian:leader',
    { ...toRole('Role', 'guardian:leader'), subjects: [account('guardian-admission')] },
    inside,
  ),
  part(core('configmaps'), 'ConfigMap', 'guardian', { data: { exclude: HOME } }, inside),
  part(core('secrets'), 'Secret', 'guardian-tls', { type: 'Opaque', data: { key: 'c2VjcmV0' } }, inside),
  part(core('resourcequotas'), 'ResourceQuota', 'guardian', { spec: { hard: { 'limits.memory': '4Gi' } } }, inside),
  part(
    core('limitranges'),
    'LimitRange',
    'guardian',
    { spec: { limits: [{ type: 'Container', default: { cpu: '100m' }, max: { cpu: '1' } }] } },
    inside,
  ),
  part(
    core('services'),
    'Service',
    'guardian',
    { spec: { selector: app, ports: [{ port: 443, targetPort: 9443 }] } },
    inside,
  ),
  part(
    { group: 'apps', version: 'v1', resource: 'deployments' },
    'Deployment',
    'guardian-admission',
    {
      spec: {
        replicas: 2,
        selector: { matchLabels: app },
        template: {
          metadata: { labels: app },
          spec: {
            serviceAccountName: 'guardian-admission',
            containers: [{ name: 'guardian', image: 'example.com/guardian:1', args: ['--webhook'] }],
          },
        },
      },
    },
    inside,
  ),
  part(admission('mutatingwebhookconfigurations'), 'MutatingWebhookConfiguration', 'guardian', {
    webhooks: [webhook('mutate', '/mutate')],
  }),
  part(admission('validatingwebhookconfigurations'), 'ValidatingWebhookConfiguration', 'guardian', {
    webhooks: [webhook('validate', '/validate')],
  }),
  {
    ...part(admission('validatingadmissionpolicies'), 'ValidatingAdmissionPolicy', 'guardian', {
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
        validations: [{ expression: "object.metadata.name.startsWith('guarded-')" }],
      },
    }),
    recent: true,
  },
  {
    ...part(admission('validatingadmissionpolicybindings'), 'ValidatingAdmissionPolicyBinding', 'guardian', {
      spec: { policyName: 'guardian', validationActions: ['Deny'] },
    }),
    recent: true,
  },
  {
    ...part(
      { group: 'flowcontrol.apiserver.k8s.io', version: 'v1', resource: 'flowschemas' },
      'FlowSchema',
      'guardian',
      {
        spec: { priorityLevelConfiguration: { name: 'exempt' }, matchingPrecedence: 9000 },
      },
    ),
    recent: true,
  },
  part(POLICIES, 'GuardRule', 'no-latest', { spec: { match: 'pods', deny: ':latest' } }),
]
