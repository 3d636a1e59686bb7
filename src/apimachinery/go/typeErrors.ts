/**
 * Wrong JSON types in built-in kinds. Upstream decodes those kinds into Go structs, so a wrong type fails the decoding
 * (400 BadRequest) in the words of Go's JSON package.
 */
import type { StructFacts } from '../../../openapi/catalogFormat.ts'
import { isRecord } from '../object.ts'
import { parseQuantity, quantityProblem } from '../quantity.ts'
import { type Schema, STRUCT_FACTS, STRUCT_NAME } from '../schema.ts'
import { isBase64, isDateTime } from '../structural/formats.ts'
import { jsonTypeName, unmarshalError } from './goJson.ts'

/**
 * The first type mismatch of an object; `undefined` when all types fit. Such as `json: cannot unmarshal string into Go struct field
 * DeploymentSpec.spec.replicas of type int32`. The struct is the innermost one that has a name; the path is the whole one, nameless structs
 * by the names of their types.
 */
export function typeErrors(value: unknown, schema: Schema | undefined): string | undefined {
  if (schema === undefined) return undefined
  const kind = isRecord(value) && typeof value.kind === 'string' ? value.kind : 'Object'
  return mismatch(value, schema, { struct: kind, fields: [], facts: [], elements: 0 })
}

/** Where decoding is. */
interface Place {
  struct: string
  /** Names of struct members only: Go leaves keys of maps and indices out. */
  fields: string[]
  /** Facts about the structs around them. */
  facts: (StructFacts | undefined)[]
  /** How many lists and maps lie between the last of them and the value. */
  elements: number
}

/** Depth first, in the object's order. */
function mismatch(value: unknown, schema: Schema, place: Place): string | undefined {
  // Go reads null as the zero value of any type
  if (value === null || value === undefined) return undefined
  const wrong = ownMismatch(value, schema, place)
  if (wrong !== undefined || typeof value !== 'object') return wrong
  if (Array.isArray(value)) {
    if (schema.items === undefined) return undefined
    place.elements++
    for (const item of value) {
      const found = mismatch(item, schema.items, place)
      if (found !== undefined) return found
    }
    place.elements--
    return undefined
  }
  return memberMismatch(value as Record<string, unknown>, schema, place)
}

function memberMismatch(object: Record<string, unknown>, schema: Schema, place: Place): string | undefined {
  const { properties } = schema
  const { struct, elements } = place
  const own = schema[STRUCT_NAME]
  const inner = own === undefined ? struct : own.slice(own.lastIndexOf('.') + 1)
  for (const name in object) {
    const property = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined
    const member = property ?? schema.additionalProperties
    if (typeof member !== 'object') continue
    if (property !== undefined) {
      place.struct = inner
      place.fields.push(name)
      place.facts.push(schema[STRUCT_FACTS])
    }
    place.elements = property === undefined ? elements + 1 : 0
    const found = mismatch(object[name], member, place)
    if (found !== undefined) return found
    if (property !== undefined) {
      place.fields.pop()
      place.facts.pop()
    }
    place.struct = struct
  }
  place.elements = elements
  return undefined
}

function ownMismatch(value: unknown, schema: Schema, place: Place): string | undefined {
  const type = jsonTypeName(value)
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (schema.format === 'quantity') return quantityMismatch(value)
    const fits = type === 'string' || (type === 'number' && fitsInteger(value as number, 'int32'))
    return fits ? undefined : unmarshal(value, 'int32', place)
  }
  switch (schema.type) {
    case 'string':
      if (type !== 'string') return unmarshal(value, typeNamed(schema), place)
      return textMismatch(value as string, schema)
    case 'integer':
      if (type !== 'number' || !fitsInteger(value as number, schema.format)) {
        return unmarshal(value, typeNamed(schema), place)
      }
      return undefined
    case 'number':
      return type === 'number' ? undefined : unmarshal(value, typeNamed(schema), place)
    case 'boolean':
      return type === 'bool' ? undefined : unmarshal(value, typeNamed(schema), place)
    case 'array':
      return type === 'array' ? undefined : unmarshal(value, typeNamed(schema), place)
    case 'object':
      return type === 'object' ? undefined : unmarshal(value, typeNamed(schema), place)
    default:
      return undefined
  }
}

function quantityMismatch(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && parseQuantity(text.trim()) !== undefined
    ? undefined
    : quantityProblem(String(text))
}

function textMismatch(text: string, { format, [STRUCT_NAME]: struct }: Schema): string | undefined {
  if (format === 'date-time' && !isDateTime(text)) {
    const quoted = JSON.stringify(text)
    const layout = `2006-01-02T15:04:05${struct === 'v1.MicroTime' ? '.000000' : ''}Z07:00`
    return `parsing time ${quoted} as "${layout}": cannot parse ${quoted} as "2006"`
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

function unmarshal(value: unknown, wanted: string, place: Place): string {
  const { struct, fields, facts } = place
  const shown = typeof value === 'number' && wanted.startsWith('int') ? `number ${value}` : jsonTypeName(value)
  if (fields.length === 0) return unmarshalError(value, `value of type ${wanted}`, shown)
  const path = fields.flatMap((field, i) => [...nameless(field, facts[i]), field]).join('.')
  return unmarshalError(value, `struct field ${struct}.${path} of type ${namedType(place) ?? wanted}`, shown)
}

/** The nameless structs around a member. */
function nameless(field: string, facts: StructFacts | undefined): string[] {
  return Object.entries(facts?.within ?? {}).flatMap(([outer, inner]) => (inner.includes(field) ? [outer] : []))
}

/** The type of the value where the schema does not tell it. */
function namedType({ fields, facts, elements }: Place): string | undefined {
  let type = facts.at(-1)?.types?.[fields.at(-1) ?? '']
  for (let i = 0; i < elements && type !== undefined; i++) type = /^(?:\[\]|map\[[\w.]+\])(.*)$/.exec(type)?.[1]
  return type
}

function typeNamed(schema: Schema): string {
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
      return `[]${schema.items === undefined ? 'interface {}' : elementType(schema.items)}`
    default: {
      if (typeof schema.additionalProperties === 'object')
        return `map[string]${elementType(schema.additionalProperties)}`
      return schema[STRUCT_NAME] ?? 'map[string]interface {}'
    }
  }
}

/** Times are read from texts, and are none themselves. */
function elementType(schema: Schema): string {
  return schema.format === 'date-time' ? (schema[STRUCT_NAME] ?? 'v1.Time') : typeNamed(schema)
}
