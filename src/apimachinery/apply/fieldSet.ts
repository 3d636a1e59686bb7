/**
 * Sets of field paths: the tries of `managedFields` and their algebra. Sets are values: no function changes its arguments,
 * results may share nodes with them. A path in a set does not put the paths above or below it into the set.
 * @see https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/555-server-side-apply
 */
import { type FieldsV1, isRecord } from '../object.ts'
import { hasMoreValues } from '../objectSize.ts'
import { Pace } from '../pace.ts'
import type { Steps } from '../steps.ts'
import { canonicalElement, fieldElement, showElement, sortElements, sortElementsInSteps } from './pathElement.ts'

export interface FieldSet {
  /** Whether the path that leads here is in the set. At the root it means nothing and is false. */
  readonly self: boolean
  /** By canonical path element; absent rather than empty, and never leading to an empty set. */
  readonly children: ReadonlyMap<string, FieldSet> | undefined
}

export const EMPTY_SET: FieldSet = Object.freeze({ self: false, children: undefined })
/** Just the path that leads to it. */
export const HERE: FieldSet = Object.freeze({ self: true, children: undefined })

export function isEmptySet(set: FieldSet): boolean {
  return !set.self && set.children === undefined
}

/** A set from its parts; an empty map of children is fine. */
export function fieldSet(self: boolean, children: ReadonlyMap<string, FieldSet> | undefined): FieldSet {
  if (children !== undefined && children.size > 0) return { self, children }
  return self ? HERE : EMPTY_SET
}

/** The set of one path of object members, for example `metadata`, `name`. */
export function setOfField(...names: string[]): FieldSet {
  let set = HERE
  for (const name of names.toReversed()) set = { self: false, children: new Map([[fieldElement(name), set]]) }
  return set
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a
  if (isEmptySet(a)) return b
  if (a.children === undefined) return fieldSet(true, b.children)
  if (b.children === undefined) return fieldSet(a.self || b.self, a.children)
  const children = new Map(a.children)
  for (const [element, child] of b.children) {
    const other = children.get(element)
    children.set(element, other === undefined ? child : union(other, child))
  }
  return fieldSet(a.self || b.self, children)
}

/** Union of all sets, in time that follows their sizes however many there are. */
export function unionAll(sets: readonly FieldSet[]): FieldSet {
  if (sets.length <= 2) return union(sets[0] ?? EMPTY_SET, sets[1] ?? EMPTY_SET)
  const children = new Map<string, FieldSet>()
  /** Elements that lead to several sets. Most lead to the end of a path, which is one and the same. */
  const groups = new Map<string, FieldSet[]>()
  for (const set of sets) {
    if (set.children === undefined) continue
    for (const [element, child] of set.children) {
      const other = children.get(element)
      if (other === child) continue
      if (other === undefined) {
        children.set(element, child)
        continue
      }
      const group = groups.get(element)
      if (group === undefined) groups.set(element, [other, child])
      else group.push(child)
    }
  }
  for (const [element, group] of groups) children.set(element, unionAll(group))
  return fieldSet(
    sets.some(({ self }) => self),
    children,
  )
}

/** Paths of `a` that are not in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return EMPTY_SET
  const self = a.self && !b.self
  const children = childrenLess(a, b, difference)
  return self === a.self && children === a.children ? a : fieldSet(self, children)
}

/** Paths of `a` that are neither in `b` nor below a path of `b`. */
export function recursiveDifference(a: FieldSet, b: FieldSet): FieldSet {
  if (b.self) return EMPTY_SET
  const children = childrenLess(a, b, recursiveDifference)
  return children === a.children ? a : fieldSet(a.self, children)
}

/** Children of `a`, each less the one of `b`; those of `a` themselves where nothing goes. */
function childrenLess(a: FieldSet, b: FieldSet, less: typeof difference): FieldSet['children'] {
  if (a.children === undefined || b.children === undefined) return a.children
  let children: Map<string, FieldSet> | undefined
  for (const element of smaller(a.children, b.children).keys()) {
    const child = a.children.get(element)
    const other = b.children.get(element)
    if (child === undefined || other === undefined) continue
    const rest = less(child, other)
    if (rest === child) continue
    children ??= new Map(a.children)
    if (isEmptySet(rest)) children.delete(element)
    else children.set(element, rest)
  }
  return children ?? a.children
}

export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a
  if (a.children === undefined || b.children === undefined) return a.self && b.self ? HERE : EMPTY_SET
  const children = new Map<string, FieldSet>()
  for (const element of smaller(a.children, b.children).keys()) {
    const child = a.children.get(element)
    const other = b.children.get(element)
    if (child === undefined || other === undefined) continue
    const both = intersection(child, other)
    if (!isEmptySet(both)) children.set(element, both)
  }
  return fieldSet(a.self && b.self, children)
}

export function equalSets(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true
  if (a.self !== b.self || a.children?.size !== b.children?.size) return false
  if (a.children === undefined || b.children === undefined) return true
  for (const [element, child] of a.children) {
    const other = b.children.get(element)
    if (other === undefined || !equalSets(child, other)) return false
  }
  return true
}

/** Paths of the set that have no path of the set below them. */
export function leavesOf(set: FieldSet): FieldSet {
  if (set.children === undefined) return set
  const children = new Map<string, FieldSet>()
  for (const [element, child] of set.children) children.set(element, leavesOf(child))
  return fieldSet(false, children)
}

/** All paths in upstream's order, each as a list of elements: those that end here, then what is below the others. */
export function* pathsOf(set: FieldSet, prefix: readonly string[] = []): Generator<readonly string[]> {
  const children = sortedElements(set).map(element => [[...prefix, element], set.children!.get(element)!] as const)
  for (const [path, child] of children) if (child.self) yield path
  for (const [path, child] of children) yield* pathsOf(child, path)
}

export function countPaths(set: FieldSet): number {
  let count = set.self ? 1 : 0
  if (set.children !== undefined) for (const child of set.children.values()) count += countPaths(child)
  return count
}

/** `.spec.containers[name="a"].image` */
export function showPath(path: readonly string[]): string {
  return path.map(showElement).join('')
}

/** The canonical trie, its keys in upstream's order. */
export function toFieldsV1(set: FieldSet): FieldsV1 {
  const trie: FieldsV1 = {}
  if (set.children === undefined) return trie
  if (set.self) trie['.'] = {}
  for (const element of sortedElements(set)) trie[element] = toFieldsV1(set.children.get(element)!)
  return trie
}

/** The same in steps, where there are many paths. */
export function* toFieldsV1InSteps(set: FieldSet): Steps<FieldsV1> {
  return hasMorePaths(set, STEP_VALUES) ? yield* trieInSteps(set, new Pace()) : toFieldsV1(set)
}

function* trieInSteps(set: FieldSet, pace: Pace): Steps<FieldsV1> {
  const trie: FieldsV1 = {}
  if (set.children === undefined) return trie
  if (set.self) trie['.'] = {}
  for (const element of yield* sortElementsInSteps(set.children.keys())) {
    const child = set.children.get(element)!
    if (pace.due()) yield
    trie[element] = child.children === undefined ? {} : yield* trieInSteps(child, pace)
  }
  return trie
}

/** In time that follows from `limit`. */
function hasMorePaths(set: FieldSet, limit: number): boolean {
  const sets = [set]
  for (let left = limit, next = sets.pop(); next?.children !== undefined || sets.length > 0; next = sets.pop()) {
    if (next?.children === undefined) continue
    left -= next.children.size
    if (left < 0) return true
    for (const child of next.children.values()) if (child.children !== undefined) sets.push(child)
  }
  return false
}

/**
 * Reads a trie. Elements of kinds that we do not know are skipped, as upstream does.
 * @throws Error when it is not a trie of objects, or an element is malformed
 */
export function fromFieldsV1(trie: unknown): FieldSet {
  return readNode(trie, true)
}

/** The same in steps, where there are many paths: each costs more then. */
export function* fromFieldsV1InSteps(trie: unknown): Steps<FieldSet> {
  return hasMoreValues(trie, STEP_VALUES) ? yield* nodeInSteps(trie, true, new Pace()) : readNode(trie, true)
}
const STEP_VALUES = 1000

function* nodeInSteps(trie: unknown, isRoot: boolean, pace: Pace): Steps<FieldSet> {
  if (!isRecord(trie)) throw new Error('fieldsV1 must consist of objects')
  const elements = Object.keys(trie)
  if (elements.length === 0) return isRoot ? EMPTY_SET : HERE
  const children = new Map<string, FieldSet>()
  for (const text of elements) {
    if (pace.due()) yield
    const element = text === '.' ? undefined : canonicalElement(text)
    if (element !== undefined) children.set(element, yield* nodeInSteps(trie[text], false, pace))
  }
  return fieldSet(!isRoot && elements.includes('.'), children)
}

function readNode(trie: unknown, isRoot: boolean): FieldSet {
  if (!isRecord(trie)) throw new Error('fieldsV1 must consist of objects')
  const elements = Object.keys(trie)
  if (elements.length === 0) return isRoot ? EMPTY_SET : HERE
  let self = false
  const children = new Map<string, FieldSet>()
  for (const text of elements) {
    if (text === '.') {
      self = !isRoot
      continue
    }
    const element = canonicalElement(text)
    if (element !== undefined) children.set(element, readNode(trie[text], false))
  }
  return fieldSet(self, children)
}

/** Many small sets are held against one large one: what that costs follows from the small ones. */
function smaller<T>(a: ReadonlyMap<string, T>, b: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return a.size <= b.size ? a : b
}

function sortedElements(set: FieldSet): string[] {
  return set.children === undefined ? [] : sortElements(set.children.keys())
}
