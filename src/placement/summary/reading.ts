/** One cluster's part of a summary: values of a collector's expressions there. Pure. */
import { messageOf } from '../../apimachinery/messageOf.ts'
import { shortLine } from '../../apimachinery/shortened.ts'
import type { CelProgram } from '../../apimachinery/structural/celProgram.ts'
import { WorkBudget } from '../../apimachinery/workBudget.ts'
import { type COLLECTED_VARIABLES, type Collector, FILTER, MAX_COLLECTING_COST } from './collector.ts'
import { type ColumnValue, columnValue, isAtomic, NULL, numberOf, Room } from './columnValue.ts'

/** Values of the names that expressions may use, as CEL has them. */
export type Collected = Readonly<Record<(typeof COLLECTED_VARIABLES)[number], unknown>>

export interface ColumnError {
  readonly column: string
  readonly error: string
}

export interface Reading {
  /** Whether the filter lets it into the rows. */
  readonly passed: boolean
  /** Values of `groupBy`. */
  readonly groups: readonly ColumnValue[]
  /** Numbers of `combinedFields`; `null`: nothing is there. */
  readonly numbers: readonly (number | null)[]
  /** Values of `select`. */
  readonly cells: readonly ColumnValue[]
  /** Expressions that failed. */
  readonly errors: readonly ColumnError[]
  /** About its bytes. */
  readonly size: number
}

const MAX_ERROR = 300
const LEFT_OUT: Reading = { passed: false, groups: [], numbers: [], cells: [], errors: [], size: 0 }

export function read(collector: Collector, collected: Collected): Reading {
  const budget = new WorkBudget(MAX_COLLECTING_COST, tooCostly)
  const room = new Room()
  const errors: ColumnError[] = []
  const attempt = <T>(column: string, program: CelProgram, convert: (result: unknown) => T, failed: T): T => {
    try {
      return convert(resultOf(program, collected, budget))
    } catch (error) {
      errors.push({ column, error: shortLine(messageOf(error), MAX_ERROR) })
      return failed
    }
  }
  const { filter, groupBy, combinedFields, select } = collector
  if (filter && !attempt(FILTER, filter, passes, false)) return leftOut(errors)
  const groups = groupBy.map(({ column, program }) => attempt(column, program, result => atomic(result, room), NULL))
  // a cluster whose group is unknown belongs to none
  if (errors.length > 0) return leftOut(errors)
  const numbers = combinedFields.map(({ column, subject }) =>
    subject ? attempt<number | null>(column, subject, numberOf, null) : 1,
  )
  const cells = select.map(({ column, program }) => attempt(column, program, result => columnValue(result, room), NULL))
  return { passed: true, groups, numbers, cells, errors, size: room.taken + sizeOf(errors) }
}

function leftOut(errors: readonly ColumnError[]): Reading {
  return errors.length === 0 ? LEFT_OUT : { ...LEFT_OUT, errors, size: sizeOf(errors) }
}

function sizeOf(errors: readonly ColumnError[]): number {
  return errors.reduce((size, { error }) => size + error.length, 0)
}

/** A field that is not there is null, as statuses leave out zeros. */
function resultOf(program: CelProgram, collected: Collected, budget: WorkBudget): unknown {
  try {
    return program.evaluate(collected, budget)
  } catch (error) {
    if (budget.refusal === undefined && messageOf(error).startsWith('no such key: ')) return null
    throw error
  }
}

function passes(result: unknown): boolean {
  if (result === null || typeof result === 'boolean') return result === true
  throw new Error('it is no boolean')
}

function atomic(result: unknown, room: Room): ColumnValue {
  const value = columnValue(result, room)
  if (isAtomic(value)) return value
  throw new Error('rows are grouped by texts, numbers and booleans alone')
}

function tooCostly(): Error {
  return new Error(`its expressions cost too much for this cluster (limit ${MAX_COLLECTING_COST})`)
}
