/** What a SyncTarget says about what may be placed there. Pure. */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'

/** The condition of an EdgePlacement that tells of it. */
export const SCHEDULED = 'Scheduled'

export interface Scheduling {
  readonly unschedulable: boolean
  /** From when on nothing is placed there; never: infinite. */
  readonly evictAtMs: number
}

export function schedulingOf({ spec }: KubeObject): Scheduling {
  if (!isRecord(spec)) return { unschedulable: false, evictAtMs: Number.POSITIVE_INFINITY }
  const evictAtMs = typeof spec.evictAfter === 'string' ? Date.parse(spec.evictAfter) : Number.NaN
  return {
    unschedulable: spec.unschedulable === true,
    evictAtMs: Number.isNaN(evictAtMs) ? Number.POSITIVE_INFINITY : evictAtMs,
  }
}
