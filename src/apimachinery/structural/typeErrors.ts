/**
 * Wrong JSON types in built-in kinds. Upstream decodes those kinds into Go structs, so a wrong type fails the decoding
 * (400 BadRequest) in the words of Go's JSON package.
 */
import { isRecord } from '../object.ts'
import { parseQuantity, QUANTITY_SHAPE_MESSAGE } from '../quantity.ts'
import type { Schema } from '../schema.ts'
import { isBase64, isDateTime } from './formats.ts'

/**
 * The first type mismatch of an object, such as
 * `json: cannot unmarshal string into Go struct field Deployment.spec.replicas of type int32`; `undefined` when all types fit.
 */
export function typeErrors(value: unknown, schema: Schema | undefined): string | undefined {
  if (schema === undefined) return undefined
  const kind = isRecord(value) && typeof value.kind === 'string' ? value.kind : 'Object'
  return mismatch(value, schema, [kind])
}

/** Depth first, in the object's order. `trail` holds member names only: Go leaves indices out. */
function mismatch(value: unknown, schema: Schema, trail: string[]): string | undefined {
  // Go reads null as the zero value of any type
  if (value === null || value === undefined) return undefined
  const wrong = ownMismatch(value, schema, trail)
  if (wrong !== undefined || typeof value !== 'object') return wrong
  if (Array.isArray(value)) {
    if (schema.items === undefined) return undefined
    for (const item of value) {
      const found = mismatch(item, schema.items, trail)
      if (found !== undefined) return found
    }
    return undefined
  }
  const object = value as Record<string, unknown>
  for (const name in object) {
    const properties = schema.properties
    const member =
      properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties
    if (typeof member !== 'object') continue
    trail.push(name)
    const found = mismatch(object[name], member, trail)
    trail.pop()
    if (found !== undefined) return found
  }
  return undefined
}

function ownMismatch(value: unknown, schema: Schema, trail: string[]): string | undefined {
  const type = jsonType(value)
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (schema.format === 'quantity') return quantityMismatch(value)
    return type === 'string' || type === 'number' ? undefined : unmarshal(value, 'intstr.IntOrString', trail)
  }
  switch (schema.type) {
    case 'string':
      if (type !== 'string') return unmarshal(value, goType(schema), trail)
      return textMismatch(value as string, schema.format)
    case 'integer':
      if (type !== 'number' || !fitsInteger(value as number, schema.format)) {
        return unmarshal(value, goType(schema), trail)
      }
      return undefined
    case 'number':
      return type === 'number' ? undefined : unmarshal(value, goType(schema), trail)
    case 'boolean':
      return type === 'bool' ? undefined : unmarshal(value, goType(schema), trail)
    case 'array':
      return type === 'array' ? undefined : unmarshal(value, goType(schema), trail)
    case 'object':
      return type === 'object' ? undefined : unmarshal(value, goType(schema), trail)
    default:
      return undefined
  }
}

function quantityMismatch(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && parseQuantity(text.trim()) !== undefined ? undefined : QUANTITY_SHAPE_MESSAGE
}

function textMismatch(text: string, format: string | undefined): string | undefined {
  if (format === 'date-time' && !isDateTime(text)) {
    const quoted = JSON.stringify(text)
    return `parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted} as "2006"`
  }
  if (format === 'byte' && !isBase64(text)) {
    const bad = /[^A-Za-z0-9+/]/.exec(text)
    return `illegal base64 data at input byte ${bad === null ? text.length - (text.length % 4) : bad.index}`
  }
  return undefined
}

function fitsInteger(value: number, format: string | undefined): boolean {
  return Number.isInteger(value) && (format !== 'int32' || (value | 0) === value)
}

function unmarshal(value: unknown, wanted: string, trail: readonly string[]): string {
  const type = jsonType(value)
  const wantsNumber = wanted.startsWith('int') && wanted !== 'intstr.IntOrString'
  const shown = type === 'number' && wantsNumber ? `number ${value}` : type
  return trail.length === 1
    ? `json: cannot unmarshal ${shown} into Go value of type ${wanted}`
    : `json: cannot unmarshal ${shown} into Go struct field ${trail.join('.')} of type ${wanted}`
}

function jsonType(value: unknown): string {
  if (typeof value === 'boolean') return 'bool'
  return Array.isArray(value) ? 'array' : typeof value
}

function goType(schema: Schema): string {
  switch (schema.type) {
    case 'string':
      return schema.format === 'byte' ? '[]uint8' : 'string'
    case 'integer':
      return schema.format === 'int32' ? 'int32' : 'int64'
    case 'number':
      return 'float64'
    case 'boolean':
      return 'bool'
    case 'array':
      return `[]${schema.items === undefined ? 'interface {}' : goType(schema.items)}`
    default: {
      if (typeof schema.additionalProperties === 'object') return `map[string]${goType(schema.additionalProperties)}`
      return schema.title === undefined ? 'map[string]interface {}' : `v1.${schema.title}`
    }
  }
}
