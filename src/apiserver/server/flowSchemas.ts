/**
 * The priority levels and who belongs to them as Kubernetes' objects, to be read: every space shows them. They say what
 * `priorityLevelOf` does, and a test holds one against the other.
 * @see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
 */
import { fixedUid } from '../../apimachinery/fixedUid.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { GROUPS } from '../auth/users.ts'
import { PRIORITY_LEVELS, type PriorityLevel } from './priorityLevels.ts'

const GROUP = 'flowcontrol.apiserver.k8s.io'
export const FLOW_SCHEMAS = { group: GROUP, resource: 'flowschemas' } as const
export const PRIORITY_LEVEL_CONFIGURATIONS = { group: GROUP, resource: 'prioritylevelconfigurations' } as const

type Subject = Record<string, unknown>
interface Rule {
  subjects: Subject[]
  resourceRules?: object[]
  nonResourceRules?: object[]
}
interface Flow {
  level: PriorityLevel
  /** The lowest one that matches counts. */
  precedence: number
  rules: Rule[]
}

const group = (name: string): Subject => ({ kind: 'Group', group: { name } })
const user = (name: string): Subject => ({ kind: 'User', user: { name } })
const EVERYBODY = [group(GROUPS.unauthenticated), group(GROUPS.authenticated)]
const MANAGERS = [user('system:kube-controller-manager'), user('system:kube-scheduler')]
const NODES = [group('system:nodes')]
const resources = (apiGroups: string[], names: string[], verbs: string[], clusterScope: boolean): object => ({
  verbs,
  apiGroups,
  resources: names,
  ...(clusterScope && { clusterScope }),
  namespaces: ['*'],
})
const ANYTHING = {
  resourceRules: [resources(['*'], ['*'], ['*'], true)],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}
const LEASES = 'coordination.k8s.io'

const FLOWS: Readonly<Record<string, Flow>> = {
  'catch-all': { level: 'catch-all', precedence: 10_000, rules: [{ subjects: EVERYBODY, ...ANYTHING }] },
  exempt: { level: 'exempt', precedence: 1, rules: [{ subjects: [group(GROUPS.masters)], ...ANYTHING }] },
  'global-default': {
    level: 'global-default',
    precedence: 9900,
    rules: [{ subjects: [group(GROUPS.authenticated)], ...ANYTHING }],
  },
  'kube-controller-manager': {
    level: 'workload-high',
    precedence: 800,
    rules: [{ subjects: [MANAGERS[0]!], ...ANYTHING }],
  },
  'kube-scheduler': { level: 'workload-high', precedence: 800, rules: [{ subjects: [MANAGERS[1]!], ...ANYTHING }] },
  probes: {
    level: 'exempt',
    precedence: 2,
    rules: [
      {
        subjects: EVERYBODY,
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
      },
    ],
  },
  'service-accounts': {
    level: 'workload-low',
    precedence: 50,
    rules: [{ subjects: [group(GROUPS.serviceAccounts)], ...ANYTHING }],
  },
  'system-leader-election': {
    level: 'leader-election',
    precedence: 100,
    rules: [
      { subjects: MANAGERS, resourceRules: [resources([LEASES], ['leases'], ['get', 'create', 'update'], false)] },
    ],
  },
  'system-node-high': {
    level: 'node-high',
    precedence: 400,
    rules: [
      {
        subjects: NODES,
        resourceRules: [
          resources([''], ['nodes', 'nodes/status'], ['*'], true),
          resources([LEASES], ['leases'], ['*'], false),
        ],
      },
    ],
  },
  'system-nodes': { level: 'system', precedence: 500, rules: [{ subjects: NODES, ...ANYTHING }] },
}

/** Sorted by name. `since`: RFC 3339, their creationTimestamp. */
export function flowSchemas(since: string): KubeObject[] {
  return Object.entries(FLOWS).map(([name, { level, precedence, rules }]) => ({
    apiVersion: `${GROUP}/v1`,
    kind: 'FlowSchema',
    metadata: metadata('flowschema', name, since),
    spec: { priorityLevelConfiguration: { name: level }, matchingPrecedence: precedence, rules },
    status: {
      conditions: [
        {
          type: 'Dangling',
          status: 'False',
          lastTransitionTime: since,
          reason: 'Found',
          message: `This FlowSchema references the PriorityLevelConfiguration object named "${level}" and it exists`,
        },
      ],
    },
  }))
}

/** Sorted by name. A level without room refuses: there are no queues. */
export function priorityLevelConfigurations(since: string): KubeObject[] {
  return Object.entries(PRIORITY_LEVELS)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { shares, lendablePercent }]) => {
      const bounds = { nominalConcurrencyShares: shares, lendablePercent }
      const spec =
        name === 'exempt'
          ? { type: 'Exempt', exempt: bounds }
          : { type: 'Limited', limited: { ...bounds, limitResponse: { type: 'Reject' } } }
      return {
        apiVersion: `${GROUP}/v1`,
        kind: 'PriorityLevelConfiguration',
        metadata: metadata('prioritylevelconfiguration', name, since),
        spec,
        status: {},
      }
    })
}

function metadata(kind: string, name: string, since: string): KubeObject['metadata'] {
  return {
    name,
    uid: fixedUid(`${kind} ${name}`),
    generation: 1,
    creationTimestamp: since,
    annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' },
  }
}
