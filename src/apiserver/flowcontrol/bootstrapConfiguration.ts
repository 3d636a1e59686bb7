/**
 * The FlowSchemas and PriorityLevelConfigurations of a new server, as a kube-apiserver has them, and one more of each for syncers. With
 * those no crowd of users keeps placement waiting. Without the mandatory ones it could not do its work; the others are a suggestion, which
 * an administrator may change.
 * @see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/#defaults
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import { GROUPS } from '../auth/users.ts'
import { FLOW_GROUP } from './flowConfiguration.ts'
import { HOST_PROBES, SYNCERS } from './flowMatching.ts'

/** While it says `true`, the server keeps an object as it suggests it. */
export const AUTOUPDATE = 'apf.kubernetes.io/autoupdate-spec'

export const MANDATORY_SCHEMAS: readonly string[] = ['exempt', 'catch-all']
export const MANDATORY_LEVELS: readonly string[] = ['exempt', 'catch-all']

type Part = Record<string, unknown>

const group = (name: string): Part => ({ kind: 'Group', group: { name } })
const user = (name: string): Part => ({ kind: 'User', user: { name } })
const accounts = (namespace: string): Part => ({ kind: 'ServiceAccount', serviceAccount: { name: '*', namespace } })
const EVERYBODY = [group(GROUPS.unauthenticated), group(GROUPS.authenticated)]
const MANAGERS = [user('system:kube-controller-manager'), user('system:kube-scheduler')]
const NODES = [group('system:nodes')]

function resources(apiGroups: string[], names: string[], verbs: string[], clusterScope: boolean): Part {
  return { verbs, apiGroups, resources: names, ...(clusterScope && { clusterScope }), namespaces: ['*'] }
}
const EVERYTHING = {
  resourceRules: [resources(['*'], ['*'], ['*'], true)],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}
const LEASES = 'coordination.k8s.io'

/** Name, level, precedence, what tells its flows apart, rules. */
const SCHEMAS: readonly [string, string, number, string, Part[]][] = [
  ['exempt', 'exempt', 1, '', [{ subjects: [group(GROUPS.masters)], ...EVERYTHING }]],
  [
    'probes',
    'exempt',
    2,
    '',
    [
      {
        subjects: EVERYBODY,
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
      },
      {
        subjects: [group(HOST_PROBES)],
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/apis', '/apis/*', '/openapi/*'] }],
      },
    ],
  ],
  [
    'system-leader-election',
    'leader-election',
    100,
    'ByUser',
    [
      {
        subjects: [...MANAGERS, accounts('kube-system')],
        resourceRules: [resources([LEASES], ['leases'], ['get', 'create', 'update'], false)],
      },
    ],
  ],
  [
    'system-node-high',
    'node-high',
    400,
    'ByUser',
    [
      {
        subjects: NODES,
        resourceRules: [
          resources([''], ['nodes', 'nodes/status'], ['*'], true),
          resources([LEASES], ['leases'], ['*'], false),
        ],
      },
    ],
  ],
  ['system-nodes', 'system', 500, 'ByUser', [{ subjects: NODES, ...EVERYTHING }]],
  ['orrery-syncers', 'syncers', 700, 'ByUser', [{ subjects: [group(SYNCERS)], ...EVERYTHING }]],
  ['kube-controller-manager', 'workload-high', 800, 'ByNamespace', [{ subjects: [MANAGERS[0]!], ...EVERYTHING }]],
  ['kube-scheduler', 'workload-high', 800, 'ByNamespace', [{ subjects: [MANAGERS[1]!], ...EVERYTHING }]],
  [
    'kube-system-service-accounts',
    'workload-high',
    900,
    'ByNamespace',
    [{ subjects: [accounts('kube-system')], ...EVERYTHING }],
  ],
  ['service-accounts', 'workload-low', 9000, 'ByUser', [{ subjects: [group(GROUPS.serviceAccounts)], ...EVERYTHING }]],
  ['global-default', 'global-default', 9900, 'ByUser', [{ subjects: EVERYBODY, ...EVERYTHING }]],
  ['catch-all', 'catch-all', 10_000, 'ByUser', [{ subjects: EVERYBODY, ...EVERYTHING }]],
]

/** Name, shares, how much of them is lent; queues, hand, length, or nothing for a level that refuses. */
const LEVELS: readonly [string, number, number, number[]][] = [
  ['catch-all', 5, 0, []],
  ['system', 30, 33, [64, 6, 50]],
  ['node-high', 40, 25, [64, 6, 50]],
  ['leader-election', 10, 0, [16, 4, 50]],
  ['syncers', 40, 50, [128, 6, 50]],
  ['workload-high', 40, 50, [128, 6, 50]],
  ['workload-low', 100, 90, [128, 6, 50]],
  ['global-default', 20, 50, [128, 6, 50]],
]

/** Without system metadata; in order of names. */
export function bootstrapSchemas(): KubeObject[] {
  return SCHEMAS.map(([name, level, matchingPrecedence, by, rules]) => ({
    apiVersion: `${FLOW_GROUP}/v1`,
    kind: 'FlowSchema',
    metadata: { name, annotations: { [AUTOUPDATE]: 'true' } },
    spec: {
      priorityLevelConfiguration: { name: level },
      matchingPrecedence,
      ...(by !== '' && { distinguisherMethod: { type: by } }),
      rules,
    },
  })).sort(byName)
}

/** Without system metadata; in order of names. */
export function bootstrapLevels(): KubeObject[] {
  const exempt = { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } }
  const limited = LEVELS.map(
    ([name, nominalConcurrencyShares, lendablePercent, [queues, handSize, queueLengthLimit]]) =>
      level(name, {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares,
          lendablePercent,
          limitResponse:
            queues === undefined
              ? { type: 'Reject' }
              : { type: 'Queue', queuing: { queues, handSize, queueLengthLimit } },
        },
      }),
  )
  return [level('exempt', exempt), ...limited].sort(byName)
}

function level(name: string, spec: Part): KubeObject {
  return {
    apiVersion: `${FLOW_GROUP}/v1`,
    kind: 'PriorityLevelConfiguration',
    metadata: { name, annotations: { [AUTOUPDATE]: 'true' } },
    spec,
  }
}

function byName(a: KubeObject, b: KubeObject): number {
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1
}
