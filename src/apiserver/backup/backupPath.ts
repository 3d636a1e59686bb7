/**
 * `POST /backup`: an archive of the whole server, as of one revision, while it serves. About the server as a whole: a right in root. The body may
 * have a seal for the server's keys ({@link readSeal}), which are left out otherwise. An answer that broke off is no archive.
 */
import { StatusError } from '../../apimachinery/errors.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { Abandoned, type WorkTurns } from '../../program/workTurns.ts'
import type { Store } from '../../storage/store.ts'
import { CACHE_CONTROL } from '../http/answer.ts'
import type { PathEntry } from '../http/paths.ts'
import type { Request } from '../http/request.ts'
import type { Logger } from '../request/logger.ts'
import { ROOT } from '../spaces/tree.ts'
import { readSeal, type Seal } from './sealedFiles.ts'
import { serverArchive } from './serverArchive.ts'

export const BACKUP_PATH = '/backup'
/** A client that takes less in such a time is given up: memory keeps replaced versions for it, and it holds the one place. */
export const LEAST_PACE = { bytes: 4 * 1024 * 1024, ms: 60_000 }

export interface BackupDeps {
  store: Pick<Store, 'revision' | 'count' | 'slices'>
  dataDir: string
  settings: Readonly<Record<string, unknown>> | undefined
  turns: Pick<WorkTurns, 'begin'>
  /** Milliseconds since the epoch. */
  clock: () => number
  after: (ms: number, call: () => void) => () => void
  log: Logger
}

export function backupPath(deps: BackupDeps): PathEntry {
  const { turns, log, clock } = deps
  /** One at a time: each keeps in memory what is replaced under it. */
  let running: { readonly user: string; readonly since: string } | undefined
  return {
    path: BACKUP_PATH,
    methods: ['POST'],
    isServerWide: true,
    isUnlisted: true,
    async handle(request, answer, { user }) {
      const seal = sealIn(request)
      if (running !== undefined)
        throw new StatusError(
          'Conflict',
          `${running.user} takes a backup since ${running.since}: one is taken at a time, try again when that has ended`,
        )
      const nowMs = clock()
      running = { user: user.name, since: timestamp(new Date(nowMs)) }
      const work = turns.begin({ owner: ROOT, isAbandoned: () => answer.destroyed })
      const archive = serverArchive({ ...deps, seal, nowMs, work })
      try {
        // an error until here is a Status; behind it the answer breaks off
        const first = await archive.next()
        log.info({ user: user.name, keys: seal !== undefined }, 'a backup is taken')
        answer.stream({ 'cache-control': CACHE_CONTROL, 'content-type': 'application/octet-stream' })
        await answer.writeAll(inTime(first.value as Buffer, archive, deps, () => answer.destroy()))
      } catch (error) {
        if (!answer.headersSent) throw error
        if (!(error instanceof Abandoned)) log.error({ err: error }, `a backup broke off: ${messageOf(error)}`)
        answer.destroy()
      } finally {
        running = undefined
        await archive.return()
      }
    },
  }
}

/** @throws StatusError BadRequest */
function sealIn({ body }: Request): Seal | undefined {
  if (body === undefined || body.length === 0) return undefined
  let sent: unknown
  try {
    sent = JSON.parse(body.toString())
  } catch (error) {
    throw new StatusError(
      'BadRequest',
      'the body is no JSON: send { "seal": { "key", "salt", "cost" } }, or none',
      {},
      { cause: error },
    )
  }
  if (!isRecord(sent) || sent.seal === undefined) return undefined
  const seal = readSeal(sent.seal)
  if (seal === undefined)
    throw new StatusError(
      'BadRequest',
      'seal: must have a key of 32 bytes and a salt, both base64, and a cost from 1 to 20',
    )
  return seal
}

/** Its last piece may be smaller than {@link LEAST_PACE}, and no slower. */
async function* inTime(
  first: Buffer,
  rest: AsyncIterable<Buffer>,
  { after, log }: Pick<BackupDeps, 'after' | 'log'>,
  giveUp: () => void,
): AsyncGenerator<Buffer> {
  const slow = (): void => {
    log.warn({ seconds: LEAST_PACE.ms / 1000, taken }, 'a backup is given up: its client takes too little')
    giveUp()
  }
  let taken = 0
  let cancel = after(LEAST_PACE.ms, slow)
  try {
    yield first
    for await (const piece of rest) {
      if (taken >= LEAST_PACE.bytes) {
        cancel()
        cancel = after(LEAST_PACE.ms, slow)
        taken = 0
      }
      taken += piece.length
      yield piece
    }
  } finally {
    cancel()
  }
}
