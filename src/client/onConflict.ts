/** Writes of what was read just before, which somebody else may have written meanwhile. */
import { isStatusError } from '../apimachinery/errors.ts'

/** Reads and writes again after a conflict. @throws StatusError `Conflict` after the last attempt */
export async function onConflict<T>(attempts: number, write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      if (!isStatusError(error, 'Conflict') || attempt === attempts) throw error
    }
  }
}
