/**
 * The condition `Scheduled` of an EdgePlacement: False while it would lead to clusters that take nothing new, or nothing any
 * more. One that never met such a cluster has no such condition.
 */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
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
  if (saysSo(known, said)) return
  const api = client.in(space)
  const name = known.metadata.name ?? ''
  const placement = await unlessGone(api.get(EDGE_PLACEMENTS, { name }))
  if (!placement) return
  const conditions = conditionsOf(placement)
  const old = conditions.find(({ type }) => type === SCHEDULED)
  const lastTransitionTime = old?.status === said.status ? old.lastTransitionTime : timestamp(new Date(nowMs))
  const body = {
    metadata: { resourceVersion: placement.metadata.resourceVersion },
    status: {
      conditions: [...conditions.filter(other => other !== old), { type: SCHEDULED, ...said, lastTransitionTime }],
    },
  }
  await api.patch(EDGE_PLACEMENTS, { name }, 'merge', body, { subresource: 'status', fieldManager: 'where-resolver' })
}

interface Verdict {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

function saysSo(placement: Readonly<KubeObject>, said: Verdict): boolean {
  const old = conditionsOf(placement).find(({ type }) => type === SCHEDULED)
  if (!old) return said.status === 'True'
  return Object.entries(said).every(([field, value]) => old[field] === value)
}

function verdictOn({ evicted, avoided }: KeptOut): Verdict {
  const told: string[] = []
  if (evicted.length > 0) told.push(`${placesOf(evicted)}: the time in spec.evictAfter of the SyncTarget has come`)
  if (avoided.length > 0) told.push(`${placesOf(avoided)}: the SyncTarget is unschedulable (spec.unschedulable)`)
  if (told.length === 0) return { status: 'True', reason: 'AllScheduled', message: '' }
  const reason = evicted.length > 0 ? 'Evicted' : 'Unschedulable'
  return { status: 'False', reason, message: `nothing is placed at ${told.join('; nor at ')}` }
}

function placesOf(destinations: readonly SliceDestination[]): string {
  const names = [...new Set(destinations.map(({ locationName }) => locationName))].sort()
  const rest = names.length - MAX_NAMES
  return `${names.slice(0, MAX_NAMES).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

function conditionsOf({ status }: Readonly<KubeObject>): Record<string, unknown>[] {
  return isRecord(status) && Array.isArray(status.conditions) ? status.conditions.filter(isRecord) : []
}
