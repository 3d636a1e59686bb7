/** Whether the rules of a schema are affordable, one by one and together: the estimates' sum and upstream's words for it. */
import { type FieldError, fieldError } from '../fieldErrors.ts'
import { EXPRESSION_COST_LIMIT, SCHEMA_COST_LIMIT } from '../structural/celCost.ts'

/** The most expensive ones are named when all together cost too much. */
const NAMED = 4

export class RuleCosts {
  readonly #at: string
  readonly #known: { field: string; cost: number }[] = []

  /** `at` is the path of the schema. */
  constructor(at: string) {
    this.#at = at
  }

  /** The error of one expression that costs too much by itself. */
  add(field: string, part: 'rule' | 'messageExpression', cost: number): FieldError[] {
    this.#known.push({ field, cost })
    if (cost <= EXPRESSION_COST_LIMIT) return []
    return [fieldError.forbidden(field, exceeds(`estimated ${part} cost`, cost, EXPRESSION_COST_LIMIT))]
  }

  /** Errors of all together. */
  errors(): FieldError[] {
    const sum = this.#known.reduce((all, { cost }) => all + cost, 0)
    if (sum <= SCHEMA_COST_LIMIT) return []
    const why = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema'
    const named = this.#known.toSorted((a, b) => b.cost - a.cost).slice(0, NAMED)
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema'
    return [
      ...named.map(({ field }) => fieldError.forbidden(field, why)),
      fieldError.forbidden(this.#at, exceeds(what, sum, SCHEMA_COST_LIMIT)),
    ]
  }
}

function exceeds(what: string, cost: number, limit: number): string {
  const factor = cost / limit
  const shown = factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`
  return `${what} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`
}
