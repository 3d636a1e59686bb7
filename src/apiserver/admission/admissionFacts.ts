/** Facts about one request for expressions of admission: as CEL values here, as JSON for a thread. Each is made on demand. */
import { jsonTextInSteps } from '../../apimachinery/jsonText.ts'
import { hasMoreValues } from '../../apimachinery/objectSize.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { inSlices, type Rests } from '../../apimachinery/steps.ts'
import { plainToCelInSteps, toCel } from '../../apimachinery/structural/celValues.ts'
import type { AdmissionRequest } from '../registry/admission.ts'
import type { AdmissionVariables } from './admissionCel.ts'
import { requestFields, type Shown } from './attributes.ts'

/** Plain values by the names that expressions have for them. */
interface PlainFacts {
  object: unknown
  oldObject: unknown
  request: unknown
  /** For policies. */
  namespaceObject?: unknown
}

/** Fields and elements; what has more takes milliseconds. */
const AT_ONCE = 1000

export class AdmissionFacts {
  readonly #plain: PlainFacts
  #isSmall: boolean | undefined
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

  /** Makes the variables, in slices, where that takes long; nothing is waited for where it does not. */
  readied(begin: () => Rests): Promise<void> | undefined {
    if (this.#variables !== undefined || !this.#isLarge) return undefined
    return inSlices(plainToCelInSteps(this.#plain), begin()).then(made => {
      this.#variables = made as AdmissionVariables
    })
  }

  /** The same of the text. */
  textReadied(begin: () => Rests): Promise<void> | undefined {
    if (this.#text !== undefined || !this.#isLarge) return undefined
    return inSlices(jsonTextInSteps(this.#plain), begin()).then(made => {
      this.#text = made
    })
  }

  get #isLarge(): boolean {
    this.#isSmall ??= !hasMoreValues(this.#plain, AT_ONCE)
    return !this.#isSmall
  }
}

export function requestFacts(request: AdmissionRequest, type: ResourceType, { object, old }: Shown): PlainFacts {
  return { object, oldObject: old, request: requestFields(request, type) }
}
