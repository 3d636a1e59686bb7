/**
 * JSON values, handled so that no key is special: `__proto__`, `constructor` and the like are ordinary members.
 * Members whose value is `undefined` do not exist.
 */
import { isRecord } from '../object.ts'

/** An independent copy; arrays and plain objects only, everything else is returned as it is. */
export function cloneJson<T>(value: T): T {
  return clone(value) as T
}

/** Deep equality of JSON values; the order of members does not matter. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false
    for (let i = 0; i < a.length; i++) if (!equalJson(a[i], b[i])) return false
    return true
  }
  if (!isRecord(a) || !isRecord(b)) return false
  let members = 0
  for (const key of Object.keys(a)) {
    const value = a[key]
    if (value === undefined) continue
    members++
    if (!Object.hasOwn(b, key) || !equalJson(value, b[key])) return false
  }
  for (const key of Object.keys(b)) if (b[key] !== undefined) members--
  return members === 0
}

/** The member, or `undefined`; what the prototype has is not a member. */
export function memberOf(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  else object[key] = value
}

function clone(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const copy = new Array<unknown>(value.length)
    for (let i = 0; i < value.length; i++) copy[i] = clone(value[i])
    return copy
  }
  const source = value as Record<string, unknown>
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(source)) setMember(copy, key, clone(source[key]))
  return copy
}
