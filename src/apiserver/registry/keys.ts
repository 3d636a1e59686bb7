/** Where objects are in the store. */
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Key, Range } from '../../storage/store.ts'
import { storageGroup } from './convert.ts'
import type { Selection } from './selection.ts'

export function keyOf(space: string, type: { group: string; resource: string }, namespace: string, name: string): Key {
  return { space, group: storageGroup(type), resource: type.resource, namespace, name }
}

/** The smallest range that holds all that a list or watch may show. */
export function rangeOf(
  type: ResourceType,
  query: { space: string; namespace?: string | undefined; selection?: Selection },
): Range {
  const namespace = query.namespace ?? (type.namespaced ? query.selection?.namespace : '')
  const range: { -readonly [K in keyof Key]?: Key[K] } = { group: storageGroup(type), resource: type.resource }
  if (query.space === '*') return range
  range.space = query.space
  if (namespace === undefined) return range
  range.namespace = namespace
  if (query.selection?.name !== undefined) range.name = query.selection.name
  return range
}

/** Across all spaces the store cannot narrow a range to one namespace, so its name is compared here. */
export function inNamespace(key: Key, query: { space: string; namespace?: string | undefined }): boolean {
  return query.space !== '*' || query.namespace === undefined || key.namespace === query.namespace
}

/** Behind every possible name that comes before this one. */
export function justBefore(name: string): string {
  return `${name.slice(0, -1)}${String.fromCharCode(name.charCodeAt(name.length - 1) - 1)}\u{10ffff}`
}
