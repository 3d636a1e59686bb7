/** Null members: to a typed server a null is the same as nothing, so manifests with `creationTimestamp: null` behave. */
import { memberSchema, type Schema } from '../../apimachinery/schema.ts'

/**
 * Removes null members of structs, at any depth, in place. In lists and in maps, whose places count, they become the empty value of
 * `schema`; without one, those of lists stay for validation to refuse. Everything inside of what `schema` leaves open stays as it is:
 * controllers compare the data of ControllerRevisions byte by byte. So does what may be null.
 */
export function dropNulls(value: unknown, schema?: Schema): void {
  if (typeof value !== 'object' || value === null || schema?.['x-kubernetes-preserve-unknown-fields']) return
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) {
      if (item === null) value[i] = zeroOf(schema?.items) ?? null
      else dropNulls(item, schema?.items)
    }
    return
  }
  const object = value as Record<string, unknown>
  for (const name in object) {
    const member = object[name]
    if (member === null) {
      const of = memberSchema(schema, name)
      if (of?.nullable) continue
      const zero = isMapKey(schema, name) ? zeroOf(of) : undefined
      if (zero === undefined) delete object[name]
      else object[name] = zero
    } else if (typeof member === 'object') dropNulls(member, schema && memberSchema(schema, name))
  }
}

function isMapKey(schema: Schema | undefined, name: string): boolean {
  if (typeof schema?.additionalProperties !== 'object') return false
  return schema.properties === undefined || !Object.hasOwn(schema.properties, name)
}

/** `undefined` where the schema does not say, and for times, which have nothing but null. */
function zeroOf(schema: Schema | undefined): unknown {
  if (schema?.format === 'quantity') return '0'
  if (schema?.format === 'int-or-string') return 0
  if (schema?.format === 'date-time') return undefined
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
    case 'array':
      return []
    default:
      return undefined
  }
}
