/** Null members: to a typed server a null is the same as nothing, so manifests with `creationTimestamp: null` behave. */
import { memberSchema, type Schema } from '../../apimachinery/schema.ts'

/**
 * Removes null members of objects, at any depth, in place. In lists, whose places count, they become what `schema` has for
 * nothing; where it does not say, they stay for validation to refuse. So does everything inside of what `schema` leaves
 * open: controllers compare the data of ControllerRevisions byte by byte.
 */
export function dropNulls(value: unknown, schema?: Schema): void {
  if (typeof value !== 'object' || value === null || schema?.['x-kubernetes-preserve-unknown-fields']) return
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      if (item === null) value[i] = zeroOf(schema?.items)
      else dropNulls(item, schema?.items)
    }
    return
  }
  const object = value as Record<string, unknown>
  for (const name in object) {
    const member = object[name]
    if (member === null) delete object[name]
    else if (typeof member === 'object') dropNulls(member, schema && memberSchema(schema, name))
  }
}

function zeroOf(schema: Schema | undefined): unknown {
  switch (schema?.type) {
    case 'string':
      return ''
    case 'integer':
    case 'number':
      return 0
    case 'boolean':
      return false
    case 'object':
      return {}
    default:
      return null
  }
}
