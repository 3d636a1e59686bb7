/**
 * Parameters in objects that are expanded for each destination. Before that, a reference such as `%(port)` stands where the kind wants a
 * number or a text of its own form. Afterwards, its value stands there as a text. Pure.
 */
import type { FieldError } from '../../apimachinery/fieldErrors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { holdsReference } from '../../apimachinery/parameterReference.ts'
import type { Schema } from '../../apimachinery/schema.ts'

/**
 * Relation of an object to parameters: it may hold references (`described`), or the texts that they became may mean numbers (`expanded`);
 * `undefined`: none.
 */
export type Parameterized = 'described' | 'expanded' | undefined

/**
 * Errors apart from references in their places: a reference is no wrong value, and a fitting value in its place does not heal other errors.
 * `again`: errors with such values.
 */
export function errorsBeside(errors: readonly FieldError[], again: () => readonly FieldError[]): FieldError[] {
  const others = errors.filter(({ value }) => !holdsReference(value))
  if (others.length === 0) return []
  const stays = new Set(again().map(({ type, field }) => `${type} ${field}`))
  return others.filter(({ type, field }) => stays.has(`${type} ${field}`))
}

/** As the schema would have it, with something fitting for each reference; the object itself where it holds none. */
export function standIn(object: KubeObject, schema: Schema): KubeObject {
  return replaced(object, schema, (value, at) => (holdsReference(value) ? fitting(at) : undefined)) as KubeObject
}

/** With texts as the numbers and truth values that they mean where the schema wants such; in place, at the top level. */
export function typed(object: KubeObject, schema: Schema): void {
  const { properties = {} } = schema
  for (const [name, value] of Object.entries(object)) {
    const member = name === 'metadata' || !Object.hasOwn(properties, name) ? undefined : properties[name]
    if (member) object[name] = replaced(value, member, meant)
  }
}

type Replace = (text: string, schema: Schema) => unknown

/** Shares with `value` what stays; `replace` answers `undefined` for that. */
function replaced(value: unknown, schema: Schema, replace: Replace): unknown {
  if (typeof value === 'string') return replace(value, schema) ?? value
  if (Array.isArray(value)) {
    const { items } = schema
    if (items === undefined) return value
    const made = value.map(item => replaced(item, items, replace))
    return made.some((item, i) => item !== value[i]) ? made : value
  }
  if (!isRecord(value)) return value
  let made: Record<string, unknown> | undefined
  const { properties, additionalProperties } = schema
  for (const [name, old] of Object.entries(value)) {
    const member = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    if (typeof member !== 'object') continue
    const now = replaced(old, member, replace)
    if (now === old) continue
    made ??= { ...value }
    made[name] = now
  }
  return made ?? value
}

function fitting(schema: Schema): unknown {
  if (schema['x-kubernetes-int-or-string'] === true) return schema.format === 'quantity' ? '1' : undefined
  switch (schema.type) {
    case 'integer':
    case 'number':
      return fittingNumber(schema)
    case 'boolean':
      return false
    default:
      return undefined
  }
}

function fittingNumber({ minimum, maximum, exclusiveMinimum, multipleOf }: Schema): number {
  const least = minimum === undefined ? 1 : minimum + (exclusiveMinimum === true ? 1 : 0)
  const fits = maximum === undefined ? least : Math.min(least, maximum)
  return multipleOf === undefined ? fits : Math.ceil(fits / multipleOf) * multipleOf
}

const INTEGER = /^-?\d{1,15}$/
const DECIMAL = /^-?\d{1,15}(?:\.\d{1,15})?$/

function meant(text: string, schema: Schema): unknown {
  if (schema['x-kubernetes-int-or-string'] === true) {
    return schema.format !== 'quantity' && INTEGER.test(text) ? Number(text) : undefined
  }
  switch (schema.type) {
    case 'integer':
      return INTEGER.test(text) ? Number(text) : undefined
    case 'number':
      return DECIMAL.test(text) ? Number(text) : undefined
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : undefined
    default:
      return undefined
  }
}
