/**
 * How much the selectors of one placement may ask for. Every object or Location is held against every one of them, at once and
 * whenever something changes; a hundred thousand selectors fit into a request.
 */
import { list, record } from '../../apimachinery/fields.ts'
import { isRecord } from '../../apimachinery/object.ts'

/** Selectors, their labels, expressions and values, downsync tests; or upsync sets. A thousand clusters can be named one by one. */
export const MAX_SELECTOR_PARTS = 10_000

/** Parts of one list of `locationSelectors`, of all selectors of a `downsync`, or of one list of `upsync`, in their order. */
export class SelectorParts {
  #left = MAX_SELECTOR_PARTS

  /** Whether it may count. Once one may not, none behind it may. */
  take(selector: unknown): boolean {
    this.#left -= partsOf(selector)
    return this.#left >= 0
  }

  /** The same for a downsync test, apart from its selectors, and for an upsync set. */
  takeTest(): boolean {
    this.#left--
    return this.#left >= 0
  }
}

function partsOf(selector: unknown): number {
  if (!isRecord(selector)) return 0
  let parts = 1 + Object.keys(record(selector, 'matchLabels')).length
  for (const expression of list(selector, 'matchExpressions')) parts += 1 + list(expression, 'values').length
  return parts
}
