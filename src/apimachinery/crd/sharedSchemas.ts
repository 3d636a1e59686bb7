/**
 * One schema object for equal schemas, so that what is compiled from a schema exists once however many spaces define the
 * same kind. Holds nothing alive: a schema that nobody serves any more is forgotten.
 */
import { createHash } from 'node:crypto'
import type { Schema } from '../schema.ts'

// A memo of a pure function (schemas are never changed), safe to share between servers of one process.
const shared = new Map<string, WeakRef<Schema>>()
const forget = new FinalizationRegistry<string>(key => {
  if (shared.get(key)?.deref() === undefined) shared.delete(key)
})

/** An equal schema that was seen before, or `schema` itself. */
export function shareSchema(schema: Schema): Schema {
  const key = createHash('sha256').update(JSON.stringify(schema)).digest('base64')
  const known = shared.get(key)?.deref()
  if (known !== undefined) return known
  shared.set(key, new WeakRef(schema))
  forget.register(schema, key)
  return schema
}
