/** Lists in strategic merge patches: merging by key or as sets, and the order that kube-apiserver leaves them in. */
import { statusError } from '../errors.ts'
import { goPrint } from '../go/goPrint.ts'
import { isRecord } from '../object.ts'
import { canonicalJson, cloneJson, memberOf } from '../values.ts'

type Members = Record<string, unknown>

export interface ListMerge {
  /** The member that names an element; absent for lists of scalars. */
  mergeKey: string | undefined
  /** Merges a change into the element of the same name. */
  merge(item: Members, change: Members): Members
  /** What a change without a counterpart adds. */
  create(change: Members): unknown
}

export interface MergedList {
  list: unknown[]
  /**
   * The order that a `$setElementOrder` directive interleaves with: the original's, where elements that the patch adds have
   * the places that its deletions left free, as kube-apiserver has it.
   */
  order: readonly unknown[]
}

/** Merges `patch` into `original`. New elements of the patch come before unrelated elements of the original, as upstream. */
export function mergeList(original: unknown[], patch: unknown[], rules: ListMerge): MergedList {
  if (original.length === 0 && patch.length === 0) return { list: original, order: original }
  checkElements(original, patch)
  const { mergeKey } = rules
  if (!isRecord(original[0] ?? patch[0])) {
    const merged = unique([...original, ...patch])
    return { list: orderList(merged, patch, original, undefined), order: original }
  }
  if (mergeKey === undefined) throw statusError.badRequest('cannot merge lists without merge key')
  const { kept, changes } = applyDirectives(original as Members[], patch as Members[], mergeKey)
  if (changes === undefined) return { list: kept, order: original }
  const merged: unknown[] = []
  const places = new Map<unknown, number>()
  const place = (item: unknown, at: number): void => {
    merged[at] = item
    const name = isRecord(item) ? identity(memberOf(item, mergeKey)) : undefined
    if (name !== undefined && !places.has(name)) places.set(name, at)
  }
  kept.forEach(place)
  for (const change of changes) {
    const at = places.get(identity(requireKey(change, mergeKey)))
    if (at !== undefined) merged[at] = rules.merge(merged[at] as Members, change)
    else place(rules.create(change), merged.length)
  }
  return { list: orderList(merged, changes, kept, mergeKey), order: merged.slice(0, original.length) }
}

export function withoutItems(list: unknown[], items: unknown[]): unknown[] {
  const names = new Set(items.map(identity))
  return list.filter(value => !names.has(identity(value)))
}

/**
 * Brings `merged` into order: elements that `order` names stand as `order` has them, the others as `server` (the list before
 * the patch) has them, and an element of the second kind goes before the next of the first kind that it stood before.
 */
export function orderList(
  merged: unknown[],
  order: readonly unknown[],
  server: readonly unknown[],
  mergeKey: string | undefined,
): unknown[] {
  const nameOf = (item: unknown) => (mergeKey !== undefined && isRecord(item) ? memberOf(item, mergeKey) : item)
  const orderIndex = indexer(order.map(nameOf))
  const serverIndex = indexer(server.map(nameOf))
  const byIndex = (index: (name: unknown) => number) => (a: unknown, b: unknown) => index(nameOf(a)) - index(nameOf(b))
  const named = merged.filter(item => orderIndex(nameOf(item)) >= 0).sort(byIndex(orderIndex))
  const others = merged.filter(item => orderIndex(nameOf(item)) < 0).sort(byIndex(serverIndex))
  const result: unknown[] = []
  let next = 0
  for (const item of named) {
    const place = serverIndex(nameOf(item))
    while (next < others.length && place >= 0) {
      const other = serverIndex(nameOf(others[next]))
      if (other < 0 || other >= place) break
      result.push(others[next++])
    }
    result.push(item)
  }
  return [...result, ...others.slice(next)]
}

/** Obeys `$patch` elements. `changes` is undefined when the patch replaces the list by `kept`. */
function applyDirectives(original: Members[], patch: Members[], mergeKey: string) {
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
  }
  if (replace) return { kept: cloneJson(changes) as unknown[] }
  const kept: unknown[] = original.filter(item => !deleted.has(identity(memberOf(item, mergeKey))))
  return { kept, changes }
}

function requireKey(item: Members, mergeKey: string): unknown {
  const name = memberOf(item, mergeKey)
  if (name === undefined)
    throw statusError.badRequest(`map: ${JSON.stringify(item)} does not contain declared merge key: ${mergeKey}`)
  return name
}

function checkElements(original: unknown[], patch: unknown[]): void {
  const kinds = new Set([...original, ...patch].map(item => (isRecord(item) ? 'map' : typeof item)))
  if ([...original, ...patch].some(Array.isArray)) throw statusError.badRequest('lists of lists are not supported')
  if (kinds.size > 1)
    throw statusError.badRequest(`list element types are not identical: ${goPrint([original, patch])}`)
}

function unique(list: unknown[]): unknown[] {
  const seen = new Set<unknown>()
  return list.filter(item => {
    const name = identity(item)
    const isNew = !seen.has(name)
    seen.add(name)
    return isNew
  })
}

/** A value that is the same for equal JSON: scalars are their own, so that large lists are merged in linear time. */
function identity(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? `\u0000${canonicalJson(value)}` : value
}

/** Position by name in constant time for scalars, the usual names; -1 when absent. */
function indexer(names: readonly unknown[]): (name: unknown) => number {
  const positions = new Map<unknown, number>()
  names.forEach((name, i) => {
    if (!positions.has(name)) positions.set(name, i)
  })
  return name => positions.get(name) ?? -1
}
