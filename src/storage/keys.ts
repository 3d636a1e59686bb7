/**
 * Keys and ranges: their order, their text form and which ranges an engine serves by lookups.
 */
import type { Key, Range } from './store.ts'

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

/** The one order of the store: space, group, resource, namespace, name, each by UTF-16 code unit. */
export function compareKeys(a: Key, b: Key): number {
  return (
    compare(a.space, b.space) ||
    compare(a.group, b.group) ||
    compare(a.resource, b.resource) ||
    compare(a.namespace, b.namespace) ||
    compare(a.name, b.name)
  )
}

/** The parts joined by NUL: a map key, and the row key of an engine. A space is one contiguous run of these. */
export function keyText(key: Key): string {
  return `${key.space}\0${key.group}\0${key.resource}\0${key.namespace}\0${key.name}`
}

/** The reverse of {@link keyText}. @throws TypeError when the text has not exactly five parts */
export function parseKeyText(text: string): Key {
  const parts = text.split('\0')
  if (parts.length !== 5) throw new TypeError(`not a key: ${JSON.stringify(text)}`)
  const [space, group, resource, namespace, name] = parts as [string, string, string, string, string]
  return { space, group, resource, namespace, name }
}

/** @throws TypeError for a part with NUL or half a surrogate pair, which would not come back from disk as it went there */
export function assertKey(key: Key): void {
  for (const part of [key.space, key.group, key.resource, key.namespace, key.name])
    if (typeof part !== 'string' || part.includes('\0') || !part.isWellFormed())
      throw new TypeError(`not a storable key: ${JSON.stringify(key)}`)
}

/** @throws TypeError for a shape that the contract does not list: no index answers it */
export function assertRange(range: Range): void {
  const { space, group, resource, namespace, name } = range
  const served =
    (group === undefined) === (resource === undefined) &&
    (namespace === undefined || (space !== undefined && group !== undefined)) &&
    (name === undefined || namespace !== undefined)
  if (!served) throw new TypeError(`no index serves the range ${JSON.stringify(range)}`)
}

export function rangeHolds(range: Range, key: Key): boolean {
  return (
    (range.resource === undefined || range.resource === key.resource) &&
    (range.space === undefined || range.space === key.space) &&
    (range.group === undefined || range.group === key.group) &&
    (range.namespace === undefined || range.namespace === key.namespace) &&
    (range.name === undefined || range.name === key.name)
  )
}
