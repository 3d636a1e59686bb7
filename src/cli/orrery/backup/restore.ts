/**
 * `orrery restore`: makes the data dir of a server of an archive, in an empty folder alone. The result is there whole or not at all: a server
 * does not start on a folder whose restore was cut short. Another restore into that folder begins anew.
 */

import { createReadStream } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { record } from '../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { type Files, SEALABLE } from '../../../apiserver/backup/sealedFiles.ts'
import { encodeObject } from '../../../apiserver/registry/codec.ts'
import { StoreEpochs } from '../../../apiserver/registry/storeEpochs.ts'
import { SYNC_TARGETS } from '../../../placement/words/placement.ts'
import { writePrivateFile } from '../../../program/replacedFiles.ts'
import type { ArchiveHeader } from '../../../storage/archive/archive.ts'
import { type RestoredArchive, restoreArchive } from '../../../storage/archive/restoreArchive.ts'
import { RESTORING, storeIn } from '../../../storage/level/storeFolder.ts'
import { openEngine } from '../../../storage/openEngine.ts'
import type { Key, Store } from '../../../storage/store.ts'
import { type Host, printFound } from '../host.ts'
import { makeFolder } from '../process/privateFolder.ts'
import { named, readArchiveFile } from './archiveFile.ts'
import { Unsealed } from './unsealed.ts'

interface RestoreSettings {
  readonly file?: string
  readonly dataDir?: string
  readonly keyFile?: string | undefined
  readonly withoutKeys?: boolean | undefined
}

/** A file system of its own may have it from birth. */
const OF_DISK = 'lost+found'
const PKI = 'pki'
/** All that a restore makes. */
const MADE: readonly string[] = [RESTORING, PKI, 'store', 'store.acknowledged']

export async function restore(settings: Record<string, unknown>, host: Host): Promise<number> {
  const { file, dataDir, keyFile, withoutKeys } = settings as RestoreSettings
  if (file === undefined) throw new Error('name the archive')
  if (dataDir === undefined)
    throw new Error('--data-dir is required: an empty folder, for a server that does not run yet')
  await leftIn(dataDir)
  const unsealed = new Unsealed(keyFile)
  // all of it, before anything is written
  const { header } = await readArchiveFile(file, {
    header: found => assertKeys(found, { keyFile, withoutKeys }),
    sealed: bytes => unsealed.take(bytes),
  })
  const keys = await unsealed.open(header)
  const nowMs = Date.now()
  const restored = await restoreInto(dataDir, file, { keys, nowMs })
  const { objects, revision, lifted } = restored
  const { revision: before, takenAt, outside } = header
  const lines = [
    `restored ${objects} objects into ${dataDir}: as of revision ${before}, ${takenAt}; the store goes on at revision ${revision}`,
    ...(keys
      ? []
      : ['the server makes new keys when it starts: kubeconfigs, tokens and credentials of syncers have ended']),
    ...Object.entries(outside).map(([flag, value]) => `not in the archive: --${flag} ${value}`),
    ...lifted.map(name => `SyncTarget ${name} is not evicted any more: drain it again if its cluster shall be empty`),
    'credentials that were revoked since are good again: revoke them once more',
    `start the server with --data-dir ${dataDir}; then "orrery restore status" lists what clusters hold beyond the archive`,
  ]
  const found = { kind: 'Restore', dataDir, file, objects, takenAt, archivedRevision: before, revision }
  await printFound(settings, lines, { ...found, keys: Object.keys(keys ?? {}), lifted, outside }, host)
  return 0
}

function assertKeys(
  { sealed }: ArchiveHeader,
  { keyFile, withoutKeys }: Pick<RestoreSettings, 'keyFile' | 'withoutKeys'>,
): void {
  if (withoutKeys || (sealed && keyFile !== undefined)) return
  const way =
    '--without-keys restores without them: the server makes new ones, and kubeconfigs, tokens and credentials of syncers end'
  throw new Error(
    sealed
      ? `the keys in the archive are sealed: give --key-file with the passphrase of that time; or ${way}`
      : `the archive has no keys of the server. ${way}, unless you put the pki/ folder of that server into the data dir before it starts`,
  )
}

/**
 * Remains of an interrupted restore in the folder. Keys there are its own where `keys` has the same.
 * @throws Error where the folder holds anything else
 */
async function leftIn(dataDir: string, keys?: Files): Promise<string[]> {
  makeFolder(dataDir)
  const entries = (await readdir(dataDir)).filter(name => name !== OF_DISK)
  const others = entries.includes(RESTORING) ? entries.filter(name => !MADE.includes(name)) : [...entries]
  if (others.length === 0 && entries.includes(PKI) && keys !== undefined)
    for (const name of await readdir(join(dataDir, PKI))) {
      const file = `${PKI}/${name}`
      if (SEALABLE.includes(file) && (await readFile(join(dataDir, file), 'utf8')) !== keys[file]) others.push(file)
    }
  if (others.length === 0) return entries
  const examples = others.slice(0, 3).join(', ')
  throw new Error(
    `${dataDir} is not empty (${examples}): nothing is overwritten; give another --data-dir, or stop its server and move the folder away`,
  )
}

async function restoreInto(
  dataDir: string,
  file: string,
  { keys, nowMs }: { keys: Files | undefined; nowMs: number },
): Promise<RestoredArchive & { lifted: string[] }> {
  // again: to read an archive takes a while
  for (const left of await leftIn(dataDir, keys ?? {})) await rm(join(dataDir, left), { recursive: true, force: true })
  const making = join(dataDir, RESTORING)
  await mkdir(making, { mode: 0o700 })
  const { path } = storeIn(making)
  const evicted: Key[] = []
  const restored = await named(
    file,
    restoreArchive(createReadStream(file), {
      path,
      nowMs,
      object({ key, bytes }) {
        if (isEvicted(key, bytes)) evicted.push(key)
      },
    }),
  )
  const store = await openEngine('disk', { dataDir: making })
  let lifted: string[]
  try {
    const { revision, takenAt } = restored.header
    lifted = await withoutEvictions(store, evicted)
    await StoreEpochs.restored(store, revision, { takenAt, restoredAt: new Date(nowMs).toISOString() })
  } finally {
    await store.close()
  }
  for (const [name, text] of Object.entries(keys ?? {})) await writePrivateFile(join(making, name), text)
  // the store comes last: a folder without one is not taken for that of a server
  const made = (await readdir(making)).sort((a, b) => Number(a === 'store') - Number(b === 'store'))
  for (const name of made) await rename(join(making, name), join(dataDir, name))
  await rmdir(making)
  return { ...restored, lifted }
}

/** A cheap look at the text of a SyncTarget. */
function isEvicted({ group, resource }: Key, bytes: Buffer): boolean {
  return group === SYNC_TARGETS.group && resource === SYNC_TARGETS.resource && bytes.includes('"evictAfter"')
}

/**
 * An eviction may have been lifted since the archive, and would empty its cluster anew: it counts no more. The cluster gets nothing new, as
 * `spec.unschedulable` stays.
 * @returns the SyncTargets
 */
async function withoutEvictions(store: Pick<Store, 'update'>, keys: readonly Key[]): Promise<string[]> {
  const lifted: string[] = []
  for (const key of keys) {
    const outcome = await store.update(key, stored => {
      const object = JSON.parse(stored!.bytes.toString()) as KubeObject
      const { evictAfter, ...spec } = record(object.spec)
      if (evictAfter === undefined) return undefined
      lifted.push(`${key.name} (${key.space})`)
      const note = stored!.note === undefined ? {} : { note: stored!.note }
      return { type: 'put', text: { ...encodeObject({ ...object, spec }), ...note } }
    })
    if (!outcome.ok) throw new Error(outcome.refused.message)
  }
  return lifted
}
