/**
 * Rows of one collector over all clusters, from one reading for each. The limit holds, and the order never wavers. Nulls and errors
 * are counted and never become numbers. Pure.
 */
import { compareTexts } from '../../apimachinery/values.ts'
import type { Aggregate, Collector } from './collector.ts'
import { type ColumnValue, compareValues, numberValue } from './columnValue.ts'
import type { Reading } from './reading.ts'

/** The cluster of a reading, and the object where readings are of several. */
export interface Origin {
  readonly cluster: string
  /** `namespace/name` and the resource before it. */
  readonly object?: string
}

interface RowError {
  readonly wec: { readonly clusterId: string }
  readonly object?: string
  readonly columnName: string
  readonly error: string
}

/** As in `results` of a CombinedStatus. */
export interface Combination {
  readonly name: string
  readonly columnNames: readonly string[]
  readonly rows: readonly { readonly columns: readonly ColumnValue[] }[]
  /** Number of all rows, also of those behind the limit and of those that do not fit. */
  readonly totalRows: number
  /** Failures of filter, groupBy and select. */
  readonly rowErrors?: readonly RowError[]
  /** Failures of subjects. */
  readonly aggregationErrors?: readonly RowError[]
  /** Number of both, also of those that are not listed. */
  readonly totalErrors?: number
  /** By column: how many clusters have nothing there. */
  readonly nulls?: readonly { readonly columnName: string; readonly count: number }[]
}

/** Errors that each list shows. */
export const MAX_ERRORS = 20
/** Characters of the rows of one collector, as JSON. */
export const MAX_ROWS = 256 * 1024

/** One cluster's part, or one carried object's. */
export interface SummaryItem {
  readonly origin: Origin
  /** Nothing is known of its cluster now, and it has no readings. */
  readonly isStale: boolean
  /** One for each collector. */
  readonly readings: readonly Reading[]
}

/** @param index of the collector among those of the items */
export function combine(collector: Collector, items: Iterable<SummaryItem>, index: number): Combination {
  const { name, groupBy, combinedFields, select, limit } = collector
  const columns = [...groupBy, ...combinedFields, ...select].map(({ column }) => column)
  const subjects = new Set(combinedFields.map(({ column }) => column))
  const shown: [Origin, Reading][] = []
  const groups = new Map<string, Group>()
  const nulls = new Map<string, number>()
  const rowErrors = new FirstErrors()
  const aggregationErrors = new FirstErrors()
  if (combinedFields.length > 0 && groupBy.length === 0) groups.set('', newGroup(collector, []))
  for (const { origin, isStale, readings } of items) {
    if (isStale) continue
    const reading = readings[index]!
    for (const { column, error } of reading.errors)
      (subjects.has(column) ? aggregationErrors : rowErrors).add(origin, column, error)
    if (!reading.passed) continue
    if (select.length > 0) shown.push([origin, reading])
    else addTo(groups, collector, reading)
    countNulls(collector, reading, nulls)
  }
  const rows = select.length > 0 ? cellsOf(shown, limit) : groupRows(groups, limit)
  const totalErrors = rowErrors.total + aggregationErrors.total
  return {
    name,
    columnNames: columns,
    rows,
    totalRows: select.length > 0 ? shown.length : groups.size,
    ...(rowErrors.total > 0 && { rowErrors: rowErrors.list }),
    ...(aggregationErrors.total > 0 && { aggregationErrors: aggregationErrors.list }),
    ...(totalErrors > 0 && { totalErrors }),
    ...(nulls.size > 0 && { nulls: [...nulls].map(([columnName, count]) => ({ columnName, count })) }),
  }
}

/** A failure is an error, and no null. */
function countNulls(
  { groupBy, combinedFields, select }: Collector,
  reading: Reading,
  nulls: Map<string, number>,
): void {
  const count = (column: string, isNull: boolean): void => {
    if (isNull && !reading.errors.some(error => error.column === column))
      nulls.set(column, (nulls.get(column) ?? 0) + 1)
  }
  for (const [i, { column }] of groupBy.entries()) count(column, reading.groups[i]!.type === 'Null')
  for (const [i, { column }] of combinedFields.entries()) count(column, reading.numbers[i] === null)
  for (const [i, { column }] of select.entries()) count(column, reading.cells[i]!.type === 'Null')
}

function cellsOf(shown: [Origin, Reading][], limit: number): Combination['rows'] {
  shown.sort(([a], [b]) => compareOrigins(a, b))
  return fitting(shown.slice(0, limit).map(([, { cells }]) => ({ columns: cells })))
}

/** The first row always fits. */
function fitting(rows: Combination['rows']): Combination['rows'] {
  let left = MAX_ROWS
  const end = rows.findIndex(row => {
    left -= JSON.stringify(row).length
    return left < 0
  })
  return end < 0 ? rows : rows.slice(0, Math.max(end, 1))
}

export function compareOrigins(a: Origin, b: Origin): number {
  return compareTexts(a.cluster, b.cluster) || compareTexts(a.object ?? '', b.object ?? '')
}

interface Group {
  readonly values: readonly ColumnValue[]
  readonly fields: readonly { readonly type: Aggregate; readonly numbers: number[] }[]
}

function newGroup({ combinedFields }: Collector, values: readonly ColumnValue[]): Group {
  return { values, fields: combinedFields.map(({ type }) => ({ type, numbers: [] })) }
}

function addTo(groups: Map<string, Group>, collector: Collector, { groups: values, numbers }: Reading): void {
  const id = values.length === 0 ? '' : JSON.stringify(values)
  const group = groups.get(id) ?? newGroup(collector, values)
  groups.set(id, group)
  for (const [i, field] of group.fields.entries()) {
    const number = numbers[i]
    if (typeof number === 'number') field.numbers.push(number)
  }
}

function groupRows(groups: ReadonlyMap<string, Group>, limit: number): Combination['rows'] {
  const sorted = [...groups.values()].sort(compareGroups).slice(0, limit)
  return fitting(
    sorted.map(({ values, fields }) => ({
      columns: [...values, ...fields.map(({ type, numbers }) => numberValue(AGGREGATION[type](numbers)))],
    })),
  )
}

function compareGroups({ values: a }: Group, { values: b }: Group): number {
  for (const [i, value] of a.entries()) {
    const order = compareValues(value, b[i]!)
    if (order !== 0) return order
  }
  return 0
}

const AGGREGATION: Readonly<Record<Aggregate, (numbers: number[]) => number>> = {
  COUNT: numbers => numbers.length,
  SUM: sum,
  AVG: numbers => sum(numbers) / numbers.length,
  MIN: numbers => numbers.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY),
  MAX: numbers => numbers.reduce((most, one) => Math.max(most, one), Number.NEGATIVE_INFINITY),
}

/** The same whatever the order in which clusters reported: fractions are added from the smallest. */
function sum(numbers: number[]): number {
  const ordered = numbers.every(Number.isSafeInteger) ? numbers : numbers.toSorted((a, b) => a - b)
  return ordered.reduce((total, one) => total + one, 0)
}

class FirstErrors {
  total = 0
  readonly #all: (RowError & { readonly origin: Origin })[] = []

  add(origin: Origin, columnName: string, error: string): void {
    this.total++
    const { cluster, object } = origin
    this.#all.push({ origin, wec: { clusterId: cluster }, ...(object && { object }), columnName, error })
  }

  get list(): RowError[] {
    const sorted = this.#all.sort(
      (a, b) => compareOrigins(a.origin, b.origin) || compareTexts(a.columnName, b.columnName),
    )
    return sorted.slice(0, MAX_ERRORS).map(({ origin: _, ...error }) => error)
  }
}
