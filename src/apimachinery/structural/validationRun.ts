/** What the checks of one validation share: where they are, and what they found. */
import { type FieldError, fieldError } from '../fieldErrors.ts'
import { type Trail, trailText } from './trail.ts'

/** What a run carries along; errors are worded only when there are some. */
export interface Run {
  base: string
  trail: Trail
  errors: FieldError[]
  /** Of embedded resources and of lists with keys: what upstream checks after the schema, and does not ratchet by value. */
  embedded: FieldError[]
  lists: FieldError[]
}
/** `old` is {@link NONE} where no old value stands for the new one. */
export type Check = (value: unknown, run: Run, old?: unknown) => void
export const NONE: unique symbol = Symbol('no old value')

export function newRun(base: string, trail: Trail = []): Run {
  return { base, trail, errors: [], embedded: [], lists: [] }
}

export function pathOf(run: Run): string {
  return trailText(run.trail, run.base)
}

/** An error in the words of the schema validator: they name the field once more. */
export function invalid(run: Run, value: unknown, message: string): void {
  const path = pathOf(run)
  run.errors.push(fieldError.invalid(path, value, `${path} in body ${message}`))
}
