/** How messages name where a placement leads: a Location, with its inventory where that alone tells it from another one. */
import type { Ways } from './ways.ts'

export interface NamedPlace {
  readonly location: string
  /** Path of its inventory, as long as there is one. */
  readonly cluster?: string
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

export function placeName({ location, cluster }: NamedPlace, ambiguous: ReadonlySet<string>): string {
  return cluster !== undefined && ambiguous.has(location) ? `${location} of ${cluster}` : location
}
