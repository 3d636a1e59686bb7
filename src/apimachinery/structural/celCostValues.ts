/**
 * Values as the estimate of a rule's cost knows them. The schema of a path gives them, else upstream's knowledge of functions' results,
 * which is most often a type without a size.
 */
import type { Schema } from '../schema.ts'
import { memberNamed } from './celNames.ts'
import { kindOf, maxSize, valuesOf } from './celSizes.ts'

export const READ = 0.1
export const LIST_LITERAL = 10
/** A value as far as it is known. */
export interface Value {
  cost: number
  /** Elements or bytes, at most; Infinity when nothing is known. */
  size: number
  schema?: Schema | undefined
  /** The schema of what a function has made: upstream knows its type and no size. */
  type?: Schema | undefined
  /** Values of a list's elements or a map's values, where no schema gives them. */
  element?: Value | undefined
  isUnknown?: boolean
  /** Whether a loop has made the list. */
  isMade?: boolean
  /** Whether a loop has made the map: one variable goes through its keys. */
  isMap?: boolean
}
export function shapeOf(schema: Schema): { size: number; schema: Schema } {
  // what is read as a time or a span of it is no text
  return { size: isTime(schema) ? 1 : maxSize(schema), schema }
}

export function isTime(schema: Schema | undefined): boolean {
  return schema?.type === 'string' && TIMES.has(schema.format ?? '')
}

export const TEXT: Schema = { type: 'string' }
/** JSON texts of what is read as a time, or a span of it, by format. */
const TIMES: ReadonlyMap<string, number> = new Map([
  ['date', 12],
  ['date-time', 32],
  ['duration', 32],
])

/**
 * A text that upstream knows nothing of: comparing and reading it is free. In a loop it is taken to be as large as `self`, which
 * is nothing for an object.
 */
export const UNKNOWN_TEXT: Value = { cost: 0, size: 0, isUnknown: true }

export function scalar(cost: number): Value {
  return { cost, size: 1 }
}

/** A text, list or map of which upstream knows no bound. */
export function unbounded(cost: number): Value {
  return { cost, size: Number.POSITIVE_INFINITY }
}

export function member(owner: Value, name: string): Value {
  const { schema, type } = owner
  if (type !== undefined) return ofType(memberNamed(type, name) ?? valuesOf(type), owner.cost + 1)
  const found = schema && (memberNamed(schema, name) ?? valuesOf(schema))
  return { ...(found ? shapeOf(found) : (owner.element ?? { size: 1 })), cost: owner.cost + 1 }
}

/** Upstream knows no size of what an optional holds. */
export function optionalOf(value: Value): Value {
  return isScalar(value) ? scalar(value.cost) : { ...unbounded(value.cost), type: value.schema ?? value.type }
}

function ofType(type: Schema | undefined, cost: number): Value {
  return type === undefined || kindOf(type) === 'scalar' ? scalar(cost) : { ...unbounded(cost), type }
}

export function elementOf({ schema, element, type, size, isUnknown }: Value): Value {
  if (type !== undefined) return ofType(valuesOf(type) ?? type.items, 0)
  const below = schema && (kindOf(schema) === 'map' ? valuesOf(schema) : schema.items)
  if (below) return { cost: 0, ...shapeOf(below) }
  if (element !== undefined) return element
  if (isUnknown === true) return unbounded(0)
  return size === Number.POSITIVE_INFINITY ? UNKNOWN_TEXT : scalar(0)
}

export function isList({ schema, element }: Value): boolean {
  return element !== undefined || schema?.type === 'array'
}

export function isScalar({ size, schema, type = schema, element }: Value): boolean {
  return size === 1 && element === undefined && (type === undefined || kindOf(type) === 'scalar')
}

export function read(size: number): number {
  return Math.ceil(size * READ)
}

export function known(element: Value): Value {
  return isScalar(element) || isList(element) ? element : UNKNOWN_TEXT
}

export function total(values: readonly Value[]): number {
  return values.reduce((sum, { cost }) => sum + cost, 0)
}

export function largest(values: readonly Value[]): Value {
  return values.reduce((most, value) => (value.size > most.size ? value : most), scalar(0))
}

/** Nothing times anything is nothing, however large. */
export function times(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : a * b
}

export function unknownOf({ schema, type = schema }: Value): Value {
  return { ...UNKNOWN_TEXT, type }
}

/** Upstream counts the text of a time, and nothing for other scalars and for objects. */
export function comparedSize({ schema, size }: Value): number {
  if (schema === undefined) return size
  if (isTime(schema)) return TIMES.get(schema.format!)!
  const kind = kindOf(schema)
  return kind === 'scalar' || kind === 'object' ? 0 : size
}
