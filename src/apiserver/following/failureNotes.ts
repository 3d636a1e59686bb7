/**
 * State of work that fails again and again: it is news once for each cause. A lost race is mended by the next try, so it is news only when
 * it persists.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'

interface Note {
  /** Lost in a row. */
  races: number
  /** Cause of the last failure that was news. */
  cause: string | undefined
}

/** Tries before a race that is always lost is news. */
const PATIENCE = 5

export class FailureNotes {
  readonly #notes = new Map<string, Note>()

  /** Records a failure; whether it is news. */
  isNews(id: string, error: unknown): boolean {
    const note = getOrInsert(this.#notes, id, () => ({ races: 0, cause: undefined }))
    note.races = isStatusError(error, 'Conflict', 'NotFound') ? note.races + 1 : 0
    if (note.races > 0 && note.races < PATIENCE) return false
    const cause = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    if (note.cause === cause) return false
    note.cause = cause
    return true
  }

  /** The work is done, or unwanted. Whether it had failed in a way that was news. */
  settle(id: string): boolean {
    const had = this.#notes.get(id)?.cause !== undefined
    this.#notes.delete(id)
    return had
  }
}
