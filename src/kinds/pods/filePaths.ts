/** Paths inside volumes and on hosts, as far as an API server can judge them. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { type Fields, has, num } from '../../apimachinery/fields.ts'

export function noBacksteps(value: string, field: string): FieldError[] {
  return value.split('/').includes('..') ? [fieldError.invalid(field, value, "must not contain '..'")] : []
}

/** Relative, and not out of its folder. */
export function descendingPath(value: string, field: string): FieldError[] {
  const errors = value.startsWith('/') ? [fieldError.invalid(field, value, 'must be a relative path')] : []
  return [...errors, ...noBacksteps(value, field)]
}

/** The same for files that a kubelet writes: names that begin with two dots are its own. */
export function ownPath(value: string, field: string): FieldError[] {
  const errors = descendingPath(value, field)
  if (value.startsWith('..') && !value.startsWith('../')) {
    errors.push(fieldError.invalid(field, value, "must not start with '..'"))
  }
  return errors
}

/** Permission bits in the member `member`. */
export function fileMode(object: Fields, path: string, member: string): FieldError[] {
  const mode = num(object, member)
  if (!has(object, member) || (mode >= 0 && mode <= 0o777)) return []
  return [fieldError.invalid(`${path}.${member}`, mode, 'must be a number between 0 and 0777 (octal), both inclusive')]
}
