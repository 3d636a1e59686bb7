/** Work for spaces that may go at any time: what a deleted space asked for needs no doing. */
import { isStatusError } from '../apimachinery/errors.ts'
import { WORKSPACES } from '../apimachinery/resources.ts'

/** The answer of `work`, or `undefined` when it failed because the space is gone or on its way out. @throws anything else */
export async function unlessSpaceGone<T>(space: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isSpaceGone(error, space)) return undefined
    throw error
  }
}

/** Whether the error says that there is no such space, as opposed to no such object in it. */
export function isSpaceGone(error: unknown, space: string): boolean {
  if (!isStatusError(error, 'NotFound')) return false
  const { group, kind, name } = error.details ?? {}
  return group === WORKSPACES.group && kind === WORKSPACES.resource && name === space
}
