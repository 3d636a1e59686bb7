/** Cluster to mailbox: the status of downsynced objects, exactly as the cluster reports it. */
import { isStatusError } from '../apimachinery/errors.ts'
import { groupResourceName, type KubeObject } from '../apimachinery/object.ts'
import type { SpaceClient } from '../client/client.ts'
import type { ClusterWatches } from './clusterWatches.ts'
import { refOf } from './downsync.ts'
import type { MailboxMirror, SyncKey } from './mirror.ts'
import type { ServedResources } from './served.ts'
import type { SyncPlan } from './syncPlan.ts'

export interface StatusReturnDeps {
  mailbox: SpaceClient
  served: ServedResources
  mirror: MailboxMirror
  watches: ClusterWatches
  plan: () => SyncPlan
}

/** Each server has a status of its own for these: it tells about that server, not about the workload. */
const OWN_STATUS = new Set(['namespaces', 'customresourcedefinitions.apiextensions.k8s.io'])

export async function returnStatus(deps: StatusReturnDeps, key: SyncKey): Promise<void> {
  if (OWN_STATUS.has(groupResourceName(key)) || !deps.plan().wantsDown(key, key.namespace, key.name)) return
  const mirrored = deps.mirror.get(key)
  const live = deps.watches.get(key, key)
  if (mirrored === undefined || live?.status === undefined || sameStatus(live, mirrored.object)) return
  const subresource = deps.served.find(key)?.subresources.includes('status') === true
  try {
    const patch = [{ op: 'add', path: '/status', value: live.status }]
    await deps.mailbox.patch(mirrored.resource, refOf(key), 'json', patch, subresource ? { subresource: 'status' } : {})
  } catch (error) {
    // Deleted in the center meanwhile: the stream says so, too.
    if (!isStatusError(error, 'NotFound')) throw error
  }
}

function sameStatus(a: Readonly<KubeObject>, b: Readonly<KubeObject>): boolean {
  return JSON.stringify(sorted(a.status)) === JSON.stringify(sorted(b.status))
}

/** Members in one order: two servers may write theirs differently. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)]),
  )
}
