/**
 * The list functions of CEL's extended libraries, `strings.quote` and what comprehensions over lists are written out to. Prices stand
 * in `celPrices.ts`, macros in `celMacros.ts`.
 * @see https://kubernetes.io/docs/reference/using-api/cel/#cel-options-language-features-and-libraries
 */
import { type Environment, Optional } from '@marcbachmann/cel-js'
import { Duration, UnsignedInt } from '@marcbachmann/cel-js/evaluator'
import { celEqual } from './celEquality.ts'
import { registerAll, registerNamespace } from './celRegister.ts'
import { runningBudget } from './celRunning.ts'

export function addLists(environment: Environment): void {
  registerAll(environment, {
    'list.distinct(): list': distinct,
    'list.sort(): list': (items: unknown[]) => sorted(items, items),
    // pairs of an element and its key
    'sortedByKey(list): list': (pairs: [unknown, unknown][]) =>
      sorted(
        pairs.map(([item]) => item),
        pairs.map(([, key]) => key),
      ),
    'list.slice(int, int): list': slice,
    'list.flatten(): list': (items: unknown[]) => flatten(items, 1n),
    'list.flatten(int): list': flatten,
    'list.reverse(): list': (items: unknown[]) => items.toReversed(),
    'list.first(): optional<dyn>': (items: unknown[]) => (items.length === 0 ? Optional.none() : Optional.of(items[0])),
    'list.last(): optional<dyn>': (items: unknown[]) =>
      items.length === 0 ? Optional.none() : Optional.of(items.at(-1)),
  })
  registerNamespace(environment, 'lists', {
    'range(int): list<int>': (count: bigint) => {
      if (count < 0n) throw new Error(`lists.range: size must be non-negative, got ${count}`)
      return Array.from({ length: Number(count) }, (_, i) => BigInt(i))
    },
  })
  registerNamespace(environment, 'strings', { 'quote(string): string': quote })
}

function distinct(items: readonly unknown[]): unknown[] {
  const kept: unknown[] = []
  for (const item of items) if (!kept.some(other => celEqual(other, item, runningBudget()))) kept.push(item)
  return kept
}

/** `items` in the order of `keys`, which are as many. @throws Error for keys without an order, and of several types */
function sorted(items: readonly unknown[], keys: readonly unknown[]): unknown[] {
  const type = keys.length === 0 ? '' : typeOf(keys[0])
  if (type === undefined) throw new Error('list elements must be comparable')
  if (keys.some(key => typeOf(key) !== type)) throw new Error('list elements must have the same type')
  const places = keys.map((_, i) => i)
  places.sort((a, b) => compare(keys[a], keys[b]))
  return places.map(place => items[place])
}

/** Type of a value with an order. */
function typeOf(value: unknown): string | undefined {
  if (value instanceof Date) return 'timestamp'
  if (value instanceof Duration) return 'duration'
  if (value instanceof UnsignedInt) return 'uint'
  if (value instanceof Uint8Array) return 'bytes'
  return ['bigint', 'number', 'string', 'boolean'].find(name => typeof value === name)
}

function compare(a: unknown, b: unknown): number {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b)
  const [left, right] = [a as number, b as number]
  return left < right ? -1 : left > right ? 1 : 0
}

function slice(items: readonly unknown[], start: bigint, end: bigint): unknown[] {
  const call = `cannot slice(${start}, ${end})`
  if (start < 0n || end < 0n) throw new Error(`${call}, negative indexes not supported`)
  if (start > end) throw new Error(`${call}, start index must be less than or equal to end index`)
  if (end > BigInt(items.length)) throw new Error(`${call}, list is length ${items.length}`)
  return items.slice(Number(start), Number(end))
}

function flatten(items: readonly unknown[], depth: bigint): unknown[] {
  if (depth < 0n) throw new Error('level must be non-negative')
  const flat: unknown[] = []
  const add = (list: readonly unknown[], left: bigint): void => {
    for (const item of list) {
      runningBudget().spend()
      if (Array.isArray(item) && left > 0n) add(item, left - 1n)
      else flat.push(item)
    }
  }
  add(items, depth)
  return flat
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

function quote(text: string): string {
  return `"${text.toWellFormed().replace(/./gsu, found => ESCAPES[found] ?? found)}"`
}
