/** Files that appear under their names whole, or not at all, and replace nothing. */
import { randomUUID } from 'node:crypto'
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf } from '../../apimachinery/messageOf.ts'

/** Answers of file systems without hard links. */
const NO_LINKS: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']

/**
 * Gives a file its name when `fill` has resolved and all of it is on disk. Its owner alone may read it.
 * @throws Error where there is no room or the name is taken, and what `fill` throws; nothing is left then
 */
export async function writeWhole<T>(
  path: string,
  fill: (write: (piece: Buffer) => Promise<void>) => Promise<T>,
): Promise<T> {
  const partial = `${path}.${randomUUID().slice(0, 8)}.partial`
  let file: FileHandle | undefined
  try {
    const opened = await open(partial, 'wx', 0o600).catch(error => {
      throw cannotWrite(path, error)
    })
    file = opened
    const filled = await fill(async piece => {
      await opened.writeFile(piece).catch(error => {
        throw cannotWrite(path, error)
      })
    })
    await opened.sync()
    await opened.close()
    await giveName(partial, path).catch(error => {
      throw error.code === 'EEXIST' ? isThere(path) : cannotWrite(path, error)
    })
    await syncFolder(dirname(path))
    return filled
  } finally {
    await file?.close().catch(() => {})
    await rm(partial, { force: true })
  }
}

/**
 * Gives a file its name and replaces nothing. Where the file system has no hard links an empty file reserves the name. A crash at that moment
 * leaves it, and no command takes it for whole.
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

/** A refusal to overwrite. */
export function isThere(path: string): Error {
  return new Error(`${path} is there already: give another name, or a folder; nothing is overwritten`)
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function cannotWrite(path: string, error: unknown): Error {
  const isFull = error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
  const remedy = isFull ? 'make room on its disk, or give another folder' : 'give a folder that this user may write to'
  return new Error(`${path} cannot be written: ${messageOf(error)}; ${remedy}`, { cause: error })
}
