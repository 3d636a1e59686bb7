/**
 * Opens the default store: an embedded LevelDB in a directory that one process holds at a time.
 */
import { type JournaledStoreOptions, openJournaledStore } from '../journaledStore.ts'
import type { Store } from '../store.ts'
import { LevelJournal, type LevelJournalOptions } from './levelJournal.ts'
import { type AcceptedLoss, logLoss } from './salvage.ts'
import { storeIn } from './storeFolder.ts'

type LevelStoreOptions = JournaledStoreOptions & Omit<LevelJournalOptions, 'warn'>

/** How the store of a server's data folder is opened. */
export type DataDirOptions = Omit<LevelStoreOptions, 'path' | 'witness' | 'established' | 'lossAccepted'> & {
  dataDir: string
  /** A damaged store is replaced by what is intact of it, and the logger names what was lost. */
  acceptLoss?: boolean | undefined
}

/** @throws StorageError as {@link openLevelStore} */
export function openDataDir({ dataDir, acceptLoss, ...options }: DataDirOptions): Promise<Store> {
  const lossAccepted = (loss: AcceptedLoss): void => logLoss(options.logger, loss)
  return openLevelStore({ ...options, ...storeIn(dataDir), ...(acceptLoss && { lossAccepted }) })
}

/**
 * @throws StorageError `Locked` when another process holds the directory. `Format` when its data is newer than this program or not
 *   Orrery's. `Damaged` when it is not the acknowledged content, `Failed` when it cannot be read.
 */
export async function openLevelStore(options: LevelStoreOptions): Promise<Store> {
  const { logger } = options
  const warn = (error: unknown, message: string): void =>
    logger === undefined ? process.emitWarning(message) : logger.warn({ err: error }, message)
  const journal = new LevelJournal({ ...options, warn })
  try {
    return await openJournaledStore(journal, options)
  } catch (error) {
    await journal.close()
    throw error
  }
}
