/** `orrery store verify` and `orrery store stats`: look at the whole store of a server that does not run, and change nothing. */
import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readAcknowledged } from '../storage/level/acknowledged.ts'
import { assessLoss } from '../storage/level/salvage.ts'
import { type FolderOptions, type Read, readStore } from '../storage/level/storeFolder.ts'
import { isStorageError, type Stored } from '../storage/store.ts'

const print = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

/** Exit code 1 when something is damaged; what is lost is on standard output, a line each. */
export async function verifyStore(settings: Record<string, unknown>): Promise<number> {
  const folder = folderOf(settings.dataDir as string)
  try {
    const read = await readStore(folder, () => {})
    print(read === undefined ? nothing(folder) : `intact: ${summary(read)}`)
    return 0
  } catch (error) {
    if (!isStorageError(error, 'Damaged')) throw error
  }
  const loss = await assessLoss(folder)
  for (const finding of loss?.findings ?? []) print(`damaged: ${finding}`)
  for (const lost of loss?.lost ?? []) print(`lost: ${lost}`)
  print(`${folder.path} is damaged; ${loss?.kept} objects are intact`)
  print('put back a backup of the whole data folder, or go on with what is intact: orrery start --accept-loss')
  return 1
}

export async function storeStats(settings: Record<string, unknown>): Promise<number> {
  const folder = folderOf(settings.dataDir as string)
  const spaces = new Set<string>()
  const kinds = new Map<string, { objects: number; bytes: number }>()
  const read = await readStore(folder, ({ key, bytes }: Stored) => {
    spaces.add(key.space)
    const kind = key.group === '' ? key.resource : `${key.resource}.${key.group}`
    const sum = kinds.get(kind) ?? { objects: 0, bytes: 0 }
    kinds.set(kind, { objects: sum.objects + 1, bytes: sum.bytes + bytes.length })
  })
  if (read === undefined) {
    print(nothing(folder))
    return 0
  }
  const { inspection } = read
  const facts: [string, string | number][] = [
    ['newest revision', inspection.state!.revision],
    ['acknowledged at least', (await readAcknowledged(folder.path)) ?? 'not known'],
    ['history from revision', inspection.compactedRevision],
    ['log entries', inspection.logEntries],
    ['old versions', inspection.versions],
    ['objects', inspection.objects],
    ['bytes of objects', inspection.objectBytes],
    ['bytes on disk', await bytesIn(folder.path)],
    ['spaces', spaces.size],
    ...[...kinds]
      .sort(([, a], [, b]) => b.bytes - a.bytes)
      .map(([kind, { objects, bytes }]): [string, string] => [`  ${kind}`, `${objects} objects, ${bytes} bytes`]),
  ]
  const width = Math.max(...facts.map(([what]) => what.length))
  for (const [what, value] of facts) print(`${what.padEnd(width)}  ${value}`)
  return 0
}

export function folderOf(dataDir: string): FolderOptions {
  if (!existsSync(dataDir))
    throw new Error(`there is no data dir ${dataDir}: give the one of the server, with --data-dir`)
  return { path: join(dataDir, 'store'), established: existsSync(join(dataDir, 'pki', 'ca.key')), untouched: true }
}

function nothing({ path }: FolderOptions): string {
  return `there is no store in ${path} yet`
}

function summary({ inspection, older }: Read): string {
  const { objects, logEntries, state } = inspection
  const upgrade = older ? '; the next start upgrades its format' : ''
  return `${objects} objects and ${logEntries} log entries, up to revision ${state!.revision}${upgrade}`
}

async function bytesIn(path: string): Promise<number> {
  const sizes = (await readdir(path)).map(async file => (await stat(join(path, file))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
