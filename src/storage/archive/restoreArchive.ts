/**
 * Makes a store of an archive. Its revisions begin beyond all that the archived store can have given out since. A client that comes with one of
 * those is refused as too old, and no revision is met twice.
 */
import type { Whole } from '../body.ts'
import { isOfFullDisk, openDatabase } from '../level/database.ts'
import { FreshRows } from '../level/freshRows.ts'
import { makeFolder } from '../level/storeFolder.ts'
import { type Revision, StorageError } from '../store.ts'
import type { ArchiveHeader } from './archive.ts'
import { type ArchiveContent, type ArchiveVisitor, readArchive } from './readArchive.ts'

/** More than a store writes in the time that its clock and this one may differ by. */
const LEAST_RAISE = 10_000_000
/** More than any store writes. */
const WRITES_PER_MS = 100

export interface RestoredArchive extends ArchiveContent {
  /** Where the store goes on. */
  readonly revision: Revision
}

/**
 * @param path of the store, where there is nothing yet; what is there after a failure is worth nothing
 * @throws ArchiveError, StorageError `Failed` or `Full`, and what the source throws
 */
export async function restoreArchive(
  source: AsyncIterable<Buffer>,
  { path, nowMs, ...visitor }: ArchiveVisitor & { path: string; nowMs: number },
): Promise<RestoredArchive> {
  await makeFolder(path)
  const db = await openDatabase(path, { create: true })
  try {
    const rows = new FreshRows(db)
    const content = await readArchive(source, {
      ...visitor,
      object(stored: Whole) {
        visitor.object?.(stored)
        rows.add(stored)
      },
      room: () => rows.room(),
    })
    const revision = raised(content.header, nowMs)
    await rows.finish(revision)
    return { ...content, revision }
  } catch (error) {
    if (!isOfFullDisk(error)) throw error
    throw new StorageError('Full', `the disk of ${path} is full: make room on it, and restore again`, { cause: error })
  } finally {
    await db.close()
  }
}

function raised({ revision, takenAt }: ArchiveHeader, nowMs: number): Revision {
  return revision + LEAST_RAISE + Math.max(0, Math.ceil(nowMs - Date.parse(takenAt))) * WRITES_PER_MS
}
