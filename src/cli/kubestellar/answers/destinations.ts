/**
 * Destinations of an EdgePlacement, as far as the users of its space may see them. These are the Locations that are granted to the space,
 * and those that its slices name. Each of the rest has its reason. Pure.
 */
import { at, objects, str } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { type LabelSelector, unmetRequirements } from '../../../apimachinery/selectors.ts'
import { compileSelectors } from '../../../placement/select/selectors.ts'
import { splitGrantedName } from '../../../placement/words/grantedNames.ts'

export interface Place {
  /** Name of the GrantedLocation; that of the Location where there is none (any more). */
  readonly location: string
  /** Path of the inventory; its id where no binding of the space leads there. */
  readonly inventory: string
  /** In the inventory. */
  readonly name: string
}

export interface LocationMiss extends Place {
  /** Labels that the location selectors want and the Location's own, or the reason why it is no destination all the same. */
  readonly message: string
}

interface Destinations {
  /** Sorted. */
  readonly leadsTo: readonly Place[]
  /** The nearest first. */
  readonly misses: readonly LocationMiss[]
  /** Number of Locations that the space may place on. */
  readonly granted: number
}

export class Places {
  readonly granted: readonly KubeObject[]
  readonly #byLocation = new Map<string, KubeObject>()
  /** Paths by id. */
  readonly #inventories = new Map<string, string>()

  constructor(granted: readonly KubeObject[], bindings: readonly KubeObject[]) {
    this.granted = granted
    for (const one of granted) this.#byLocation.set(`${str(one, 'inventory')}/${str(one, 'location')}`, one)
    const paths = new Map(
      granted.map(({ metadata, inventory }) => [splitGrantedName(metadata.name ?? '').binding, inventory]),
    )
    for (const one of bindings) {
      const id = str(one, 'status', 'cluster')
      // spec.path may be an id, too
      const path = paths.get(one.metadata.name ?? '') ?? str(one, 'spec', 'path')
      if (id !== '') this.#inventories.set(id, String(path))
    }
  }

  /** @param cluster id or path of the inventory */
  of(cluster: string, name: string): Place {
    const inventory = this.#inventories.get(cluster) ?? cluster
    const row = this.#byLocation.get(`${inventory}/${name}`)
    return { location: row?.metadata.name ?? name, inventory, name }
  }
}

/** Whether a place is meant by what somebody wrote after `--cluster`. */
export function isPlace(place: Place, wanted: string): boolean {
  return place.location === wanted || place.name === wanted || `${place.inventory}/${place.name}` === wanted
}

/** @param slices those of the placement */
export function explainDestinations(
  placement: KubeObject,
  slices: readonly KubeObject[],
  places: Places,
): Destinations {
  const leadsTo = new Map<string, Place>()
  for (const row of slices.flatMap(slice => objects(slice, 'destinations'))) {
    const place = places.of(str(row, 'cluster'), str(row, 'locationName'))
    leadsTo.set(`${place.inventory}/${place.name}`, place)
  }
  const { selectors } = compileSelectors(at(placement, 'spec', 'locationSelectors'), 'spec.locationSelectors')
  const misses: (LocationMiss & { readonly weight: number })[] = []
  for (const row of places.granted) {
    const place = { location: row.metadata.name ?? '', inventory: str(row, 'inventory'), name: str(row, 'location') }
    if (leadsTo.has(`${place.inventory}/${place.name}`)) continue
    const wanted = selectorMisses(selectors, row.metadata.labels ?? {})
    const message =
      selectors.length === 0
        ? 'spec.locationSelectors is empty, so it chooses no location'
        : wanted.length > 0
          ? wanted.join(', ')
          : chosenInVain(placement, row)
    misses.push({ ...place, message, weight: wanted.length })
  }
  misses.sort((a, b) => a.weight - b.weight || byName(a, b))
  return {
    leadsTo: [...leadsTo.values()].sort(byName),
    misses: misses.map(({ weight: _, ...miss }) => miss),
    granted: places.granted.length,
  }
}

/** The labels match, and no slice leads there. */
function chosenInVain(placement: KubeObject, row: KubeObject): string {
  if (at(row, 'instances') === 0) return 'the labels match, but it stands for no cluster'
  const scheduled = objects(placement, 'status', 'conditions').find(({ type }) => type === 'Scheduled')
  if (scheduled?.status === 'False')
    return `the labels match, but: ${str(scheduled, 'message') || str(scheduled, 'reason')}`
  if (at(placement, 'spec', 'paused') === true)
    return 'the labels match, but the placement is paused and goes nowhere new'
  return 'the labels match; it is not led there yet'
}

function byName(a: Place, b: Place): number {
  return a.location < b.location ? -1 : a.location > b.location ? 1 : 0
}

/**
 * Reason why labels match none of some selectors: for the nearest one, wanted beside had. Empty where they match, and where there is no
 * selector.
 */
export function selectorMisses(
  selectors: readonly LabelSelector[],
  labels: Readonly<Record<string, string>>,
): string[] {
  let nearest: string[] | undefined
  for (const selector of selectors) {
    const misses = unmetRequirements(selector, labels).map(
      ({ key, text }) =>
        `wants ${text}, has ${Object.hasOwn(labels, key) ? `${key}=${labels[key]}` : `no label ${key}`}`,
    )
    if (misses.length === 0) return []
    if (!nearest || misses.length < nearest.length) nearest = misses
  }
  return nearest ?? []
}
