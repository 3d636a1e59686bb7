/**
 * Cluster to mailbox: the status of downsynced objects, exactly as the cluster reports it, but for generations, which are those
 * of the mailbox there. The mailbox's generation so records what the cluster has observed. A status that is too large
 * is not reported; an exception says so.
 */

import { isStatusError } from '../../apimachinery/errors.ts'
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { SpaceClient } from '../../client/client.ts'
import { refOf } from '../../client/refOf.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { hasGenerations, inOurGenerations } from '../../placement/outcome/observedGeneration.ts'
import { OWNER_ANNOTATION } from '../../placement/words/placement.ts'
import type { Downsync } from '../down/downsync.ts'
import type { MailboxMirror, SyncKey } from '../mailbox/mirror.ts'
import type { SyncPlan } from '../mailbox/syncPlan.ts'
import { SYNCER_MANAGER } from '../objects/marks.ts'
import { ownershipOf } from '../objects/reportedStatus.ts'
import type { ClusterWatches } from '../sees/clusterWatches.ts'
import type { ServedResources } from '../sees/served.ts'
import { type StatusLimit, statusPatch } from './statusLimit.ts'

export interface ReturnStatusDeps {
  mailbox: SpaceClient
  /** Kinds that the mailbox serves. */
  served: ServedResources
  mirror: MailboxMirror
  watches: ClusterWatches
  plan: () => SyncPlan
  downsync: Pick<Downsync, 'produced' | 'isFormers'>
  statusLimit: StatusLimit
}

/** It may be another space's by now. */
function whileOwned({ metadata: { annotations } }: Readonly<KubeObject>): object[] {
  const value = annotations?.[OWNER_ANNOTATION]
  return value === undefined ? [] : [{ op: 'test', path: OWNER_POINTER, value }]
}
const OWNER_POINTER = `/metadata/annotations/${OWNER_ANNOTATION.replace('/', '~1')}`

/** Each server has a status of its own for these: it tells about that server, not about the workload. */
const OWN_STATUS = new Set([NAMESPACES, CRDS].map(groupResourceName))

export async function returnStatus(deps: ReturnStatusDeps, key: SyncKey): Promise<void> {
  if (OWN_STATUS.has(groupResourceName(key)) || !deps.plan().wantsDown(key, key.namespace, key.name)) return
  const mirrored = deps.mirror.get(key)
  const live = deps.watches.get(key, key)
  if (mirrored === undefined || live?.status === undefined) return
  const subresource = deps.served.find(key)?.subresources.includes('status') === true
  const { object } = mirrored
  if (deps.downsync.isFormers(key, object, live)) return // it comes again
  let status: unknown = live.status
  // without the sub-resource a report is a new generation itself
  if (subresource && object.metadata.generation !== undefined && hasGenerations(status)) {
    const produced = deps.downsync.produced(key, object, live)
    if (produced === undefined) return // it comes again
    status = inOurGenerations(status, produced === 'unknown' ? undefined : produced, object.status)
  }
  if (equalJson(status, object.status)) return
  const patch = statusPatch(deps.statusLimit.allows(key, live) ? status : undefined, object.status)
  if (!patch) return
  try {
    const options = { fieldManager: SYNCER_MANAGER, ...(subresource && { subresource: 'status' }) }
    await deps.mailbox.patch(mirrored.resource, refOf(key), 'json', [...whileOwned(object), ...patch], options)
  } catch (error) {
    // Deleted in the center meanwhile, or another space's: the stream says so, too.
    if (isStatusError(error, 'NotFound')) return
    const now = isStatusError(error, 'Invalid') && (await unlessGone(deps.mailbox.get(mirrored.resource, refOf(key))))
    if (!now || ownershipOf(now) === ownershipOf(object)) throw error
  }
}
