/** Paths of spaces as users write them into objects. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { dns1123Label } from '../../apimachinery/names.ts'
import { ROOT } from '../spaces/tree.ts'

/** What is wrong with a path from the root. */
export function pathProblems(field: string, path: string): FieldError[] {
  const [first, ...names] = path.split(':')
  if (first === ROOT && names.every(name => dns1123Label(name).length === 0)) return []
  return [fieldError.invalid(field, path, 'must be the path of a space from the root, such as root:a:b')]
}
