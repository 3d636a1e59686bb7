/**
 * The condition `Scheduled` of an EdgePlacement: False while it would lead to clusters that take nothing new, or nothing any
 * more. One that never met such a cluster has no such condition. Pure.
 */
import { type Condition, conditionOf } from '../../apimachinery/conditions.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { someOf } from '../../apimachinery/someOf.ts'
import type { SliceRow } from '../whereDesk.ts'
import { SCHEDULED } from './whereIndex.ts'

interface KeptOut {
  /** The time of whose eviction has come. */
  readonly evicted: readonly SliceRow[]
  /** Unschedulable, and the placement did not lead there before. */
  readonly avoided: readonly SliceRow[]
}

/** Bound on the named Locations. */
const MAX_NAMES = 5

/** None where the placement never met such a cluster. */
export function scheduledConditions(placement: Readonly<KubeObject>, out: KeptOut): Condition[] {
  const condition = verdictOn(out)
  return condition.status === 'True' && !conditionOf(placement, SCHEDULED) ? [] : [condition]
}

function verdictOn({ evicted, avoided }: KeptOut): Condition {
  const type = SCHEDULED
  const unplaced: string[] = []
  if (evicted.length > 0) unplaced.push(`${placesOf(evicted)}: the time in spec.evictAfter of the SyncTarget has come`)
  if (avoided.length > 0) unplaced.push(`${placesOf(avoided)}: the SyncTarget is unschedulable (spec.unschedulable)`)
  if (unplaced.length === 0) return { type, status: 'True', reason: 'AllScheduled', message: '' }
  const reason = evicted.length > 0 ? 'Evicted' : 'Unschedulable'
  return { type, status: 'False', reason, message: `nothing is placed at ${unplaced.join('; nor at ')}` }
}

function placesOf(destinations: readonly SliceRow[]): string {
  const names = [...new Set(destinations.map(({ locationName }) => locationName))].sort()
  return someOf(names, MAX_NAMES)
}
