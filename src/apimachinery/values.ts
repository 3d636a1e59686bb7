/**
 * JSON values: one way to copy them, one to compare them, and one to compare what they mean to Kubernetes.
 *
 * No key is special: `__proto__`, `constructor` and the like are ordinary members. Members whose value is `undefined` do not
 * exist. Everything goes down as deep as the value does: bodies are refused above `NESTING_LIMIT` levels, and patches that make
 * such values.
 */
import { isRecord } from './object.ts'

export const NESTING_LIMIT = 500

/** Whether lists and objects lie in each other more than `NESTING_LIMIT` levels deep; of values of any depth. */
export function isTooDeep(value: unknown): boolean {
  return isNestedDeeper(value, NESTING_LIMIT + 1)
}

/** Whether lists and objects stand in one another more than `levels` deep. Looks no deeper than that. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  return isStructure(value) && (levels === 0 || reaches(value, levels - 1))
}

/** Goes down no further than that. */
function reaches(value: Record<string, unknown>, levels: number): boolean {
  // by index: `for … in` would make a text of each
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const item: unknown = value[i]
      if (isStructure(item) && (levels === 0 || reaches(item, levels - 1))) return true
    }
    return false
  }
  for (const key in value) {
    const member = value[key]
    if (isStructure(member) && (levels === 0 || reaches(member, levels - 1))) return true
  }
  return false
}

/** An independent copy with its members in the same order. Only arrays and plain objects are copied, as JSON has no others. */
export function cloneJson<T>(value: T): T {
  return (typeof value === 'object' && value !== null ? clone(value) : value) as T
}

/** Deep equality; the order of members does not count, that of elements does. `null` is a value like any other. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isStructure(a) || !isStructure(b)) return false
  if (Array.isArray(a) || Array.isArray(b)) return equalLists(a, b, equalJson)
  let members = 0
  for (const key in a) {
    const value = a[key]
    if (value === undefined) continue
    members++
    const other = b[key]
    // texts and numbers first: what a prototype has is neither
    if (value === other && typeof value !== 'object') continue
    if (!Object.hasOwn(b, key) || !equalJson(value, other)) return false
  }
  for (const key in b) if (b[key] !== undefined) members--
  return members === 0
}

/**
 * Whether two values mean the same to Kubernetes (Go's semantic equality). A member that is absent, `null`, an empty list or an object of
 * nothing but such members makes no difference. `''`, 0 and `false` do: who defaults fields has settled those.
 */
export function sameMeaning(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (!isStructure(a)) return meansNothing(a) && meansNothing(b)
  if (!isStructure(b)) return meansNothing(b) && meansNothing(a)
  if (Array.isArray(a) || Array.isArray(b)) {
    return equalLists(a, b, sameMeaning) || (meansNothing(a) && meansNothing(b))
  }
  for (const key in a) if (!sameMeaning(a[key], memberOf(b, key))) return false
  for (const key in b) if (!Object.hasOwn(a, key) && !meansNothing(b[key])) return false
  return true
}

/** JSON text that is equal exactly for equal values, whatever the order of members. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null'
  const members = Object.keys(value)
    .sort()
    .map(name => `${JSON.stringify(name)}:${canonicalJson(value[name])}`)
  return `{${members.join(',')}}`
}

/** The member, or `undefined`; what the prototype has is not a member. */
export function memberOf(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  else object[key] = value
}

// `for … in` and one call for each structure, not for each value: every write goes through here.
function clone(value: object): unknown {
  if (Array.isArray(value)) {
    const copy: unknown[] = []
    for (const item of value) copy.push(isStructure(item) ? clone(item) : item)
    return copy
  }
  const source = value as Record<string, unknown>
  const copy: Record<string, unknown> = {}
  for (const key in source) {
    const member = source[key]
    if (member === undefined) continue
    const own = isStructure(member) ? clone(member) : member
    if (key === '__proto__') setMember(copy, key, own)
    else copy[key] = own
  }
  return copy
}

/** A list or an object. */
export function isStructure(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function equalLists(a: unknown, b: unknown, equal: (a: unknown, b: unknown) => boolean): boolean {
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i])) return false
  return true
}

function meansNothing(value: unknown): boolean {
  if (!isStructure(value)) return value === undefined || value === null
  if (Array.isArray(value)) return value.length === 0
  for (const key in value) if (!meansNothing(value[key])) return false
  return true
}

/** Their order by code units. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The order of pairs by their first, a text. */
export function compareFirsts(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return compareTexts(a[0], b[0])
}
