/** Answers of an API about an object that may have gone meanwhile. */
import { isStatusError } from '../apimachinery/errors.ts'

/** `undefined` when it is gone. @throws whatever else the answer is */
export async function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}
