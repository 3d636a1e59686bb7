/** Error for an absent space. */
import { isStatusError } from '../apimachinery/errors.ts'
import { WORKSPACES } from '../apimachinery/resources.ts'

/** Whether the error says that there is no such space, as opposed to no such object in it. */
export function isSpaceGone(error: unknown, space: string): boolean {
  if (!isStatusError(error, 'NotFound')) return false
  const { group, kind, name } = error.details ?? {}
  return group === WORKSPACES.group && kind === WORKSPACES.resource && name === space
}
