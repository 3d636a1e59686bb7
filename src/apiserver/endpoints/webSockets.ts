/**
 * Watches and space streams over WebSocket. They have the same access control and the same frames as over chunked HTTP, each a message:
 * text for JSON, binary for protobuf.
 *
 * Whatever sub-protocol the client names is accepted and changes nothing, as upstream; a browser, which cannot set headers, brings its
 * token as a sub-protocol. Upgrade requests for anything else are answered as plain requests.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws'
import { isStatusError, type StatusError } from '../../apimachinery/errors.ts'
import { Abandoned } from '../../program/workTurns.ts'
import type { AccessControl } from '../access/accessControl.ts'
import { BEARER_PROTOCOL } from '../access/webSocketToken.ts'
import type { Auditor } from '../audit/auditor.ts'
import { type AuditTrail, NO_BODIES } from '../audit/auditTrail.ts'
import type { FrameSink } from '../exchange/answers/streamWriter.ts'
import { webSocketSink } from '../exchange/answers/webSocketSink.ts'
import type { EndpointEntries, Services } from '../exchange/exchange.ts'
import type { InFlight } from '../flowcontrol/inFlight.ts'
import { SeatRefused } from '../flowcontrol/seats.ts'
import { CACHE_CONTROL } from '../http/answer.ts'
import { answerBare } from '../http/bareAnswer.ts'
import { methodNotAllowed } from '../http/paths.ts'
import { statusOf } from '../http/refusals.ts'
import type { Request } from '../http/request.ts'
import type { RequestMetrics } from '../http/requestMetrics.ts'
import type { Logger } from '../request/logger.ts'
import { parseRequest } from '../request/requestInfo.ts'
import { type Target, targetOf } from './dispatch.ts'
import { planStream, runSpaceStream, type SpaceStreamDeps } from './spaceStream.ts'
import { planOf, runWatch } from './watch.ts'

export interface WebSocketsDeps {
  access: Pick<AccessControl, 'authorize'>
  services: Services
  endpoints: EndpointEntries
  stream: SpaceStreamDeps
  inFlight: InFlight
  requests: Pick<RequestMetrics, 'observe'>
  /** Absent: nothing is recorded. */
  audit?: Auditor | undefined
  log: Logger
  /** How often a peer has to show that it is there. Default 30 s. */
  pingIntervalMs?: number | undefined
}

/** The code of an answer that is a WebSocket. */
const SWITCHING = 101
export const PING_INTERVAL_MS = 30_000
/** Nothing that a client sends has a meaning; this leaves room for what tools send by habit. */
export const MESSAGE_LIMIT_BYTES = 4096
/** How long a peer may take to answer the close of the connection. */
const CLOSE_TIMEOUT_MS = 2000
const CLOSE = { normal: 1000, goingAway: 1001 } as const

interface Session {
  run(sink: FrameSink, gone: AbortSignal): Promise<void>
  /** Frames are protobuf with their length before them, which messages have no need of. */
  protobuf: boolean
  /** Path of its turns. */
  path: readonly string[]
}

export class WebSockets {
  readonly #deps: WebSocketsDeps
  readonly #server: WebSocketServer
  /** Peers, and whether they have answered since the last ping. */
  readonly #peers = new Map<WebSocket, boolean>()
  #ticker: NodeJS.Timeout | undefined

  constructor(deps: WebSocketsDeps) {
    this.#deps = deps
    const options: ServerOptions & { closeTimeout: number } = {
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: MESSAGE_LIMIT_BYTES,
      closeTimeout: CLOSE_TIMEOUT_MS,
      handleProtocols: protocols => [...protocols].find(protocol => !protocol.startsWith(BEARER_PROTOCOL)) ?? false,
    }
    this.#server = new WebSocketServer(options)
    deps.services.draining.addEventListener('abort', () => this.#drain(), { once: true })
  }

  /** Whether the request is to become a WebSocket. */
  wants(request: IncomingMessage): boolean {
    if (request.method !== 'GET' || request.headers.upgrade?.toLowerCase() !== 'websocket') return false
    try {
      const { stream, verb, reported } = parseRequest('GET', request.url ?? '/')
      return !reported && (stream || verb === 'watch')
    } catch (error) {
      // Malformed: the ordinary road says so.
      if (isStatusError(error)) return false
      throw error
    }
  }

  /** Takes over the connection of a request that `wants` accepted. */
  async accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const ignore = (): void => {}
    // A peer that leaves early is no fault; `close` tells of it.
    socket.on('error', ignore)
    const { url = '/', headers } = request
    const trail = this.#deps.audit?.openTrail({ url, headers, remoteAddress: request.socket.remoteAddress })
    try {
      const session = await this.#admit(request, socket, trail)
      if (session === undefined || socket.destroyed) return
      trail?.started(SWITCHING)
      socket.off('error', ignore)
      this.#server.handleUpgrade(request, socket, head, peer => void this.#serve(peer, socket, session))
    } catch (error) {
      if (error instanceof SeatRefused || error instanceof Abandoned) return void socket.destroy()
      const status = statusOf(error, () => {
        trail?.panicked(error)
        this.#deps.log.error({ err: error }, 'a WebSocket request failed by a fault of the server')
      })
      trail?.failed(status)
      trail?.ended(status.code, NO_BODIES)
      refuse(socket, status)
    }
  }

  /** Everything that can still be refused with a plain answer. `undefined` when the client has left already. */
  async #admit(request: IncomingMessage, socket: Duplex, trail?: AuditTrail): Promise<Session | undefined> {
    const { access, services, endpoints, stream, inFlight, requests } = this.#deps
    const startedMs = performance.now()
    const authorized = await access.authorize(request as Request, trail)
    const target =
      authorized.info.resource && watchable(targetOf(services, authorized, request.headers.accept, endpoints))
    if (socket.destroyed) return undefined
    const flow = inFlight.flowOf(authorized)
    const ticket = await inFlight.enter(authorized, { flow, answer: socket, accept: request.headers.accept })
    socket.once('close', () => {
      inFlight.leave(ticket)
      trail?.ended(SWITCHING, NO_BODIES)
      const seconds = (performance.now() - startedMs) / 1000
      requests.observe({ verb: 'watch', type: target?.type, code: SWITCHING, seconds })
    })
    const permission = authorized.permission!
    if (target === undefined) {
      const plan = planStream(authorized.space, authorized.info.query, stream)
      ticket.releaseSeat()
      return {
        run: (sink, gone) => runSpaceStream(stream, plan, sink, { gone, user: authorized.user, permission }),
        protobuf: false,
        path: ticket.flow.path,
      }
    }
    const work = services.work.begin({ owner: target.space, isAbandoned: () => socket.destroyed })
    const plan = await planOf(services, target, work)
    ticket.releaseSeat()
    const protobuf = target.form.format === 'protobuf'
    return {
      run: (sink, gone) => runWatch(services, target, plan, sink, { gone, permission }),
      protobuf,
      path: ticket.flow.path,
    }
  }

  async #serve(peer: WebSocket, transport: Duplex, { run, protobuf, path }: Session): Promise<void> {
    const gone = new AbortController()
    const alive = (): void => void this.#peers.set(peer, true)
    alive()
    peer.on('pong', alive)
    peer.on('close', () => {
      gone.abort()
      this.#forget(peer)
    })
    // `close` follows, which is what counts: the peer broke the protocol or the connection broke.
    peer.on('error', () => {})
    this.#ticker ??= setInterval(() => this.#ping(), this.#deps.pingIntervalMs ?? PING_INTERVAL_MS)
    const { draining, turns } = this.#deps.services
    const closeCode = (): number => (draining.aborted ? CLOSE.goingAway : CLOSE.normal)
    try {
      await run(webSocketSink(peer, { transport, turns: turns.of(path), closeCode, protobuf }), gone.signal)
    } catch (error) {
      this.#deps.log.error({ err: error }, 'a watch over WebSocket ended by a fault of the server')
      // A notified one closes by itself.
      if (peer.readyState === peer.OPEN) peer.terminate()
    }
  }

  #ping(): void {
    for (const [peer, isAlive] of this.#peers) {
      if (isAlive) {
        this.#peers.set(peer, false)
        peer.ping()
      } else peer.terminate()
    }
  }

  /** Watches close by themselves; a peer that reads too slowly is not awaited. */
  #drain(): void {
    if (this.#peers.size === 0) return
    clearInterval(this.#ticker)
    this.#ticker = setTimeout(() => {
      for (const peer of this.#peers.keys()) peer.terminate()
    }, CLOSE_TIMEOUT_MS)
  }

  #forget(peer: WebSocket): void {
    this.#peers.delete(peer)
    if (this.#peers.size > 0) return
    clearInterval(this.#ticker)
    this.#ticker = undefined
  }
}

function watchable(target: Target): Target {
  if (target.resource.subresource !== '' || !target.type.verbs.includes('watch')) {
    throw methodNotAllowed(target.type, 'watch')
  }
  return target
}

function refuse(socket: Duplex, error: StatusError): void {
  const { retryAfterSeconds } = error.details ?? {}
  const headers = {
    'Cache-Control': CACHE_CONTROL,
    'Content-Type': 'application/json',
    ...(retryAfterSeconds !== undefined && { 'Retry-After': `${retryAfterSeconds}` }),
  }
  answerBare(socket, error.code, headers, `${JSON.stringify(error.toStatus())}\n`)
}
