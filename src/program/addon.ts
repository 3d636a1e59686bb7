/**
 * The database engine where all of the program is one file. Native code is loaded from a file only. It is written into the data dir, once,
 * under a name with its hash. A copy beside the program, as in an image, is taken first. The loaded bytes are always those that the program
 * brings.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { getRawAsset } from 'node:sea'

/** The asset, and how the names of its files begin. */
export const ADDON = 'classic-level'
const NAMES = new RegExp(`^${ADDON}-[0-9a-f]{16}\\.node$`)
const NOT_EXECUTABLE = /failed to map segment|Operation not permitted|cannot enable executable/

/** Where the next load may keep it. A process loads native code once, so this belongs to the process. */
let home: string | undefined

/** The opener of a database names the folder of its own beside it. Costs nothing. */
export function keepAddonIn(folder: string): void {
  home ??= folder
}

export function addonName(bytes: Uint8Array): string {
  return `${ADDON}-${hashOf(bytes).slice(0, 16)}.node`
}

export interface AddonOptions {
  bytes: Uint8Array
  /** Folder of the program. */
  besideProgram: string
  /** Is made if need be. */
  folder: string
  load(path: string): unknown
}

/** @throws Error that says what is wrong with the file or its file system, and what to do */
export function loadAddonFrom({ bytes, besideProgram, folder, load }: AddonOptions): unknown {
  const name = addonName(bytes)
  const given = join(besideProgram, name)
  const isGiven = existsSync(given)
  const path = isGiven ? given : join(folder, name)
  if (!isGiven && !existsSync(path)) write(path, bytes)
  const found = hashOf(bytesOf(path))
  if (found !== hashOf(bytes)) {
    const remedy = isGiven ? 'put the one of this release there' : 'delete it, and it is written anew'
    throw new Error(
      `the database engine in ${path} is not the one that this program brings, and is not loaded: its sha256 is ` +
        `${found}, and should be ${hashOf(bytes)}. Find out who changed it, and ${remedy}`,
    )
  }
  try {
    const loaded = load(path)
    if (!isGiven) forgetOthers(folder, name)
    return loaded
  } catch (cause) {
    const why = (cause as Error).message
    if (!NOT_EXECUTABLE.test(why)) throw new Error(`the database engine ${path} cannot be loaded: ${why}`, { cause })
    throw new Error(
      `the database engine ${path} cannot be loaded: its file system is mounted noexec (${why}). ` +
        `Copy that file beside the program (cp ${inShell(path)} ${inShell(`${besideProgram}/`)}), or mount the folder without noexec`,
      { cause },
    )
  }
}

/** Replacement for the library's own search in the one file. */
export function loadAddon(): unknown {
  return loadAddonFrom({
    bytes: new Uint8Array(getRawAsset(ADDON) as ArrayBuffer),
    besideProgram: dirname(process.execPath),
    folder: home ?? cacheFolder(),
    load(path) {
      const module = { exports: {} }
      process.dlopen(module, path)
      return module.exports
    },
  })
}

function bytesOf(path: string): Uint8Array {
  try {
    return readFileSync(path)
  } catch (cause) {
    const why = (cause as Error).message
    throw new Error(`the database engine ${path} cannot be read: ${why}. Delete it, and it is written anew`, { cause })
  }
}

/** As a word of a command that somebody copies. */
function inShell(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** Under a name of its own first: another process may start at the same time. */
function write(path: string, bytes: Uint8Array): void {
  const draft = `${path}.${process.pid}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(draft, bytes, { mode: 0o600 })
    renameSync(draft, path)
  } catch (cause) {
    if (existsSync(draft)) rmSync(draft)
    throw new Error(
      `the database engine cannot be written to ${path}: ${(cause as Error).message}. Make the folder writable to the user ` +
        `who runs the program, or put that file, as the release has it, beside ${process.execPath}`,
      { cause },
    )
  }
}

/** Those of other releases. */
function forgetOthers(folder: string, name: string): void {
  for (const other of readdirSync(folder))
    if (NAMES.test(other) && other !== name) rmSync(join(folder, other), { force: true })
}

/** For those who look at the store of somebody else and change nothing there. */
function cacheFolder(): string {
  const caches = process.env.XDG_CACHE_HOME ?? ''
  return join(isAbsolute(caches) ? caches : join(homedir(), '.cache'), 'orrery')
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
