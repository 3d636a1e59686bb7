/**
 * What a syncer of an earlier release writes every few seconds to say that it lives, in the status of its configs. It is heard,
 * and stored now and then only: everybody who follows the mailbox would be told each time, and nothing else is new.
 */
import { isRecord } from '../../apimachinery/object.ts'
import { isMailbox } from '../../apimachinery/placement.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Admission } from '../registry/admission.ts'
import type { SpaceTree } from '../spaces/tree.ts'
import { isReport, SYNCER_USER } from './syncerReach.ts'

export interface SyncerHeartbeatsDeps {
  tree: Pick<SpaceTree, 'pathOf'>
  /** The syncer of a mailbox lives. */
  heard: (space: string) => void
  /** Milliseconds since the epoch. Default: the machine's. */
  now?: () => number
}

/** A time that is stored may be older than the newest by this. */
const KEPT_MS = 600_000
/** The clock of a cluster that differs by more is wrong: then it counts when its word came. */
const CLOCKS_DIFFER_MS = 600_000
const FIELD = 'lastSyncerHeartbeatTime'

export function syncerHeartbeats({ tree, heard, now: clock = Date.now }: SyncerHeartbeatsDeps): Admission {
  return {
    handles: (type, operation, subresource) => operation === 'UPDATE' && subresource === 'status' && isReport(type),
    reaches: ({ user, space }) => user.name === SYNCER_USER && isMailbox(tree.pathOf(space) ?? ''),
    admit({ object, old, context }) {
      const [now, before] = [object.status, old?.status]
      const told = isRecord(now) ? now[FIELD] : undefined
      if (!isRecord(now) || typeof told !== 'string') return
      heard(context.space)
      const nowMs = clock()
      // what is no time at all is refused by the schema
      const time = Math.abs(Date.parse(told) - nowMs) > CLOCKS_DIFFER_MS ? timestamp(new Date(nowMs)) : told
      now[FIELD] = time
      if (!isRecord(before) || typeof before[FIELD] !== 'string') return
      const isRecent = Math.abs(Date.parse(time) - Date.parse(before[FIELD])) < KEPT_MS
      if (isRecent && equalJson({ ...now, [FIELD]: before[FIELD] }, before)) now[FIELD] = before[FIELD]
    },
  }
}
