/** Bound on a thread's findings. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'

/** As many errors as an answer has use for, by far, and as much text of values in them. */
export const MAX_ERRORS = 2000
export const MAX_CHARACTERS = 1024 * 1024

export function firstErrors(errors: FieldError[]): FieldError[] {
  let characters = 0
  const end = errors.findIndex((error, i) => {
    characters += error.detail.length + error.field.length + sizeOf(error.value)
    return i === MAX_ERRORS || (i > 0 && characters > MAX_CHARACTERS)
  })
  if (end < 0) return errors
  return [
    ...errors.slice(0, end),
    { ...fieldError.invalid('', undefined, 'there are too many errors to tell'), omitValue: true },
  ]
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  return typeof value === 'object' && value !== null ? JSON.stringify(value).length : 0
}
