/**
 * Salvage of a damaged store: its intact part, and its losses by name. The intact objects become a new store, whose revisions begin above
 * all that may have been sent. None is used twice, and the answer to an earlier cursor is `Compacted`. The damaged store is put aside, not
 * removed.
 */
import { rename, rm } from 'node:fs/promises'
import { ClassicLevel } from 'classic-level'
import type { Whole } from '../body.ts'
import type { StoreLogger } from '../journaledStore.ts'
import { keyText, parseKeyText } from '../keys.ts'
import { isStorageError, type Revision } from '../store.ts'
import { readAcknowledged } from './acknowledged.ts'
import { complaints, type Database, openDatabase } from './database.ts'
import { FreshRows } from './freshRows.ts'
import { inspectCarefully } from './inspection.ts'
import { linkedCopy } from './linkedCopy.ts'
import { type LogRecord, nameOfKey, nameOfRow } from './rows.ts'
import { DamagedStoreError, type FolderOptions, filesOf, formatOf, readStore } from './storeFolder.ts'

/** More than a server writes while the file of acknowledged revisions is behind, even by a power cut. */
const RAISE = 10_000_000

interface Loss {
  /** Damage in the words of the refusal. */
  readonly findings: readonly string[]
  /** One line for each object that is lost, or older than it was. */
  readonly lost: readonly string[]
  /** Objects that are intact. */
  readonly kept: number
}

export interface AcceptedLoss extends Loss {
  /** Where the damaged store is now; `undefined` when there was not even a folder. */
  readonly aside: string | undefined
  /** The revision that the store begins with. */
  readonly revision: Revision
}

/** Losses of {@link acceptLoss}; `undefined` when the store is intact. Changes nothing. */
export async function assessLoss(options: FolderOptions): Promise<Loss | undefined> {
  const damage = await damageOf(options)
  return damage && (await inIntactCopy(options.path, async db => await gather(db, options, damage.findings, () => {})))
}

/**
 * Makes a damaged store one that opens.
 * @returns what was lost, and where the damaged store is now; `undefined` when there was no damage
 * @throws StorageError `Locked`, `Format`, `Failed`
 */
export async function acceptLoss(options: FolderOptions & { now: Date }): Promise<AcceptedLoss | undefined> {
  const { path } = options
  const damage = await damageOf(options)
  if (damage === undefined) return undefined
  const fresh = freshPath(path)
  const aside = `${path}.damaged-${options.now.toISOString().replaceAll(/[:.]/g, '-')}`
  await rm(fresh, { recursive: true, force: true })
  return await inIntactCopy(path, async damaged => {
    const db = await openDatabase(fresh, { create: true })
    let loss: Loss & { newestSeen: Revision }
    try {
      const writer = new FreshRows(db)
      loss = await gather(damaged, options, damage.findings, stored => writer.add(stored))
      await writer.finish(loss.newestSeen + RAISE)
    } finally {
      await db.close()
    }
    // The lock is held until here. A crash between the two is mended by finishAcceptedLoss.
    const remains = (await filesOf(path)).length > 0
    if (remains) await rename(path, aside)
    else await rm(path, { recursive: true, force: true })
    await rename(fresh, path)
    return { ...loss, revision: loss.newestSeen + RAISE, aside: remains ? aside : undefined }
  })
}

/** Finishes what a crash cut short between its last two steps. */
export async function finishAcceptedLoss(path: string): Promise<void> {
  if ((await filesOf(path)).length === 0 && (await filesOf(freshPath(path))).length > 0) {
    await rm(path, { recursive: true, force: true })
    await rename(freshPath(path), path)
  }
}

/** A store that is being made of what was intact; it is complete once the damaged one is gone from its place. */
function freshPath(path: string): string {
  return `${path}.salvaging`
}

async function damageOf(options: FolderOptions): Promise<DamagedStoreError | undefined> {
  try {
    await readStore({ ...options, quick: true }, () => {})
    return undefined
  } catch (error) {
    if (error instanceof DamagedStoreError) return error
    throw error
  }
}

/** Opens a copy, repaired by LevelDB where it must be. `undefined` when nothing can be read. */
async function inIntactCopy<T>(path: string, use: (db: Database | undefined) => Promise<T>): Promise<T> {
  if ((await filesOf(path)).length === 0) return await use(undefined)
  const copy = await linkedCopy(path)
  if (copy === undefined)
    throw new Error(
      `the files of ${path} cannot be linked into a copy beside it: there are no hard links, or it is a mount or a symbolic ` +
        'link. Copy the whole data folder to a file system that has them to save what is intact',
    )
  try {
    const db = await openRepaired(copy, path)
    try {
      return await use(db)
    } finally {
      await db?.close()
    }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

async function openRepaired(copy: string, path: string): Promise<Database | undefined> {
  const options = { create: false, called: path }
  try {
    return await openDatabase(copy, options)
  } catch (error) {
    if (!isStorageError(error, 'Damaged')) throw error
  }
  try {
    await ClassicLevel.repair(copy)
    return await openDatabase(copy, options)
  } catch (error) {
    if (isStorageError(error, 'Locked', 'Failed')) throw error
    return undefined
  }
}

async function gather(
  db: Database | undefined,
  { path, witness }: FolderOptions,
  findings: readonly string[],
  keep: (stored: Whole) => void,
): Promise<Loss & { newestSeen: Revision }> {
  const acknowledged = await readAcknowledged({ path, witness })
  if (db === undefined) return { findings, lost: ['all objects'], kept: 0, newestSeen: acknowledged ?? 0 }
  await formatOf(db, { path }).catch(error => {
    if (isStorageError(error, 'Format') && error.message.includes('this program reads')) throw error
  })
  /** The newest entry of each key in the log, until its object is met. */
  const newest = new Map<string, LogRecord>()
  const lost: string[] = []
  let kept = 0
  const inspection = await inspectCarefully(db, {
    acknowledged,
    complaints: await complaints(db.location),
    log: entry => newest.set(entry.id, entry),
    each(stored) {
      const id = keyText(stored.key)
      const last = newest.get(id)
      newest.delete(id)
      if (last?.type === 'delete' && last.revision > stored.revision) return
      if (last !== undefined && last.revision > stored.revision)
        lost.push(`${nameOfKey(stored.key)}: kept as of revision ${stored.revision}; revision ${last.revision} is lost`)
      kept++
      keep(stored)
    },
  })
  for (const { type, id, revision } of newest.values())
    if (type === 'put') lost.push(`${nameOfKey(parseKeyText(id))}: lost; it was last written at revision ${revision}`)
  for (const row of inspection.badRows)
    if (row.startsWith('o/') && !newest.has(row.slice(2))) lost.push(`${nameOfRow(row)}: lost; its row is damaged`)
  const known = kept + lost.filter(line => line.includes(': lost;')).length
  const unknown = (inspection.state?.count ?? known) - known
  if (unknown > 0) lost.push(`${unknown} more objects: lost; their names are not known`)
  else if (inspection.state === undefined) lost.push('it is not known whether there were more objects, nor their names')
  return {
    findings: inspection.findings.length > 0 ? inspection.findings : findings,
    lost,
    kept,
    newestSeen: inspection.newestSeen,
  }
}

/** Each object that is lost has a line of its own. */
export function logLoss(
  logger: StoreLogger | undefined,
  { findings, lost, kept, aside, revision }: AcceptedLoss,
): void {
  for (const what of findings) logger?.warn({ what }, 'the store was damaged')
  for (const what of lost) logger?.warn({ what }, 'lost by --accept-loss')
  logger?.warn(
    { lost: lost.length, kept, revision, aside },
    'the store goes on with what was intact; leave --accept-loss out from now on',
  )
}
