/** How messages name where a placement leads: a Location, with its inventory where that alone tells it from another one. */
import { clusterLabel } from './grantedNames.ts'
import { type Destination, otherTarget, type Ways } from './ways.ts'

export interface NamedPlace {
  readonly location: string
  /** Path of its inventory, as long as there is one. */
  readonly cluster?: string
  /** Where it has another name than the Location. */
  readonly syncTarget?: string
}

/** Names of Locations that several inventories have, among those that the placement leads to. */
export function ambiguousNames(ways: Ways): ReadonlySet<string> {
  const inventories = new Map<string, string>()
  const ambiguous = new Set<string>()
  for (const several of ways.values()) {
    const { locationName, cluster } = several[0]!
    const known = inventories.get(locationName)
    if (known === undefined) inventories.set(locationName, cluster)
    else if (known !== cluster) ambiguous.add(locationName)
  }
  return ambiguous
}

export function namedPlace(way: Destination, pathOf: (space: string) => string | undefined): NamedPlace {
  const cluster = pathOf(way.cluster)
  return { location: way.locationName, ...(cluster !== undefined && { cluster }), ...otherTarget(way) }
}

export function placeName({ location, cluster, syncTarget }: NamedPlace, ambiguous: ReadonlySet<string>): string {
  const name = clusterLabel(location, location, syncTarget ?? location)
  return cluster !== undefined && ambiguous.has(location) ? `${name} of ${cluster}` : name
}
