/**
 * GET …?watch=1: initial events on request, then every change behind a revision, with bookmarks.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { type FieldError, fieldError } from '../../apimachinery/fieldErrors.ts'
import { PROTOBUF_WATCH_MEDIA_TYPE } from '../../apimachinery/protobuf/protobufCodec.ts'
import type { Work } from '../../program/workTurns.ts'
import type { Permission } from '../auth/types.ts'
import { headers } from '../exchange/answers/answerPieces.ts'
import { type FrameSink, responseSink, writeEach } from '../exchange/answers/streamWriter.ts'
import { type WatchFrames, watchFrames } from '../exchange/answers/watchFrames.ts'
import { wholeItems } from '../exchange/answers/wholeItems.ts'
import { boolOption, type Exchange, intOption, type Services, workOf } from '../exchange/exchange.ts'
import { goneSignal } from '../http/answer.ts'
import { notAcceptable, WATCH_MEDIA_TYPES } from '../http/negotiate.ts'
import { readerOf } from '../registry/answeredKinds.ts'
import type { ListResult } from '../registry/reader.ts'
import { knownRevision } from '../registry/readVersions.ts'
import { holdViews, prepareViews } from '../registry/views.ts'
import { type Collection, collectionOf } from './collection.ts'
import { showsWorkspaces, sightOf, type WorkspaceSight } from './workspaceSight.ts'

/** Facts of its request that a watch needs, apart from the transport. */
export type WatchTarget = Pick<Exchange, 'info' | 'resource' | 'space' | 'type' | 'form' | 'user'>

export const BOOKMARK_INTERVAL_MS = 60_000
/** Without timeoutSeconds a watch ends after 30 to 60 minutes, as upstream does to spread reconnects. */
export const DEFAULT_TIMEOUT_SECONDS = 1800
/** The longest that a client may ask for: clients resume a watch anyway. */
export const LONGEST_TIMEOUT_SECONDS = 2 * DEFAULT_TIMEOUT_SECONDS
/** Bytes of the initial objects of a watch that are handed over at once. */
const INITIAL_BATCH_BYTES = 64 * 1024

export async function watchEndpoint(services: Services, exchange: Exchange): Promise<void> {
  // A webhook may have to convert the initial objects: a watch has a budget of its own, so it needs no seat for that.
  if (exchange.type.custom?.convert) exchange.request.ticket?.releaseSeat()
  const plan = await planOf(services, exchange, workOf(services, exchange))
  const { answer } = exchange
  const contentType = exchange.form.format === 'protobuf' ? PROTOBUF_WATCH_MEDIA_TYPE : 'application/json'
  answer.stream({ ...headers(exchange), 'content-type': contentType })
  const turns = services.turns.of(exchange.request.ticket?.flow.path ?? [])
  const reader = { gone: goneSignal(answer), permission: exchange.request.authorized!.permission! }
  await runWatch(services, exchange, plan, responseSink(answer, turns), reader)
}

export interface WatchPlan {
  collection: Collection
  /** Objects to send as ADDED first; absent once they are sent. */
  initial: ListResult | undefined
  /** Whether a bookmark tells that the initial events are over. */
  marksInitialEnd: boolean
  after: number
  bookmarks: boolean
  timeoutMs: number
  /** Changes that the user sees; absent: all. */
  seen?: ReturnType<WorkspaceSight['follow']>
  sight?: WorkspaceSight | undefined
}

export interface WatchReader {
  gone: AbortSignal
  permission: Permission
}

/** Reads the options and takes the snapshot, so that errors are still plain answers. @throws StatusError */
export async function planOf(services: Services, exchange: WatchTarget, work?: Work): Promise<WatchPlan> {
  const { query } = exchange.info
  if (exchange.form.format === 'yaml') throw notAcceptable(WATCH_MEDIA_TYPES)
  const collection = collectionOf(services, exchange)
  const { selection } = collection
  const bookmarks = boolOption(query, 'allowWatchBookmarks')
  const sendInitial = query.get('sendInitialEvents')
  checkInitialEvents(sendInitial, query.get('resourceVersionMatch'))
  const reader = readerOf(services, exchange.type)
  const revision = knownRevision(query.get('resourceVersion') ?? '', reader.revision)
  const wantsInitial = sendInitial === null ? revision === 0 : sendInitial === 'true'
  const sight = await sightOf(services.authorizer, exchange)
  const present =
    wantsInitial || sight
      ? await reader.list(exchange.type, {
          ...collection,
          selection: sight ? sight.narrowed(selection) : selection,
          work,
        })
      : undefined
  const whole = wantsInitial && present ? await wholeItems(services, exchange.type, present, work) : present
  const initial = wantsInitial && whole ? await (sight?.shownAll(whole, work) ?? whole) : undefined
  // as upstream: none is the default, and below it the watch ends at once
  const seconds = intOption(query, 'timeoutSeconds') || DEFAULT_TIMEOUT_SECONDS * (1 + services.deps.random())
  return {
    collection,
    initial,
    marksInitialEnd: sendInitial === 'true' && bookmarks,
    after: initial ? initial.revision : revision === 0 ? reader.revision : revision,
    bookmarks,
    timeoutMs: Math.min(Math.max(seconds, 0), LONGEST_TIMEOUT_SECONDS) * 1000,
    sight,
    ...(sight && present && { seen: sight.follow(namesOf(present), present.revision, selection) }),
  }
}

function namesOf({ items }: ListResult): string[] {
  return items.map(({ key }) => key.name)
}

function checkInitialEvents(sendInitial: string | null, match: string | null): void {
  const at = 'resourceVersionMatch'
  const invalid = (...errors: FieldError[]): StatusError => statusError.invalidOptions('ListOptions', ...errors)
  if (sendInitial === null) {
    const why = 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'
    if (match) throw invalid(fieldError.forbidden(at, why))
    return
  }
  if (match === 'NotOlderThan') return
  const why = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'
  throw invalid(fieldError.forbidden(at, why), ...(match ? [fieldError.notSupported(at, match, ['NotOlderThan'])] : []))
}

/**
 * Runs until either side ends it. Errors after the start travel as an ERROR event.
 * @throws the server's own faults, once the client has received them
 */
export async function runWatch(
  services: Services,
  exchange: WatchTarget,
  plan: WatchPlan,
  sink: FrameSink,
  { gone, permission }: WatchReader,
): Promise<void> {
  const ended = new AbortController()
  const held = services.openAccess.hold(seenBy(services, exchange, plan, permission), () => {
    // whoever reads too slowly gets nothing more
    if (sink.busy) sink.end()
    ended.abort()
  })
  const scope = services.watchScope(exchange.space, exchange.type.group, exchange.type.resource)
  const signal = AbortSignal.any([gone, ended.signal, services.draining, scope.gone])
  const timeout = setTimeout(() => ended.abort(), plan.timeoutMs)
  const reader = readerOf(services, exchange.type)
  let shown = exchange
  let form = watchFrames(services, exchange)
  let isCaughtUp = (): boolean => false
  const mark = (): void => {
    // read first: a reader of something new by that is not caught up
    const { revision } = reader
    if (isCaughtUp() && !sink.busy && !signal.aborted) void sink.write([form.bookmark(revision, false)])
  }
  const ticker = plan.bookmarks ? setInterval(mark, services.bookmarkIntervalMs ?? BOOKMARK_INTERVAL_MS) : undefined
  try {
    const work = services.work.begin({ owner: exchange.space })
    if (plan.initial) {
      const letGo = holdViews(exchange.type)
      const isOpen = await sendInitial(plan, { sink, work, signal, ...form }).finally(letGo)
      // a watch goes on for long, and these may be changed by then, or were made for it
      plan.initial = undefined
      if (!isOpen) {
        if (held.refusal !== undefined) throw held.refusal
        return
      }
    }
    for await (const batch of reader.watch(exchange.type, {
      ...plan.collection,
      after: plan.after,
      signal,
      closing: scope.closing,
      derived: services.derived,
      onLive: isWaiting => {
        isCaughtUp = isWaiting
      },
    })) {
      // A definition may change while its objects are watched: each event is shown as the kind is now.
      const { group, version, resource } = exchange.type
      const kinds = services.types.in(exchange.space)
      const found = kinds.find(group, version, resource)
      // Last events of a kind that is gone are to come. A version that is gone alone has no form any more, nor one that spaces define
      // otherwise.
      const isThere = (): boolean =>
        kinds.versions(group, resource).length > 0 || (kinds.definitions?.(group, resource).length ?? 0) > 0
      if (found === undefined && isThere()) return
      const type = found ?? shown.type
      if (type !== shown.type) {
        shown = { ...exchange, type }
        form = watchFrames(services, shown)
      }
      if (type !== exchange.type && type.custom?.convert) {
        await prepareViews(
          batch.map(({ stored }) => stored),
          type,
        )
      }
      const seen = plan.seen ? await plan.seen(batch) : batch
      if (seen.length === 0) continue
      const { render } = form
      // a reader with room for more, as most have, is checked at once
      const isOpen = writeEach(sink, seen, ({ type, stored }) => render(type, stored))
      if (isOpen !== true && !(await isOpen)) return
    }
    if (held.refusal !== undefined) throw held.refusal
  } catch (error) {
    const status = error instanceof StatusError ? error : statusError.internal(error)
    await sink.write([form.failure(status)])
    if (status !== error) throw error
  } finally {
    held.release()
    clearTimeout(timeout)
    clearInterval(ticker)
    sink.end()
  }
}

/** With what the user sees of Workspaces: who sees less than when the watch began is to list again. */
function seenBy(services: Services, exchange: WatchTarget, plan: WatchPlan, permission: Permission): Permission {
  const judge = async (anew: boolean): Promise<void> => {
    await permission.judge(anew)
    const sight = await sightOf(services.authorizer, exchange)
    if (sight?.isLessThan(plan.sight)) throw new StatusError('Expired', 'fewer Workspaces may be seen now: list again')
  }
  if (!showsWorkspaces(exchange.type)) return permission
  const { space } = permission
  return {
    space,
    get identity() {
      return permission.identity
    },
    judge,
  }
}

async function sendInitial(
  plan: WatchPlan,
  {
    sink,
    work,
    signal,
    render,
    bookmark,
  }: { sink: FrameSink; work: Work; signal: AbortSignal } & Pick<WatchFrames, 'render' | 'bookmark'>,
): Promise<boolean> {
  const { items, revision } = plan.initial!
  let frames: Buffer[] = []
  let bytes = 0
  for (const stored of items) {
    const frame = render('ADDED', stored)
    frames.push(frame)
    bytes += frame.length
    const isDue = work.due
    if (!isDue && bytes < INITIAL_BATCH_BYTES) continue
    if (signal.aborted || !(await sink.write(frames))) return false
    frames = []
    bytes = 0
    if (isDue) await work.rest()
  }
  if (frames.length > 0 && !(await sink.write(frames))) return false
  return plan.marksInitialEnd ? await sink.write([bookmark(revision, true)]) : true
}
