/**
 * The roles and bindings that every space starts with. They are one shared layer, not objects in the
 * store; a space that changes one gets a copy of its own.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/#default-roles-and-role-bindings
 */
import { fixedUid } from '../../apimachinery/fixedUid.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { atOnce } from '../../apimachinery/steps.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { OWN_KIND_RIGHTS } from '../../placement/spaces/ownKindRights.ts'
import { aggregatedRules } from './aggregation.ts'
import { type PolicyRule, RBAC_GROUP } from './rbacRules.ts'
import { GROUPS } from './users.ts'

interface BootstrapOptions {
  /** Adds what only the root space has: everybody may enter it and see its workspaces. */
  root?: boolean
  /** False leaves Orrery's own kinds out, for a plain cluster, which has none of them. Default true. */
  ownKinds?: boolean
  /** RFC 3339; the objects' creationTimestamp. */
  creationTimestamp?: string
}

interface RoleSpec {
  rules?: PolicyRule[]
  /** Label `rbac.authorization.k8s.io/aggregate-to-<this>`. */
  aggregateTo?: string
  /** Gathers the roles that say `aggregateTo` this. */
  aggregates?: string
}

/** ClusterRoles, then ClusterRoleBindings, each sorted by name. Fresh copies at every call; uids never change. */
export function bootstrapObjects(options: BootstrapOptions = {}): KubeObject[] {
  const specs = {
    ...ROLES,
    ...(options.ownKinds !== false && { ...OWN_KIND_ROLES, ...APP_ROLES }),
    ...(options.root && ROOT_ROLES),
  }
  const roles = Object.entries(specs).map(([name, spec]) => clusterRole(name, spec, options))
  for (const role of roles) {
    if (role.aggregationRule !== undefined) role.rules = cloneJson(atOnce(aggregatedRules(role, roles)))
  }
  const bindings = Object.entries({ ...BINDINGS, ...(options.root && ROOT_BINDINGS) }).map(
    ([name, [role, ...groups]]) => clusterRoleBinding(name, role, groups, options),
  )
  return [...roles.sort(byName), ...bindings.sort(byName)]
}

const READ = ['get', 'list', 'watch']
const WRITE = ['create', 'delete', 'deletecollection', 'patch', 'update']

const rule = (group: string, resources: string[], verbs: string[]): PolicyRule => ({
  apiGroups: [group],
  resources,
  verbs,
})
const urls = (nonResourceURLs: string[]): PolicyRule => ({ nonResourceURLs, verbs: ['get'] })

const APPS = ['daemonsets', 'deployments', 'deployments/scale', 'replicasets', 'replicasets/scale', 'statefulsets']
const HEALTH = ['/healthz', '/livez', '/readyz']
const VERSION = ['/version', '/version/']

const ROLES: Record<string, RoleSpec> = {
  'cluster-admin': {
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ],
  },
  admin: { aggregates: 'admin' },
  edit: { aggregates: 'edit', aggregateTo: 'admin' },
  view: { aggregates: 'view', aggregateTo: 'edit' },
  'system:aggregate-to-admin': {
    aggregateTo: 'admin',
    rules: [
      rule('authorization.k8s.io', ['localsubjectaccessreviews'], ['create']),
      rule(RBAC_GROUP, ['rolebindings', 'roles'], [...WRITE.slice(0, 3), ...READ, ...WRITE.slice(3)]),
    ],
  },
  'system:aggregate-to-edit': {
    aggregateTo: 'edit',
    rules: [
      rule('', ['pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy', 'secrets', 'services/proxy'], READ),
      rule('', ['serviceaccounts'], ['impersonate']),
      rule('', ['pods', 'pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy'], WRITE),
      rule('', ['pods/eviction'], ['create']),
      rule(
        '',
        [
          'configmaps',
          'events',
          'persistentvolumeclaims',
          'replicationcontrollers',
          'replicationcontrollers/scale',
          'secrets',
          'serviceaccounts',
          'services',
          'services/proxy',
        ],
        WRITE,
      ),
      rule('', ['serviceaccounts/token'], ['create']),
      rule('apps', [...APPS, 'statefulsets/scale', 'deployments/rollback'].sort(), WRITE),
      rule('autoscaling', ['horizontalpodautoscalers'], WRITE),
      rule('batch', ['cronjobs', 'jobs'], WRITE),
      rule('policy', ['poddisruptionbudgets'], WRITE),
      rule('networking.k8s.io', ['ingresses', 'networkpolicies'], WRITE),
      rule('coordination.k8s.io', ['leases'], [...WRITE.slice(0, 3), ...READ, ...WRITE.slice(3)]),
    ],
  },
  'system:aggregate-to-view': {
    aggregateTo: 'view',
    rules: [
      rule(
        '',
        [
          'configmaps',
          'endpoints',
          'persistentvolumeclaims',
          'persistentvolumeclaims/status',
          'pods',
          'replicationcontrollers',
          'replicationcontrollers/scale',
          'serviceaccounts',
          'services',
          'services/status',
        ],
        READ,
      ),
      rule(
        '',
        [
          'bindings',
          'events',
          'limitranges',
          'namespaces/status',
          'pods/log',
          'pods/status',
          'replicationcontrollers/status',
          'resourcequotas',
          'resourcequotas/status',
        ],
        READ,
      ),
      rule('', ['namespaces'], READ),
      rule('discovery.k8s.io', ['endpointslices'], READ),
      rule(
        'apps',
        [
          ...APPS,
          'controllerrevisions',
          'daemonsets/status',
          'deployments/status',
          'replicasets/status',
          'statefulsets/scale',
          'statefulsets/status',
        ].sort(),
        READ,
      ),
      rule('autoscaling', ['horizontalpodautoscalers', 'horizontalpodautoscalers/status'], READ),
      rule('batch', ['cronjobs', 'cronjobs/status', 'jobs', 'jobs/status'], READ),
      rule('policy', ['poddisruptionbudgets', 'poddisruptionbudgets/status'], READ),
      rule('networking.k8s.io', ['ingresses', 'ingresses/status', 'networkpolicies'], READ),
    ],
  },
  'system:auth-delegator': {
    rules: [
      rule('authentication.k8s.io', ['tokenreviews'], ['create']),
      rule('authorization.k8s.io', ['subjectaccessreviews'], ['create']),
    ],
  },
  'system:basic-user': {
    rules: [
      rule('authorization.k8s.io', ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], ['create']),
      rule('authentication.k8s.io', ['selfsubjectreviews'], ['create']),
    ],
  },
  'system:discovery': {
    rules: [
      urls([
        '/api',
        '/api/*',
        '/apis',
        '/apis/*',
        ...HEALTH.slice(0, 2),
        '/openapi',
        '/openapi/*',
        '/readyz',
        ...VERSION,
      ]),
    ],
  },
  'system:public-info-viewer': { rules: [urls([...HEALTH, ...VERSION])] },
  'system:monitoring': {
    rules: [urls([...HEALTH.flatMap(path => [path, `${path}/*`]), '/metrics', '/metrics/slis', '/statusz'])],
  },
  'system:service-account-issuer-discovery': {
    rules: [urls(['/.well-known/openid-configuration', '/openid/v1/jwks'])],
  },
  'system:kcp:workspace:access': { rules: [{ nonResourceURLs: ['/'], verbs: ['access'] }] },
}

/** Rights of `admin`, `edit` and `view` on Orrery's own kinds, each in a role of its own: Kubernetes' rules stay as they are. */
/** `approve` and `expedite` are checked where a rollout is approved or hurried. */
const OWN_VERBS = { read: READ, write: WRITE, approve: ['approve', 'expedite'], ask: ['create'] }

const OWN_KIND_ROLES: Record<string, RoleSpec> = Object.fromEntries(
  Object.entries(OWN_KIND_RIGHTS).map(([role, rights]) => [
    `system:kubestellar:aggregate-to-${role}`,
    {
      aggregateTo: role,
      rules: rights.map(({ group, resources, verbs }) => rule(group, [...resources], OWN_VERBS[verbs])),
    },
  ]),
)

/** For teams: what apps bring beside their workload. They act where an administrator of a space binds them. */
const APP_ROLES: Record<string, RoleSpec> = {
  'kubestellar:app-definitions': {
    rules: [rule('apiextensions.k8s.io', ['customresourcedefinitions'], [...READ, ...WRITE])],
  },
  'kubestellar:app-roles': { rules: [rule(RBAC_GROUP, ['roles', 'rolebindings'], [...READ, ...WRITE])] },
}

/** Binding name to role name and groups. */
const BINDINGS: Record<string, [role: string, ...groups: string[]]> = {
  'cluster-admin': ['cluster-admin', GROUPS.masters],
  'system:basic-user': ['system:basic-user', GROUPS.authenticated],
  'system:discovery': ['system:discovery', GROUPS.authenticated],
  'system:public-info-viewer': ['system:public-info-viewer', GROUPS.authenticated, GROUPS.unauthenticated],
  'system:monitoring': ['system:monitoring', 'system:monitoring'],
  'system:service-account-issuer-discovery': ['system:service-account-issuer-discovery', GROUPS.serviceAccounts],
}

/** By it everybody reads Workspaces in the root: those that concern them, see workspaceSight.ts. */
export const EVERYBODYS_READER = 'system:kcp:authenticated:tenancy:reader'

const ROOT_ROLES: Record<string, RoleSpec> = {
  // reads everything of all spaces by it
  'system:orrery:backup': { rules: [{ nonResourceURLs: ['/backup'], verbs: ['post'] }] },
  'system:kcp:tenancy:reader': { rules: [rule(WORKSPACES.group, [WORKSPACES.resource, 'workspacetypes'], READ)] },
  'system:kcp:universal-workspacetype-use': {
    rules: [
      { ...rule(WORKSPACES.group, ['workspacetypes'], ['use']), resourceNames: ['universal', 'organization', 'team'] },
    ],
  },
}
const ROOT_BINDINGS: Record<string, [role: string, ...groups: string[]]> = {
  'system:kcp:tenancy:authenticated:access': ['system:kcp:workspace:access', GROUPS.authenticated],
  [EVERYBODYS_READER]: ['system:kcp:tenancy:reader', GROUPS.authenticated],
  'system:kcp:authenticated:universal-workspacetype-use': [
    'system:kcp:universal-workspacetype-use',
    GROUPS.authenticated,
  ],
}

function clusterRole(name: string, spec: RoleSpec, options: BootstrapOptions): KubeObject {
  const labels = spec.aggregateTo && { [`${RBAC_GROUP}/aggregate-to-${spec.aggregateTo}`]: 'true' }
  const matchLabels = { [`${RBAC_GROUP}/aggregate-to-${spec.aggregates}`]: 'true' }
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'ClusterRole',
    metadata: metadata('clusterroles', name, options, labels || {}),
    ...(spec.aggregates && { aggregationRule: { clusterRoleSelectors: [{ matchLabels }] } }),
    rules: cloneJson(spec.rules ?? []),
  }
}

function clusterRoleBinding(name: string, role: string, groups: string[], options: BootstrapOptions): KubeObject {
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: metadata('clusterrolebindings', name, options, {}),
    roleRef: { apiGroup: RBAC_GROUP, kind: 'ClusterRole', name: role },
    subjects: groups.map(group => ({ apiGroup: RBAC_GROUP, kind: 'Group', name: group })),
  }
}

function metadata(
  resource: string,
  name: string,
  options: BootstrapOptions,
  labels: Record<string, string>,
): KubeObject['metadata'] {
  return {
    name,
    uid: fixedUid(`bootstrap ${resource}/${name}`),
    ...(options.creationTimestamp && { creationTimestamp: options.creationTimestamp }),
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
  }
}

function byName(a: KubeObject, b: KubeObject): number {
  return a.metadata.name! < b.metadata.name! ? -1 : 1
}
