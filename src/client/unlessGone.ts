/** Answers of an API about an object that somebody else may have taken away, or made, meanwhile. */
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

/** `undefined` when one of the name is there already. @throws whatever else the answer is */
export async function unlessThere<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isStatusError(error, 'AlreadyExists')) return undefined
    throw error
  }
}
