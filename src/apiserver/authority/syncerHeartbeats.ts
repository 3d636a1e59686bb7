/**
 * What a syncer of an earlier release writes every few seconds to say that it lives, in the status of its configs. It is heard,
 * and stored now and then only: everybody who follows the mailbox would be told each time, and nothing else is new.
 */
import { isRecord } from '../../apimachinery/object.ts'
import { isMailbox } from '../../apimachinery/placement.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Admission } from '../registry/admission.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import { isReport, SYNCER_USER } from './syncerReach.ts'

export interface SyncerHeartbeatsDeps {
  tree: Pick<SpaceTree, 'pathOf'>
  /** The syncer of a mailbox lives. */
  heard: (space: string) => void
}

/** A time that is stored may be older than the newest by this. */
const KEPT_MS = 600_000
const FIELD = 'lastSyncerHeartbeatTime'

export function syncerHeartbeats({ tree, heard }: SyncerHeartbeatsDeps): Admission {
  return {
    handles: (type, operation, subresource) => operation === 'UPDATE' && subresource === 'status' && isReport(type),
    reaches: ({ user, space }) => user.name === SYNCER_USER && isMailbox(tree.pathOf(space) ?? ''),
    admit({ object, old, context }) {
      const [now, before] = [object.status, old?.status]
      if (!isRecord(now) || typeof now[FIELD] !== 'string') return
      heard(context.space)
      if (!isRecord(before) || typeof before[FIELD] !== 'string') return
      // by the syncer's clock, which may be wrong or be set
      const isRecent = Math.abs(Date.parse(now[FIELD]) - Date.parse(before[FIELD])) < KEPT_MS
      if (isRecent && equalJson({ ...now, [FIELD]: before[FIELD] }, before)) now[FIELD] = before[FIELD]
    },
  }
}
