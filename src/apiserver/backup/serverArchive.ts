/** The archive of a server: its store, and the keys of its data folder where the asker seals them. */
import { join } from 'node:path'
import { programVersion } from '../../program/programVersion.ts'
import { readIfExists } from '../../program/replacedFiles.ts'
import type { Work } from '../../program/workTurns.ts'
import { writeArchive } from '../../storage/archive/writeArchive.ts'
import type { Store } from '../../storage/store.ts'
import { type Files, SEALABLE, type Seal, seal } from './sealedFiles.ts'

export interface ServerArchiveOptions {
  store: Pick<Store, 'revision' | 'count' | 'slices'>
  dataDir: string
  /** Absent: the keys are left out. */
  seal?: Seal | undefined
  /** The settings that the server runs with, by the names of their flags. */
  settings?: Readonly<Record<string, unknown>> | undefined
  nowMs: number
  work: Work
}

/** Settings that name files. */
const FILES = /^config$|-file$|-cert-key$|-kubeconfig$/

/** @throws as {@link writeArchive} */
export async function* serverArchive(options: ServerArchiveOptions): AsyncGenerator<Buffer, void, void> {
  const { store, dataDir, settings = {}, nowMs, work } = options
  const { name, version } = programVersion()
  const files = options.seal && (await keysIn(dataDir))
  const outside = Object.entries(settings).flatMap(([setting, value]) =>
    FILES.test(setting) && typeof value === 'string' && value !== '' ? [[setting, value]] : [],
  )
  yield* writeArchive(store, {
    program: `${name} ${version}`,
    takenAt: new Date(nowMs).toISOString(),
    outside: Object.fromEntries(outside),
    sealed: files && {
      facts: { names: Object.keys(files), salt: options.seal!.salt, cost: options.seal!.cost },
      bytes: seal(files, options.seal!),
    },
    work,
  })
}

async function keysIn(dataDir: string): Promise<Files> {
  const files: Record<string, string> = {}
  for (const path of SEALABLE) {
    const text = await readIfExists(join(dataDir, path))
    if (text !== undefined) files[path] = text
  }
  return files
}
