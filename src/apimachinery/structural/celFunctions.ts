/**
 * The functions that Kubernetes adds to CEL: strings, lists, regular expressions, quantities, URLs and IP addresses.
 * @see https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-cel-libraries
 */
import { Environment, Optional, parse } from '@marcbachmann/cel-js'
import {
  addQuantities,
  approximateQuantity,
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityProblem,
  subtractQuantities,
} from '../quantity.ts'
import { addAddresses } from './celAddresses.ts'
import { MAX_ITEMS } from './celBounds.ts'
import { MAX_EXPRESSION_CHARACTERS } from './celDepth.ts'
import { type Comparable, celEqual } from './celEquality.ts'
import { addFormats } from './celFormats.ts'
import { addLists } from './celLists.ts'
import { addMacroFunctions } from './celMacros.ts'
import { type Functions, registerAll, registerNullable, registerOpaque } from './celRegister.ts'
import { runningBudget } from './celRunning.ts'
import { addSemanticVersions } from './celSemver.ts'
import { addSets } from './celSets.ts'
import { textFunctions } from './celText.ts'
import { addTextFormat } from './celTextFormat.ts'
import { addUrls } from './celUrls.ts'

/** Elements of a list or a map that is written down: as many as the text of an expression has room for. */
const MAX_WRITTEN = MAX_EXPRESSION_CHARACTERS / 2

class CelQuantity implements Comparable {
  readonly quantity: Quantity
  constructor(quantity: Quantity) {
    this.quantity = quantity
  }
  /** A quantity is what it says, however it is written. */
  equals(other: CelQuantity): boolean {
    return compareQuantities(this.quantity, other.quantity) === 0
  }
}

/** An environment with all functions; make one and keep it, it is expensive. Default: variables of validation rules. */
export function celEnvironment(variables: readonly string[] = ['self', 'oldSelf']): Environment {
  const environment = new Environment({
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
    limits: { maxListElements: MAX_WRITTEN, maxMapEntries: MAX_WRITTEN },
  })
  for (const name of variables) environment.registerVariable(name, 'dyn')
  registerOpaque(environment, 'kubernetes.Quantity', CelQuantity)
  for (const name of ['optional', 'google.protobuf.Timestamp', 'google.protobuf.Duration'])
    registerNullable(environment, name)
  environment.registerOperator('optional == optional', (a: Optional, b: Optional) => celEqual(a, b, runningBudget()))
  registerAll(environment, { ...textFunctions(MAX_ITEMS), ...lists, ...quantities })
  const libraries = [addSets, addUrls, addAddresses, addFormats, addSemanticVersions, addTextFormat, addLists]
  for (const add of [...libraries, addMacroFunctions]) add(environment)
  registerAll(environment, {
    'OptionalNamespace.ofNonZeroValue(dyn): optional<dyn>': (_: unknown, value: unknown) =>
      isZero(value) ? Optional.none() : Optional.of(value),
  })
  return environment
}

/** As the language adds numbers and durations. */
const plus = parse('a + b')

type Ordered = bigint | number | string | boolean | Date

const lists: Functions = {
  'list.isSorted(): bool': (items: Ordered[]) => items.every((item, i) => i === 0 || items[i - 1]! <= item),
  'list.sum(): dyn': (items: unknown[]) => (items.length === 0 ? 0n : items.reduce((a, b) => plus({ a, b }))),
  'list.min(): dyn': (items: Ordered[]) => extreme(items, 'min', (a, b) => a < b),
  'list.max(): dyn': (items: Ordered[]) => extreme(items, 'max', (a, b) => a > b),
  'list.indexOf(dyn): int': (items: unknown[], wanted: unknown) => BigInt(items.findIndex(same(wanted))),
  'list.lastIndexOf(dyn): int': (items: unknown[], wanted: unknown) => BigInt(items.findLastIndex(same(wanted))),
}

function extreme(items: Ordered[], name: string, better: (a: Ordered, b: Ordered) => boolean): Ordered {
  if (items.length === 0) throw new Error(`${name} called on empty list`)
  return items.reduce((best, item) => (better(item, best) ? item : best))
}

const same = (wanted: unknown) => (item: unknown) => item === wanted

const quantities: Functions = {
  'quantity(string): kubernetes.Quantity': (s: string) => {
    const quantity = parseQuantity(s)
    if (quantity === undefined) throw new Error(quantityProblem(s))
    return new CelQuantity(quantity)
  },
  'isQuantity(string): bool': (s: string) => parseQuantity(s) !== undefined,
  'kubernetes.Quantity.isGreaterThan(kubernetes.Quantity): bool': (a: CelQuantity, b: CelQuantity) =>
    compareQuantities(a.quantity, b.quantity) > 0,
  'kubernetes.Quantity.isLessThan(kubernetes.Quantity): bool': (a: CelQuantity, b: CelQuantity) =>
    compareQuantities(a.quantity, b.quantity) < 0,
  'kubernetes.Quantity.compareTo(kubernetes.Quantity): int': (a: CelQuantity, b: CelQuantity) =>
    BigInt(compareQuantities(a.quantity, b.quantity)),
  'kubernetes.Quantity.add(kubernetes.Quantity): kubernetes.Quantity': (a: CelQuantity, b: CelQuantity) =>
    new CelQuantity(addQuantities(a.quantity, b.quantity)),
  'kubernetes.Quantity.sub(kubernetes.Quantity): kubernetes.Quantity': (a: CelQuantity, b: CelQuantity) =>
    new CelQuantity(subtractQuantities(a.quantity, b.quantity)),
  'kubernetes.Quantity.add(int): kubernetes.Quantity': (a: CelQuantity, b: bigint) =>
    new CelQuantity(addQuantities(a.quantity, whole(b))),
  'kubernetes.Quantity.sub(int): kubernetes.Quantity': (a: CelQuantity, b: bigint) =>
    new CelQuantity(subtractQuantities(a.quantity, whole(b))),
  'kubernetes.Quantity.sign(): int': (a: CelQuantity) =>
    a.quantity.nanos > 0n ? 1n : a.quantity.nanos < 0n ? -1n : 0n,
  'kubernetes.Quantity.isInteger(): bool': (a: CelQuantity) => a.quantity.nanos % 1_000_000_000n === 0n,
  'kubernetes.Quantity.asInteger(): int': (a: CelQuantity) => {
    if (a.quantity.nanos % 1_000_000_000n !== 0n) throw new Error('cannot convert value to integer')
    return a.quantity.nanos / 1_000_000_000n
  },
  'kubernetes.Quantity.asApproximateFloat(): double': (a: CelQuantity) => approximateQuantity(a.quantity),
}

function whole(value: bigint): Quantity {
  return parseQuantity(String(value))!
}

function isZero(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (value instanceof Map) return value.size === 0
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === null || value === '' || value === false || value === 0 || value === 0n
}
