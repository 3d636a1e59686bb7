/**
 * The clusters to which the placements of a space lead. A cluster is a SyncTarget of an inventory, whatever Locations lead there:
 * a Location may stand for several, and several may stand for one. Pure.
 */
import { objects, str } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { clusterLabel } from '../../../placement/words/grantedNames.ts'
import { isPlace, type Place, type Places } from './destinations.ts'

interface Cluster {
  /** As its work statuses are called. */
  readonly label: string
  readonly inventory: string
  readonly syncTarget: string
  /** The Locations that lead there, sorted. */
  readonly places: readonly Place[]
}

/** Where something is, in the words of the server. */
export interface Whereabouts {
  /** Id or path. */
  readonly inventory: string
  readonly location: string
  /** `''`: not known. */
  readonly syncTarget: string
}

export class Clusters {
  readonly places: Places
  readonly #byKey = new Map<string, Cluster>()
  /** By inventory and Location. */
  readonly #keys = new Map<string, Set<string>>()

  /** @param slices of all placements of the space */
  constructor(places: Places, slices: readonly KubeObject[]) {
    this.places = places
    const found = new Map<string, Map<string, Place>>()
    for (const row of slices.flatMap(slice => objects(slice, 'destinations'))) {
      const place = places.of(str(row, 'cluster'), str(row, 'locationName'))
      const key = placeText(place.inventory, str(row, 'syncTargetName') || place.name)
      found.set(key, (found.get(key) ?? new Map()).set(place.name, place))
      const at = placeText(place.inventory, place.name)
      this.#keys.set(at, (this.#keys.get(at) ?? new Set()).add(key))
    }
    for (const [key, byName] of found) {
      const several = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
      const [{ inventory, location, name }] = several as [Place]
      const syncTarget = key.slice(inventory.length + 1)
      this.#byKey.set(key, { label: clusterLabel(location, name, syncTarget), inventory, syncTarget, places: several })
    }
  }

  of(key: string): Cluster | undefined {
    return this.#byKey.get(key)
  }

  /** The key of a cluster; of one to which no slice leads, too. */
  keyOf({ inventory, location, syncTarget }: Whereabouts): string {
    const at = this.places.of(inventory, location)
    const [only, ...others] = syncTarget === '' ? this.at(at) : []
    if (only !== undefined && others.length === 0) return only
    return placeText(at.inventory, syncTarget || location)
  }

  /** Keys of the clusters to which a Location leads. */
  at({ inventory, name }: Pick<Place, 'inventory' | 'name'>): readonly string[] {
    return [...(this.#keys.get(placeText(inventory, name)) ?? [])]
  }

  /** Keys of what somebody means who writes a name after `--cluster`: a cluster's, or that of a Location that leads there. */
  named(wanted: string): ReadonlySet<string> {
    const keys = new Set<string>()
    for (const [key, { label, places }] of this.#byKey)
      if (label === wanted || places.some(place => isPlace(place, wanted))) keys.add(key)
    return keys
  }

  /** Its form for people. */
  labelOf(where: Whereabouts): string {
    const known = this.#byKey.get(this.keyOf(where))
    if (known) return known.label
    const { location, name } = this.places.of(where.inventory, where.location)
    return clusterLabel(location, name, where.syncTarget || name)
  }
}

export function placeText(inventory: string, name: string): string {
  return `${inventory}/${name}`
}
