/**
 * Sets of fields held against objects whose schema nobody knows: elements of keyed lists are found by the keys that the paths
 * themselves name. Pure; objects are left as they are.
 */
import { isRecord } from '../object.ts'
import { canonicalJson, cloneJson, equalJson, setMember } from '../values.ts'
import { EMPTY_SET, type FieldSet, fieldSet, HERE, isEmptySet } from './fieldSet.ts'
import { keyElement } from './pathElement.ts'

type Children = ReadonlyMap<string, FieldSet>

/**
 * A copy of `object` without what `set` names and `source` says just the same: what differs from `source` was meant since. Keys
 * of list elements stay, for they say which element it is.
 */
export function withoutUnchanged(object: unknown, set: FieldSet, source: unknown): unknown {
  return set.children === undefined ? object : stripped(object, source, set.children, [])
}

function stripped(object: unknown, source: unknown, children: Children, keys: readonly string[]): unknown {
  if (Array.isArray(object)) {
    const sources = elementsIn(source, children)
    const sets = new Map<unknown, [element: string, set: FieldSet]>()
    for (const [element, item] of elementsIn(object, children)) sets.set(item, [element, children.get(element)!])
    return object.flatMap((item: unknown) => {
      const found = isRecord(item) ? sets.get(item) : undefined
      if (found === undefined) return [item]
      const [element, set] = found
      if (set.self && equalJson(item, sources.get(element))) return []
      if (set.children === undefined) return [item]
      return [stripped(item, sources.get(element), set.children, Object.keys(keysOf(element)))]
    })
  }
  if (!isRecord(object)) return object
  const before = isRecord(source) ? source : {}
  const result: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(object)) {
    const below = keys.includes(name) ? undefined : children.get(`f:${name}`)
    if (below?.self && equalJson(value, before[name])) continue
    const inner = below?.children === undefined ? value : stripped(value, before[name], below.children, [])
    if (isEmptied(inner, value)) continue
    setMember(result, name, inner)
  }
  return result
}

/** A list that lost all its items, and had some. */
function isEmptied(now: unknown, before: unknown): boolean {
  return Array.isArray(now) && now.length === 0 && Array.isArray(before) && before.length > 0
}

/** The paths of `set` that lead nowhere in `object`, the topmost of each. */
export function missingIn(object: unknown, set: FieldSet): FieldSet {
  return filtered(set, object, object, (below, value) => (value === undefined ? HERE : missingIn(value, below)))
}

/**
 * The paths of `set` that `object` does not say; the topmost of each. Unlike {@link missingIn} it finds an element of a list where the item
 * leaves out some of the keys, to which servers give defaults. An empty object, `{}`, sets nothing below it.
 */
export function unsetIn(object: unknown, { children }: FieldSet): FieldSet {
  if (children === undefined) return EMPTY_SET
  const unset = new Map<string, FieldSet>()
  const found = elementsIn(object, children)
  for (const [element, below] of children) {
    const value = found.get(element) ?? (Array.isArray(object) ? object.find(item => agrees(item, element)) : undefined)
    const isUnset = value === undefined || (below.children !== undefined && isEmptyRecord(value))
    const verdict = isUnset ? HERE : unsetIn(value, withoutKeysOf(element, below))
    if (!isEmptySet(verdict)) unset.set(element, verdict)
  }
  return fieldSet(false, unset)
}

/**
 * `object` without each `{}` where `live` holds something and `set` names nothing of it. Kubernetes 1.20 takes what defaults fill in
 * away from whoever applies `{}`.
 */
export function withoutHollow(object: unknown, live: unknown, { children }: FieldSet): unknown {
  if (!isRecord(object) || !isRecord(live)) return object
  const result: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(object)) {
    const below = children?.get(`f:${name}`) ?? EMPTY_SET
    const inner = live[name]
    const isHollow = isEmptyRecord(value) && isRecord(inner) && !isEmptyRecord(inner) && isEmptySet(below)
    if (!isHollow) setMember(result, name, withoutHollow(value, inner, below))
  }
  return result
}

function isEmptyRecord(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).length === 0
}

/** Whether an item has some of the keys of an element, and others only where it says nothing. */
function agrees(item: unknown, element: string): boolean {
  const keys = Object.entries(keysOf(element))
  return (
    isRecord(item) &&
    keys.some(([name]) => Object.hasOwn(item, name)) &&
    keys.every(([name, value]) => !Object.hasOwn(item, name) || equalJson(item[name], value))
  )
}

/** A set element is set with all of its keys. */
function withoutKeysOf(element: string, set: FieldSet): FieldSet {
  const keys = Object.keys(keysOf(element))
  if (keys.length === 0 || set.children === undefined) return set
  return fieldSet(set.self, new Map([...set.children].filter(([child]) => !keys.includes(child.slice(2)))))
}

/** The paths of `set` whose values `a` and `b` both have, and not the same; the topmost of each. */
export function differingIn(a: unknown, b: unknown, set: FieldSet): FieldSet {
  return filtered(set, a, b, (below, left, right) => {
    if (left === undefined || right === undefined || equalJson(left, right)) return EMPTY_SET
    return below.self ? HERE : differingIn(left, right, below)
  })
}

/** The paths of `set` whose values `a` and `b` both have, and the same. */
export function sameIn(a: unknown, b: unknown, set: FieldSet): FieldSet {
  return filtered(set, a, b, (below, left, right) => {
    if (left === undefined || right === undefined) return EMPTY_SET
    return fieldSet(below.self && equalJson(left, right), sameIn(left, right, below).children)
  })
}

/** The paths of `set` that `after` has and `before` lacks; of a list or map that merges as one, the parts that it gained. */
export function addedIn(before: unknown, after: unknown, set: FieldSet): FieldSet {
  return filtered(set, before, after, (below, left, right) => {
    const parts = below.children === undefined ? gained(left, right) : addedIn(left, right, below)
    return fieldSet(below.self && isUnset(left), parts.children)
  })
}

function isUnset(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** Nothing where `after` lost or changed a part of `before`. */
function gained(before: unknown, after: unknown): FieldSet {
  if (Array.isArray(after)) {
    const known = new Set((Array.isArray(before) ? before : []).map(canonicalJson))
    const now = new Set(after.map(canonicalJson))
    if (![...known].every(item => now.has(item))) return EMPTY_SET
    return fieldSet(false, new Map([...now].filter(item => !known.has(item)).map(item => [`v:${item}`, HERE])))
  }
  if (!isRecord(after)) return EMPTY_SET
  const known = isRecord(before) ? before : {}
  if (!Object.entries(known).every(([name, value]) => equalJson(after[name], value))) return EMPTY_SET
  const names = Object.keys(after).filter(name => !Object.hasOwn(known, name))
  return fieldSet(false, new Map(names.map(name => [`f:${name}`, HERE])))
}

function filtered(
  { children }: FieldSet,
  a: unknown,
  b: unknown,
  judge: (below: FieldSet, left: unknown, right: unknown, element: string) => FieldSet,
): FieldSet {
  if (children === undefined) return EMPTY_SET
  const kept = new Map<string, FieldSet>()
  const lefts = elementsIn(a, children)
  const rights = a === b ? lefts : elementsIn(b, children)
  for (const [element, below] of children) {
    const verdict = judge(below, lefts.get(element), rights.get(element), element)
    if (!isEmptySet(verdict)) kept.set(element, verdict)
  }
  return fieldSet(false, kept)
}

/** Part of `object` that the set names, with the keys of the list elements on the way; absent members are left out. */
export function partOf(object: unknown, { children }: FieldSet): unknown {
  if (children === undefined) return cloneJson(object)
  const found = elementsIn(object, children)
  if (Array.isArray(object)) {
    return [...found].map(([element, item]) => {
      const part = partOf(item, children.get(element)!)
      return element.startsWith('k:') && isRecord(part) ? { ...keysOf(element), ...part } : part
    })
  }
  const result: Record<string, unknown> = {}
  for (const [element, value] of found) setMember(result, element.slice(2), partOf(value, children.get(element)!))
  return result
}

/** Members of a holder under the given elements, where present. Costs a look at each item, once. */
function elementsIn(holder: unknown, children: Children): Map<string, unknown> {
  const found = new Map<string, unknown>()
  if (isRecord(holder)) {
    for (const element of children.keys()) {
      const name = element.slice(2)
      if (element.startsWith('f:') && Object.hasOwn(holder, name)) found.set(element, holder[name])
    }
  } else if (Array.isArray(holder)) {
    const ways = waysToName(children)
    holder.forEach((item: unknown, i) => {
      for (const nameOf of ways) {
        const element = nameOf(item, i)
        if (element !== undefined && children.has(element) && !found.has(element)) found.set(element, item)
      }
    })
  }
  return found
}

type NameOf = (item: unknown, index: number) => string | undefined

/** How the elements of a list are named among these: usually in one way. */
function waysToName(children: Children): NameOf[] {
  const ways = new Map<string, NameOf>()
  for (const element of children.keys()) {
    const sort = element.slice(0, 2)
    if (sort === 'v:') ways.set(sort, item => `v:${canonicalJson(item)}`)
    else if (sort === 'i:') ways.set(sort, (_, i) => `i:${i}`)
    else if (sort === 'k:') {
      const names = Object.keys(keysOf(element))
      ways.set(names.join('\0'), item =>
        isRecord(item) ? keyElement(Object.fromEntries(names.map(name => [name, item[name] ?? null]))) : undefined,
      )
    }
  }
  return [...ways.values()]
}

/** `k:{"name":"a"}` */
export function keysOf(element: string): Record<string, unknown> {
  const keys: unknown = element.startsWith('k:') ? JSON.parse(element.slice(2)) : undefined
  return isRecord(keys) ? keys : {}
}

/** Gives every text, number and truth value at the ends of `set` another value of its sort, in place; items named by value go. */
export function marked<T>(object: T, { children }: FieldSet): T {
  if (children === undefined) return object
  const found = elementsIn(object, children)
  for (const [element, value] of found) {
    const below = children.get(element)!
    if (Array.isArray(object) && element.startsWith('v:')) object.splice(object.indexOf(value), 1)
    else if (below.children !== undefined) marked(value, below)
    else if (isRecord(object) && isMarkable(value)) setMember(object, element.slice(2), otherThan(value))
  }
  return object
}

/** Where, at the ends of `set`, such values and items in `object` are those of `old`. */
export function echoedIn(object: unknown, old: unknown, set: FieldSet): FieldSet {
  return filtered(set, object, old, (below, value, before, element) => {
    if (value === undefined) return EMPTY_SET
    if (below.children !== undefined) return echoedIn(value, before, below)
    if (element.startsWith('v:')) return before === undefined ? EMPTY_SET : HERE
    return isMarkable(value) && value === before ? HERE : EMPTY_SET
  })
}

type Markable = string | number | boolean

function isMarkable(value: unknown): value is Markable {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

function otherThan(value: Markable): Markable {
  if (typeof value === 'string') return value === 'other' ? 'another' : 'other'
  return typeof value === 'number' ? value + 1 : !value
}
