/** Result of a CEL expression, as JSON: integers are numbers again, optional members that are absent go. */
import { Optional } from '@marcbachmann/cel-js'
import { isMistakable } from '../../apimachinery/jsonParse.ts'
import { mistakableKeyWords } from '../../apimachinery/mistakableKeys.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { WorkBudget } from '../../apimachinery/workBudget.ts'

/** Bound on the JSON, about; as much as a request can carry. A list can stand in another one many times without being there twice. */
export const MAX_CHARACTERS = 3 * 1024 * 1024

/** @throws Error for values that JSON does not know, and for those that are too large as JSON */
export function fromCel(value: unknown): unknown {
  const size = new WorkBudget(
    MAX_CHARACTERS,
    () => new Error(`the expression's value is larger as JSON than ${MAX_CHARACTERS} characters`),
  )
  return converted(value, size)
}

function converted(value: unknown, size: WorkBudget): unknown {
  size.spend(typeof value === 'string' ? value.length + 2 : 2)
  if (value === undefined || value === null) return null
  if (typeof value === 'bigint') return Number(value)
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return value
  if (value instanceof Date) return value.toISOString().replace('.000Z', 'Z')
  if (value instanceof Uint8Array) {
    size.spend(value.length * 1.5)
    return Buffer.from(value).toString('base64')
  }
  if (value instanceof Optional) return value.hasValue() ? converted(value.value(), size) : undefined
  if (Array.isArray(value)) return value.map(item => converted(item, size)).filter(item => item !== undefined)
  const entries = value instanceof Map ? [...value] : isRecord(value) ? Object.entries(value) : undefined
  if (entries === undefined) throw new Error(`a ${typeof value} is no JSON value`)
  return Object.fromEntries(
    entries
      .map(([key, member]) => {
        const name = String(key)
        if (isMistakable(name)) throw new Error(mistakableKeyWords(name))
        size.spend(name.length + 3)
        return [name, converted(member, size)] as const
      })
      .filter(([, member]) => member !== undefined),
  )
}
