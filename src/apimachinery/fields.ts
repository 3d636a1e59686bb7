/**
 * Reading and defaulting fields of JSON objects whose shape nobody has checked yet. Readers never throw: a field of another
 * type reads as absent, because the schema has already refused it or will.
 */
import { isRecord } from './object.ts'

export type Fields = Record<string, unknown>

/** The value at a path; `undefined` when a step is missing. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here: unknown = value
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined
    here = (here as Record<string | number, unknown>)[step]
  }
  return here
}

/** True when the field is there and not null. */
export function has(value: unknown, ...path: readonly string[]): boolean {
  const found = at(value, ...path)
  return found !== undefined && found !== null
}

/** The object at a path, or an empty one (a fresh one: writing to it changes nothing). */
export function record(value: unknown, ...path: readonly (string | number)[]): Fields {
  const found = at(value, ...path)
  return isRecord(found) ? found : {}
}

export function list(value: unknown, ...path: readonly (string | number)[]): unknown[] {
  const found = at(value, ...path)
  return Array.isArray(found) ? found : []
}

/** The objects of a list; elements that are none read as empty objects, so indexes stay true. */
export function records(value: unknown, ...path: readonly (string | number)[]): Fields[] {
  return list(value, ...path).map(item => (isRecord(item) ? item : {}))
}

/** The objects of a list; elements that are none are left out. */
export function objects(value: unknown, ...path: readonly (string | number)[]): Fields[] {
  return list(value, ...path).filter(isRecord)
}

export function str(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path)
  return typeof found === 'string' ? found : ''
}

export function strings(value: unknown, ...path: readonly (string | number)[]): string[] {
  return list(value, ...path).filter(item => typeof item === 'string')
}

/** 0 when absent. */
export function num(value: unknown, ...path: readonly (string | number)[]): number {
  const found = at(value, ...path)
  return typeof found === 'number' ? found : 0
}

/** Sets a field that is absent or null. */
export function setDefault(target: Fields, field: string, value: unknown): void {
  if (target[field] === undefined || target[field] === null) target[field] = value
}

/** Sets every field of `values` that is absent or null. */
export function setDefaults(target: Fields, values: Fields): void {
  for (const [field, value] of Object.entries(values)) setDefault(target, field, value)
}

/** Sets fields that Go calls empty: absent, null, `''` or 0. */
export function setIfEmpty(target: Fields, field: string, value: unknown): void {
  if (isEmpty(target[field])) target[field] = value
}

export function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === 0 || value === false
}

/** The object in a field, made when absent. */
export function ensure(target: Fields, field: string): Fields {
  const found = target[field]
  if (isRecord(found)) return found
  const made: Fields = {}
  target[field] = made
  return made
}
