/** Work for spaces that may go at any time: a deleted space needs none. */
import { isSpaceGone } from '../client/spaceGone.ts'

/** The answer of `work`, or `undefined` when it failed because the space is gone or on its way out. @throws anything else */
export async function unlessSpaceGone<T>(space: string, work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isSpaceGone(error, space)) return undefined
    throw error
  }
}
