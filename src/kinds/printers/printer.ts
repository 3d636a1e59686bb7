/** Printer of a built-in kind: a list of columns, each with the function that fills its cell. */

import { at, type Fields, str } from '../../apimachinery/fields.ts'
import type { Json } from '../../apimachinery/object.ts'
import type { ColumnDefinition } from '../../apimachinery/resourceType.ts'
import { age } from './duration.ts'

export interface Column extends ColumnDefinition {
  /** Path of the field whose schema description describes the column, such as `spec.replicas`. Else `description` does. */
  field?: string
  cell(object: Fields, now: Date): Json
}

/** A condition of a row; `Completed` makes clients hide or grey the row. */
export interface RowCondition {
  type: string
  status: string
  reason: string
  message: string
}

export interface Printer {
  readonly columns: readonly Column[]
  conditions?(object: Fields): RowCondition[]
  /** All cells of a row at once, where they share something; else each column makes its own. */
  cells?(object: Fields, now: Date): Json[]
  /** Where its row stands, for kinds that are not shown in the order of their names: the lowest first. */
  rank?(object: Fields): number
}

type Cell = Column['cell']
interface Extra {
  type?: ColumnDefinition['type']
  format?: string
  wide?: true
  /** The field that the column shows; its description in the schema is the column's. */
  field?: string
  description?: string
}

export function column(name: string, cell: Cell, extra: Extra = {}): Column {
  const { type = 'string', wide, ...rest } = extra
  return { name, type, cell, ...rest, ...(wide && { priority: 1 }) }
}

export function integer(name: string, field: string, cell?: Cell): Column {
  const path = field.split('.')
  return column(name, cell ?? (object => (at(object, ...path) as number | undefined) ?? 0), { type: 'integer', field })
}

/** The text of a field, or `absent`. */
export function text(name: string, field: string, { absent = '', ...extra }: Extra & { absent?: string } = {}): Column {
  const path = field.split('.')
  return column(name, object => str(object, ...path) || absent, { ...extra, field })
}

/** The number of a field in a column of texts. */
export function count(name: string, field: string): Column {
  return { ...integer(name, field), type: 'string' }
}

export const nameColumn = text('Name', 'metadata.name', { format: 'name' })
export const ageColumn = column('Age', (object, now) => age(at(object, 'metadata', 'creationTimestamp'), now), {
  field: 'metadata.creationTimestamp',
})
/** The default of kinds without a printer: the timestamp itself. */
export const createdAtColumn = text('Created At', 'metadata.creationTimestamp', { type: 'date' })

/** `Name`, the given columns, `Age`. */
export function printer(...columns: Column[]): Printer {
  return { columns: [nameColumn, ...columns, ageColumn] }
}

/** {@link printer} with columns behind `Age`, as the wide ones usually are. */
export function printerWith(columns: readonly Column[], behindAge: readonly Column[]): Printer {
  return { columns: [nameColumn, ...columns, ageColumn, ...behindAge] }
}
