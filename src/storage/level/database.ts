/**
 * The LevelDB below a level store: opened with our bounds, its errors in our words, and all of its rows read once.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Level } from 'level'
import { StorageError } from '../store.ts'

/** `level` does not tell of what only its engine for Node can do. */
export type Database = Level<string, Buffer> & {
  /** Merges what is there from one row to another: what was replaced or deleted leaves the disk. */
  compactRange(from: string, to: string): Promise<void>
  /** Bytes on disk of the rows from one to before another, without what is only in memory. */
  approximateSize(from: string, to: string): Promise<number>
}

/** LevelDB's memory for fresh writes; larger spares merges, and costs up to twice its size. */
const WRITE_BUFFER_BYTES = 8 * 1024 * 1024
/** Reads are answered from our own memory: a small block cache is enough for history. */
const CACHE_BYTES = 2 * 1024 * 1024
/** Rows and bytes that cross into JavaScript at once while all are read. */
const WALK_ROWS = 1000
const WALK_BYTES = 1024 * 1024

interface DatabaseOptions {
  /** Makes an empty database when there is none. Never for one that is known to exist: LevelDB would delete its remains. */
  create: boolean
  /** Name of it in errors. Default: `path`. */
  called?: string
  /** Other threads of this process open it too. */
  threads?: boolean
}

/** @throws StorageError `Locked`, `Damaged` when LevelDB cannot make sense of its files, `Failed` */
export async function openDatabase(
  path: string,
  { create, called = path, threads = false }: DatabaseOptions,
): Promise<Database> {
  const db = new Level<string, Buffer>(path, {
    keyEncoding: 'utf8',
    valueEncoding: 'buffer',
    writeBufferSize: WRITE_BUFFER_BYTES,
    cacheSize: CACHE_BYTES,
    createIfMissing: create,
    multithreading: threads,
  }) as Database
  try {
    await db.open()
    return db
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : (error as Error)
    if ('code' in cause && cause.code === 'LEVEL_LOCKED') throw inUse(called, cause)
    const why = cause.message.replaceAll(path, called)
    // A file that should be there and is not is an I/O error to LevelDB.
    const damaged = /^(Corruption|Invalid argument|NotFound):|No such file/.test(why)
    throw damaged
      ? new StorageError('Damaged', `LevelDB cannot open it: ${why}`, { cause })
      : cannotOpen(called, why, cause)
  }
}

/** Whether LevelDB or the file system reports that a disk, or somebody's part of it, is full. */
export function isOfFullDisk(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause)
    if (/No space left on device|Disk quota exceeded/.test(each.message)) return true
  return false
}

export function inUse(path: string, cause?: unknown): StorageError {
  return new StorageError(
    'Locked',
    `the data dir ${path} is in use by another process: stop that server, or give this one a data dir of its own`,
    { cause },
  )
}

export function cannotOpen(path: string, why: string, cause: unknown): StorageError {
  const remedy = /No space left on device|ENOSPC/.test(why) ? '. Make room on its disk, and try again' : ''
  return new StorageError('Failed', `the data dir ${path} cannot be opened: ${why}${remedy}`, { cause })
}

/** Answers whether a row is good. */
export type RowVisit = (row: string, value: Buffer) => boolean

/** Range of rows; all without either. */
export interface RowRange {
  readonly gte?: string
  readonly lt?: string
}

interface ReadAllOptions {
  range?: RowRange
  /** Is waited for between rows: whoever visits has enough for now. */
  room?: () => Promise<void> | undefined
}

/**
 * Calls `visit` for every row, in order, until one is not good, or LevelDB cannot read on. Then {@link readCarefully} finds more.
 * @returns LevelDB's words about what it could not read
 */
export async function readAll(db: Database, visit: RowVisit, { range, room }: ReadAllOptions = {}): Promise<string[]> {
  const iterator = db.iterator({ ...range, highWaterMarkBytes: WALK_BYTES })
  const read = (): Promise<[string, Buffer][] | Error> => iterator.nextv(WALK_ROWS).catch((error: Error) => error)
  let reading = read()
  try {
    for (;;) {
      const rows = await reading
      if (rows instanceof Error) return [wordsOf(rows, db)]
      if (rows.length === 0) return []
      // LevelDB's thread reads the next rows while this one works on these.
      reading = read()
      for (const [row, value] of rows) if (!visit(row, value)) return []
      await room?.()
    }
  } finally {
    await reading
    await iterator.close()
  }
}

/** An error's text, with the names of files as they are in the store. */
export function wordsOf(error: unknown, db: Database): string {
  return (error as Error).message.replaceAll(`${db.location}/`, '')
}

/** LevelDB's log lines about records that it skipped when it was opened; it reports them nowhere else. */
export async function complaints(path: string): Promise<string[]> {
  const log = await readFile(join(path, 'LOG'), 'utf8')
  return log
    .split('\n')
    .map(line => /(\d+\.(?:log|ldb|sst)): (dropping \d+ bytes.*)$/.exec(line))
    .filter(found => found !== null)
    .map(([, file, what]) => `${file}: ${what}`)
}
