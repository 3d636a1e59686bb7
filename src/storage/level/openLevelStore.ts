/**
 * Opens the default store: an embedded LevelDB in a directory that one process holds at a time.
 */
import { mkdir } from 'node:fs/promises'
import { Level } from 'level'
import { type JournaledStoreOptions, openJournaledStore } from '../journaledStore.ts'
import { StorageError, type Store } from '../store.ts'
import { type Database, LevelJournal } from './levelJournal.ts'
import { FORMAT, FORMAT_ROW } from './rows.ts'

export interface LevelStoreOptions extends JournaledStoreOptions {
  /** The data dir; made when it is not there. */
  path: string
}

/** LevelDB's memory for fresh writes; larger spares merges, and costs up to twice its size. */
const WRITE_BUFFER_BYTES = 8 * 1024 * 1024
/** Reads are answered from our own memory: a small block cache is enough for history. */
const CACHE_BYTES = 2 * 1024 * 1024

/**
 * @throws StorageError `Locked` when another process holds the directory, `Format` when its data is newer than this program
 *   or not Orrery's, `Failed` when it cannot be read
 */
export async function openLevelStore(options: LevelStoreOptions): Promise<Store> {
  const db = await openDatabase(options.path)
  try {
    await checkFormat(db, options.path)
    return await openJournaledStore(new LevelJournal(db), options)
  } catch (error) {
    await db.close()
    throw error
  }
}

async function openDatabase(path: string): Promise<Database> {
  const db: Database = new Level(path, {
    keyEncoding: 'utf8',
    valueEncoding: 'buffer',
    writeBufferSize: WRITE_BUFFER_BYTES,
    cacheSize: CACHE_BYTES,
  })
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
    await db.open()
    return db
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error)
    if ('code' in cause && cause.code === 'LEVEL_LOCKED')
      throw new StorageError(
        'Locked',
        `the data dir ${path} is in use by another process: stop that server, or give this one a data dir of its own`,
        { cause },
      )
    throw new StorageError('Failed', `the data dir ${path} cannot be opened: ${cause.message}`, { cause })
  }
}

async function checkFormat(db: Database, path: string): Promise<void> {
  const found = await db.get(FORMAT_ROW)
  if (found === undefined) {
    const rows = await db.keys({ limit: 1 }).all()
    if (rows.length > 0) throw new StorageError('Format', `the data dir ${path} holds a database that is not Orrery's`)
    await db.put(FORMAT_ROW, Buffer.from(String(FORMAT)), { sync: true })
    return
  }
  const format = Number(found.toString())
  if (format !== FORMAT)
    throw new StorageError(
      'Format',
      `the data dir ${path} has format ${found.toString()}; this program reads format ${FORMAT}: use the newer Orrery`,
    )
}
