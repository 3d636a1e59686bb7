/**
 * `status --all-spaces`: the placements of all spaces and the Locations of all inventories that the user may read, in the words of
 * `status`. A space that cannot be read is named, and hides no other.
 */
import { num } from '../../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../../apimachinery/object.ts'
import { someOf } from '../../../../apimachinery/someOf.ts'
import { atMost } from '../../../../client/atMost.ts'
import type { Client } from '../../../../client/client.ts'
import { serves } from '../../../../placement/spaces/spaceTypes.ts'
import { EDGE_PLACEMENTS, LOCATIONS, SYNC_TARGETS } from '../../../../placement/words/placement.ts'
import { CommandError } from '../../../shell/commandError.ts'
import { AT_ONCE, type FoundSpace, spacesFrom } from '../../../shell/session/spaceTree.ts'
import { BrokenPlaces } from '../brokenPlaces.ts'
import { Clusters } from '../clusters.ts'
import { Places } from '../destinations.ts'
import { known } from '../known.ts'
import { type ClusterStatus, clusterStatus, type InventoryFacts } from './clusterStatus.ts'
import { type PlacementStatus, placementStatus } from './placementStatus.ts'
import { ofClusters, ofPlacements, type StatusAnswer, statusAnswer } from './status.ts'

/** Spaces that a line names. */
const NAMED = 10

/** Spaces from some on; mailboxes are nobody's to look after. */
export async function workSpacesFrom(client: Client, paths: readonly string[]): Promise<readonly FoundSpace[]> {
  const found = new Map<string, FoundSpace>()
  for (const path of paths) {
    if (found.has(path)) continue
    for (const [at, space] of await spacesFrom(client, path, ({ name }) => name !== 'core')) found.set(at, space)
  }
  return [...found.values()].filter(({ type }) => type?.name !== 'core')
}

/** @param paths where to begin @throws CommandError where none of the spaces can be read */
export async function statusOfSpaces(client: Client, paths: readonly string[]): Promise<StatusAnswer> {
  const spaces = await workSpacesFrom(client, paths)
  const placements: PlacementStatus[] = []
  const clusters: ClusterStatus[] = []
  const closed: string[] = []
  const read = { spaces: 0, inventories: 0 }
  await atMost(AT_ONCE, spaces, async ({ path, type }) => {
    let refusals = 0
    if (!type || serves(type, EDGE_PLACEMENTS)) {
      const found = await known(client.in(path), EDGE_PLACEMENTS)
      placements.push(...found.items.map(one => ({ space: path, ...placementStatus(one) })))
      if (found.items.length > 0 || !type || type.describes) read.spaces += found.unknown === undefined ? 1 : 0
      if (found.refusal !== undefined) refusals++
    }
    if (!type || serves(type, SYNC_TARGETS)) {
      const inventory = await inventoryOf(client, path)
      clusters.push(...clustersIn(inventory))
      if (inventory.locations.items.length > 0 || type?.name === 'inventory')
        read.inventories += inventory.locations.unknown === undefined ? 1 : 0
      if (inventory.locations.refusal !== undefined || inventory.targets.refusal !== undefined) refusals++
    }
    // of a space whose type is not known, one of the two is none that it serves
    if (refusals > (type ? 0 : 1)) closed.push(path)
  })
  const unknown = unreadText(spaces, closed)
  if (closed.length === spaces.length)
    throw new CommandError(`nothing is to be seen from ${paths.join(', ')}: ${unknown[0]}`)
  return statusAnswer(placements, clusters, {
    message: `${counted(read.spaces, 'workload space')}, ${ofPlacements(placements)}; ${counted(read.inventories, 'inventory space')}, ${ofClusters(clusters)}`,
    unknown,
  })
}

/** Spaces that could not be read, and those of which the spaces below are not known. */
export function unreadText(spaces: readonly FoundSpace[], closed: readonly string[]): string[] {
  const childless = spaces.filter(({ path, hidden }) => hidden !== undefined && !closed.includes(path))
  return [
    ...(closed.length > 0 ? [`${named(closed)}: you may not list what is placed or joined there`] : []),
    ...(childless.length > 0
      ? [`spaces below ${named(childless.map(({ path }) => path))}: you may not list workspaces there`]
      : []),
  ]
}

export async function inventoryOf(client: Client, path: string): Promise<InventoryFacts> {
  const inventory = client.in(path)
  const [locations, targets] = await Promise.all([known(inventory, LOCATIONS), known(inventory, SYNC_TARGETS)])
  return { path, locations, targets }
}

/** As workload spaces read them, where SyncTargets may be read: their counts speak of all spaces. */
function clustersIn(inventory: InventoryFacts): ClusterStatus[] {
  const { path, locations } = inventory
  const clusters = new Clusters(new Places([], []), [])
  const facts = {
    clusters,
    broken: new BrokenPlaces([], undefined, clusters),
    silent: new Map(),
    inventories: [inventory],
  }
  return locations.items.map(location => ({ inventory: path, ...clusterStatus(rowOf(location, path), facts) }))
}

/** As a GrantedLocation would say it. */
function rowOf({ metadata, status, ...rest }: KubeObject, inventory: string): KubeObject {
  const { name = '' } = metadata
  return {
    ...rest,
    metadata: { name },
    inventory,
    location: name,
    instances: num(status, 'instances'),
    ready: num(status, 'availableInstances'),
  }
}

/** The first of some paths. */
export function named(paths: readonly string[]): string {
  return someOf(paths.toSorted(), NAMED)
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
