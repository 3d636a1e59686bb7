/** Paths of spaces as users write them into objects. */
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { dns1123Label } from '../../apimachinery/names.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { questionOf } from '../auth/questions.ts'
import type { UserInfo } from '../auth/types.ts'
import { ROOT } from '../spaces/tree.ts'
import type { AuthorityDeps } from './authorityDeps.ts'

/** Faults of a path from the root. */
export function pathProblems(field: string, path: string): FieldError[] {
  const [first, ...names] = path.split(':')
  if (first === ROOT && names.every(name => dns1123Label(name).length === 0)) return []
  return [fieldError.invalid(field, path, 'must be the path of a space from the root, such as root:a:b')]
}

/**
 * Whether a user may know if there is a space at a path: one that they may enter, or whose Workspace above they may get. Public rights in
 * the root prove nothing.
 */
export async function maySee(
  { tree, authorizer }: Pick<AuthorityDeps, 'tree' | 'authorizer'>,
  user: UserInfo,
  path: string,
): Promise<boolean> {
  const resolved = tree.resolve(path)
  if (resolved.found && (await authorizer.mayAccessSpace(user, resolved.space.id))) return true
  const above = resolved.found ? tree.get(resolved.space.parent ?? '') : resolved.ancestor
  if (above === undefined) return false
  const name = path.slice(above.path.length + 1).split(':')[0]!
  const question = questionOf({ user, space: above.id }, 'get', { ...WORKSPACES, name })
  return (await authorizer.authorize({ ...question, ownOnly: true })).allowed
}
