/** Values of columns: results of expressions in the form in which a CombinedStatus shows them. Pure. */

import { Optional } from '@marcbachmann/cel-js'
import { shortened } from '../../apimachinery/shortened.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { compareTexts } from '../../apimachinery/values.ts'

/** Numbers are JSON texts; also `NaN`, `+Inf` and `-Inf`. */
export type ColumnValue =
  | { readonly type: 'Null' }
  | { readonly type: 'Bool'; readonly bool: boolean }
  | { readonly type: 'Number'; readonly float: string }
  | { readonly type: 'String'; readonly string: string }
  | { readonly type: 'Array'; readonly array: readonly ColumnValue[] }
  | { readonly type: 'Object'; readonly object: Readonly<Record<string, ColumnValue>> }

/** Longer texts are shortened. */
export const MAX_TEXT = 1024
/** Values that one collector shows of one cluster, with their members and elements, whatever their depth. */
export const MAX_PARTS = 200
/** Characters of all of them, with the names of members. */
export const MAX_CHARACTERS = 16 * 1024
/** Bytes of a value beside its characters. */
const PART_BYTES = 32

/** Room for the values of one collector and cluster. */
export class Room {
  #parts = MAX_PARTS
  #characters = MAX_CHARACTERS

  /** About the bytes of what was taken so far. */
  get taken(): number {
    return (MAX_PARTS - this.#parts) * PART_BYTES + MAX_CHARACTERS - this.#characters
  }

  /** @throws Error that names the remedy */
  takePart(): void {
    if (this.#parts === 0) throw new Error(`the values of a cluster have more than ${MAX_PARTS} parts; select fewer`)
    this.#parts--
  }

  /** @throws Error that names the remedy */
  takeText(text: string): string {
    const shown = shortened(text, MAX_TEXT)
    if (shown.length > this.#characters)
      throw new Error(`the values of a cluster have more than ${MAX_CHARACTERS} characters; select fewer`)
    this.#characters -= shown.length
    return shown
  }
}

export const NULL: ColumnValue = { type: 'Null' }

/** @throws Error that names the remedy, for what is no value of a column */
export function columnValue(result: unknown, room: Room): ColumnValue {
  room.takePart()
  const value = result instanceof Optional ? (result.hasValue() ? result.value() : null) : result
  if (value === null || value === undefined) return NULL
  if (typeof value === 'boolean') return { type: 'Bool', bool: value }
  if (typeof value === 'string') return { type: 'String', string: room.takeText(value) }
  if (value instanceof Date) return { type: 'String', string: timestamp(value) }
  const number = plainNumber(value)
  if (number !== undefined) return numberValue(number)
  if (Array.isArray(value)) return { type: 'Array', array: value.map(item => columnValue(item, room)) }
  if (typeof value !== 'object' || !isPlain(value))
    throw new Error('it is no value that a column shows; make a text of it with string()')
  const members = Object.entries(value).map(([name, member]) => [room.takeText(name), columnValue(member, room)])
  return { type: 'Object', object: Object.fromEntries(members) as Record<string, ColumnValue> }
}

export function numberValue(value: bigint | number): ColumnValue {
  return { type: 'Number', float: numberText(value) }
}

/** As aggregates take it: also a text that says a number. `null`: nothing is there. @throws Error for anything else */
export function numberOf(result: unknown): number | null {
  const value = result instanceof Optional ? (result.hasValue() ? result.value() : null) : result
  if (value === null || value === undefined) return null
  const number = plainNumber(value)
  if (number !== undefined) return Number(number)
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : Number.NaN
  if (!Number.isNaN(read)) return read
  throw new Error('it is no number')
}

/** Total order of what rows are grouped by: nulls, booleans, numbers, texts. */
export function compareValues(a: ColumnValue, b: ColumnValue): number {
  if (a.type === 'Number' && b.type === 'Number') return byNumber(a.float, b.float) || compareTexts(a.float, b.float)
  if (a.type === 'String' && b.type === 'String') return compareTexts(a.string, b.string)
  if (a.type === 'Bool' && b.type === 'Bool') return Number(a.bool) - Number(b.bool)
  return RANKS.indexOf(a.type) - RANKS.indexOf(b.type)
}

function byNumber(a: string, b: string): number {
  const [one, other] = [a, b].map(text => Number(text.replace('Inf', 'Infinity'))) as [number, number]
  return one < other ? -1 : one > other ? 1 : 0
}

const RANKS: readonly ColumnValue['type'][] = ['Null', 'Bool', 'Number', 'String', 'Array', 'Object']

/** Whether rows may be grouped by it. */
export function isAtomic({ type }: ColumnValue): boolean {
  return type !== 'Array' && type !== 'Object'
}

/** The number of each type that CEL has for them. */
function plainNumber(value: unknown): bigint | number | undefined {
  if (typeof value === 'bigint' || typeof value === 'number') return value
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const inner: unknown = (value as { valueOf?: () => unknown }).valueOf?.()
  return typeof inner === 'bigint' || typeof inner === 'number' ? inner : undefined
}

function numberText(value: bigint | number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}

function isPlain(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
