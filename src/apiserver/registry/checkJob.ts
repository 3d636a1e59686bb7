/** What a thread does for `LongChecks`. */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { fullEffort } from '../../apimachinery/structural/effort.ts'
import { type SchemaText, schemaFromText } from '../../apimachinery/structural/schemaText.ts'
import { compileValidator } from '../../apimachinery/structural/validate.ts'
import type { CheckJob, Verdict } from './longChecks.ts'

/** A memo of a pure function: one schema has many objects. */
const schemas = new BoundedCache<string, Schema>({ entries: 100, weight: { limit: 1_000_000, of: sizeOfSchema } })
const sizes = new WeakMap<Schema, number>()

/** As many errors as an answer has use for, by far, and as much text of values in them. */
const MAX_ERRORS = 2000
const MAX_CHARACTERS = 1024 * 1024

export function checkJob({ schema, object, old }: CheckJob): Verdict {
  const warned: FieldError[] = []
  const errors = compileValidator(schemaOf(schema))(
    JSON.parse(object),
    undefined,
    old === undefined ? undefined : JSON.parse(old),
    error => warned.push(error),
    fullEffort(),
  )
  return { errors: first(errors), warned: first(warned) }
}

function schemaOf(text: SchemaText): Schema {
  const known = schemas.get(text.json)
  if (known !== undefined) return known
  const made = schemaFromText(text)
  sizes.set(made, text.json.length)
  schemas.set(text.json, made)
  return made
}

function sizeOfSchema(schema: Schema): number {
  return sizes.get(schema) ?? 0
}

function first(errors: FieldError[]): FieldError[] {
  let characters = 0
  const end = errors.findIndex((error, i) => {
    characters += error.detail.length + error.field.length + sizeOf(error.value)
    return i === MAX_ERRORS || (i > 0 && characters > MAX_CHARACTERS)
  })
  if (end < 0) return errors
  return [...errors.slice(0, end), fieldError.invalid('', '', 'there are too many errors to tell')]
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 0
}
