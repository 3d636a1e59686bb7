/** Facts and tools that the parts of downsync share. */
import type { SpaceClient } from '../../client/client.ts'
import type { Runtime } from '../../client/runtime.ts'
import type { ClusterAllowance } from '../mailbox/clusterAllowance.ts'
import type { Echoes } from '../mailbox/echoes.ts'
import type { MailboxMirror, SyncKey } from '../mailbox/mirror.ts'
import type { SyncPlan } from '../mailbox/syncPlan.ts'
import { spaceUser } from '../objects/marks.ts'
import type { ClusterWatches } from '../sees/clusterWatches.ts'
import type { ServedResources } from '../sees/served.ts'

export interface DownsyncContext extends Pick<Runtime, 'logger' | 'clock'> {
  /** Reads, and writes unless `as` is there. */
  cluster: SpaceClient
  /** The cluster in the name of a user. Objects of a space are then written as `orrery:space:<id>`: the cluster's access control decides. */
  as?: ((user: string) => SpaceClient) | undefined
  served: ServedResources
  mirror: MailboxMirror
  /** The downsynced objects of the cluster. */
  watches: ClusterWatches
  plan: () => SyncPlan
  /** Whether the mirror is complete: only then is an absent object a deleted one. */
  mirrorComplete: () => boolean
  /** Whether all that is in the cluster already may be adopted. */
  adoptExisting: boolean
  /** Records of writes, of this run or before. */
  echoes: Echoes
  allowance: ClusterAllowance
  /** Queues the object again. */
  again: (key: SyncKey) => void
}

/** The cluster in the name of the space that owns an object, where the syncer impersonates. */
export function inNameOf(
  owner: string | undefined,
  { cluster, as }: Pick<DownsyncContext, 'cluster' | 'as'>,
): SpaceClient {
  return as && owner !== undefined ? as(spaceUser(owner)) : cluster
}
