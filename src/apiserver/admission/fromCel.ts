/** What a CEL expression gave, as JSON: integers are numbers again, optional members that are absent go. */
import { Optional } from '@marcbachmann/cel-js'
import { isRecord } from '../../apimachinery/object.ts'

/** @throws Error for values that JSON does not know */
export function fromCel(value: unknown): unknown {
  if (value === undefined || value === null) return null
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return value
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z')
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Optional) return value.hasValue() ? fromCel(value.value()) : undefined
  if (Array.isArray(value)) return value.map(fromCel).filter(item => item !== undefined)
  const entries = value instanceof Map ? [...value] : isRecord(value) ? Object.entries(value) : undefined
  if (entries === undefined) throw new Error(`a ${typeof value} is no JSON value`)
  return Object.fromEntries(
    entries
      .map(([key, member]) => [String(key), fromCel(member)] as const)
      .filter(([, member]) => member !== undefined),
  )
}
