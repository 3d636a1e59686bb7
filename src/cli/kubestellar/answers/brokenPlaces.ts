/**
 * What is broken in which location, as a workload space is told: placements count all of it and name some, WorkStatuses name each.
 * Pure.
 */
import { at, num, objects, str, strings } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Known } from './known.ts'

export interface BrokenThere {
  /** Of copies that are known to be. */
  count: number
  /** One of them; `''` where there is none. */
  first: string
  /** Why more may be. */
  uncertain?: string
}

/** Counts of a placement, and the WorkStatuses that are counted there. */
const COUNTED = {
  conflict: ['status.state=Conflict'],
  refused: ['status.state=Refused'],
  retrying: ['status.state=Retrying'],
  altered: ['status.state=Altered'],
  waiting: ['status.state=Waiting', 'status.state=Unserved', 'status.state=Terminating', 'status.state=Drifted'],
  held: ['status.state=Held'],
  unknown: ['status.state=Unknown'],
  degraded: ['status.health=Degraded'],
} as const
const FIELDS = Object.keys(COUNTED) as (keyof typeof COUNTED)[]

/** Field selectors of the WorkStatuses that tell all that is broken; none where the placements name all that they count. */
export function beyondNamed(placements: readonly KubeObject[]): readonly string[] {
  const countOf = ({ status }: KubeObject, field: string): number => num(status, 'counts', field)
  const isCut = placements.some(one => {
    const counted = FIELDS.reduce((sum, field) => sum + countOf(one, field), 0)
    return counted > objects(one.status, 'broken').length
  })
  if (!isCut) return []
  return FIELDS.filter(field => placements.some(one => countOf(one, field) > 0)).flatMap(field => COUNTED[field])
}

/** Of the WorkStatuses that are read to tell which clusters they are of. */
const MOST_STALE = 2000
/** Field selector of WorkStatuses in clusters that are not heard. */
export const STALE = 'status.state=Stale'

/** Whether there are some of those, and few enough to be read. */
export function mayNameStale(placements: readonly KubeObject[]): boolean {
  const stale = placements.reduce((sum, { status }) => sum + num(status, 'counts', 'stale'), 0)
  return stale > 0 && stale <= MOST_STALE
}

/** Reasons by place, as {@link placeText} says it; that a syncer does not reach its cluster goes before that it is not heard. */
export function stalePlaces(stale: Known | undefined): ReadonlyMap<string, string> {
  const places = new Map<string, string>()
  for (const { spec, status } of stale?.items ?? []) {
    const place = placeText(str(spec, 'location', 'cluster'), str(spec, 'location', 'name'))
    if (places.get(place) !== UNREACHABLE) places.set(place, str(status, 'reason'))
  }
  return places
}

export const UNREACHABLE = 'ClusterUnreachable'

const NOT_NAMED = 'placements name only some of what is broken, and the rest is not known'

export class BrokenPlaces {
  readonly #places = new Map<string, BrokenThere>()
  /** Why there may be more, anywhere. */
  readonly #uncertain: string | undefined

  /** @param beyond WorkStatuses as {@link beyondNamed} selects them; absent where there was no need of them */
  constructor(placements: readonly KubeObject[], beyond: Known | undefined) {
    this.#uncertain = beyond?.unknown === undefined ? undefined : NOT_NAMED
    if (beyond && beyond.unknown === undefined) for (const one of beyond.items) this.#addStatus(one)
    else for (const one of placements.flatMap(({ status }) => objects(status, 'broken'))) this.#addNamed(one)
  }

  /** @param inventory path */
  at(inventory: string, location: string): BrokenThere | undefined {
    const found = this.#places.get(placeText(inventory, location)) ?? this.#places.get(placeText('', location))
    if (this.#uncertain === undefined) return found
    return { count: 0, first: '', ...found, uncertain: this.#uncertain }
  }

  #addStatus({ spec, status }: KubeObject): void {
    // what stays and is placed no more is not broken
    if (strings(spec, 'placements').length === 0) return
    const place = placeText(str(spec, 'location', 'cluster'), str(spec, 'location', 'name'))
    const words = str(status, 'healthMessage') || str(status, 'message') || str(status, 'reason')
    if (str(status, 'state') === 'Unknown') {
      const there = this.#places.get(place) ?? { count: 0, first: '' }
      this.#places.set(place, { ...there, uncertain: words })
    } else this.#add(place, namedOf(at(spec, 'sourceRef'), words))
  }

  #addNamed(one: Readonly<Record<string, unknown>>): void {
    const place = placeText(str(one, 'cluster'), str(one, 'location'))
    this.#add(place, namedOf(one, str(one, 'message') || str(one, 'reason')))
  }

  #add(place: string, text: string): void {
    const known = this.#places.get(place)
    if (known) known.count++
    else this.#places.set(place, { count: 1, first: text })
    if (known && known.first === '') known.first = text
  }
}

function namedOf(object: unknown, words: string): string {
  const name = [str(object, 'namespace'), str(object, 'name')].filter(part => part !== '').join('/')
  return `${str(object, 'resource')} "${name}": ${words}`
}

/** A server of an earlier release does not say in which inventory it is. */
export function placeText(inventory: string, location: string): string {
  return `${inventory}/${location}`
}
