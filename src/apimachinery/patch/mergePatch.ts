/**
 * JSON Merge Patch. The merging is the `json-merge-patch` library's. This file keeps the inputs unchanged, and keeps ordinary JSON keys
 * away from the names at which the library stops or trips (`constructor`, `hasOwnProperty`, …).
 * @see https://www.rfc-editor.org/rfc/rfc7396
 */
import library from 'json-merge-patch'
import { isRecord } from '../object.ts'
import { cloneJson, setMember } from '../values.ts'

/**
 * The patched document. Both inputs stay as they are. Members outside the patch are shared with the document, so that a small patch of a
 * large object is a small change.
 */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return cloneJson(patch)
  if (!isRecord(document)) return applyMergePatch({}, patch)
  if (!hasReservedKey(patch)) {
    const along = copyAlong(document, patch)
    if (along !== undefined) return library.apply(along, cloneJson(patch))
  }
  return renamed(
    library.apply(renamed(document, escapeKey) as object, renamed(patch, escapeKey) as object),
    unescapeKey,
  )
}

/** A copy of those objects that the patch goes through; `undefined` when one of them has a key that is reserved. */
function copyAlong(document: Record<string, unknown>, patch: Record<string, unknown>): object | undefined {
  for (const key in document) if (isReserved(key)) return undefined
  const copy = { ...document }
  for (const key of Object.keys(patch)) {
    const [below, change] = [document[key], patch[key]]
    if (!isRecord(below) || !isRecord(change)) continue
    const own = copyAlong(below, change)
    if (own === undefined) return undefined
    copy[key] = own
  }
  return copy
}

const RESERVED: readonly string[] = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toJSON']
const ESCAPE = '\u0000'

const isReserved = (key: string): boolean => RESERVED.includes(key) || key.startsWith(ESCAPE)
const escapeKey = (key: string) => (isReserved(key) ? ESCAPE + key : key)
const unescapeKey = (key: string) => (key.startsWith(ESCAPE) ? key.slice(ESCAPE.length) : key)

function hasReservedKey(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasReservedKey)
  if (!isRecord(value)) return false
  return Object.keys(value).some(key => isReserved(key) || hasReservedKey(value[key]))
}

function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map(item => renamed(item, rename))
  if (!isRecord(value)) return value
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) setMember(copy, rename(key), renamed(value[key], rename))
  return copy
}
