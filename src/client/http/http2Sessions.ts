/**
 * HTTP/2 towards one server: few connections, each with many requests and watches side by side. They are opened on demand and replaced when
 * they end, are refused more, or answer no ping. The handshake (ALPN) reveals a server or proxy without HTTP/2, which is left to HTTP/1.1.
 * @see https://www.rfc-editor.org/rfc/rfc9113
 */
import type http2 from 'node:http2'
import type https from 'node:https'
import { isIP } from 'node:net'
import { TLSSocket } from 'node:tls'
import { StatusError } from '../../apimachinery/errors.ts'
import type { Clock } from '../clock.ts'

interface Http2SessionsOptions {
  /** For errors. */
  server: string
  host: string
  port: number
  tlsServerName?: string | undefined
  /** Makes the connections, through whatever proxy there is, with what it holds of TLS then. */
  agent: https.Agent
  /** The longest that a connection may take to come about. */
  timeoutMs: number
  clock: Clock
}

/** As an answer of HTTP/1.1 is. */
interface Http2Answer {
  readonly statusCode: number
  readonly headers: http2.IncomingHttpHeaders
  readonly body: http2.ClientHttp2Stream
  /** Once the body was read, or failed: why it is not whole. */
  failure(error?: unknown): Error | undefined
}

interface Http2Call {
  headers: Record<string, string>
  body: Buffer | undefined
  /** Without a byte for so long it has failed. Absent: as long as the connection answers. */
  silenceMs: number | undefined
  signal: AbortSignal
}

interface Connection {
  readonly session: http2.ClientHttp2Session
  /** Why what is under way fails when the connection does: one for all, so that it counts as one failure. */
  readonly loss: Error
  open: number
  /** Takes nothing new. */
  isRetired: boolean
  cancelPing: () => void
}

/** Between two pings of a connection that something waits on. It is closed instead when nothing does. */
const PING_MS = 60_000
const PONG_MS = 15_000
/** More than a server with a sane limit needs. */
const CONNECTIONS = 4
/** Assumed before the server has announced its bound. */
const STREAMS = 100
/** Lists are long, and links slow: the default of 64 KiB would be waited for each time. */
const STREAM_WINDOW_BYTES = 1024 * 1024
const CONNECTION_WINDOW_BYTES = 4 * 1024 * 1024

/** By all that was under way: one failure. */
export class ConnectionLost extends Error {}

/** The server wants this over HTTP/1.1, or repeated: neither was worked on. */
export class NotByThisStream extends Error {
  readonly wantsHttp1: boolean

  constructor(wantsHttp1: boolean) {
    super(wantsHttp1 ? 'the server wants HTTP/1.1' : 'the server took no more requests on this connection')
    this.wantsHttp1 = wantsHttp1
  }
}

export class Http2Sessions {
  readonly #options: Http2SessionsOptions
  #connections: Connection[] = []
  #connecting: Promise<void> | undefined
  #isSpoken = true
  #isClosed = false

  constructor(options: Http2SessionsOptions) {
    this.#options = options
  }

  /** Whether the server speaks it, as far as is known. */
  get isSpoken(): boolean {
    return this.#isSpoken
  }

  /** Whether it is spoken for certain. */
  get isOpen(): boolean {
    return this.#isSpoken && this.#connections.length > 0
  }

  /** Requests under way go on; all else goes over new connections, with the present TLS material. */
  renew(): void {
    for (const connection of this.#connections) this.#retire(connection)
  }

  /** The server wants HTTP/1.1 from now on. */
  refuse(): void {
    this.#isSpoken = false
    this.renew()
  }

  close(): void {
    this.#isClosed = true
    for (const { session, loss } of [...this.#connections]) session.destroy(loss)
  }

  /** `undefined`: the server does not speak it. @throws Error when it cannot be reached, or breaks off before it answered */
  async send(call: Http2Call): Promise<Http2Answer | undefined> {
    const connection = await this.#place()
    if (connection === undefined) return undefined
    if (!call.signal.aborted) return await this.#exchange(connection, call)
    this.#free(connection)
    throw call.signal.reason
  }

  /** A connection, with a place on it that is to be freed. */
  async #place(): Promise<Connection | undefined> {
    while (this.#isSpoken !== false) {
      const usable = this.#connections.filter(({ isRetired }) => !isRetired)
      const free = usable.find(connection => connection.open < mostOf(connection))
      // where there are many the server's limit makes some wait for others
      const taken = free ?? (usable.length >= CONNECTIONS ? leastOf(usable) : undefined)
      if (taken) {
        taken.open++
        return taken
      }
      this.#connecting ??= this.#connect().finally(() => {
        this.#connecting = undefined
      })
      await this.#connecting
    }
    return undefined
  }

  #free(connection: Connection): void {
    connection.open--
    if (connection.isRetired && connection.open === 0) connection.session.close()
  }

  async #connect(): Promise<void> {
    const socket = await this.#handshake()
    if (socket?.alpnProtocol !== 'h2') this.#isSpoken = false
    if (socket === undefined || this.#isSpoken === false || this.#isClosed) {
      socket?.destroy()
      if (this.#isClosed) throw new Error('the client is closed')
      return
    }
    // Loaded where it is spoken: 4 MB.
    const { connect } = process.getBuiltinModule('node:http2')
    const { host, port } = this.#options
    const session = connect(`https://${host.includes(':') ? `[${host}]` : host}:${port}`, {
      createConnection: () => socket,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    })
    const loss = new ConnectionLost('the connection was lost')
    const connection: Connection = { session, loss, open: 0, isRetired: false, cancelPing: () => {} }
    this.#connections.push(connection)
    const ended = (): void => {
      connection.isRetired = true
      connection.cancelPing()
      this.#connections = this.#connections.filter(other => other !== connection)
    }
    session.once('connect', () => session.setLocalWindowSize(CONNECTION_WINDOW_BYTES))
    session.once('goaway', () => this.#retire(connection))
    // the waiting requests get it
    session.on('error', error => {
      if (error !== loss) loss.message = `the connection was lost: ${error.message}`
    })
    session.once('close', ended)
    this.#pingLater(connection)
  }

  /** `undefined`: over a proxy whose own TLS is all that can be seen. */
  #handshake(): Promise<TLSSocket | undefined> {
    const { agent, host, port, tlsServerName, timeoutMs, clock, server } = this.#options
    return new Promise((resolve, reject) => {
      let first: { destroy(): unknown } | undefined
      const cancel = clock.after(timeoutMs, () => {
        first?.destroy()
        reject(new StatusError('ServiceUnavailable', `no word from ${server} for ${timeoutMs} ms`))
      })
      const done = (error: Error | null, socket: unknown): void => {
        cancel()
        if (error) reject(error)
        else resolve(socket instanceof TLSSocket ? socket : undefined)
      }
      const servername = tlsServerName ?? (isIP(host) === 0 ? host : '')
      const options = { ...agent.options, host, port, servername, ALPNProtocols: ['h2', 'http/1.1'] }
      const made = agent.createConnection(options as https.RequestOptions, done)
      if (made === null || made === undefined) return
      first = made
      made.once('error', error => done(error, undefined))
      // Without a proxy it is the connection itself; through one it comes by the callback.
      made.once('secureConnect', () => done(null, made))
    })
  }

  #exchange(connection: Connection, { headers, body, silenceMs, signal }: Http2Call): Promise<Http2Answer> {
    const { server } = this.#options
    return new Promise((resolve, reject) => {
      let stream: http2.ClientHttp2Stream
      try {
        stream = connection.session.request(headers, { signal, endStream: body === undefined })
      } catch {
        // it began to end in this moment
        this.#retire(connection)
        this.#free(connection)
        reject(new NotByThisStream(false))
        return
      }
      if (silenceMs !== undefined)
        stream.setTimeout(silenceMs, () => {
          stream.destroy(new StatusError('ServiceUnavailable', `no word from ${server} for ${silenceMs} ms`))
          this.#ping(connection)
        })
      stream.once('response', answered => {
        const statusCode = answered[':status'] ?? 0
        // the handshake has identified the client, too
        if (statusCode === 401) this.#retire(connection)
        const failure = (error?: unknown): Error | undefined => failureOf(stream, connection, error)
        resolve({ statusCode, headers: answered, body: stream, failure })
      })
      const ended = (error?: unknown): void => reject(failureOf(stream, connection, error) ?? connection.loss)
      stream.on('error', ended)
      stream.once('close', () => {
        this.#free(connection)
        ended()
      })
      if (body !== undefined) stream.end(body)
    })
  }

  #retire(connection: Connection): void {
    connection.isRetired = true
    if (connection.open === 0) connection.session.close()
  }

  #pingLater(connection: Connection): void {
    connection.cancelPing = this.#options.clock.after(PING_MS, () => {
      if (connection.open === 0) this.#retire(connection)
      else this.#ping(connection)
      if (!connection.session.closed) this.#pingLater(connection)
    })
  }

  /** Ends a connection that leads nowhere any more. */
  #ping({ session, loss }: Connection): void {
    if (session.destroyed) return
    const cancel = this.#options.clock.after(PONG_MS, () => session.destroy(loss))
    session.once('close', cancel)
    const isSent = session.ping(() => {
      cancel()
      session.off('close', cancel)
    })
    if (!isSent) cancel()
  }
}

function leastOf(connections: readonly Connection[]): Connection | undefined {
  return connections.reduce((least, one) => (one.open < least.open ? one : least))
}

function mostOf({ session }: Connection): number {
  return session.remoteSettings.maxConcurrentStreams ?? STREAMS
}

function failureOf(stream: http2.ClientHttp2Stream, { session, loss }: Connection, error: unknown): Error | undefined {
  const { NGHTTP2_HTTP_1_1_REQUIRED, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } =
    process.getBuiltinModule('node:http2').constants
  if (error instanceof StatusError) return error
  if (stream.rstCode === NGHTTP2_HTTP_1_1_REQUIRED) return new NotByThisStream(true)
  if (stream.rstCode === NGHTTP2_REFUSED_STREAM) return new NotByThisStream(false)
  const isWhole = error === undefined && !stream.aborted && (stream.rstCode ?? NGHTTP2_NO_ERROR) === NGHTTP2_NO_ERROR
  if (isWhole) return undefined
  if (session.destroyed) return loss
  return error instanceof Error ? error : new Error('the server broke off')
}
