/** A folder of archives, each named after its moment: the newest are kept. */
import { createReadStream, existsSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ArchiveHeader } from '../../../storage/archive/archive.ts'
import { readArchiveHeader } from '../../../storage/archive/readArchive.ts'
import { isThere } from '../../shell/wholeFile.ts'

const SUFFIX = '.orrery'
/** Names that {@link archivePath} gives, and those of archives that never became whole. */
const NAME = /^orrery-\d{8}T\d{6}Z\.orrery(\.[0-9a-f]{8}\.partial)?$/

/** The file that an archive goes to. In a folder it is named after the moment, or a free second behind it. @throws Error when it is there */
export async function archivePath(target: string, nowMs: number): Promise<string> {
  const found = await stat(target).catch(() => undefined)
  if (found === undefined) return target
  if (!found.isDirectory()) throw isThere(target)
  for (let atMs = nowMs; ; atMs += 1000) {
    const moment = new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+/g, '')
    const path = join(target, `orrery-${moment}${SUFFIX}`)
    if (!existsSync(path)) return path
  }
}

/** @throws Error naming the flag that needs a folder */
export async function assertFolder(target: string, flag: string): Promise<void> {
  const found = await stat(target).catch(() => undefined)
  if (found?.isDirectory()) return
  throw new Error(`${flag}: ${target} is no folder: make one, in which archives are named after their moments`)
}

interface Kept {
  readonly keep: number
  /** The archive that was written last, and the revision that it shows. */
  readonly last: string
  readonly revision: number
  /** Whether the keys of the server are in it. */
  readonly hasKeys: boolean
}

interface Removed {
  readonly gone: readonly string[]
  /** Archives of other servers. */
  readonly foreign: readonly string[]
  /** They hold more than the last one. */
  readonly withKeys: readonly string[]
}

/**
 * Removes older archives than the newest `keep`, and parts of archives that are older than all that stay. The archive that was written last
 * stays whatever its name: the clock may have been set back. Archives of revisions beyond it are of another server, or of one whose data was
 * lost since: they stay, and do not count. So do archives with keys, where the last one has none.
 * @returns names: those that are gone, and those that stay beside the newest
 */
export async function keepNewest(folder: string, { keep, last, revision, hasKeys }: Kept): Promise<Removed> {
  const found = (await readdir(folder)).filter(name => NAME.test(name) && name !== last).sort()
  const [foreign, withKeys]: [string[], string[]] = [[], []]
  for (const name of found.filter(one => one.endsWith(SUFFIX))) {
    const header = await headerOf(join(folder, name))
    if ((header?.revision ?? 0) > revision) foreign.push(name)
    else if (!hasKeys && holdsKeys(header)) withKeys.push(name)
  }
  const names = found.filter(name => !foreign.includes(name) && !withKeys.includes(name))
  const archives = names.filter(name => name.endsWith(SUFFIX))
  const kept = [...archives.slice(Math.max(0, archives.length - (keep - 1))), last].sort()
  const gone = names.filter(name => !kept.includes(name) && (name.endsWith(SUFFIX) || name < kept[0]!))
  for (const name of gone) await rm(join(folder, name), { force: true })
  return { gone, foreign, withKeys }
}

/** Whether keys of the server are in it: a data dir without them is sealed, too. */
export function holdsKeys(header: Pick<ArchiveHeader, 'sealed'> | undefined): boolean {
  return (header?.sealed?.names.length ?? 0) > 0
}

/** `undefined` where it cannot be read. */
async function headerOf(path: string): Promise<ArchiveHeader | undefined> {
  try {
    return await readArchiveHeader(createReadStream(path))
  } catch {
    return undefined
  }
}
