/**
 * Path elements in their serialized form, which is also the form in memory. These are `f:name` (member), `k:{…}` (element of a keyed list),
 * `v:…` (element of a set), and `i:N` (element by index). Made by this file they are canonical: equal means same text.
 * @see https://github.com/kubernetes-sigs/structured-merge-diff
 */

import { isRecord, type Json } from '../object.ts'
import { Pace } from '../pace.ts'
import { sortInSteps } from '../sortInSteps.ts'
import type { Steps } from '../steps.ts'
import { canonicalJson, compareTexts } from '../values.ts'

/** Elements of recent names: most recur again and again, and a new element has to be hashed anew. */
const elements = new Map<string, string>()
const KEPT_ELEMENTS = 4096
/** Characters; longer names are seldom those of fields. */
const KEPT_LENGTH = 64

export function fieldElement(name: string): string {
  const known = elements.get(name)
  if (known !== undefined) return known
  const element = `f:${name}`
  if (name.length > KEPT_LENGTH) return element
  if (elements.size >= KEPT_ELEMENTS) elements.clear()
  elements.set(name, element)
  return element
}

/** `fields` may come in any order; the text has them sorted by name. */
export function keyElement(fields: Record<string, unknown>): string {
  const names = Object.keys(fields)
  if (names.length > 1) names.sort()
  return `k:{${names.map(name => `${JSON.stringify(name)}:${canonicalJson(fields[name])}`).join(',')}}`
}

export function valueElement(value: unknown): string {
  return `v:${canonicalJson(value)}`
}

/**
 * Rewrites an element from outside into the canonical form; `undefined` for kinds of elements that we do not know, which
 * upstream skips.
 * @throws Error when the part behind the colon is malformed
 */
export function canonicalElement(text: string): string | undefined {
  const rest = text.slice(2)
  switch (text.slice(0, 2)) {
    case 'f:':
      return text
    case 'k:': {
      const fields: unknown = JSON.parse(rest)
      if (!isRecord(fields)) throw new Error(`${text}: a key must be an object`)
      return keyElement(fields)
    }
    case 'v:':
      return valueElement(JSON.parse(rest))
    case 'i:':
      if (!/^(0|[1-9]\d*)$/.test(rest)) throw new Error(`${text}: an index must be a number`)
      return text
    default:
      return undefined
  }
}

/** How messages show the element: `.spec`, `[name="a",protocol="TCP"]`, `[="x"]`, `[0]`. */
export function showElement(element: string): string {
  const rest = element.slice(2)
  if (element.startsWith('f:')) return `.${rest}`
  if (element.startsWith('i:')) return `[${rest}]`
  if (element.startsWith('v:')) return `[=${rest}]`
  const fields = JSON.parse(rest) as Record<string, Json>
  const shown = Object.keys(fields).map(name => `${name}=${JSON.stringify(fields[name])}`)
  return `[${shown.join(',')}]`
}

/** In upstream's order: members, keys, values, indexes; each by its content. */
export function sortElements(elements: Iterable<string>): string[] {
  const all = [...elements]
  if (all.length < 2) return all
  // Almost all nodes hold members only; their order is that of the text.
  if (all.every(element => element.startsWith('f:'))) return isSorted(all) ? all : all.sort()
  // each is read once, not once for each comparison
  return all
    .map(readElement)
    .sort(compareElements)
    .map(({ text }) => text)
}

/** The same in steps, for many. */
export function* sortElementsInSteps(elements: Iterable<string>): Steps<string[]> {
  const all = [...elements]
  if (all.length < MANY) return sortElements(all)
  if (all.every(element => element.startsWith('f:'))) return isSorted(all) ? all : yield* sortInSteps(all, compareTexts)
  const pace = new Pace()
  const read: ReadElement[] = []
  for (const element of all) {
    read.push(readElement(element))
    if (pace.due()) yield
  }
  return (yield* sortInSteps(read, compareElements)).map(({ text }) => text)
}
const MANY = 512

function isSorted(texts: readonly string[]): boolean {
  for (let i = 1; i < texts.length; i++) if (texts[i - 1]! > texts[i]!) return false
  return true
}

interface ReadElement {
  text: string
  content: Json
}

function readElement(text: string): ReadElement {
  const rest = text.slice(2)
  return { text, content: text.startsWith('f:') ? rest : (JSON.parse(rest) as Json) }
}

function compareElements(a: ReadElement, b: ReadElement): number {
  const rank = RANKS.indexOf(a.text[0]!) - RANKS.indexOf(b.text[0]!)
  return rank !== 0 || a.text === b.text ? rank : compareValues(a.content, b.content)
}

type Fields = { [name: string]: Json }
const RANKS = 'fkvi'

function compareFields(a: Fields, b: Fields): number {
  const left = Object.keys(a).sort()
  const right = Object.keys(b).sort()
  for (let i = 0; i < left.length && i < right.length; i++) {
    const l = left[i]!
    const r = right[i]!
    if (l !== r) return l < r ? -1 : 1
    const order = compareValues(a[l]!, b[r]!)
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** Numbers before strings before booleans before lists before maps before null. */
function compareValues(a: Json, b: Json): number {
  const rank = valueRank(a) - valueRank(b)
  if (rank !== 0) return rank
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let i = 0; i < a.length && i < b.length; i++) {
      const order = compareValues(a[i]!, b[i]!)
      if (order !== 0) return order
    }
    return a.length - b.length
  }
  if (isRecord(a) && isRecord(b)) return compareFields(a as Fields, b as Fields)
  return a === b || a === null || b === null ? 0 : a < b ? -1 : 1
}

function valueRank(value: Json): number {
  if (typeof value === 'number') return 0
  if (typeof value === 'string') return 1
  if (typeof value === 'boolean') return 2
  if (Array.isArray(value)) return 3
  return value === null ? 5 : 4
}
