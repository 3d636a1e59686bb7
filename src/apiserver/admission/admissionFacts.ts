/** What expressions of admission know of one request: as CEL values here, as JSON for a thread. Each is made when it is asked for. */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { toCel } from '../../apimachinery/structural/celValues.ts'
import type { AdmissionRequest } from '../registry/admission.ts'
import type { AdmissionVariables } from './admissionCel.ts'
import { requestFields, type Shown } from './attributes.ts'

/** Plain values by the names that expressions have for them. */
export interface PlainFacts {
  object: unknown
  oldObject: unknown
  request: unknown
  /** For policies. */
  namespaceObject?: unknown
}

export class AdmissionFacts {
  readonly #plain: PlainFacts
  #variables: AdmissionVariables | undefined
  #text: string | undefined

  constructor(plain: PlainFacts) {
    this.#plain = plain
  }

  get variables(): AdmissionVariables {
    this.#variables ??= Object.fromEntries(
      Object.entries(this.#plain).map(([name, value]) => [name, toCel(value, undefined)]),
    )
    return this.#variables
  }

  get text(): string {
    this.#text ??= JSON.stringify(this.#plain)
    return this.#text
  }
}

export function requestFacts(request: AdmissionRequest, type: ResourceType, { object, old }: Shown): PlainFacts {
  return { object, oldObject: old, request: requestFields(request, type) }
}
