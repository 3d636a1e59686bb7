/**
 * JSON Merge Patch. The merging is the `json-merge-patch` library's; this file keeps our inputs from being changed and keeps
 * ordinary JSON keys away from the names at which the library stops or trips (`constructor`, `hasOwnProperty`, …).
 * @see https://www.rfc-editor.org/rfc/rfc7396
 */
import library from 'json-merge-patch'
import { isRecord } from '../object.ts'
import { cloneJson, setMember } from '../values.ts'

/** The patched document, independent of both inputs, which stay as they are. */
export function applyMergePatch(document: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return cloneJson(patch)
  if (!isRecord(document)) return applyMergePatch({}, patch)
  if (!hasReservedKey(document) && !hasReservedKey(patch)) return library.apply(cloneJson(document), cloneJson(patch))
  return renamed(
    library.apply(renamed(document, escapeKey) as object, renamed(patch, escapeKey) as object),
    unescapeKey,
  )
}

const RESERVED: readonly string[] = ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toJSON']
const ESCAPE = '\u0000'

const escapeKey = (key: string) => (RESERVED.includes(key) || key.startsWith(ESCAPE) ? ESCAPE + key : key)
const unescapeKey = (key: string) => (key.startsWith(ESCAPE) ? key.slice(ESCAPE.length) : key)

function hasReservedKey(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasReservedKey)
  if (!isRecord(value)) return false
  return Object.keys(value).some(key => RESERVED.includes(key) || key.startsWith(ESCAPE) || hasReservedKey(value[key]))
}

function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map(item => renamed(item, rename))
  if (!isRecord(value)) return value
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) setMember(copy, rename(key), renamed(value[key], rename))
  return copy
}
