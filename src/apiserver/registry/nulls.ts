/** Null members: to a typed server a null is the same as nothing, so manifests with `creationTimestamp: null` behave. */
import { memberSchema, type Schema } from '../../apimachinery/schema.ts'

/**
 * Removes null members of objects, at any depth, in place. Nulls in lists stay: they are for validation to refuse. So does
 * everything inside of what `schema` leaves open: controllers compare the data of ControllerRevisions byte by byte.
 */
export function dropNulls(value: unknown, schema?: Schema): void {
  if (typeof value !== 'object' || value === null || schema?.['x-kubernetes-preserve-unknown-fields']) return
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item, schema?.items)
    return
  }
  const object = value as Record<string, unknown>
  for (const name in object) {
    const member = object[name]
    if (member === null) delete object[name]
    else if (typeof member === 'object') dropNulls(member, schema && memberSchema(schema, name))
  }
}
