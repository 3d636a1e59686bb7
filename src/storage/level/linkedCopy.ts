/**
 * A second folder with the same files, made of hard links. LevelDB never writes into a file that is there when it opens; it makes new ones
 * and deletes old ones. A database can be opened and read in the copy, and the original stays as it is. The copy shares the lock file: a
 * holder of the one holds the other.
 */
import { fstatSync, type Stats } from 'node:fs'
import { link, mkdtemp, open, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { inUse } from './database.ts'

const SUFFIX = '.check-'
/** LevelDB's own reports, which it moves and writes. */
const NOT_LINKED = ['LOG', 'LOG.old']

/**
 * A copy beside `path`. `undefined` on a file system without hard links. Also when the files lie on another one than the folder's name:
 * behind a symbolic link, or in a volume of their own.
 * @throws StorageError `Locked` when this process has the original open: a process cannot lock itself out, and would lose
 *   the lock by closing the copy
 */
export async function linkedCopy(path: string): Promise<string | undefined> {
  const copy = await mkdtemp(path + SUFFIX)
  try {
    const lock = join(path, 'LOCK')
    if (await isOpenHere(lock)) throw inUse(path)
    await (await open(lock, 'a')).close()
    await linkFiles(path, copy)
    return copy
  } catch (error) {
    await rm(copy, { recursive: true })
    if (['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'].includes(codeOf(error))) return undefined
    throw error
  }
}

async function linkFiles(from: string, to: string): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (!entry.isFile() || NOT_LINKED.includes(entry.name)) continue
    try {
      await link(join(from, entry.name), join(to, entry.name))
    } catch (error) {
      // A running server may delete files meanwhile; then the lock, which is shared, tells so.
      if (codeOf(error) !== 'ENOENT') throw error
    }
  }
}

/** Removes copies that a crash left behind. Only while the lock is held: then nobody works on one. */
export async function removeLeftovers(path: string): Promise<void> {
  const prefix = basename(path) + SUFFIX
  for (const name of await readdir(dirname(path)))
    if (name.startsWith(prefix)) await rm(join(dirname(path), name), { recursive: true, force: true })
}

/** Whether this process has a file open, under whatever name. */
async function isOpenHere(path: string): Promise<boolean> {
  const file = await statOf(path)
  if (file === undefined) return false
  // Linux and macOS both have this folder; on macOS there is no /proc.
  for (const descriptor of await readdir('/dev/fd')) {
    const other = statOfDescriptor(Number(descriptor))
    if (other?.ino === file.ino && other.dev === file.dev) return true
  }
  return false
}

function statOfDescriptor(descriptor: number): Stats | undefined {
  try {
    return fstatSync(descriptor)
  } catch (error) {
    // Closed meanwhile, as the one by which the folder was read.
    if (codeOf(error) === 'EBADF') return undefined
    throw error
  }
}

async function statOf(path: string): Promise<Stats | undefined> {
  return await stat(path).catch((error: Error) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
