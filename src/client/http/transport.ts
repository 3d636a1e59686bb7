/**
 * HTTPS towards one API server, by HTTP/2 where that is wanted and offered, else with keep-alive: sends requests, and again as
 * `Retry-After` says. A missing or failed answer is a StatusError (answer.ts). Proxies are taken from HTTPS_PROXY, HTTP_PROXY and NO_PROXY,
 * unless one is named.
 */
import type http from 'node:http'
import https from 'node:https'
import { StatusError } from '../../apimachinery/errors.ts'
import { type Clock, pause, systemClock } from '../clock.ts'
import { agentFor, FREE_SOCKETS, FreeSockets, plain } from './agents.ts'
import {
  type Answer,
  asStatusError,
  busyMsOf,
  errorOf,
  mayBeSentAgain,
  readText,
  retryWaitMs,
  warningsOf,
} from './answer.ts'
import { ConnectionLost, Http2Sessions, NotByThisStream } from './http2Sessions.ts'
import { InFlight } from './inFlight.ts'
import { splitLines } from './lines.ts'
import { DEFAULT_TIMEOUT_MS, type HttpClientOptions, type TlsMaterial } from './options.ts'

interface Request {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the server's prefix, with query. */
  path: string
  body?: unknown
  /** Default `application/json`. */
  contentType?: string
  accept?: string
  /** Beside those of the client. */
  headers?: Readonly<Record<string, string>>
  signal?: AbortSignal
  /** Called with the bytes of the answer. */
  onAnswer?(bytes: number): void
}

const ATTEMPTS = 5
const ANSWER_LIMIT_BYTES = 256 * 1024 * 1024
interface Exchange {
  readonly request: Request
  readonly headers: Record<string, string>
  readonly body: Buffer | undefined
  readonly isWatch: boolean
  /** Agent of HTTP/1.1. */
  readonly agent: http.Agent
  /** Longest silence. */
  readonly idleMs: number
  readonly signal: AbortSignal
}

export class HttpTransport {
  readonly #options: HttpClientOptions
  readonly #base: URL
  readonly #prefix: string
  readonly #requests: http.Agent
  readonly #free: FreeSockets
  /** Watches have sockets of their own, so that many of them never keep a request waiting. */
  readonly #watches: http.Agent
  readonly #http2: Http2Sessions | undefined
  readonly #signal: AbortSignal
  readonly #closing = new AbortController()
  readonly #clock: Clock
  readonly #inFlight: InFlight | undefined
  #tls: TlsMaterial

  constructor(options: HttpClientOptions, clock: Clock = systemClock) {
    this.#options = options
    this.#clock = clock
    this.#base = new URL(options.server)
    this.#prefix = this.#base.pathname.replace(/\/+$/, '')
    if (this.#base.protocol !== 'https:' && this.#base.protocol !== 'http:') {
      throw new Error(`server ${options.server}: only https and http are spoken`)
    }
    const { inFlight } = options
    this.#inFlight = inFlight === undefined ? undefined : new InFlight(inFlight, clock, busyMsOf)
    this.#tls = options.tls?.() ?? options
    const requests = inFlight ?? 64
    this.#requests = agentFor(this.#base, options, requests, requests)
    this.#free = new FreeSockets(this.#requests, clock)
    this.#watches = agentFor(this.#base, options, Number.POSITIVE_INFINITY, FREE_SOCKETS)
    this.#http2 = this.#sessions()
    this.#useTls()
    this.#signal = options.signal ? AbortSignal.any([options.signal, this.#closing.signal]) : this.#closing.signal
    this.#signal.addEventListener('abort', () => this.#destroyAgents(), { once: true })
  }

  /** Whether a watch on which nothing comes is known to be alive; else its silence ends it. */
  get noticesDeath(): boolean {
    return this.#http2?.isOpen ?? false
  }

  /** Ends open requests and connections. */
  close(): void {
    this.#closing.abort()
  }

  /** The JSON body of a successful answer. @throws StatusError for everything else */
  async json(request: Request): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const stop = request.signal ? AbortSignal.any([request.signal, this.#signal]) : this.#signal
      try {
        const ask = (): Promise<unknown> => this.#ask(request)
        return await (this.#inFlight ? this.#inFlight.run(ask, stop) : ask())
      } catch (error) {
        const waitMs = attempt < ATTEMPTS ? retryWaitMs(error, request.method) : undefined
        if (waitMs === undefined || stop.aborted) throw error
        if (waitMs > 0) await pause(this.#clock, waitMs, stop)
        if (stop.aborted) throw error
      }
    }
  }

  async #ask(request: Request): Promise<unknown> {
    const answer = await this.#send(request, false)
    const { answerLimitBytes = ANSWER_LIMIT_BYTES } = this.#options
    const { whole, read, bytes } = await readText(answer, answerLimitBytes)
    request.onAnswer?.(bytes)
    if (whole) return parseJson(read, request)
    const message = `${request.method} ${request.path}: the answer has more than ${answerLimitBytes} bytes`
    throw new StatusError('RequestEntityTooLarge', message)
  }

  /**
   * Batches of lines of an answer without end. Ends quietly when the signal aborts or the server ends the answer.
   * @throws StatusError when the answer is an error, breaks off or stays silent for too long
   */
  async *lines(request: Request & { signal: AbortSignal }): AsyncGenerator<string[], void, void> {
    let answer: Answer | undefined
    try {
      answer = await this.#send(request, true)
      yield* splitLines(answer.body)
      const failure = answer.failure?.()
      if (failure) throw failure
    } catch (error) {
      if (request.signal.aborted || this.#signal.aborted) return
      throw asStatusError(answer?.failure?.(error) ?? error, this.#options.server)
    } finally {
      answer?.body.destroy()
    }
  }

  /** The bytes of a long answer. @throws StatusError also when it breaks off, or the signal aborts: then it is not whole */
  async *bytes(request: Request): AsyncGenerator<Buffer, void, void> {
    let answer: Answer | undefined
    try {
      answer = await this.#send(request, true)
      yield* answer.body as AsyncIterable<Buffer>
      const failure = answer.failure?.()
      if (failure) throw failure
    } catch (error) {
      throw asStatusError(answer?.failure?.(error) ?? error, this.#options.server)
    } finally {
      answer?.body.destroy()
    }
  }

  async #send(request: Request, isWatch: boolean): Promise<Answer> {
    const { timeoutMs = DEFAULT_TIMEOUT_MS, watchIdleMs = 150_000 } = this.#options
    const idleMs = isWatch ? watchIdleMs : timeoutMs
    const agent = isWatch ? this.#watches : this.#requests
    const headers = await this.#headers(request)
    const tls = this.#options.tls?.()
    if (tls !== undefined && tls !== this.#tls) {
      this.#tls = tls
      this.#useTls()
    }
    const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body))
    if (body) headers['content-length'] = String(body.length)
    const signal = request.signal ? AbortSignal.any([request.signal, this.#signal]) : this.#signal
    const exchange = { request, isWatch, agent, headers, body, idleMs, signal }
    const answer = (await this.#byHttp2(exchange)) ?? (await this.#byHttp1(exchange))
    const code = answer.statusCode ?? 0
    if (this.#options.onWarning) for (const text of warningsOf(answer)) this.#options.onWarning(text)
    if (code >= 200 && code < 300) return answer
    if (code === 401) this.#options.onRefused?.(headers.authorization?.slice('Bearer '.length))
    throw await errorOf(answer, code)
  }

  /** `undefined` where it is not spoken. */
  async #byHttp2({ request, headers, body, isWatch, idleMs, signal }: Exchange): Promise<Answer | undefined> {
    if (!this.#http2?.isSpoken) return undefined
    const sent = { ':method': request.method, ':path': this.#prefix + request.path, ...headers }
    try {
      // Its pings tell whether there is still somebody behind a watch that is silent.
      return await this.#http2.send({ headers: sent, body, silenceMs: isWatch ? undefined : idleMs, signal })
    } catch (error) {
      if (error instanceof NotByThisStream && error.wantsHttp1) {
        this.#http2.refuse()
        return undefined
      }
      const failed = asStatusError(
        error,
        this.#options.server,
        request.method === 'GET' && error instanceof ConnectionLost,
      )
      throw error instanceof NotByThisStream ? mayBeSentAgain(failed) : failed
    }
  }

  #byHttp1({ request, agent, headers, body, isWatch, idleMs, signal }: Exchange): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const path = this.#prefix + request.path
      const make = this.#base.protocol === 'https:' ? https.request : plain.request
      const { hostname, port, protocol } = this.#base
      const host = hostname.replace(/^\[|\]$/g, '')
      const call = make({ protocol, host, port, path, method: request.method, headers, agent, signal, timeout: idleMs })
      let answer: http.IncomingMessage | undefined
      call.on('response', response => {
        answer = response
        resolve({ statusCode: response.statusCode, headers: response.headers, body: response })
      })
      call.on('timeout', () => {
        const error = new StatusError('ServiceUnavailable', `no word from ${this.#options.server} for ${idleMs} ms`)
        if (answer) answer.destroy(error)
        else call.destroy(error)
      })
      call.on('error', error => {
        const reused = call.reusedSocket && isReset(error) && request.method === 'GET'
        reject(asStatusError(error, this.#options.server, reused))
      })
      call.end(body)
      if (!isWatch && !this.#signal.aborted) this.#free.used()
    })
  }

  async #headers(request: Request): Promise<Record<string, string>> {
    const { token, userAgent = 'orrery', headers } = this.#options
    const bearer = typeof token === 'function' ? await this.#credential(token) : token
    return {
      ...headers,
      ...request.headers,
      accept: request.accept ?? 'application/json',
      'user-agent': userAgent,
      ...(bearer && { authorization: `Bearer ${bearer}` }),
      ...(request.body !== undefined && { 'content-type': request.contentType ?? 'application/json' }),
    }
  }

  async #credential(token: () => Promise<string | undefined>): Promise<string | undefined> {
    try {
      return await token()
    } catch (error) {
      throw asStatusError(error, `credentials for ${this.#options.server}`)
    }
  }

  /** Connections that are open stay; an agent tells those by what they were opened with. */
  #useTls(): void {
    const { caPem, certPem, keyPem } = this.#tls
    for (const agent of [this.#requests, this.#watches])
      if (agent instanceof https.Agent)
        Object.assign(agent.options, { ca: caPem, cert: certPem, key: keyPem } satisfies https.AgentOptions)
    this.#http2?.renew()
  }

  #sessions(): Http2Sessions | undefined {
    const { http2, server, tlsServerName, timeoutMs = DEFAULT_TIMEOUT_MS } = this.#options
    if (!http2 || !(this.#watches instanceof https.Agent)) return undefined
    const { hostname, port } = this.#base
    const at = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) }
    return new Http2Sessions({ server, ...at, tlsServerName, agent: this.#watches, timeoutMs, clock: this.#clock })
  }

  #destroyAgents(): void {
    this.#free.close()
    this.#http2?.close()
    this.#requests.destroy()
    this.#watches.destroy()
  }
}

function parseJson(body: string, request: Request): unknown {
  try {
    return JSON.parse(body)
  } catch (error) {
    const message = `${request.method} ${request.path}: the answer is not JSON`
    throw new StatusError('InternalError', message, undefined, { cause: error })
  }
}

function isReset(error: object): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}
