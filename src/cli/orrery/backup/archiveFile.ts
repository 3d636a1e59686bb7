/** Archives as files: written whole or not at all, and opened in words for whoever named one. */
import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { ArchiveError } from '../../../storage/archive/archive.ts'
import { type ArchiveContent, type ArchiveVisitor, readArchive } from '../../../storage/archive/readArchive.ts'

/**
 * Writes an archive and reads it meanwhile: it gets its name only when all of it is on disk and whole.
 * @throws Error where there is no room, the archive broke off, or the signal aborts; nothing is left then
 */
export async function writeArchiveFile(
  path: string,
  archive: AsyncIterable<Buffer>,
  { signal, ...visitor }: ArchiveVisitor & { signal: AbortSignal },
): Promise<ArchiveContent> {
  const partial = `${path}.${randomUUID().slice(0, 8)}.partial`
  let file: FileHandle | undefined
  try {
    file = await open(partial, 'wx', 0o600).catch(error => {
      throw cannotWrite(path, error)
    })
    const content = await readArchive(copied(archive, file, { path, signal }), visitor)
    await file.sync()
    await file.close()
    await giveName(partial, path).catch(error => {
      throw error.code === 'EEXIST' ? isThere(path) : cannotWrite(path, error)
    })
    await syncFolder(dirname(path))
    return content
  } finally {
    await file?.close().catch(() => {})
    await rm(partial, { force: true })
  }
}

/** Answers of file systems without hard links. */
const NO_LINKS: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/**
 * Gives a file its name and replaces nothing. Where the file system has no hard links an empty file reserves the name. A crash at that moment
 * leaves it, and no command takes it for an archive.
 * @throws Error of the system: `EEXIST` where something has the name
 */
export async function giveName(partial: string, path: string, linked = link): Promise<void> {
  try {
    await linked(partial, path)
  } catch (error) {
    if (!NO_LINKS.includes((error as NodeJS.ErrnoException).code)) throw error
    await (await open(path, 'wx', 0o600)).close()
    await rename(partial, path).catch(async error => {
      await rm(path, { force: true })
      throw error
    })
  }
}

/** @throws Error that names the file, as {@link readArchive} */
export async function readArchiveFile(path: string, visitor: ArchiveVisitor): Promise<ArchiveContent> {
  return await named(path, readArchive(createReadStream(path), visitor))
}

/** Errors of an archive get the name of its file. */
export async function named<T>(path: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ArchiveError) {
      const isBroken = error.code === 'Cut' || error.code === 'Altered'
      throw new Error(`${path} ${isBroken ? 'is not whole' : 'cannot be read here'}: ${error.message}`, {
        cause: error,
      })
    }
    if (error instanceof Error && 'syscall' in error && /^(open|read)$/.test(String(error.syscall)))
      throw new Error(`${path} cannot be read: ${messageOf(error)}`, { cause: error })
    throw error
  }
}

async function* copied(
  archive: AsyncIterable<Buffer>,
  file: FileHandle,
  { path, signal }: { path: string; signal: AbortSignal },
): AsyncGenerator<Buffer> {
  for await (const piece of archive) {
    signal.throwIfAborted()
    await file.writeFile(piece).catch(error => {
      throw cannotWrite(path, error)
    })
    yield piece
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** A refusal to overwrite. */
export function isThere(path: string): Error {
  return new Error(`${path} is there already: give another name, or a folder; nothing is overwritten`)
}

function cannotWrite(path: string, error: unknown): Error {
  const isFull = error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
  const remedy = isFull ? 'make room on its disk, or give another folder' : 'give a folder that this user may write to'
  return new Error(`${path} cannot be written: ${messageOf(error)}; ${remedy}`, { cause: error })
}
