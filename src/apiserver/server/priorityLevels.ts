/**
 * How urgent a request is. The levels and their shares are those that a kube-apiserver starts with, and so is who belongs to
 * which, save that all ServiceAccounts are in `workload-low`, for every space has its own, and requests without credentials in
 * `catch-all`, so they never crowd out anybody who is known.
 * FlowSchemas and PriorityLevelConfigurations of a space change nothing here: the bounds are the whole server's. What is
 * done here is shown by flowSchemas.ts, in their form.
 * @see https://kubernetes.io/docs/concepts/cluster-administration/flow-control/
 */

import type { UserInfo } from '../auth/types.ts'
import { EXTRAS, GROUPS } from '../auth/users.ts'
import type { RequestInfo, ResourceRequest } from '../request/requestInfo.ts'

interface Portion {
  /** Part of what the server does at a time, in proportion to the others'. */
  readonly shares: number
  /** How much of it others may use while it is idle. */
  readonly lendablePercent: number
}

export type PriorityLevel =
  | 'exempt'
  | 'system'
  | 'node-high'
  | 'leader-election'
  | 'workload-high'
  | 'workload-low'
  | 'global-default'
  | 'catch-all'

/** `exempt` is not bounded, and takes nothing from the others. */
export const PRIORITY_LEVELS: Readonly<Record<PriorityLevel, Portion>> = {
  exempt: { shares: 0, lendablePercent: 0 },
  system: { shares: 30, lendablePercent: 33 },
  'node-high': { shares: 40, lendablePercent: 25 },
  'leader-election': { shares: 10, lendablePercent: 0 },
  'workload-high': { shares: 40, lendablePercent: 50 },
  'workload-low': { shares: 100, lendablePercent: 90 },
  'global-default': { shares: 20, lendablePercent: 50 },
  'catch-all': { shares: 5, lendablePercent: 0 },
}

const NODES = 'system:nodes'

/**
 * Reads the request as it came, and makes nothing: it runs for every request. Who counts in one space only (ServiceAccounts,
 * certificates and impersonations of its administrator) is called what that administrator likes: names buy no priority.
 */
export function priorityLevelOf(
  { name, groups, extra }: UserInfo,
  { verb, path, resource }: RequestInfo,
): PriorityLevel {
  if (groups.includes(GROUPS.masters)) return 'exempt'
  if (resource === undefined && verb === 'get' && isProbe(path)) return 'exempt'
  if (groups.includes(GROUPS.serviceAccounts)) return 'workload-low'
  const ofOneSpace = extra?.[EXTRAS.clusterName] !== undefined || extra?.[EXTRAS.scopes] !== undefined
  if (!ofOneSpace) {
    const manages = name === 'system:kube-controller-manager' || name === 'system:kube-scheduler'
    if (manages && resource !== undefined && isElection(verb, resource)) return 'leader-election'
    if (groups.includes(NODES)) return resource !== undefined && isHeartbeat(resource) ? 'node-high' : 'system'
    if (manages) return 'workload-high'
  }
  return groups.includes(GROUPS.authenticated) ? 'global-default' : 'catch-all'
}

function isProbe(path: string): boolean {
  return path === '/livez' || path === '/readyz' || path === '/healthz'
}

function isElection(verb: string, { group, resource, subresource }: ResourceRequest): boolean {
  const contending = verb === 'get' || verb === 'create' || verb === 'update'
  return contending && group === 'coordination.k8s.io' && resource === 'leases' && subresource === ''
}

/** What a node says to be taken for alive. */
function isHeartbeat({ group, resource, subresource }: ResourceRequest): boolean {
  if (group === '') return resource === 'nodes' && (subresource === '' || subresource === 'status')
  return group === 'coordination.k8s.io' && resource === 'leases' && subresource === ''
}
