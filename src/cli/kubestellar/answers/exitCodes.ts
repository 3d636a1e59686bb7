/** Exit codes of commands that compare, as those of `kubectl diff`. */
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { CommandError } from '../../ws/commandError.ts'

export const NO_CHANGE = 0
export const CHANGE = 1
export const TROUBLE = 2

/** Whatever goes wrong ends with more than 1, which says that something differs. */
export async function comparing<R>(run: () => Promise<R>): Promise<R> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof CommandError && error.exitCode > CHANGE) throw error
    throw new CommandError(messageOf(error), TROUBLE, { cause: error })
  }
}
