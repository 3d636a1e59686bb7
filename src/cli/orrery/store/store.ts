/** `orrery store verify` and `orrery store stats`: look at the whole store of a server that does not run, and change nothing. */
import { existsSync } from 'node:fs'
import { readAcknowledged } from '../../../storage/level/acknowledged.ts'
import { assessLoss } from '../../../storage/level/salvage.ts'
import { bytesIn, type FolderOptions, type Read, readStore, storeIn } from '../../../storage/level/storeFolder.ts'
import { isStorageError, type Stored } from '../../../storage/store.ts'
import { type Host, printFound } from '../host.ts'

const VERIFIED = { kind: 'StoreVerification' }

/** Exit code 1 when something is damaged; what is lost is on standard output, a line each. */
export async function verifyStore(settings: Record<string, unknown>, host: Host): Promise<number> {
  const folder = folderOf(settings.dataDir as string)
  try {
    const read = await readStore(folder, () => {})
    const line = read === undefined ? nothing(folder) : `intact: ${summary(read)}`
    const { objects = 0, logEntries = 0, state } = read?.inspection ?? {}
    const found = { ...VERIFIED, intact: true, objects, logEntries, revision: state?.revision, findings: [], lost: [] }
    await printFound(settings, [line], found, host)
    return 0
  } catch (error) {
    if (!isStorageError(error, 'Damaged')) throw error
  }
  const loss = await assessLoss(folder)
  const { findings = [], lost = [], kept = 0 } = loss ?? {}
  const lines = [
    ...findings.map(finding => `damaged: ${finding}`),
    ...lost.map(each => `lost: ${each}`),
    `${folder.path} is damaged; ${kept} objects are intact`,
    'put back a backup of the whole data folder, or go on with what is intact: orrery start --accept-loss',
  ]
  await printFound(settings, lines, { ...VERIFIED, intact: false, objects: kept, findings, lost }, host)
  return 1
}

export async function storeStats(settings: Record<string, unknown>, host: Host): Promise<number> {
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
    await printFound(settings, [nothing(folder)], { kind: 'StoreStats', objects: 0, kinds: [] }, host)
    return 0
  }
  const { inspection } = read
  const { compactedRevision, logEntries, versions, objects, objectBytes } = inspection
  const counts = {
    revision: inspection.state!.revision,
    acknowledgedRevision: await readAcknowledged(folder),
    compactedRevision,
    logEntries,
    versions,
    objects,
    objectBytes,
    diskBytes: await bytesIn(folder.path),
    spaces: spaces.size,
  }
  const biggestFirst = [...kinds]
    .sort(([, a], [, b]) => b.bytes - a.bytes)
    .map(([resource, sum]) => ({ resource, ...sum }))
  const facts: [string, string | number][] = [
    ...Object.entries(counts).map(([name, value]): [string, string | number] => [
      WORDS[name as keyof typeof counts],
      value ?? 'not known',
    ]),
    ...biggestFirst.map(({ resource, objects, bytes }): [string, string] => [
      `  ${resource}`,
      `${objects} objects, ${bytes} bytes`,
    ]),
  ]
  const width = Math.max(...facts.map(([what]) => what.length))
  const lines = facts.map(([what, value]) => `${what.padEnd(width)}  ${value}`)
  await printFound(settings, lines, { kind: 'StoreStats', ...counts, kinds: biggestFirst }, host)
  return 0
}

const WORDS = {
  revision: 'newest revision',
  acknowledgedRevision: 'acknowledged at least',
  compactedRevision: 'history from revision',
  logEntries: 'log entries',
  versions: 'old versions',
  objects: 'objects',
  objectBytes: 'bytes of objects',
  diskBytes: 'bytes on disk',
  spaces: 'spaces',
} as const

export function folderOf(dataDir: string): FolderOptions {
  if (!existsSync(dataDir))
    throw new Error(`there is no data dir ${dataDir}: give the one of the server, with --data-dir`)
  return storeIn(dataDir)
}

function nothing({ path }: FolderOptions): string {
  return `there is no store in ${path} yet`
}

function summary({ inspection }: Read): string {
  const { objects, logEntries, state } = inspection
  return `${objects} objects and ${logEntries} log entries, up to revision ${state!.revision}`
}
