/** The fleet of a workload space and its troubles at a glance: placements, and the clusters that they may lead to. Pure. */

import { ANSWERS_VERSION } from '../../../shell/output.ts'
import { BrokenPlaces, staleClusters } from '../brokenPlaces.ts'
import { Clusters } from '../clusters.ts'
import { Places } from '../destinations.ts'
import type { Known } from '../known.ts'
import { type ClusterStatus, clusterStatus, type InventoryFacts, type Trouble } from './clusterStatus.ts'
import { namingProgress, type PlacementStatus, placementStatus } from './placementStatus.ts'

interface StatusFacts {
  readonly placements: Known
  readonly granted: Known
  readonly bindings: Known
  readonly slices: Known
  /** WorkStatuses of what is broken, where placements name only some of it. */
  readonly beyond?: Known
  /** WorkStatuses in silent clusters, where they are few. */
  readonly stale?: Known
  /** WorkStatuses of what makes progress, where they are few. */
  readonly progressing?: Known
  /** Those that the user may read. */
  readonly inventories: readonly InventoryFacts[]
}

export interface StatusAnswer {
  readonly apiVersion: string
  readonly kind: 'FleetStatus'
  readonly message: string
  /** The worst first; `more` were left out. */
  readonly placements: { readonly items: readonly PlacementStatus[]; readonly total: number; readonly troubled: number }
  readonly clusters: { readonly items: readonly ClusterStatus[]; readonly total: number; readonly troubled: number }
  readonly unknown: readonly string[]
}

/** Bound on listed placements, and on clusters. */
const MAX_LISTED = 1000
export function fleetStatus(facts: StatusFacts): StatusAnswer {
  const { placements, granted, bindings, slices, beyond, stale, progressing, inventories } = facts
  const clusters = new Clusters(new Places(granted.items, bindings.items), slices.items)
  const one = placements.items.map(placement => namingProgress(placementStatus(placement), progressing, clusters))
  const broken = new BrokenPlaces(placements.items, beyond, clusters)
  const silent = staleClusters(stale, clusters)
  const two = granted.items.map(row => clusterStatus(row, { clusters, broken, silent, inventories }))
  const unknown: string[] = []
  if (placements.unknown !== undefined) unknown.push(`how placements are: ${placements.unknown}`)
  if (granted.unknown !== undefined) unknown.push(`how clusters are: ${granted.unknown}`)
  if (beyond?.unknown !== undefined) unknown.push(`what else is broken where: ${beyond.unknown}`)
  const counts = [
    ...(placements.unknown === undefined ? [ofPlacements(one)] : []),
    ...(granted.unknown === undefined ? [ofClusters(two)] : []),
  ]
  return statusAnswer(one, two, { message: counts.join(', ') || 'nothing is known', unknown })
}

/** The worst first. */
export function statusAnswer(
  placements: readonly PlacementStatus[],
  clusters: readonly ClusterStatus[],
  { message, unknown }: Pick<StatusAnswer, 'message' | 'unknown'>,
): StatusAnswer {
  return {
    apiVersion: ANSWERS_VERSION,
    kind: 'FleetStatus',
    message,
    placements: listed(placements, ({ space = '', name }) => `${space} ${name}`),
    clusters: listed(clusters, ({ inventory = '', location }) => `${inventory} ${location}`),
    unknown,
  }
}

function listed<T extends { readonly trouble: Trouble; readonly state: string }>(
  all: readonly T[],
  name: (one: T) => string,
) {
  const rank: Readonly<Record<Trouble, number>> = { bad: 0, warn: 1, none: 2 }
  const items = all.toSorted(
    (a, b) =>
      rank[a.trouble] - rank[b.trouble] ||
      (a.state < b.state ? -1 : a.state > b.state ? 1 : name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0),
  )
  const troubled = all.filter(({ trouble }) => trouble !== 'none').length
  return { items: items.slice(0, MAX_LISTED), total: all.length, troubled }
}

export function ofPlacements(placements: readonly PlacementStatus[]): string {
  const copies = placements.reduce((sum, { counts }) => sum + counts.copies, 0)
  const applied = placements.reduce((sum, { counts }) => sum + counts.applied, 0)
  // each of a space tells of the same plan
  const heldIn = new Map<string, number>()
  for (const { space = '', counts } of placements)
    heldIn.set(space, Math.max(heldIn.get(space) ?? 0, counts.deletionHeld))
  const held = [...heldIn.values()].reduce((sum, copies) => sum + copies, 0)
  const more = held === 0 ? '' : `, ${held} held back from deletion`
  return `${counted(placements, 'placement')}, ${applied} of ${copies} ${copies === 1 ? 'copy' : 'copies'} applied${more}`
}

export function ofClusters(clusters: readonly ClusterStatus[]): string {
  return counted(clusters, 'location')
}

function counted(all: readonly { readonly trouble: Trouble }[], word: string): string {
  const troubled = all.filter(({ trouble }) => trouble !== 'none').length
  return `${all.length} ${word}${all.length === 1 ? '' : 's'}${troubled === 0 ? '' : ` (${troubled} in trouble)`}`
}
