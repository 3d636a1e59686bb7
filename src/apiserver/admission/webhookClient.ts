/**
 * Asks a webhook over HTTPS: one POST, no redirects, bounded in time, size and where it may go. A Service is followed to one
 * of its endpoints, and has to show a certificate for `NAME.NAMESPACE.svc`. Receivers of notices are sent to by the same rules.
 *
 * Hundreds of writes may wait for one, and a call costs several milliseconds of the loop. Calls are therefore begun, and long answers read,
 * in the slices of the loop that all long work shares, space by space.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#contacting-the-webhook
 */

import type { IncomingHttpHeaders } from 'node:http'
import { type Agent, request } from 'node:https'
import { countValues } from '../../apimachinery/jsonCount.ts'
import { jsonInSteps } from '../../apimachinery/jsonInSteps.ts'
import { mistakableKeyIn } from '../../apimachinery/jsonParse.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { mistakableKeyWords } from '../../apimachinery/mistakableKeys.ts'
import { VALUES_LIMIT } from '../../apimachinery/objectSize.ts'
import { inSlices } from '../../apimachinery/steps.ts'
import { isTooDeep, NESTING_LIMIT } from '../../apimachinery/values.ts'
import { Abandoned, type Work, type WorkTurns } from '../../program/workTurns.ts'
import { LoopGate } from '../flowcontrol/loopGate.ts'
import { type AllowedHosts, HostRefused } from './allowedHosts.ts'
import { NoRoute, type Route, type ServiceReference, type ServiceRoutes } from './serviceRoutes.ts'
import { type WebhookCall, WebhookCalls } from './webhookCalls.ts'
import { BundleTooLarge, TLS_REFUSALS, WebhookTrust } from './webhookTrust.ts'

export type WebhookAddress = { url: string } | { service: ServiceReference }

export interface WebhookTarget {
  client: WebhookAddress
  /** Logical-cluster id of the space whose services are meant. */
  space: string
  /** PEM; the system's roots when absent. */
  caPem?: string
  timeoutSeconds: number
  /** Bounds on the answer, and on fields and elements in it. Default: 3 MiB, as many as a body may have. */
  limits?: AnswerLimits
}

export interface AnswerLimits {
  bytes: number
  values: number
  /**
   * Bound on the answer as a multiple of the request, beside 2 MiB: a short question has no long answer. Absent: however short it is.
   */
  timesSent?: number
}

/**
 * The call failed, or its answer was invalid. The message is for administrators of the server: it may hold parts of the answer, and facts
 * about an address. Authors of webhooks choose the address, and must not read there with the server's reach.
 */
export class WebhookCallError extends Error {
  /** Public part of the message. */
  readonly openly: string

  constructor(message: string, { openly = message, ...options }: ErrorOptions & { openly?: string } = {}) {
    super(message, options)
    this.name = 'WebhookCallError'
    this.openly = openly
  }
}

interface NoticeMessage {
  headers: Readonly<Record<string, string>>
  text: string
}

interface Message {
  headers: Readonly<Record<string, string>>
  /** Called late: many that are long may wait. */
  text(): string
  /** The head of the answer counts, whatever becomes of the rest. */
  endsWithHead: boolean
}

interface AnswerHead {
  code: number
  headers: IncomingHttpHeaders
}

const JSON_HEADERS = { 'Content-Type': 'application/json', Accept: 'application/json' }
export const MAX_RESPONSE_BYTES = 3 * 1024 * 1024
const USUAL: AnswerLimits = { bytes: MAX_RESPONSE_BYTES, values: VALUES_LIMIT }
/** Base of a bound on an answer relative to the request. */
const BESIDE_SENT_BYTES = 2 * 1024 * 1024
/** Calls begun in a turn of the loop: most need a connection, whose handshake takes it some half of a millisecond. */
const CALLS_PER_TURN = 2
/** The same of what is written as JSON for them. */
const CALLS_MS = 2
/** Answers before the answer (RFC 9110, 15.2): as many as Go's client takes. */
export const MOST_INTERIM = 5
/** Bytes of an answer, before others get their turn: most are shorter. */
const READ_AT_ONCE_BYTES = 64 * 1024

export interface WebhookClientDeps {
  routes: Pick<ServiceRoutes, 'to'>
  hosts: AllowedHosts
  turns: Pick<WorkTurns, 'begin'>
  /** Default: each space is a tenant. */
  calls?: WebhookCalls
  now?: () => Date
}

export class WebhookClient {
  readonly #routes: Pick<ServiceRoutes, 'to'>
  readonly #hosts: AllowedHosts
  readonly #trust: WebhookTrust
  readonly #turns: Pick<WorkTurns, 'begin'>
  readonly #calls: WebhookCalls
  readonly #gate = new LoopGate({ most: CALLS_PER_TURN, limitMs: CALLS_MS, clock: () => performance.now() })

  constructor(deps: WebhookClientDeps) {
    this.#routes = deps.routes
    this.#hosts = deps.hosts
    this.#turns = deps.turns
    this.#calls = deps.calls ?? new WebhookCalls(space => space)
    this.#trust = new WebhookTrust(() => deps.hosts.lookup(), deps.now)
  }

  /** The JSON that the webhook answered. @throws WebhookCallError */
  async post(target: WebhookTarget, body: unknown): Promise<unknown> {
    const { limits = USUAL } = target
    const signal = AbortSignal.timeout(target.timeoutSeconds * 1000)
    const message = { headers: JSON_HEADERS, text: () => JSON.stringify(body), endsWithHead: false }
    return await this.#call(callOf(target), target, { message, signal }, async ({ code, answer }, work) => {
      if (code < 200 || code > 299) throw unexpected(code, answer)
      return await read(answer, limits.values, work)
    })
  }

  /**
   * Code and headers of the answer to a message; nobody reads the rest. The call lasts until its answer ends, for its connection counts as
   * long. An answer that stops behind its head takes the whole time, and counts by its code.
   * @throws WebhookCallError, or the reason of the signal
   */
  async tell(
    target: WebhookTarget & { client: { url: string } },
    message: NoticeMessage,
    ended: AbortSignal,
  ): Promise<AnswerHead> {
    const signal = AbortSignal.any([AbortSignal.timeout(target.timeoutSeconds * 1000), ended])
    const { headers, text } = message
    const sending = { message: { headers, text: () => text, endsWithHead: true }, signal }
    try {
      return await this.#call(callTo(target.client.url), target, sending, async ({ code, headers }) => ({
        code,
        headers,
      }))
    } catch (error) {
      ended.throwIfAborted()
      throw error
    }
  }

  /** @throws WebhookCallError */
  async #call<T>(
    endpoint: Call,
    target: WebhookTarget,
    { message, signal }: { message: Message; signal: AbortSignal },
    take: (answer: Answer, work: Work) => Promise<T>,
  ): Promise<T> {
    const work = this.#turns.begin({ owner: target.space, isAbandoned: () => signal.aborted })
    let route: Route | undefined
    let call: WebhookCall | undefined
    try {
      // Before anything is refused, too: who has thousands of webhooks that may not be called does not call them all in one turn.
      if (work.due) await work.rest()
      route = await this.#routeOf(endpoint, target)
      this.#hosts.check(route.host)
      call = await this.#calls.begin(target.space, signal)
      return await take(await this.#ask({ ...endpoint, route }, target, { message, signal, work, call }), work)
    } catch (error) {
      if (error instanceof WebhookCallError) throw error
      const late = 'context deadline exceeded'
      const { why, openly = why } =
        signal.aborted || error instanceof Abandoned
          ? { why: late }
          : wording(error, route ?? endpoint.route, endpoint.serverName)
      const posting = `Post ${JSON.stringify(endpoint.shown)}: `
      throw new WebhookCallError(posting + why, { cause: error, openly: posting + openly })
    } finally {
      call?.end()
    }
  }

  /** Where the call goes. @throws NoRoute */
  async #routeOf({ route }: Call, { client, space }: WebhookTarget): Promise<Route> {
    return 'service' in client ? await this.#routes.to(space, client.service) : route
  }

  /** @throws Abandoned, Error of the connection */
  async #ask(
    endpoint: Call,
    target: WebhookTarget,
    sending: Pick<Sending, 'message' | 'signal' | 'work' | 'call'>,
  ): Promise<Answer> {
    const { caPem: ca = '', limits = USUAL } = target
    const peer = { ...endpoint.route, serverName: endpoint.serverName ?? endpoint.route.host }
    const { message, signal, work, call } = sending
    await new Promise<void>(begin => this.#gate.enter([target.space], begin))
    // a bundle without earlier use is read at once, however long it is: one in a slice
    if (!this.#trust.knows(ca)) await work.rest()
    // Only now: thousands of webhooks may wait for the text of one large object.
    const text = Buffer.from(message.text())
    call.hold(text.length)
    const limitBytes = Math.min(limits.bytes, BESIDE_SENT_BYTES + (limits.timesSent ?? Infinity) * text.length)
    return this.#trust.through({ ca, peer, signal }, agent =>
      this.#send(endpoint, { ...sending, text, agent, limitBytes }),
    )
  }

  #send(call: Call, sending: Sending): Promise<Answer> {
    const { route, path, hostHeader, serverName } = call
    const { agent, message, text, signal, work, call: counted, limitBytes } = sending
    return new Promise((resolve, refuse) => {
      let head: Answer | undefined
      const reject = (error: unknown): void => (head ? resolve(head) : refuse(error))
      const options = {
        ...route,
        path,
        method: 'POST',
        agent,
        signal,
        ...(serverName && { servername: serverName }),
        headers: {
          ...message.headers,
          Host: hostHeader,
          'Content-Length': text.length,
        },
      }
      const sent = request(options, response => {
        const { statusCode: code = 0, headers } = response
        const parts: Buffer[] = []
        let size = 0
        if (message.endsWithHead) head = { code, headers, answer: Buffer.alloc(0) }
        response.on('data', (part: Buffer) => {
          size += part.length
          if (size > limitBytes) {
            reject(new WebhookCallError(`the webhook answered with more than ${limitBytes} bytes`))
            sent.destroy()
            return
          }
          parts.push(part)
          counted.hold(part.length)
          if (size > READ_AT_ONCE_BYTES && counted.isTooMuch) {
            reject(new WebhookCallError('too much has been answered at the same time by the webhooks of this tenant'))
            sent.destroy()
            return
          }
          if (size <= READ_AT_ONCE_BYTES || !work.due) return
          response.pause()
          // who does not go on is over: the signal ends the connection
          work.rest().then(() => response.resume(), reject)
        })
        response.on('error', reject)
        response.on('end', () => resolve({ code, headers, answer: Buffer.concat(parts) }))
      })
      let interim = 0
      sent.on('information', () => {
        if (++interim <= MOST_INTERIM) return
        reject(new WebhookCallError('the webhook answered with too many 1xx informational responses'))
        sent.destroy()
      })
      sent.on('error', error => {
        // the peer closed a kept connection during the write: no request has reached it yet
        const stale =
          !head && sent.reusedSocket && (error as { code?: string }).code === 'ECONNRESET' && !signal.aborted
        if (stale) resolve(this.#send(call, sending))
        else reject(error)
      })
      sent.end(text)
    })
  }
}

/** Long answers a piece after the other. @throws WebhookCallError, Abandoned */
async function read(answer: Buffer, mostValues: number, work: Work): Promise<unknown> {
  if (answer.length > READ_AT_ONCE_BYTES && countValues(answer, mostValues) > mostValues)
    throw new WebhookCallError(`the webhook answered with more than ${mostValues} fields and elements`)
  const text = answer.toString()
  const key = mistakableKeyIn(text)
  if (key !== undefined) throw new WebhookCallError(`in the webhook's answer ${mistakableKeyWords(key)}`)
  let value: unknown
  try {
    const inSteps = text.length > READ_AT_ONCE_BYTES ? await inSlices(jsonInSteps(text), work) : undefined
    value = inSteps ? inSteps.value : JSON.parse(text)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    // The parser's words quote the text.
    const openly = "couldn't get version/kind; json parse error"
    throw new WebhookCallError(`${openly}: ${messageOf(cause)}`, { cause, openly })
  }
  if (isTooDeep(value))
    throw new WebhookCallError(`the webhook's answer is nested more than ${NESTING_LIMIT} levels deep`)
  return value
}

interface Sending {
  message: Message
  agent: Agent
  text: Buffer
  signal: AbortSignal
  work: Work
  call: WebhookCall
  limitBytes: number
}

interface Answer extends AnswerHead {
  answer: Buffer
}

/** One call, apart from who answers it. */
interface Call {
  /** As messages say it. */
  shown: string
  route: Route
  path: string
  hostHeader: string
  /** Whom the certificate has to name, where it is not the host that is connected to. */
  serverName?: string
}

/** @throws WebhookCallError */
function callOf({ client, timeoutSeconds }: WebhookTarget): Call {
  const timeout = `timeout=${timeoutSeconds}s`
  if ('url' in client) {
    const url = URL.parse(client.url)
    url?.searchParams.set('timeout', `${timeoutSeconds}s`)
    return callTo(url?.href ?? client.url)
  }
  const { namespace, name, path, port } = client.service
  const serverName = `${name}.${namespace}.svc`
  const place = `${path.startsWith('/') ? '' : '/'}${path}?${timeout}`
  const hostHeader = `${serverName}:${port}`
  const shown = `https://${hostHeader}${place}`
  return { shown, route: { host: serverName, port }, path: encodeURI(place), hostHeader, serverName }
}

/** @throws WebhookCallError */
function callTo(text: string): Call {
  const url = URL.parse(text)
  // Go's rules, which definitions are held to, let more pass
  if (url === null) throw new WebhookCallError(`Post ${JSON.stringify(text)}: there can be no such host or port`)
  const route = { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(url.port || 443) }
  return { shown: url.href, route, path: url.pathname + url.search, hostHeader: url.host }
}

interface Wording {
  why: string
  /** Without the part for administrators. */
  openly?: string
}

/**
 * The failures that users know, as upstream's users know them. An absent peer, one without TLS and one that hangs up look the same: the
 * difference would reveal which programs run where.
 */
function wording(error: unknown, { host, port }: Route, serverName = host): Wording {
  const { code = '', message = String(error) } = error as { code?: string; message?: string }
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
  if (error instanceof NoRoute || error instanceof BundleTooLarge) return { why: message }
  if (error instanceof HostRefused) {
    return { why: `dial tcp ${address}: ${message}`, openly: `dial tcp ${address}: ${error.openly}` }
  }
  if (code === 'ENOTFOUND') return { why: `dial tcp: lookup ${host}: no such host` }
  const refused = 'tls: failed to verify certificate: x509: '
  const tls = TLS_REFUSALS[code]
  if (tls !== undefined) return { why: refused + tls }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return { why: refused + message, openly: `${refused}certificate is not valid for ${serverName}` }
  }
  const openly = 'the webhook could not be reached'
  if (code === 'ECONNREFUSED') return { why: `dial tcp ${address}: connect: connection refused`, openly }
  return { why: code === 'ECONNRESET' ? 'EOF' : message, openly }
}

function unexpected(code: number, answer: Buffer): WebhookCallError {
  const text = answer.subarray(0, 1024).toString().trim()
  const broken = (what: string): string =>
    `an error on the server (${JSON.stringify(what)}) has prevented the request from succeeding`
  if (code >= 500) return new WebhookCallError(broken(text || 'unknown'), { openly: broken('unknown') })
  const status = (shown: string): string =>
    `the server responded with the status code ${shown} but did not return more information`
  // Which code it is would tell which paths there are.
  const openly = status(`${Math.floor(code / 100)}xx`)
  const missing = 'the server could not find the requested resource'
  return new WebhookCallError(code === 404 ? missing : text || status(String(code)), { openly })
}
