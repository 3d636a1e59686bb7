/** Taking away what an applier no longer states and nobody else owns. */
import type { Schema } from '../schema.ts'
import { difference, type FieldSet, intersection, isEmptySet, union } from './fieldSet.ts'
import { fieldSetOf, removeFields, withoutIdentity, withParents } from './typed.ts'

interface PruneOptions {
  /** The live object with the new configuration merged in. */
  merged: Record<string, unknown>
  /** Former fields of the applier. */
  last: FieldSet
  /** Fields of all managers, the applier's new ones included. */
  owned: FieldSet
  schema: Schema | undefined
}

/** `merged` without what only `last` holds. Returns `merged` itself when nothing goes. */
export function prune({ merged, last, owned, schema }: PruneOptions): Record<string, unknown> {
  if (isEmptySet(difference(last, owned))) return merged
  const before = withoutIdentity(withParents(last, schema))
  const whole = withParents(fieldSetOf(merged, schema), schema)
  // Everything of the former configuration goes, then what somebody owns comes back …
  const bare = withParents(fieldSetOf(removeFields(merged, before, schema), schema), schema)
  const kept = removeFields(merged, difference(whole, union(bare, withParents(owned, schema))), schema)
  // … and whatever went along without having been in the former configuration.
  const gone = difference(whole, withParents(fieldSetOf(kept, schema), schema))
  return removeFields(merged, intersection(gone, before), schema)
}
