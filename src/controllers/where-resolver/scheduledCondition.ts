/**
 * The condition `Scheduled` of an EdgePlacement: False while it would lead to clusters that take nothing new, or nothing any
 * more. One that never met such a cluster has no such condition.
 */
import { type Condition, conditionOf, conditionsOf, mergeConditions } from '../../apimachinery/conditions.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import type { Client } from '../../client/client.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { EDGE_PLACEMENTS } from '../../placement/words/placement.ts'
import { SCHEDULED, type SliceDestination } from './whereIndex.ts'

export interface KeptOut {
  /** The time of whose eviction has come. */
  readonly evicted: readonly SliceDestination[]
  /** Unschedulable, and the placement did not lead there before. */
  readonly avoided: readonly SliceDestination[]
}

export interface TellInputs {
  client: Client
  space: string
  nowMs: number
}

/** Of the Locations that are named. */
const MAX_NAMES = 5

/** `known`: the placement as it was read a moment ago; nearly always it says already what is to be said. */
export async function tellScheduled(
  { client, space, nowMs }: TellInputs,
  known: Readonly<KubeObject>,
  out: KeptOut,
): Promise<void> {
  const said = verdictOn(out)
  const now = timestamp(new Date(nowMs))
  // a placement that never met such a cluster has no such condition
  if (said.status === 'True' && !conditionOf(known, SCHEDULED)) return
  if (!mergeConditions(conditionsOf(known), [said], now).isChanged) return
  const api = client.in(space)
  const name = known.metadata.name ?? ''
  const placement = await unlessGone(api.get(EDGE_PLACEMENTS, { name }))
  if (!placement) return
  const { conditions } = mergeConditions(conditionsOf(placement), [said], now)
  const body = { metadata: { resourceVersion: placement.metadata.resourceVersion }, status: { conditions } }
  await api.patch(EDGE_PLACEMENTS, { name }, 'merge', body, { subresource: 'status', fieldManager: 'where-resolver' })
}

function verdictOn({ evicted, avoided }: KeptOut): Condition {
  const type = SCHEDULED
  const told: string[] = []
  if (evicted.length > 0) told.push(`${placesOf(evicted)}: the time in spec.evictAfter of the SyncTarget has come`)
  if (avoided.length > 0) told.push(`${placesOf(avoided)}: the SyncTarget is unschedulable (spec.unschedulable)`)
  if (told.length === 0) return { type, status: 'True', reason: 'AllScheduled', message: '' }
  const reason = evicted.length > 0 ? 'Evicted' : 'Unschedulable'
  return { type, status: 'False', reason, message: `nothing is placed at ${told.join('; nor at ')}` }
}

function placesOf(destinations: readonly SliceDestination[]): string {
  const names = [...new Set(destinations.map(({ locationName }) => locationName))].sort()
  const rest = names.length - MAX_NAMES
  return `${names.slice(0, MAX_NAMES).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
