/** Work of a thread for `LongChecks`. */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { FieldError } from '../../apimachinery/fieldErrors.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import { fullEffort } from '../../apimachinery/structural/effort.ts'
import { type SchemaText, schemaFromText } from '../../apimachinery/structural/schemaText.ts'
import { compileValidator } from '../../apimachinery/structural/validate.ts'
import { firstErrors } from './firstErrors.ts'
import type { CheckJob, Verdict } from './longChecks.ts'

/** A memo of a pure function: one schema has many objects. */
const schemas = new BoundedCache<string, Schema>({ entries: 100, weight: { limit: 1_000_000, of: sizeOfSchema } })
const sizes = new WeakMap<Schema, number>()

export function checkJob({ schema, object, old }: CheckJob): Verdict {
  const warned: FieldError[] = []
  const errors = compileValidator(schemaOf(schema))(
    JSON.parse(object),
    undefined,
    old === undefined ? undefined : JSON.parse(old),
    error => warned.push(error),
    fullEffort(),
  )
  return { errors: firstErrors(errors), warned: firstErrors(warned) }
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
