/**
 * A folder with Secrets in it, which nobody but its owner may enter. New files in it get their modes by the umask, whoever
 * makes them (LevelDB asks for 0644); this mends what was there before.
 */
import {
  accessSync,
  chmodSync,
  constants,
  type Dirent,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  type Stats,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { LogFields } from '../../../apimachinery/logFields.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'

/** For processes that hold Secrets: what they make from now on is their user's alone. */
export const PRIVATE_UMASK = 0o077

const OTHERS = 0o077
const STICKY = 0o1000

/** Entries of an API server's data dir. */
const SERVER_ENTRIES = /^(store(\..*)?|pki|admin\.kubeconfig|classic-level-.*|underway|set-aside\.json)$/

interface PrivateFolderOptions {
  path: string
  /** By which somebody named it. */
  flag: string
  /** Names of what in it belongs to the program; folders with all their content. Other things are left as they are. */
  entries: RegExp
  log: { warn(fields: LogFields, text: string): void }
}

/**
 * Makes the folder, or closes one that is there, to everybody but its owner. Where that is not allowed it warns: the program's own files in
 * there are private all the same.
 * @throws Error naming the flag when it can neither be made nor looked into
 */
export function privateFolder(options: PrivateFolderOptions): void {
  const { path, flag } = options
  let done = 'made'
  try {
    makeFolder(path)
    done = 'read'
    closeFolder(options)
  } catch (error) {
    throw new Error(`${flag}: the folder ${path} cannot be ${done}: ${(error as Error).message}`, { cause: error })
  }
}

function closeFolder({ path, entries, log }: PrivateFolderOptions): void {
  const close = (at: string, stats: Stats): void => {
    if ((stats.mode & OTHERS) === 0) return
    const mode = (stats.mode & 0o7777).toString(8).padStart(4, '0')
    if (stats.mode & STICKY) {
      const remedy = 'it looks like a place for all users. Give the program a folder of its own'
      log.warn({ path: at, mode }, `others may enter this folder, which is left so: ${remedy}`)
      return
    }
    try {
      chmodSync(at, stats.mode & 0o7700)
    } catch (error) {
      const remedy = `its mode cannot be changed (${(error as Error).message}). Let its owner run "chmod go-rwx" on it`
      log.warn({ path: at, mode }, `others may read or change this, which can hold Secrets: ${remedy}`)
    }
  }
  const walk = (folder: string, content: readonly Dirent[]): void => {
    for (const entry of content) {
      // Not what links lead to: that may be anybody's.
      if (!entry.isFile() && !entry.isDirectory()) continue
      const at = join(folder, entry.name)
      const stats = lstatSync(at, { throwIfNoEntry: false })
      if (stats) close(at, stats)
      if (entry.isDirectory()) walk(at, readdirSync(at, { withFileTypes: true }))
    }
  }
  close(path, statSync(path))
  walk(
    path,
    readdirSync(path, { withFileTypes: true }).filter(({ name }) => entries.test(name)),
  )
}

/**
 * Unless it is there; with all folders above it that are missing. Not by `recursive` of Node's mkdir: that retries for ever where the
 * system refuses new entries in an existing folder, as in /proc.
 * @throws Error of the system
 */
export function makeFolder(path: string): void {
  const above = dirname(path)
  if (above !== path && !existsSync(above)) makeFolder(above)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

/** A file of an API server's data dir. @throws Error in words for whoever named the folder */
export function serverFile(dataDir: string, name: string): string {
  const path = join(dataDir, name)
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const remedy = 'give the --data-dir of a server that has been ready, and run as its user'
    throw new Error(`${path} cannot be read: ${messageOf(error)}; ${remedy}`, { cause: error })
  }
}

/** An API server's data dir, made or mended. Returns its path. @throws Error naming the flag also when nothing can be written there */
export function dataFolder(path: string, log: PrivateFolderOptions['log']): string {
  privateFolder({ path, flag: '--data-dir', entries: SERVER_ENTRIES, log })
  try {
    accessSync(path, constants.W_OK)
  } catch (error) {
    throw new Error(`--data-dir: the folder ${path} cannot be written: ${(error as Error).message}`, { cause: error })
  }
  return path
}
