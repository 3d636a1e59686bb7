/** Lists in strategic merge patches: merging by key or as sets, and the order that kube-apiserver leaves them in. */

import { cloneInSteps } from '../cloneInSteps.ts'
import { statusError } from '../errors.ts'
import { goPrint } from '../go/goPrint.ts'
import { isRecord } from '../object.ts'
import type { Pace } from '../pace.ts'
import type { Steps } from '../steps.ts'
import { canonicalJson, memberOf } from '../values.ts'

type Members = Record<string, unknown>

interface ListMerge {
  /** The member that names an element; absent for lists of scalars. */
  mergeKey: string | undefined
  /** Merges a change into the element of the same name. */
  merge(item: Members, change: Members): Steps<Members>
  /** Addition of a change without a counterpart. */
  create(change: Members): Steps<unknown>
}

export interface MergedList {
  list: unknown[]
  /**
   * The order that a `$setElementOrder` directive interleaves with. It is the original's, where elements that the patch adds have the
   * places that its deletions left free, as kube-apiserver has it.
   */
  order: readonly unknown[]
}

/** Merges `patch` into `original`. New elements of the patch come before unrelated elements of the original, as upstream. */
export function* mergeList(original: unknown[], patch: unknown[], rules: ListMerge, pace: Pace): Steps<MergedList> {
  if (original.length === 0 && patch.length === 0) return { list: original, order: original }
  yield* checkElements(original, patch, pace)
  const { mergeKey } = rules
  if (!isRecord(original[0] ?? patch[0])) {
    const merged = yield* unique(original, patch, pace)
    return { list: yield* orderList(merged, patch, original, undefined, pace), order: original }
  }
  if (mergeKey === undefined) throw statusError.badRequest('cannot merge lists without merge key')
  const { kept, changes } = yield* applyDirectives(original as Members[], patch as Members[], mergeKey, pace)
  if (changes === undefined) return { list: kept, order: original }
  const merged: unknown[] = []
  const places = new Map<unknown, number>()
  const place = (item: unknown, at: number): void => {
    merged[at] = item
    const name = isRecord(item) ? identity(memberOf(item, mergeKey)) : undefined
    if (name !== undefined && !places.has(name)) places.set(name, at)
  }
  for (const [at, item] of kept.entries()) {
    place(item, at)
    if (pace.due()) yield
  }
  for (const change of changes) {
    const at = places.get(identity(requireKey(change, mergeKey)))
    if (at !== undefined) merged[at] = yield* rules.merge(merged[at] as Members, change)
    else place(yield* rules.create(change), merged.length)
    if (pace.due()) yield
  }
  return { list: yield* orderList(merged, changes, kept, mergeKey, pace), order: merged.slice(0, original.length) }
}

export function* withoutItems(list: unknown[], items: unknown[], pace: Pace): Steps<unknown[]> {
  const names = new Set<unknown>()
  for (const item of items) {
    names.add(identity(item))
    if (pace.due()) yield
  }
  const left: unknown[] = []
  for (const value of list) {
    if (!names.has(identity(value))) left.push(value)
    if (pace.due()) yield
  }
  return left
}

/**
 * Brings `merged` into order. Elements that `order` names stand as `order` has them, the others as `server` (the list before the patch) has
 * them. An element of the second kind goes before the next of the first kind that it stood before.
 */
export function* orderList(
  merged: unknown[],
  order: readonly unknown[],
  server: readonly unknown[],
  mergeKey: string | undefined,
  pace: Pace,
): Steps<unknown[]> {
  const nameOf = (item: unknown) => (mergeKey !== undefined && isRecord(item) ? memberOf(item, mergeKey) : item)
  const orderIndex = yield* indexer(order, nameOf, pace)
  const serverIndex = yield* indexer(server, nameOf, pace)
  const named = new Shelves(order.length)
  const others = new Shelves(server.length)
  for (const item of merged) {
    const name = nameOf(item)
    const at = orderIndex(name)
    if (at >= 0) named.put(item, at)
    else others.put(item, serverIndex(name))
    if (pace.due()) yield
  }
  const rest = others.all()
  const result: unknown[] = []
  let next = 0
  for (const item of named.all()) {
    const place = serverIndex(nameOf(item))
    while (next < rest.length && place >= 0) {
      const other = serverIndex(nameOf(rest[next]))
      if (other < 0 || other >= place) break
      result.push(rest[next++])
    }
    result.push(item)
    if (pace.due()) yield
  }
  return [...result, ...rest.slice(next)]
}

/** Items in the order of their places, those without one (-1) first; where several share one they stand as they came. */
class Shelves {
  readonly #first: unknown[] = []
  readonly #shelves: (unknown[] | undefined)[]

  constructor(places: number) {
    this.#shelves = new Array(places)
  }

  put(item: unknown, place: number): void {
    if (place < 0) this.#first.push(item)
    else {
      this.#shelves[place] ??= []
      this.#shelves[place].push(item)
    }
  }

  all(): unknown[] {
    const all = this.#first
    for (const shelf of this.#shelves) if (shelf !== undefined) for (const item of shelf) all.push(item)
    return all
  }
}

/** Obeys `$patch` elements. `changes` is undefined when the patch replaces the list by `kept`. */
function* applyDirectives(
  original: Members[],
  patch: Members[],
  mergeKey: string,
  pace: Pace,
): Steps<{ kept: unknown[]; changes?: Members[] }> {
  const changes: Members[] = []
  const deleted = new Set<unknown>()
  let replace = false
  for (const item of patch) {
    const directive = memberOf(item, '$patch')
    if (directive === undefined) changes.push(item)
    else if (directive === 'replace') replace = true
    else if (directive === 'delete') {
      deleted.add(identity(requireKey(item, mergeKey)))
    } else if (directive === 'merge') {
      throw statusError.badRequest('merging lists cannot yet be specified in the patch')
    } else {
      throw statusError.badRequest(`unknown patch type: ${goPrint(directive)} in map: ${JSON.stringify(item)}`)
    }
    if (pace.due()) yield
  }
  if (replace) return { kept: yield* cloneInSteps(changes as unknown[], pace) }
  const kept: unknown[] = []
  for (const item of original) {
    if (deleted.size === 0 || !deleted.has(identity(memberOf(item, mergeKey)))) kept.push(item)
    if (pace.due()) yield
  }
  return { kept, changes }
}

function requireKey(item: Members, mergeKey: string): unknown {
  const name = memberOf(item, mergeKey)
  if (name === undefined)
    throw statusError.badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`)
  return name
}

function* checkElements(original: unknown[], patch: unknown[], pace: Pace): Steps<void> {
  const kinds = new Set<string>()
  for (const list of [original, patch])
    for (const item of list) {
      kinds.add(isRecord(item) ? 'map' : Array.isArray(item) ? 'list' : typeof item)
      if (pace.due()) yield
    }
  if (kinds.has('list')) throw statusError.badRequest('lists of lists are not supported')
  if (kinds.size > 1)
    throw statusError.badRequest(`list element types are not identical: ${goPrint([original, patch])}`)
}

function* unique(original: unknown[], patch: unknown[], pace: Pace): Steps<unknown[]> {
  const seen = new Set<unknown>()
  const list: unknown[] = []
  for (const items of [original, patch])
    for (const item of items) {
      const name = identity(item)
      if (!seen.has(name)) list.push(item)
      seen.add(name)
      if (pace.due()) yield
    }
  return list
}

/** A value that is the same for equal JSON: scalars are their own, so that large lists are merged in linear time. */
function identity(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? `\u0000${canonicalJson(value)}` : value
}

/** Position by name in constant time for scalars, the usual names; -1 when absent. */
function* indexer(
  items: readonly unknown[],
  nameOf: (item: unknown) => unknown,
  pace: Pace,
): Steps<(name: unknown) => number> {
  const positions = new Map<unknown, number>()
  for (const [i, item] of items.entries()) {
    const name = nameOf(item)
    if (!positions.has(name)) positions.set(name, i)
    if (pace.due()) yield
  }
  return name => positions.get(name) ?? -1
}
