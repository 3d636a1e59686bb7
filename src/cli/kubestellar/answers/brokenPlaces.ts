/**
 * Faults by cluster, as a workload space has them: placements count all and name some, WorkStatuses name each. Pure.
 */
import { at, num, objects, str, strings } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { COUNT_NAMES, factsOf, statesCounted } from '../../../placement/outcome/copyStates.ts'
import type { Clusters, Whereabouts } from './clusters.ts'
import type { Known } from './known.ts'
import { whereaboutsOf } from './workStatus.ts'

interface BrokenThere {
  /** Number of copies that are known to be. */
  count: number
  /** One of them; `''` where there is none. */
  first: string
  /** Since when the longest of them is; `''` where that is not known. */
  since: string
  /** Why more may be. */
  uncertain?: string
}

/** Counts of a placement, and the WorkStatuses that are counted there. */
const COUNTED: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    COUNT_NAMES.flatMap(count => {
      const states = statesCounted(count).filter(state => state === 'Unknown' || factsOf(state)?.isListed)
      return states.length > 0 ? [[count, states.map(state => `status.state=${state}`)]] : []
    }),
  ),
  degraded: ['status.health=Degraded'],
}
const FIELDS = Object.keys(COUNTED)

/** Field selectors of the WorkStatuses that tell all that is broken; none where the placements name all that they count. */
export function beyondNamed(placements: readonly KubeObject[]): readonly string[] {
  const countOf = ({ status }: KubeObject, field: string): number => num(status, 'counts', field)
  const isCut = placements.some(one => {
    const counted = FIELDS.reduce((sum, field) => sum + countOf(one, field), 0)
    return counted > objects(one.status, 'broken').length
  })
  if (!isCut) return []
  return FIELDS.filter(field => placements.some(one => countOf(one, field) > 0)).flatMap(field => COUNTED[field]!)
}

/** WorkStatuses that are read to name silent clusters, and as many to name what makes progress. */
const MOST_READ = 2000
/** Field selector of WorkStatuses in silent clusters. */
export const STALE = 'status.state=Stale'

/** Field selector of WorkStatuses of what is on its way to its health. */
export const PROGRESSING = 'status.health=Progressing'

/** Whether placements count some of those, and few enough to be read. */
export function mayName(count: 'stale' | 'progressing', placements: readonly KubeObject[]): boolean {
  const all = placements.reduce((sum, { status }) => sum + num(status, 'counts', count), 0)
  return all > 0 && all <= MOST_READ
}

export interface Silence {
  readonly reason: string
  /** `''` where it is not known. */
  readonly since: string
}

/** By cluster, as {@link Clusters} keys it; a syncer that does not reach its cluster counts before silence. */
export function staleClusters(stale: Known | undefined, clusters: Clusters): ReadonlyMap<string, Silence> {
  const found = new Map<string, Silence>()
  for (const object of stale?.items ?? []) {
    const key = clusters.keyOf(whereaboutsOf(object) ?? NOWHERE)
    if (found.get(key)?.reason === UNREACHABLE) continue
    found.set(key, { reason: str(object.status, 'reason'), since: str(object.status, 'since') })
  }
  return found
}

const NOWHERE: Whereabouts = { inventory: '', location: '', syncTarget: '' }

/** Where the status of an EdgePlacement says that something is broken. */
export function brokenAt(one: Readonly<Record<string, unknown>>): Whereabouts {
  return { inventory: str(one, 'cluster'), location: str(one, 'location'), syncTarget: str(one, 'syncTarget') }
}

export const UNREACHABLE = 'ClusterUnreachable'

const NOT_NAMED = 'placements name only some of what is broken, and the rest is not known'

export class BrokenPlaces {
  readonly #places = new Map<string, BrokenThere>()
  /** Why there may be more, anywhere. */
  readonly #uncertain: string | undefined

  /** @param beyond WorkStatuses as {@link beyondNamed} selects them; absent where there was no need of them */
  constructor(placements: readonly KubeObject[], beyond: Known | undefined, clusters: Clusters) {
    this.#uncertain = beyond?.unknown === undefined ? undefined : NOT_NAMED
    if (beyond && beyond.unknown === undefined) for (const one of beyond.items) this.#addStatus(one, clusters)
    else {
      for (const one of placements.flatMap(({ status }) => objects(status, 'broken')))
        this.#add(
          clusters.keyOf(brokenAt(one)),
          namedOf(one, str(one, 'message') || str(one, 'reason')),
          str(one, 'since'),
        )
    }
  }

  /** @param keys of clusters */
  at(keys: readonly string[]): BrokenThere | undefined {
    const found = keys.flatMap(key => this.#places.get(key) ?? [])
    const uncertain = this.#uncertain ?? found.find(one => one.uncertain !== undefined)?.uncertain
    if (found.length === 0 && uncertain === undefined) return undefined
    return {
      count: found.reduce((sum, { count }) => sum + count, 0),
      first: found.find(({ first }) => first !== '')?.first ?? '',
      since: earliest(found.map(({ since }) => since)),
      ...(uncertain !== undefined && { uncertain }),
    }
  }

  #addStatus(object: KubeObject, clusters: Clusters): void {
    const { spec, status } = object
    // what stays and is placed no more is not broken
    if (strings(spec, 'placements').length === 0) return
    const place = clusters.keyOf(whereaboutsOf(object) ?? NOWHERE)
    const words = str(status, 'healthMessage') || str(status, 'message') || str(status, 'reason')
    if (str(status, 'state') === 'Unknown') {
      const there = this.#places.get(place) ?? { count: 0, first: '', since: '' }
      this.#places.set(place, { ...there, uncertain: words })
    } else this.#add(place, namedOf(at(spec, 'sourceRef'), words), str(status, 'since'))
  }

  #add(place: string, text: string, since: string): void {
    const known = this.#places.get(place)
    if (!known) this.#places.set(place, { count: 1, first: text, since })
    else {
      known.count++
      known.first ||= text
      known.since = earliest([known.since, since])
    }
  }
}

/** The first of some times in RFC 3339; `''` where there is none. */
export function earliest(times: readonly string[]): string {
  return times.filter(time => time !== '').sort()[0] ?? ''
}

/** An object, and the words about it. */
export function namedOf(object: unknown, words: string): string {
  const name = [str(object, 'namespace'), str(object, 'name')].filter(part => part !== '').join('/')
  return `${str(object, 'resource')} "${name}": ${words}`
}
