/** Which of the ways to a mailbox an object takes: the first on which it may be placed. */
import type { Allowance, Told } from './allowance.ts'
import type { Destination } from './ways.ts'
import type { ObjectFact } from './workload.ts'

/** Who says what may go where. */
export interface Consent {
  allowance(space: string, way: Destination): Allowance
  /** Whether any allowance may be uncertain. */
  readonly anyUncertain: boolean
}

export class WayChoice {
  readonly #consent: Consent

  constructor(consent: Consent) {
    this.#consent = consent
  }

  /** The first Location on which the object may be placed. */
  first(id: string, ways: readonly Destination[], fact: ObjectFact): Destination | undefined {
    for (const way of ways) if (this.#refusal(id, way, fact) === undefined) return way
    return undefined
  }

  /** Whether an object might be placed on one of the ways, or on an earlier one than is known. */
  isUnsure(id: string, ways: readonly Destination[], fact: ObjectFact): boolean {
    for (const way of ways) {
      if (this.#refusal(id, way, fact) === undefined) return false
      if (this.#consent.allowance(id, way).isUncertain) return true
    }
    return false
  }

  #refusal(id: string, way: Destination, { resource, namespace, name }: ObjectFact): Told | undefined {
    const allowance = this.#consent.allowance(id, way)
    if (allowance.allowsAll) return undefined
    return allowance.refusal({ group: resource.group, resource: resource.resource, namespace, name })
  }
}
