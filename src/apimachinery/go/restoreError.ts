/**
 * Wrong types in what a strategic merge makes. Upstream puts its outcome straight into Go structs, without JSON text between: a wrong type
 * gets other words than in a body.
 */
import { isRecord } from '../object.ts'
import { type Schema, STRUCT_FACTS } from '../schema.ts'
import { typeErrors } from './typeErrors.ts'

/** Such as `cannot restore map from string`; `undefined` when all types fit. The path is omitted. */
export function restoreError(value: unknown, schema: Schema | undefined): string | undefined {
  return schema === undefined ? undefined : restore(value, schema, undefined)
}

/** `named` is the Go type where it has a name that the schema does not tell. Depth first, in the schema's order. */
function restore(value: unknown, schema: Schema, named: string | undefined): string | undefined {
  if (value === null || value === undefined) return undefined
  if (readsItself(schema)) return typeErrors(value, schema)
  switch (schema.type) {
    case 'string':
      return schema.format === 'byte' ? restoreBytes(value, schema) : restoreScalar(value, 'string', named)
    case 'integer':
      return restoreScalar(value, schema.format === 'int32' ? 'int32' : 'int64', named)
    case 'number':
      return restoreScalar(value, 'float64', named)
    case 'boolean':
      return restoreScalar(value, 'bool', named)
    case 'array':
      return restoreList(value, schema, named)
    case 'object':
      return restoreObject(value, schema, named)
    default:
      return undefined
  }
}

/** Types of Go that are read from JSON by code of their own. */
function readsItself(schema: Schema): boolean {
  return schema['x-kubernetes-int-or-string'] === true || (schema.type === 'string' && schema.format === 'date-time')
}

function restoreScalar(value: unknown, wanted: string, named: string | undefined): string | undefined {
  const sort = sortOf(value)
  if (sort === wanted) return undefined
  const isNumber = sort === 'int64' || sort === 'float64'
  // whole numbers fit into all types of numbers, and so do others that have no fraction
  if (isNumber && (wanted === 'float64' || (wanted.startsWith('int') && Number.isInteger(value)))) return undefined
  // Go could convert these, but JSON does not mean it
  const converts = isNumber && (wanted.startsWith('int') || (wanted === 'string' && sort === 'int64'))
  return converts ? `cannot convert ${sort} to ${named ?? wanted}` : `unrecognized type: ${wanted}`
}

function restoreBytes(value: unknown, schema: Schema): string | undefined {
  if (typeof value !== 'string') return Array.isArray(value) ? undefined : `cannot restore slice from ${sortOf(value)}`
  const wrong = typeErrors(value, schema)
  return wrong && `error decoding from json: ${wrong}`
}

function restoreList(value: unknown, { items }: Schema, named: string | undefined): string | undefined {
  if (!Array.isArray(value)) return `cannot restore slice from ${sortOf(value)}`
  if (items === undefined) return undefined
  for (const item of value) {
    const wrong = restore(item, items, named?.replace(/^\[\]/, ''))
    if (wrong !== undefined) return wrong
  }
  return undefined
}

function restoreObject(value: unknown, schema: Schema, named: string | undefined): string | undefined {
  const { properties, additionalProperties } = schema
  if (properties !== undefined) {
    if (!isRecord(value)) return `cannot restore struct from: ${sortOf(value)}`
    const types = schema[STRUCT_FACTS]?.types
    for (const name in properties) {
      const wrong = Object.hasOwn(value, name) ? restore(value[name], properties[name]!, types?.[name]) : undefined
      if (wrong !== undefined) return wrong
    }
  } else if (typeof additionalProperties === 'object') {
    if (!isRecord(value)) return `cannot restore map from ${sortOf(value)}`
    for (const name in value) {
      const wrong = restore(value[name], additionalProperties, named?.replace(/^map\[[\w.]+\]/, ''))
      if (wrong !== undefined) return wrong
    }
  }
  return undefined
}

/** Go's kind of a JSON value. */
function sortOf(value: unknown): string {
  if (Array.isArray(value)) return 'slice'
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? 'int64' : 'float64'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'string' ? 'string' : 'map'
}
