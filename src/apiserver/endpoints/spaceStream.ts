/**
 * GET
 * /services/stream/clusters/<space>[?resourceVersion=N|known=N&epoch=E&resources=deployments.apps,configmaps&brief=true&protocol=2-2&session=S]:
 * every change of a space, all kinds, one order, one cursor. Without a cursor it starts with a consistent snapshot that a `synced` bookmark
 * ends. `known` is a cursor that is too old to go on from. Objects that are unchanged since then come by name alone, in a line without
 * `object`.
 *
 * One JSON line an event: `{"type","space","group","version","resource","namespace","name","revision","object"}`. `BOOKMARK` lines carry
 * the cursor and the epoch of the store, to be sent with it. A syncer with a range of protocols also gets the chosen one. An `ERROR` line
 * carries a Status and is the last one. A `QUESTION` line comes to a syncer alone. A syncer's reports count while a stream names it by
 * `session`. Over WebSocket each line is one text message.
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { GroupResource } from '../../apimachinery/object.ts'
import type { LiveQuestion } from '../../placement/desks/liveObjects.ts'
import { agreedProtocol, type ProtocolRange, readProtocols } from '../../placement/desks/syncProtocol.ts'
import { readSession } from '../../placement/outcome/outcome.ts'
import type { Store, Stored } from '../../storage/store.ts'
import type { AuthorizedRequest } from '../access/accessControl.ts'
import type { Permission, UserInfo } from '../auth/types.ts'
import { EventLines } from '../exchange/answers/eventLines.ts'
import { type FrameSink, responseSink, writeEach } from '../exchange/answers/streamWriter.ts'
import type { WriteTurns } from '../exchange/answers/writeTurns.ts'
import type { OpenAccess } from '../exchange/openAccess.ts'
import { type Answer, CACHE_CONTROL, goneSignal } from '../http/answer.ts'
import { methodNotAllowed } from '../http/paths.ts'
import type { Request } from '../http/request.ts'
import { type ChangeType, type StreamPlan, stream } from '../operations/stream.ts'
import type { DerivedParts } from '../registry/derivedParts.ts'
import { knownRevision } from '../registry/readVersions.ts'
import type { StoreEpochs } from '../registry/storeEpochs.ts'
import type { StreamForms } from '../registry/streamForms.ts'

export const BOOKMARK_INTERVAL_MS = 60_000
/** A stream ends after 30 to 60 minutes and is resumed by its client: so a revoked credential does not read for ever. */
export const LIFETIME_MS = 1_800_000

export interface SpaceStreamDeps {
  store: Store
  epochs: Pick<StoreEpochs, 'current' | 'hold'> & Partial<Pick<StoreEpochs, 'restored'>>
  forms: StreamForms
  /** Without `brief` objects come whole. */
  derived?: DerivedParts | undefined
  draining: AbortSignal
  /** Default 60 s. */
  bookmarkIntervalMs?: number | undefined
  /** Aborts when the space is gone. */
  scope(space: string): AbortSignal
  random: () => number
  /** Whether objects of a kind are not for this reader, whatever else they may read of the space. Default: none are. */
  hides?: ((user: UserInfo, space: string, kind: GroupResource) => boolean) | undefined
  /** Ends what is open and may not be any more. */
  openAccess: Pick<OpenAccess, 'hold'>
  /** Called at the start of a reading of a space, which it may refuse; its answer is called at the end. */
  reading?: ((space: string, user: UserInfo, syncer: StreamingSyncer) => () => void) | undefined
}

export interface StreamingSyncer {
  readonly protocols: ProtocolRange
  /** As its reports name it. */
  readonly session?: string | undefined
  /** Asks it what its cluster holds. */
  readonly send: (question: LiveQuestion) => void
}

/** How a syncer's stream is to be. */
export interface SpaceStreamPlan extends StreamPlan {
  /** Protocols that a syncer supports. */
  protocols: ProtocolRange
  /** Whether the syncer sent them, and so gets the chosen one. */
  asksProtocol: boolean
  /** Session of a syncer: as its reports name it. */
  session: string | undefined
}

interface Change {
  type: ChangeType
  stored: Stored
}

/**
 * @throws StatusError BadRequest, Timeout (cursor of the future), Expired (cursor of a history that this store has not had)
 */
export function planStream(
  space: string,
  query: URLSearchParams,
  { store, epochs }: Pick<SpaceStreamDeps, 'store' | 'epochs'>,
): SpaceStreamPlan {
  const names = query.get('resources')
  const rv = query.get('resourceVersion')
  const after = rv ? knownRevision(rv, store.revision) : undefined
  const epoch = query.get('epoch')
  if (after !== undefined && epoch && !epochs.hold(epoch, after))
    throw new StatusError(
      'Expired',
      'the cursor is of another history: the store was restored since; begin without one',
    )
  const resources = names
    ?.split(',')
    .filter(name => name !== '')
    .map(parseResourceName)
  const brief = query.get('brief') === 'true'
  const known = after === undefined ? knownOf(query.get('known'), epoch, epochs) : undefined
  const protocols = readProtocols(query.get('protocol'))
  return {
    space,
    resources: resources && resources.length > 0 ? resources : undefined,
    after,
    brief,
    known,
    protocols,
    asksProtocol: query.has('protocol'),
    session: readSession(query.get('session')),
  }
}

/** Only of a history that is ours: the same revision of another one is another object. */
function knownOf(text: string | null, epoch: string | null, epochs: Pick<StoreEpochs, 'hold'>): number | undefined {
  if (text === null || !/^\d{1,15}$/.test(text) || !epoch) return undefined
  const revision = Number(text)
  return epochs.hold(epoch, revision) ? revision : undefined
}

function parseResourceName(name: string): GroupResource {
  const dot = name.indexOf('.')
  return dot < 0 ? { group: '', resource: name } : { group: name.slice(dot + 1), resource: name.slice(0, dot) }
}

export interface StreamReader {
  gone: AbortSignal
  user: UserInfo
  permission: Permission
}

/** Runs until either side ends it. @throws the server's own faults, once the client has received them */
export async function runSpaceStream(
  deps: SpaceStreamDeps,
  plan: SpaceStreamPlan,
  sink: FrameSink,
  { gone, user, permission }: StreamReader,
): Promise<void> {
  const ask = (question: LiveQuestion): void => void sink.write([questionLine(question)])
  const lived = new AbortController()
  const lifetime = setTimeout(() => lived.abort(), LIFETIME_MS * (1 + deps.random()))
  // plainly: its reader is refused, and learns why, when it comes back
  const held = deps.openAccess.hold(permission, () => {
    if (sink.busy) sink.end()
    lived.abort()
  })
  const signal = AbortSignal.any([gone, lived.signal, deps.draining, deps.scope(plan.space)])
  let ended: (() => void) | undefined
  let protocol: number | undefined
  const bookmark = (revision: number, synced = false): Buffer => {
    const { current: epoch, restored } = deps.epochs
    const line = { type: 'BOOKMARK', revision, epoch, ...(synced && { synced }), ...(restored && { restored: true }) }
    return Buffer.from(`${JSON.stringify({ ...line, ...(protocol !== undefined && { protocol }) })}\n`)
  }
  let isCaughtUp = (): boolean => false
  const ticker = setInterval(() => {
    const { revision } = deps.store
    if (isCaughtUp() && !sink.busy && !signal.aborted) void sink.write([bookmark(revision)])
  }, deps.bookmarkIntervalMs ?? BOOKMARK_INTERVAL_MS)
  // a resumed reader waits for the end of its backlog: in a quiet space no other event would show it
  let isAwaited = plan.after !== undefined
  const sendWhenCaughtUp = (): void => {
    if (!isAwaited) return
    setImmediate(() => {
      const { revision } = deps.store
      if (!isAwaited || !isCaughtUp() || signal.aborted) return
      isAwaited = false
      void sink.write([bookmark(revision)])
    })
  }
  const onLive = (isWaiting: () => boolean): void => {
    isCaughtUp = isWaiting
    sendWhenCaughtUp()
  }
  const eventOf = (type: ChangeType, stored: Stored): Change => ({ type, stored })
  const lines = new EventLines(deps.forms, plan.known)
  const { hides } = deps
  try {
    const { protocols, session } = plan
    ended = deps.reading?.(plan.space, user, { protocols, session, send: ask })
    if (plan.asksProtocol) protocol = agreedProtocol(plan.protocols)
    // a reader learns first which protocol is spoken, and in which life of the store it goes on
    const isBookmarked = plan.asksProtocol || plan.after !== undefined
    if (isBookmarked && !(await sink.write([bookmark(plan.after ?? 0)]))) return
    for await (const { events, revision, synced } of stream(deps, plan, { signal, onLive, eventOf })) {
      const shown = hides ? events.filter(({ stored }) => !hides(user, plan.space, stored.key)) : events
      if (!(await writeEach(sink, shown, ({ type, stored }) => lines.of(type, stored)))) return
      if (synced && !(await sink.write([bookmark(revision, true)]))) return
      sendWhenCaughtUp()
    }
  } catch (error) {
    const status = error instanceof StatusError ? error : statusError.internal(error)
    await sink.write([Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status.toStatus() })}\n`)])
    if (status !== error) throw error
  } finally {
    held.release()
    ended?.()
    clearInterval(ticker)
    clearTimeout(lifetime)
    sink.end()
  }
}

/** Not an event of the space: it has no place in the order. */
function questionLine(question: LiveQuestion): Buffer {
  return Buffer.from(`${JSON.stringify({ type: 'QUESTION', question })}\n`)
}

/**
 * Duration of a silence on a stream. The kernel then probes once a second, and ends the connection after ten probes without an answer.
 */
export const PROBE_AFTER_MS = 20_000

/** The stream as the answer to a request. @throws StatusError as {@link planStream}, MethodNotAllowed */
export async function openStream(
  deps: SpaceStreamDeps,
  turns: WriteTurns,
  { request, answer, authorized }: { request: Request; answer: Answer; authorized: AuthorizedRequest },
): Promise<void> {
  if (request.method !== 'GET') {
    answer.header('allow', 'GET')
    throw methodNotAllowed()
  }
  const { space, info, user, permission } = authorized
  const plan = planStream(space, info.query, deps)
  answer.stream({ 'cache-control': CACHE_CONTROL, 'content-type': 'application/json' })
  // the kernel asks a quiet peer whether it is there: of a lost network nothing else would tell for minutes
  answer.socket?.setKeepAlive(true, PROBE_AFTER_MS)
  // each makes its own lines
  const sink = responseSink(answer, turns.of(request.ticket?.flow.path ?? []), { isAlone: true })
  await runSpaceStream(deps, plan, sink, { gone: goneSignal(answer), user, permission: permission! })
}
