/** Lists of type `set` and `map`: what makes two elements the same. */
import { isRecord } from '../object.ts'
import { canonicalJson } from '../values.ts'

/** The key of an element: the element itself in a set, its key members in a map; `undefined` when it is no object. */
export function elementKey(element: unknown, keys: readonly string[] | undefined): unknown {
  if (keys === undefined) return element
  if (!isRecord(element)) return undefined
  return Object.fromEntries(keys.filter(name => Object.hasOwn(element, name)).map(name => [name, element[name]]))
}

/**
 * The second element of each key that stands more than once, in list order.
 * @param keys members that make the key of a `map`; `undefined` for a `set`
 */
export function duplicates(
  list: readonly unknown[],
  keys: readonly string[] | undefined,
): { index: number; key: unknown }[] {
  if (list.length < 2) return []
  const seen = new Map<unknown, number>()
  const found: { index: number; key: unknown }[] = []
  for (const [index, element] of list.entries()) {
    const key = elementKey(element, keys)
    if (key === undefined) continue
    const identity = typeof key === 'string' ? `"${key}` : canonicalJson(key)
    const times = seen.get(identity) ?? 0
    seen.set(identity, times + 1)
    if (times === 1) found.push({ index, key })
  }
  return found
}
