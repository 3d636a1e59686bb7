/** `orrery backup`: an archive of a server, taken over HTTPS while it serves, or out of the data dir of one that does not run. */
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { isStatusError } from '../../../apimachinery/errors.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import { BACKUP_PATH } from '../../../apiserver/backup/backupPath.ts'
import { newSeal, type Seal } from '../../../apiserver/backup/sealedFiles.ts'
import { serverArchive } from '../../../apiserver/backup/serverArchive.ts'
import { systemClock } from '../../../client/clock.ts'
import { httpServer } from '../../../client/http/httpClient.ts'
import { WorkTurns } from '../../../program/workTurns.ts'
import { openEngine } from '../../../storage/openEngine.ts'
import { isStorageError } from '../../../storage/store.ts'
import { durationMs } from '../../shell/durations.ts'
import { withSession } from '../../shell/session/session.ts'
import { type Host, printFound } from '../host.ts'
import { folderOf } from '../store/store.ts'
import { named, writeArchiveFile } from './archiveFile.ts'
import { archivePath, assertFolder, holdsKeys, keepNewest } from './archiveFolder.ts'
import { passphraseIn } from './keyFile.ts'
import { rounds } from './rounds.ts'
import { keysLine, shownSize } from './words.ts'

interface BackupSettings {
  readonly file?: string
  readonly dataDir?: string
  readonly keyFile?: string
  readonly kubeconfig?: string | undefined
  readonly context?: string | undefined
  readonly every?: string
  readonly keep?: number
}

/** An archive that is whole, and the revision that it shows. */
interface Taken {
  readonly path: string
  readonly revision: number
  readonly hasKeys: boolean
}

/** More often is no backup but a load. */
const LEAST_EVERY_MS = 60_000

/** Objects between two lines of progress. */
const PROGRESS_OBJECTS = 50_000

export async function backup(settings: Record<string, unknown>, host: Host): Promise<number> {
  const { file, dataDir, kubeconfig, every, keep } = settings as BackupSettings
  if (file === undefined) throw new Error('name the file that the archive goes to, or a folder')
  if (dataDir !== undefined && kubeconfig !== undefined)
    throw new Error(
      '--data-dir is of a server that does not run, --kubeconfig leads to one that does: give one of them',
    )
  const everyMs = every === undefined ? undefined : everyMsOf(every)
  if (everyMs !== undefined) await assertFolder(file, '--every')
  if (keep !== undefined) await assertFolder(file, '--keep')
  const ending = new AbortController()
  void host.terminated().then(() => ending.abort(new Error('it was ended by a signal, and no archive was written')))
  const take = async (): Promise<Taken> => await takeOne({ ...settings, file }, host, ending.signal)
  if (everyMs === undefined) {
    const taken = await take()
    if (keep !== undefined) await removeOlder(file, { keep, ...taken }, host)
    return 0
  }
  const failed = (error: unknown): void => host.err(`orrery backup: ${messageOf(error)}`)
  const round = async (): Promise<void> => {
    const taken = await take()
    // the archive is there: another one in a few minutes would only add to those that stay
    if (keep !== undefined) await removeOlder(file, { keep, ...taken }, host).catch(failed)
  }
  await rounds(round, { everyMs, clock: systemClock, signal: ending.signal, failed })
  return 0
}

function everyMsOf(every: string): number {
  const ms = durationMs(String(every))
  if (ms !== undefined && ms >= LEAST_EVERY_MS) return ms
  throw new Error(`--every: ${JSON.stringify(every)} is no time of a minute or more, such as 6h or 90m`)
}

async function takeOne(
  settings: BackupSettings & { readonly file: string },
  host: Host,
  signal: AbortSignal,
): Promise<Taken> {
  const { file, dataDir, keyFile, kubeconfig, context } = settings
  const path = await archivePath(file, Date.now())
  const seal = keyFile === undefined ? undefined : await newSeal(await passphraseIn(keyFile))
  let [shown, hasKeys] = [0, false]
  const take = async (archive: AsyncIterable<Buffer>): Promise<void> => {
    let [expected, objects] = [0, 0]
    const { header, ...content } = await named(
      path,
      writeArchiveFile(path, archive, {
        signal,
        header(found) {
          expected = found.objects
          host.err(`${expected} objects as of revision ${found.revision}`)
        },
        object() {
          objects++
          if (objects % PROGRESS_OBJECTS === 0) host.err(`${objects} of ${expected} objects`)
        },
      }),
    )
    const { revision, takenAt, sealed, outside } = header
    shown = revision
    hasKeys = holdsKeys(header)
    const found = { kind: 'Backup', file: path, ...content, revision, takenAt, keys: sealed?.names ?? [], outside }
    const line = `wrote ${path}: ${content.objects} objects as of revision ${revision}, ${shownSize(content.bytes)}; ${keysLine(header)}`
    await printFound({ ...settings }, [line], found, host)
  }
  try {
    if (dataDir === undefined) await ofServer({ kubeconfig, context }, { seal, signal }, take)
    else await ofFolder(dataDir, seal, take)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
  return { path, revision: shown, hasKeys }
}

async function removeOlder(folder: string, { path, ...kept }: Taken & { keep: number }, host: Host): Promise<void> {
  const { gone, foreign, withKeys } = await keepNewest(folder, { ...kept, last: basename(path) }).catch(error => {
    throw new Error(`${path} is whole, and older archives cannot be removed: ${messageOf(error)}`, { cause: error })
  })
  if (gone.length > 0) host.err(`removed ${gone.join(', ')}`)
  if (foreign.length > 0)
    host.err(
      `kept ${foreign.length} archives of revisions beyond ${kept.revision}, such as ${foreign[0]}: they are of another server, or this one has lost data`,
    )
  if (withKeys.length > 0)
    host.err(`kept ${withKeys.length} archives with keys, such as ${withKeys[0]}: this one has none, see --key-file`)
}

type Take = (archive: AsyncIterable<Buffer>) => Promise<void>

async function ofServer(
  { kubeconfig, context }: Pick<BackupSettings, 'kubeconfig' | 'context'>,
  { seal, signal }: { seal: Seal | undefined; signal: AbortSignal },
  take: Take,
): Promise<void> {
  const body = seal && { seal: { ...seal, key: seal.key.toString('base64') } }
  await withSession({ ...(kubeconfig && { kubeconfig }), ...(context && { context }) }, async ({ options }) => {
    const server = httpServer(options)
    try {
      await take(server.bytes({ method: 'POST', path: BACKUP_PATH, accept: '*/*', signal, ...(body && { body }) }))
    } catch (error) {
      if (!isStatusError(error, 'NotFound')) throw error
      throw new Error(`${options.server} gives no backups: upgrade the server, or stop it and give --data-dir`, {
        cause: error,
      })
    } finally {
      server.close()
    }
  })
}

async function ofFolder(dataDir: string, seal: Seal | undefined, take: Take): Promise<void> {
  const { path, established } = folderOf(dataDir)
  const nothing = (): Error => new Error(`there is nothing in the store of ${dataDir} yet`)
  // to open one would make it
  if (!established && !existsSync(path)) throw nothing()
  const store = await openEngine('disk', { dataDir }).catch(error => {
    if (!isStorageError(error, 'Locked')) throw error
    const way = `leave --data-dir out, and give --kubeconfig ${dataDir}/admin.kubeconfig`
    throw new Error(`a server runs on ${dataDir}: ${way}`, { cause: error })
  })
  try {
    if (store.revision === 0) throw nothing()
    const work = new WorkTurns({ clock: () => performance.now() }).begin({ owner: '' })
    await take(serverArchive({ store, dataDir, seal, nowMs: Date.now(), work }))
  } finally {
    await store.close()
  }
}
