/**
 * How large values can become, judged by their schema alone: the bounds that it sets, else what fits into a request.
 * @see https://kubernetes.io/docs/reference/using-api/cel/#estimated-cost-limits
 */
import type { Schema } from '../schema.ts'

/** Upstream's limit of a request body. */
const MAX_REQUEST_BYTES = 3 * 1024 * 1024
/** A limit counts characters, which may take so many bytes. */
const BYTES_OF_CHARACTER = 4
const FORMAT_SIZES: Readonly<Record<string, number>> = { date: 10, 'date-time': 20, duration: 32 }
/** The shortest JSON texts of these formats; that of any other string is `""`. */
const FORMAT_MIN_BYTES: Readonly<Record<string, number>> = { date: 12, 'date-time': 21, duration: 3 }

/** Elements of a list or a map, bytes of a string; 1 for everything else. */
export function maxSize(schema: Schema): number {
  switch (kindOf(schema)) {
    case 'string':
      return maxTextSize(schema)
    case 'array':
      return schema.maxItems ?? Math.floor((MAX_REQUEST_BYTES - 2) / (minBytes(schema.items) + 1))
    case 'map':
      return schema.maxProperties ?? Math.floor((MAX_REQUEST_BYTES - 2) / (minBytes(valuesOf(schema)) + 6))
    default:
      return 1
  }
}

/** Whether the schema itself bounds the number of elements of its list or map. */
export function hasBound(schema: Schema): boolean {
  return (schema.type === 'array' ? schema.maxItems : schema.maxProperties) !== undefined
}

/**
 * The number of values of the schema that fit into a request. Upstream counts a rule so often that stands anywhere below a list or map
 * without a bound, however many of these are nested.
 */
export function maxCount(schema: Schema): number {
  return Math.floor(MAX_REQUEST_BYTES / (minBytes(schema) + 1))
}

export function kindOf(schema: Schema): 'string' | 'array' | 'map' | 'object' | 'scalar' {
  if (schema['x-kubernetes-int-or-string'] === true) return 'string'
  if (schema.type === 'string' || schema.type === 'array') return schema.type
  if (schema.type !== 'object') return 'scalar'
  return valuesOf(schema) === undefined ? 'object' : 'map'
}

export function valuesOf(schema: Schema): Schema | undefined {
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
}

function maxTextSize({ maxLength, enum: values, format }: Schema): number {
  if (maxLength !== undefined) return maxLength * (format === 'byte' ? 1 : BYTES_OF_CHARACTER)
  if (values !== undefined && values.length > 0) {
    return Math.max(...values.map(value => (typeof value === 'string' ? value.length : 0)))
  }
  return FORMAT_SIZES[format ?? ''] ?? MAX_REQUEST_BYTES - 2
}

/** Bytes of the shortest JSON text of a valid value. */
function minBytes(schema: Schema | undefined): number {
  if (schema === undefined) return 1
  switch (kindOf(schema)) {
    case 'string':
      if (schema['x-kubernetes-int-or-string'] === true) return 1
      return FORMAT_MIN_BYTES[schema.format ?? ''] ?? 2
    case 'array':
    case 'map':
      return 2
    case 'object': {
      let bytes = 2
      for (const name of schema.required ?? []) {
        const property = schema.properties?.[name]
        if (property !== undefined && property.default === undefined) bytes += name.length + 4 + minBytes(property)
      }
      return bytes
    }
    default:
      return schema.type === 'boolean' ? 4 : 1
  }
}
