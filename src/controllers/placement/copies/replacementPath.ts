/**
 * The JSONPath subset of a Customizer's replacements, and what it means to put a value there.
 *
 * `$` then any of `.name`, `.0`, `.*`, `['a','b']`, `[0,2]`, `[start:end:stride]` (parts optional), `[*]`, and `..` before
 * `*` or a bracket. Bare names: letters, digits, `_`, `$`. No filters, no negative numbers. Places are found first, parents
 * before their children, and written in that order. A path of definite selectors alone adds a missing last key to a map;
 * lists are never extended.
 *
 * `..` several times finds the same places many times over. So whoever looks for places pays for every node that is looked
 * at, and finds only so many places.
 */
import type { Steps } from '../../../apimachinery/steps.ts'
import { cloneJson } from '../../../apimachinery/values.ts'
import type { WorkBudget } from '../../../apimachinery/workBudget.ts'

export type Selector =
  | { readonly type: 'names'; readonly names: readonly string[] }
  | { readonly type: 'indices'; readonly indices: readonly number[] }
  | { readonly type: 'slice'; readonly start: number; readonly end: number; readonly stride: number }
  | { readonly type: 'all' }
  /** The node itself and everything below it, parents first. */
  | { readonly type: 'descend' }
export type ReplacementPath = readonly Selector[]

/** Bound on a path's text. */
export const MAX_PATH_CHARACTERS = 4 * 1024
/** A node that is looked at, in units of a budget: as long as reading fifty characters takes. */
export const STEP = 5
/** That one path may name: more than the fields of any object that is written by hand. */
export const MAX_PLACES = 10_000
/** Nodes that are looked at between two places to rest: some tenths of a millisecond. */
const STRIDE = 2000

export class ReplacementPathError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ReplacementPathError'
  }
}

/** @throws ReplacementPathError that says where the text leaves the subset */
export function parseReplacementPath(text: string): ReplacementPath {
  if (text.length > MAX_PATH_CHARACTERS) {
    throw new ReplacementPathError(`it has ${text.length} characters, of at most ${MAX_PATH_CHARACTERS}`)
  }
  const selectors: Selector[] = []
  let at = 0
  const fail = (why: string): never => {
    throw new ReplacementPathError(`at character ${at + 1}: ${why}`)
  }
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at += found[0].length
    return found ?? undefined
  }
  if (!take(/\$/y)) fail('a path starts with $')
  while (at < text.length) {
    if (take(/\.\./y)) {
      selectors.push({ type: 'descend' })
      if (take(/\*/y)) selectors.push({ type: 'all' })
      else if (text[at] !== '[') fail("after .. comes * or a bracket, as in $..['name']")
    } else if (take(/\./y)) {
      const name = take(/\*|[\p{L}\p{N}_$]+/uy)?.[0] ?? fail('a name of letters, digits, _ or $ is missing')
      selectors.push(name === '*' ? { type: 'all' } : { type: 'names', names: [name] })
    } else if (take(/\[\s*/y)) {
      selectors.push(bracket())
      if (!take(/\s*\]/y)) fail('a ] is missing')
    } else fail('expected . or [')
  }
  return selectors

  function bracket(): Selector {
    if (take(/\*/y)) return { type: 'all' }
    if (text[at] === "'" || text[at] === '"') {
      const names: string[] = []
      do names.push(quoted())
      while (take(/\s*,\s*/y))
      return { type: 'names', names }
    }
    const slice = take(/(\d*)\s*:\s*(\d*)(?:\s*:\s*(\d*))?/y)
    if (slice) {
      const stride = slice[3] ? Number(slice[3]) : 1
      if (stride === 0) fail('the stride of a slice is at least 1')
      return {
        type: 'slice',
        start: Number(slice[1]),
        end: slice[2] ? Number(slice[2]) : Number.POSITIVE_INFINITY,
        stride,
      }
    }
    const indices: number[] = []
    do indices.push(Number(take(/\d+/y)?.[0] ?? fail('expected *, a quoted name, a number or a slice')))
    while (take(/\s*,\s*/y))
    return { type: 'indices', indices }
  }

  function quoted(): string {
    const literal = take(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/sy)?.[0] ?? fail('a quoted name does not end')
    return literal.slice(1, -1).replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))/gs, (_, u, x, c: string) => {
      if (u ?? x) return String.fromCharCode(Number.parseInt(u ?? x, 16))
      return ESCAPES[c] ?? c
    })
  }
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', '0': '\0' }

/** A place in a tree: `container[key]`. */
export interface Place {
  readonly container: Record<string, unknown> | unknown[]
  readonly key: string | number
}

/** Whether the path has one place for each of its names and numbers, in whatever object; only then may a key be new. */
export function isDefinite(path: ReplacementPath): boolean {
  return path.every(({ type }) => type === 'names' || type === 'indices')
}

/** Whether no place of the path can lie inside another one. */
export function isFlat(path: ReplacementPath): boolean {
  return path.every(({ type }) => type !== 'descend')
}

/**
 * Every place that the path names, parents first; none when nothing matches. Yields where others may have their turn.
 * @throws ReplacementPathError for `$` alone, which names no place inside the object, and for too many places; the budget's error
 * when it runs out
 */
export function* findPlaces(root: Record<string, unknown>, path: ReplacementPath, budget: WorkBudget): Steps<Place[]> {
  const last = path.at(-1)
  if (last === undefined || last.type === 'descend')
    throw new ReplacementPathError('$ alone would replace the whole object')
  let nodes: unknown[] = [root]
  for (const selector of path.slice(0, -1)) {
    const found: unknown[] = []
    for (const [index, node] of nodes.entries()) {
      if (selector.type === 'descend') yield* descend(node, found, budget)
      else {
        for (const child of childrenOf(node, selector, budget)) {
          found.push(child)
          if (found.length % STRIDE === 0) yield
        }
      }
      if (index % STRIDE === STRIDE - 1) yield
    }
    nodes = found
  }
  const places: Place[] = []
  for (const [index, node] of nodes.entries()) {
    for (const place of placesIn(node, last, isDefinite(path), budget)) {
      if (places.length >= MAX_PLACES) {
        throw new ReplacementPathError(`it names more than ${MAX_PLACES} places; name fewer of them at a time`)
      }
      places.push(place)
    }
    if (index % STRIDE === STRIDE - 1) yield
  }
  return places
}

/** Puts a copy of `value` at each place, in place. */
export function putAt(places: readonly Place[], value: unknown): void {
  for (const { container, key } of places) put(container, key, cloneJson(value))
}

/** The node and all below it, behind `found`. */
function* descend(root: unknown, found: unknown[], budget: WorkBudget): Steps<void> {
  if (typeof root !== 'object' || root === null) {
    budget.spend(STEP)
    found.push(root)
    return
  }
  const waiting: unknown[] = [root]
  while (waiting.length > 0) {
    const node = waiting.pop()
    budget.spend(STEP)
    found.push(node)
    if (found.length % STRIDE === 0) yield
    // the first child is to come next, so it goes on last
    if (typeof node === 'object' && node !== null)
      for (const child of Object.values(node).reverse()) waiting.push(child)
  }
}

function childrenOf(node: unknown, selector: Selector, budget: WorkBudget): readonly unknown[] {
  if (selector.type !== 'all' || typeof node !== 'object' || node === null)
    return placesIn(node, selector, false, budget).map(({ container, key }): unknown => Reflect.get(container, key))
  // no place is made for each of what may be all there is
  const children: readonly unknown[] = Object.values(node)
  budget.spend((1 + children.length) * STEP)
  return children
}

function placesIn(node: unknown, selector: Selector, mayAdd: boolean, budget: WorkBudget): Place[] {
  budget.spend(stepsIn(node, selector) * STEP)
  if (Array.isArray(node)) {
    const container: unknown[] = node
    return indicesIn(container, selector).map(key => ({ container, key }))
  }
  if (typeof node !== 'object' || node === null) return []
  const container = node as Record<string, unknown>
  if (selector.type === 'all') return Object.keys(container).map(key => ({ container, key }))
  if (selector.type !== 'names') return []
  return selector.names.filter(key => mayAdd || Object.hasOwn(container, key)).map(key => ({ container, key }))
}

/** How many members are looked at, or looked up. */
function stepsIn(node: unknown, selector: Selector): number {
  if (typeof node !== 'object' || node === null) return 1
  if (selector.type === 'names') return 1 + selector.names.length
  if (selector.type === 'indices') return 1 + selector.indices.length
  return 1 + (Array.isArray(node) ? node.length : Object.keys(node).length)
}

function indicesIn(list: readonly unknown[], selector: Selector): number[] {
  switch (selector.type) {
    case 'all':
      return [...list.keys()]
    case 'indices':
      return selector.indices.filter(index => index < list.length)
    case 'names':
      // `.0` is a name to the grammar and an index to a list
      return selector.names.filter(name => /^\d+$/.test(name) && Number(name) < list.length).map(Number)
    case 'slice': {
      const found: number[] = []
      for (let i = selector.start; i < Math.min(selector.end, list.length); i += selector.stride) found.push(i)
      return found
    }
    case 'descend':
      return []
  }
}

/** `__proto__` is an ordinary key. */
function put(container: Record<string, unknown> | unknown[], key: string | number, value: unknown): void {
  Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true })
}
