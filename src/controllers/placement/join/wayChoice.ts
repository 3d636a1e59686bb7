/**
 * The way of an object to a mailbox: the first on which it may be placed. Also whether upsync sets name it and may carry it up on one of
 * the ways. Objects that they name without a right to go up are placed like all else.
 */
import type { Allowance } from '../../../placement/consent/allowance.ts'
import { type PlacementSpec, upsyncs } from '../../../placement/select/placementSpec.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Destination, Ways } from '../../../placement/words/ways.ts'
import type { ObjectFact } from './workload.ts'

/** Source of allowances. */
export interface Consent {
  allowance(space: string, way: Destination): Allowance
  /** Whether any allowance may be uncertain. */
  readonly anyUncertain: boolean
}

/** A placement's ways to one mailbox. */
export interface Approach {
  /** Id of the placement's space. */
  readonly space: string
  readonly spec: PlacementSpec
  readonly ways: readonly Destination[]
}

export class WayChoice {
  readonly #consent: Consent
  /** Allowances on the ways to each mailbox, each combination once: thousands of clusters mostly share them. */
  #allowances = new WeakMap<Ways, readonly (readonly Allowance[])[]>()

  constructor(consent: Consent) {
    this.#consent = consent
  }

  /** The first Location on which the object may be placed. */
  first({ space, ways }: Pick<Approach, 'space' | 'ways'>, fact: ObjectFact): Destination | undefined {
    for (const way of ways) if (this.#refusal(space, way, fact) === undefined) return way
    return undefined
  }

  /** Whether an object might be placed on one of the ways, or on an earlier one than is known. */
  isUnsure({ space, ways }: Approach, fact: ObjectFact): boolean {
    for (const way of ways) {
      if (this.#refusal(space, way, fact) === undefined) return false
      if (this.#consent.allowance(space, way).isUncertain) return true
    }
    return false
  }

  /** Whether the placement carries an object up on one of the ways; `undefined`: nobody knows. */
  carriesUp({ space, spec, ways }: Approach, fact: ObjectFact): boolean | undefined {
    if (!upsyncs(spec.upsyncTests, fact)) return false
    const allowances = ways.map(way => this.#consent.allowance(space, way))
    if (allowances.some(allowance => allowance.carriesUp(spec, fact))) return true
    return allowances.some(({ isUncertain }) => isUncertain) ? undefined : false
  }

  /** Whether a placement carries an object up from wherever it leads. */
  isCarriedUp({ space, spec, ways }: { space: string; spec: PlacementSpec; ways: Ways }, fact: ObjectFact): boolean {
    if (!upsyncs(spec.upsyncTests, fact)) return false
    return this.#ledBy(space, ways).every(several => several.some(allowance => allowance.carriesUp(spec, fact)))
  }

  /** Allowances may have changed. */
  forget(): void {
    this.#allowances = new WeakMap()
  }

  #ledBy(space: string, ways: Ways): readonly (readonly Allowance[])[] {
    const known = this.#allowances.get(ways)
    if (known) return known
    const ids = new Map<Allowance, number>()
    const found = new Map<string, readonly Allowance[]>()
    for (const several of ways.values()) {
      const allowances = [...new Set(several.map(way => this.#consent.allowance(space, way)))]
      for (const allowance of allowances) if (!ids.has(allowance)) ids.set(allowance, ids.size)
      found.set(allowances.map(allowance => ids.get(allowance)).join(), allowances)
    }
    const all = [...found.values()]
    this.#allowances.set(ways, all)
    return all
  }

  #refusal(id: string, way: Destination, { resource, namespace, name }: ObjectFact): Reason | undefined {
    const allowance = this.#consent.allowance(id, way)
    if (allowance.allowsAll) return undefined
    return allowance.refusal({ group: resource.group, resource: resource.resource, namespace, name })
  }
}
