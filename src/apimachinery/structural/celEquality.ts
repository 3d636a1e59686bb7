/**
 * Equality of CEL values, paid for as it goes. A comparison of lists of lists pays for the compared members, also when one list stands in
 * them many times.
 */
import { Optional, parse } from '@marcbachmann/cel-js'
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator'
import { READ, type WorkBudget } from '../workBudget.ts'

/** Types that Kubernetes adds say themselves what is equal. */
export interface Comparable {
  equals(other: this): boolean
}

/** Equality as the language has it, of its own types that hold no other values. */
const equal = parse('a == b')

/** Cost of a list or a map before its members, of a member that is looked up, and of a listed key. */
const CONTAINER = 1
const LOOK_UP = 2
const LISTED = 0.5

/** @throws the budget's error when it runs out */
export function celEqual(a: unknown, b: unknown, budget: WorkBudget): boolean {
  if (typeof a === 'string' || typeof b === 'string') {
    if (typeof a !== typeof b || (a as string).length !== (b as string).length) return false
    budget.spend((a as string).length * READ)
    return a === b
  }
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    // an int and a double: compared exactly, which a conversion would not
    return isNumber(a) && isNumber(b) && a <= b && a >= b
  }
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    budget.spend(CONTAINER + a.length * READ)
    return a.every((item, i) => celEqual(item, b[i], budget))
  }
  if (isMap(a)) return isMap(b) && sameEntries(a, b, budget)
  if (a instanceof Uint8Array) {
    if (!(b instanceof Uint8Array) || a.length !== b.length) return false
    budget.spend(a.length * READ)
    return Buffer.compare(a, b) === 0
  }
  if (a instanceof Optional) return b instanceof Optional && sameOptionals(a, b, budget)
  return sameObjects(a, b)
}

function sameOptionals(a: Optional, b: Optional, budget: WorkBudget): boolean {
  if (!a.hasValue() || !b.hasValue()) return a.hasValue() === b.hasValue()
  return celEqual(a.value(), b.value(), budget)
}

function sameObjects(a: object, b: object): boolean {
  if (a.constructor !== b.constructor) return false
  if (a instanceof Date || a instanceof Duration || a instanceof UnsignedInt) return equal({ a, b }) === true
  return 'equals' in a && (a as Comparable).equals(b as Comparable)
}

export type CelMap = Map<unknown, unknown> | Readonly<Record<string, unknown>>

export function isMap(value: unknown): value is CelMap {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null || value instanceof Map
}

// counting the members of a large object takes as long as listing them; values do not change while rules look at them
const counts = new WeakMap<object, number>()

function countEntries(map: CelMap): number {
  if (map instanceof Map) return map.size
  const known = counts.get(map)
  if (known !== undefined) return known
  const count = Object.keys(map).length
  counts.set(map, count)
  return count
}

/** Pays for listing the keys of a map. */
export function chargeEntries(map: CelMap, budget: WorkBudget): void {
  budget.spend(countEntries(map) * LISTED)
}

function sameEntries(a: CelMap, b: CelMap, budget: WorkBudget): boolean {
  budget.spend(CONTAINER)
  chargeEntries(a, budget)
  chargeEntries(b, budget)
  if (countEntries(a) !== countEntries(b)) return false
  for (const [key, value] of entriesOf(a)) {
    budget.spend(LOOK_UP)
    const other = b instanceof Map ? b.get(key) : own(b, key)
    if (other === undefined || !celEqual(value, other, budget)) return false
  }
  return true
}

export function entriesOf(map: CelMap): Iterable<[unknown, unknown]> {
  return map instanceof Map ? map : Object.entries(map)
}

function own(map: Readonly<Record<string, unknown>>, key: unknown): unknown {
  return typeof key === 'string' && Object.hasOwn(map, key) ? map[key] : undefined
}

export function isNumber(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}
