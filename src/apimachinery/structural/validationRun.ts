/** Shared state of one validation's checks: their place, their findings, and their remaining budget. */
import { type FieldError, fieldError } from '../fieldErrors.ts'
import { READ, WorkBudget } from '../workBudget.ts'
import type { Effort } from './effort.ts'
import { type Trail, trailText } from './trail.ts'

/** Cost of a reported error, besides its text. */
const ERROR = 100

/** State of a run; errors are worded only when there are some. */
export interface Run {
  base: string
  trail: Trail
  errors: FieldError[]
  /** Errors of embedded resources and of lists with keys: upstream checks them after the schema, and does not ratchet them by value. */
  embedded: FieldError[]
  lists: FieldError[]
  budget: WorkBudget
  /** Whether only validity matters: errors are not worded, the first one sets `failed` and ends it. */
  isProbe: boolean
  failed: boolean
  /** Objects and lists that were compared with what they replace. */
  kept: Map<object, boolean>
}
/** `old` is {@link NONE} where no old value stands for the new one. */
export type Check = (value: unknown, run: Run, old?: unknown) => void
export const NONE: unique symbol = Symbol('no old value')

export function newRun(base: string, trail: Trail, budget: WorkBudget): Run {
  const found = { errors: [], embedded: [], lists: [] }
  return { base, trail, ...found, budget, isProbe: false, failed: false, kept: new Map() }
}

export function schemaBudget({ schemaUnits, isLate }: Effort): WorkBudget {
  const why =
    `was not checked to its end, as comparing the object with its schema takes too long: ` +
    'give it fewer elements and members, or its definition fewer branches (anyOf, oneOf, allOf) and smaller patterns'
  return new WorkBudget(schemaUnits, () => new Error(why), isLate)
}

/** Where the run was when it ran out of its budget. */
export function exhausted(run: Run, why: Error): FieldError {
  return { ...fieldError.invalid(pathOf(run), undefined, why.message), omitValue: true }
}

export function pathOf(run: Run): string {
  return trailText(run.trail, run.base)
}

/** `characters` of the error's text where that may be long. */
export function report(run: Run, make: (path: string) => FieldError, characters = 0): void {
  if (run.isProbe) {
    run.failed = true
    return
  }
  run.budget.spend(ERROR + characters * READ)
  run.errors.push(make(pathOf(run)))
}

/** An error in the words of the schema validator: they name the field once more. */
export function invalid(run: Run, value: unknown, message: string): void {
  const characters = message.length + (typeof value === 'string' ? value.length : 0)
  report(run, path => fieldError.invalid(path, value, `${path} in body ${message}`), characters)
}
