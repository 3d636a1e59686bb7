/**
 * The folder of a level store before it is open for use. It shows whether there is a store, its format, and whether all of it is as it was
 * acknowledged. It is read in a copy made of hard links, so a refusal leaves everything as it was found.
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Whole } from '../body.ts'
import { isStorageError, StorageError } from '../store.ts'
import { readAcknowledged } from './acknowledged.ts'
import { cannotOpen, complaints, type Database, openDatabase } from './database.ts'
import { type Inspection, inspect } from './inspection.ts'
import { linkedCopy } from './linkedCopy.ts'
import { COMPACTED_ROW, compactedValue, FORMAT, FORMAT_ROW, STATE_ROW, stateValue } from './rows.ts'
import type { Tally } from './tally.ts'

export interface FolderOptions {
  path: string
  /** A second file that names the newest acknowledged revision: see acknowledged.ts. */
  witness?: string | undefined
  /** Something else tells that there was a store here: to find none is a loss then, not a beginning. */
  established?: boolean | undefined
  /** Only tell whether there is damage: see {@link inspect}. */
  quick?: boolean | undefined
}

/** The store of a server's data folder. The keys beside it show that there was one. */
export function storeIn(dataDir: string): { path: string; witness: string; established: boolean } {
  const keys = join(dataDir, 'pki')
  return {
    path: join(dataDir, 'store'),
    witness: join(keys, 'store.acknowledged'),
    established: existsSync(join(keys, 'ca.key')),
  }
}

/** Where a restore makes the content of a data folder; while it is there, the folder is not whole. */
export const RESTORING = 'store.restoring'

/** A store whose rows are not those that were acknowledged. */
export class DamagedStoreError extends StorageError {
  /** Each one kind of damage. */
  readonly findings: readonly string[]

  constructor(path: string, findings: readonly string[], options?: ErrorOptions) {
    super(
      'Damaged',
      `the data dir ${path} is damaged: ${findings.join('; ')}. Nothing was changed. Put back a backup of the whole data ` +
        'folder; or go on with what is intact: "orrery store verify" lists what that is, "orrery start --accept-loss" starts with it',
      options,
    )
    this.findings = findings
  }
}

/** @throws DamagedStoreError when there was a store and none is left */
async function lookFor({ path, witness, established }: FolderOptions): Promise<'new' | 'store'> {
  const dataDir = dirname(path)
  if (existsSync(join(dataDir, RESTORING)))
    throw new StorageError(
      'Failed',
      `a restore into the data dir ${dataDir} was cut short: run "orrery restore" into it again`,
    )
  // the keys lie beside the witness, and say as much
  const acknowledged = await readAcknowledged({ path, witness: established ? undefined : witness })
  const files = await filesOf(path)
  if (files.includes('CURRENT')) return 'store'
  const remains = files.filter(name => /\.(ldb|sst|log)$/.test(name))
  if (remains.length > 0)
    throw new DamagedStoreError(path, [
      `its file CURRENT is missing, and ${remains.length} files of a database are there`,
    ])
  if (acknowledged !== undefined)
    throw new DamagedStoreError(path, [`the database is gone; revision ${acknowledged} had been acknowledged`])
  if (established) throw new DamagedStoreError(path, ['the database is gone, and the keys of its server are there'])
  return 'new'
}

/** An empty store, on disk when this resolves. Safe to repeat when it was cut short. */
export async function createStore(path: string, revision = 0): Promise<void> {
  await makeFolder(path)
  const db = await openDatabase(path, { create: true })
  try {
    await writeMeta(db, { revision, count: 0, sum: 0 })
  } finally {
    await db.close()
  }
}

/** @throws StorageError `Failed` */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw cannotOpen(path, (error as Error).message, error)
  }
}

/** Rows of an empty history. */
export async function writeMeta(db: Database, state: { revision: number; count: number; sum: number }): Promise<void> {
  await db
    .batch()
    .put(FORMAT_ROW, Buffer.from(String(FORMAT)))
    .put(COMPACTED_ROW, compactedValue(state.revision))
    .put(STATE_ROW, stateValue(state))
    .write({ sync: true })
}

export interface Read {
  readonly inspection: Inspection
}

interface ReadOptions extends FolderOptions {
  /** Reads the rows of the database in a folder otherwise than here, quickly; see {@link inspect}. `undefined`: not this one. */
  readQuickly?: ((folder: string) => Promise<(() => Promise<Tally>) | undefined>) | undefined
}

/**
 * Reads and checks the whole store; changes nothing. `undefined`: its creation was cut short, there is nothing.
 * @throws StorageError `Locked`, `Format`, `Failed`; DamagedStoreError
 */
export async function readStore(options: ReadOptions, each: (stored: Whole) => void): Promise<Read | undefined> {
  if ((await lookFor(options)) === 'new') return undefined
  return await inCopy(options.path, async (db, folder) => {
    if ((await formatOf(db, options)) === 'empty') return undefined
    const acknowledged = await readAcknowledged(options)
    const inspection = await inspect(db, {
      acknowledged,
      complaints: await complaints(folder),
      quick: options.quick,
      readQuickly: await options.readQuickly?.(folder),
      each,
    })
    if (inspection.findings.length > 0) throw new DamagedStoreError(options.path, inspection.findings)
    return { inspection }
  })
}

/** Runs `use` on a database that holds what the store holds; nothing that happens to it happens to the store. */
async function inCopy<T>(path: string, use: (db: Database, folder: string) => Promise<T>): Promise<T> {
  const copy = await linkedCopy(path).catch((error: Error) => {
    if (isStorageError(error)) throw error
    throw cannotOpen(path, error.message, error)
  })
  const folder = copy ?? path
  try {
    const db = await openDatabase(folder, { create: false, called: path, threads: true })
    try {
      return await use(db, folder)
    } finally {
      await db.close()
    }
  } catch (error) {
    if (isStorageError(error, 'Damaged') && !(error instanceof DamagedStoreError))
      throw new DamagedStoreError(path, [error.message], { cause: error })
    if (error instanceof Error && 'code' in error && /^LEVEL_(CORRUPTION|IO_ERROR)$/.test(String(error.code))) {
      const why = error.message.replaceAll(folder, path)
      throw new DamagedStoreError(path, [`LevelDB cannot read it: ${why}`], { cause: error })
    }
    throw error
  } finally {
    if (copy !== undefined) await rm(copy, { recursive: true, force: true })
  }
}

/** `empty`: its creation was cut short. @throws StorageError `Format` when another program wrote it */
export async function formatOf(
  db: Database,
  { path, witness, established }: FolderOptions,
): Promise<'current' | 'empty'> {
  const found = await db.get(FORMAT_ROW)
  if (found === undefined) {
    const rows = await db.keys({ limit: 1 }).all()
    const acknowledged = await readAcknowledged({ path, witness })
    const known = acknowledged !== undefined || established
    if (known)
      throw new DamagedStoreError(path, [
        `the record of its format is missing${rows.length === 0 ? ', and so is everything else' : ''}`,
      ])
    if (rows.length > 0) throw new StorageError('Format', `the data dir ${path} holds a database that is not Orrery's`)
    return 'empty'
  }
  const format = Number(found.toString())
  if (format === FORMAT) return 'current'
  const remedy =
    format < FORMAT ? 'use the Orrery that wrote it, or begin with an empty data dir' : 'use the newer Orrery'
  throw new StorageError(
    'Format',
    `the data dir ${path} has format ${found.toString()}; this program reads format ${FORMAT}: ${remedy}`,
  )
}

/** Bytes of all files of a folder. An open database removes some while they are counted. */
export async function bytesIn(path: string): Promise<number> {
  let bytes = 0
  for (const name of await filesOf(path)) bytes += await sizeOf(join(path, name))
  return bytes
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0
    throw cannotOpen(file, (error as Error).message, error)
  }
}

export async function filesOf(path: string): Promise<string[]> {
  try {
    return await readdir(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw cannotOpen(path, (error as Error).message, error)
  }
}
