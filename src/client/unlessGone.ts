/** Answers of an API about an object that somebody else may have taken away, changed or made meanwhile. */
import { isStatusError, type StatusReason } from '../apimachinery/errors.ts'

/** `undefined` when it is gone. @throws whatever else the answer is */
export function unlessGone<T>(answer: Promise<T>): Promise<T | undefined> {
  return unless(answer, 'NotFound')
}

/** `undefined` when it is gone, or was changed or replaced. @throws whatever else the answer is */
export function unlessChanged<T>(answer: Promise<T>): Promise<T | undefined> {
  return unless(answer, 'NotFound', 'Conflict')
}

/** `undefined` when one of the name is there already. @throws whatever else the answer is */
export function unlessThere<T>(answer: Promise<T>): Promise<T | undefined> {
  return unless(answer, 'AlreadyExists')
}

async function unless<T>(answer: Promise<T>, ...reasons: StatusReason[]): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (isStatusError(error, ...reasons)) return undefined
    throw error
  }
}
