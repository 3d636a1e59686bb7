/**
 * Sends Events of the center's controllers to the NoticeSinks of their space. It reads sinks, Events, and the Secrets that sinks name, and
 * writes the status of sinks alone. URLs and tokens of Secrets never reach a status or the log.
 *
 * A sink has one notice on its way at a time. After a failure all of its notices wait, longer each time, as long as their Events are there.
 * The position is written after a few notices: after `kill -9` these are sent again, under the same ids.
 */
import type { Condition } from '../../apimachinery/conditions.ts'
import { str } from '../../apimachinery/fields.ts'
import type { GroupVersionResource } from '../../apimachinery/object.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { backoffMs } from '../../client/backoff.ts'
import type { Client, SpaceClient } from '../../client/client.ts'
import { steadyMs } from '../../client/clock.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import type { FigureDesk } from '../../placement/desks/carryFigures.ts'
import type { NoticePost, Posted, PostFailure, PostNotice } from '../../placement/desks/noticePost.ts'
import { type Notice, noticeBody, noticeOf } from '../../placement/notices/noticeBody.ts'
import { type SecretKey, urlProblem, wants } from '../../placement/notices/sinkSpec.ts'
import { NOTICE_SINKS } from '../../placement/words/placement.ts'
import { type ControllerHandle, startController } from '../controllerHandle.ts'
import type { SpacePlaces } from '../placedSource.ts'
import { type ControllerRuntime, spacesController } from '../spacesController.ts'
import { writeStatus } from '../writeStatus.ts'
import { EVENTS, factsOf, NoticeSinks, type Sink, type SinkKey } from './noticeSinks.ts'

export const NOTICE_CONTROLLER = 'notice-controller'
/** Delay bounds after failures. */
export const RETRY = { baseMs: 1000, maxMs: 300_000 }
/** A receiver may ask for so much time. */
export const MAX_RETRY_AFTER_MS = 3_600_000
/** Notices between two writes of the position. */
export const BATCH = 10
const GREETING = 'NoticeSinkReady'
const SECRETS: GroupVersionResource = { group: '', version: 'v1', resource: 'secrets' }
/** The receiver will not take this notice, however often it comes. */
const GIVE_UP: ReadonlySet<number> = new Set([400, 413, 422])

interface NoticeControllerOptions extends ControllerRuntime {
  places: SpacePlaces
  post: PostNotice
  figures: FigureDesk | undefined
}

export function startNoticeController(options: NoticeControllerOptions): ControllerHandle {
  const { figures } = options
  const sinks = new NoticeSinks(key => controller.add(key))
  const notices = new Notices(options, sinks)
  const controller = spacesController<SinkKey>({
    ...options,
    name: NOTICE_CONTROLLER,
    resources: [NOTICE_SINKS, EVENTS],
    handler: sinks,
    reconcile: (key, signal) => notices.reconcile(key, signal),
    id: ({ space, name }) => `${space}/${name}`,
  })
  figures?.showNotices(sinks.counts)
  return startController(controller, () => figures?.showNotices(undefined))
}

/** Why nothing can be sent, or was taken. */
interface Failure {
  readonly reason: PostFailure | 'Refused' | 'SecretNotUsable'
  readonly message: string
  /** The receiver takes nothing before. */
  readonly afterMs?: number
}

type Target = Pick<NoticePost, 'url' | 'headers' | 'caPem'>

/** News for a status. */
interface News {
  readonly failure: Failure | undefined
  readonly generation: number
  /** Delivered by then. */
  readonly delivered: number
}

class Notices {
  readonly #deps: NoticeControllerOptions
  readonly #sinks: NoticeSinks
  /** Until their status is written: it may be refused, or somebody else writes the sink at the same time. */
  readonly #unreported = new WeakMap<Sink, News>()

  constructor(deps: NoticeControllerOptions, sinks: NoticeSinks) {
    this.#deps = deps
    this.#sinks = sinks
  }

  async reconcile(key: SinkKey, signal: AbortSignal): Promise<ReconcileResult> {
    const { client, clock } = this.#deps
    const sink = this.#sinks.get(key)
    if (!sink) return {}
    const waitMs = sink.notBeforeMs - steadyMs(clock)
    if (sink.isIdle || waitMs > 0) {
      await this.#report(client, sink)
      return sink.isIdle ? {} : { requeueAfterMs: waitMs }
    }
    const { generation, delivered } = sink
    const until = AbortSignal.any([signal, sink.ended])
    const failure = await this.#deliver(sink, until)
    if (sink.ended.aborted) return {}
    // somebody changed it meanwhile: the failure is that of the earlier one
    const isOfNow = failure !== undefined && sink.generation === generation
    // before the status, which may be refused
    if (isOfNow) this.#putOff(sink, failure.afterMs)
    if (!signal.aborted || sink.delivered !== delivered) {
      this.#unreported.set(sink, { failure, generation, delivered: this.#unreported.get(sink)?.delivered ?? delivered })
      await this.#report(client, sink)
    }
    if (isOfNow) return { requeueAfterMs: Math.max(0, sink.notBeforeMs - steadyMs(clock)) }
    if (!signal.aborted) this.#sinks.wakeUnlessIdle(sink)
    return {}
  }

  #putOff(sink: Sink, afterMs = 0): void {
    const { clock, random } = this.#deps
    this.#sinks.counts.failed++
    const retryMs = Math.max(backoffMs(++sink.failures, RETRY, random), Math.min(afterMs, MAX_RETRY_AFTER_MS))
    sink.notBeforeMs = steadyMs(clock) + retryMs
  }

  /** Some of what waits, until one fails. */
  async #deliver(sink: Sink, signal: AbortSignal): Promise<Failure | undefined> {
    const api = this.#deps.client.in(sink.key.space)
    const target = await targetOf(api, sink)
    if ('reason' in target) return target
    for (let i = 0; i < BATCH; i++) {
      const next = await this.#next(sink, api)
      if (!next || signal.aborted) return undefined
      const failure = await this.#send(sink, target, next.notice, signal)
      if (signal.aborted && failure) return undefined
      if (failure && !failure.isFinal) return failure
      next.done()
      if (failure) sink.drop()
      else {
        sink.delivered++
        this.#sinks.counts.delivered++
        sink.failures = 0
      }
      if (failure) return failure
    }
    return undefined
  }

  /** Events that are gone, or about something else by now, leave the line. */
  async #next(sink: Sink, api: SpaceClient): Promise<{ readonly notice: Notice; done(): void } | undefined> {
    const { clock, places } = this.#deps
    const space = places.pathOf(sink.key.space) ?? sink.key.space
    const { generation, uid } = sink
    if (sink.greeted !== generation) {
      const { name } = sink.key
      const { group, version } = NOTICE_SINKS
      const notice: Notice = {
        id: `${uid}.${generation}`,
        space,
        type: 'Normal',
        reason: GREETING,
        message: `notices of the space ${space} come here`,
        time: timestamp(new Date(clock.now())),
        count: 1,
        object: { apiVersion: `${group}/${version}`, kind: 'NoticeSink', namespace: '', name, uid },
      }
      return { notice, done: () => sink.greet(generation) }
    }
    for (let first = sink.first; first; first = sink.first) {
      const event = first
      const stored = await unlessGone(api.get(EVENTS, { namespace: event.namespace, name: event.name }))
      const facts = stored && factsOf(stored)
      const done = (): void => sink.done(event, Number(stored?.metadata.resourceVersion))
      if (facts && wants(sink.spec, facts)) return { notice: noticeOf(space, stored), done }
      if (stored) done()
      else sink.lost(event)
    }
    return undefined
  }

  async #send(
    { key, spec }: Sink,
    { url, headers, caPem }: Target,
    notice: Notice,
    signal: AbortSignal,
  ): Promise<(Failure & { readonly isFinal: boolean }) | undefined> {
    const { contentType, text: body } = noticeBody(spec.form, notice)
    const order = { space: key.space, url, headers: { ...headers, 'Content-Type': contentType }, body }
    let posted: Posted
    try {
      posted = await this.#deps.post({ ...order, ...(caPem !== undefined && { caPem }) }, signal)
    } catch (error) {
      if (!signal.aborted) throw error
      posted = { failure: 'TimedOut' }
    }
    if ('failure' in posted) return { reason: posted.failure, message: FAILURES[posted.failure], isFinal: false }
    const { code, afterMs } = posted
    if (code >= 200 && code <= 299) return undefined
    // as of webhooks: the exact code would reveal which paths there are
    const redirects = code >= 300 && code <= 399 ? '; redirects are not followed' : ''
    const message = `the receiver answered with ${Math.floor(code / 100)}xx${redirects}`
    return { reason: 'Refused', message, isFinal: GIVE_UP.has(code), ...(afterMs !== undefined && { afterMs }) }
  }

  async #report(client: Client, sink: Sink): Promise<void> {
    const news = this.#unreported.get(sink)
    if (!news) return
    const { failure, generation, delivered } = news
    const api = client.in(sink.key.space)
    const object = await unlessGone(api.get(NOTICE_SINKS, { name: sink.key.name }))
    if (object?.metadata.uid !== sink.uid) return
    const nowMs = this.#deps.clock.now()
    const fields = {
      lastResourceVersion: String(sink.position),
      delivered: sink.delivered,
      dropped: sink.dropped,
      ...(sink.greeted > 0 && { observedGeneration: sink.greeted }),
      ...(sink.delivered > delivered && { lastDeliveredTime: timestamp(new Date(nowMs)) }),
    }
    const condition: Condition = failure
      ? { type: 'Delivered', status: 'False', reason: failure.reason, message: failure.message }
      : { type: 'Delivered', status: 'True', reason: 'Delivered', message: '' }
    const conditions = failure || sink.delivered > delivered ? [{ ...condition, observedGeneration: generation }] : []
    const writing = writeStatus(
      api,
      [NOTICE_SINKS, object],
      { conditions, fields },
      { nowMs, fieldManager: NOTICE_CONTROLLER },
    )
    await unlessGone(writing)
    this.#unreported.delete(sink)
  }
}

const FAILURES: Readonly<Record<PostFailure, string>> = {
  AddressNotAllowed:
    'the server may not connect to this address; its operator opens addresses by --webhook-allowed-hosts',
  CertificateNotTrusted: 'the certificate of the receiver is not signed by spec.caBundle, or names another host',
  TimedOut: 'the receiver does not answer in time',
  Unreachable: 'there is no connection to the receiver',
}

/** Where it leads now, with what its Secrets hold. */
async function targetOf(api: SpaceClient, { spec }: Sink): Promise<Target | Failure> {
  const { url, token, caPem } = spec
  const address = 'text' in url ? url.text : await secretText(api, url.secret, urlProblem)
  if (typeof address !== 'string') return address
  const bearer = token && (await secretText(api, token, tokenProblem))
  if (typeof bearer === 'object') return bearer
  const headers = bearer === undefined ? {} : { Authorization: `Bearer ${bearer}` }
  return { url: address, headers, ...(caPem !== undefined && { caPem }) }
}

async function secretText(
  api: SpaceClient,
  { namespace, name, key }: SecretKey,
  problemOf: (text: string) => string | undefined,
): Promise<string | Failure> {
  const secret = await unlessGone(api.get(SECRETS, { namespace, name }))
  const where = `Secret ${namespace}/${name}, key ${key}`
  const encoded = str(secret, 'data', key)
  if (encoded === '') return { reason: 'SecretNotUsable', message: `${where}: there is none` }
  const text = Buffer.from(encoded, 'base64').toString().trim()
  const problem = problemOf(text)
  return problem === undefined ? text : { reason: 'SecretNotUsable', message: `${where}: ${problem}` }
}

function tokenProblem(text: string): string | undefined {
  return /^[\x21-\x7e]{1,4096}$/.test(text)
    ? undefined
    : 'it is no token of up to 4,096 ASCII characters without spaces'
}
