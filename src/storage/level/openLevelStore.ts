/**
 * Opens the default store: an embedded LevelDB in a directory that one process holds at a time.
 */
import { type JournaledStoreOptions, openJournaledStore } from '../journaledStore.ts'
import type { Store } from '../store.ts'
import { LevelJournal } from './levelJournal.ts'
import type { AcceptedLoss } from './salvage.ts'

export interface LevelStoreOptions extends JournaledStoreOptions {
  /** The folder; made when it is not there. A small file beside it, `<path>.acknowledged`, belongs to it. */
  path: string
  /** A second file for what that one says, in another folder. */
  witness?: string
  /** Something else tells that there was a store here, so that none is a loss and not a beginning. */
  established?: boolean
  /** Given: a damaged store is replaced by what is intact of it, and this hears what was lost. */
  lossAccepted?: (loss: AcceptedLoss) => void
  /** Threads read what is so large. Default: 4 MiB. */
  threadsFromBytes?: number
  /** Of these, those that read objects. Default: one for each 64 MiB on disk, as far as there are processors. */
  readers?: number
}

/**
 * @throws StorageError `Locked` when another process holds the directory, `Format` when its data is newer than this program
 *   or not Orrery's, `Damaged` when it is not what was acknowledged, `Failed` when it cannot be read
 */
export async function openLevelStore(options: LevelStoreOptions): Promise<Store> {
  const { path, witness, established, lossAccepted, threadsFromBytes, readers, logger } = options
  const warn = (error: unknown, message: string): void =>
    logger === undefined ? process.emitWarning(message) : logger.warn({ err: error }, message)
  const journal = new LevelJournal({ path, witness, established, lossAccepted, threadsFromBytes, readers, warn })
  try {
    return await openJournaledStore(journal, options)
  } catch (error) {
    await journal.close()
    throw error
  }
}
