/**
 * The Fastify assembly: TLS, body limits, one road for every request, errors as Status.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { SecureContextOptions } from 'node:tls'
import Fastify, { type FastifyBodyParser, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { ParsedJson } from '../../apimachinery/jsonInSteps.ts'
import type { RepeatedKey } from '../../apimachinery/repeatedKeys.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import type { Auditor } from '../audit/auditor.ts'
import type { AuditTrail } from '../audit/auditTrail.ts'
import { isStranger } from '../auth/users.ts'
import type { BodyCheck } from '../authority/reportLimit.ts'
import { keptHeaders } from '../endpoints/answerPieces.ts'
import { BIG_YAML, BigYaml } from '../endpoints/bigYaml.ts'
import { BODY_LIMIT_BYTES } from '../endpoints/body.ts'
import type { Services, SubresourceEndpoints } from '../endpoints/exchange.ts'
import { LongBodies } from '../endpoints/longBodies.ts'
import { methodNotAllowed } from '../endpoints/methods.ts'
import { planStream, runSpaceStream, type SpaceStreamDeps } from '../endpoints/spaceStream.ts'
import { goneSignal, responseSink } from '../endpoints/streamWriter.ts'
import { SeatRefused } from '../flowcontrol/seats.ts'
import type { CertificateNetworks } from '../http/certificateNetworks.ts'
import { FrontDoor } from '../http/frontDoor.ts'
import type { InFlight, Ticket } from '../http/inFlight.ts'
import { paceHandshakes, type ShakingServer } from '../http/paceHandshakes.ts'
import type { AuthorizedRequest, Pipeline } from '../http/pipeline.ts'
import type { ConnectionServer, Strangers } from '../http/strangers.ts'
import type { Logger } from '../request/logger.ts'
import { dispatch, exchangeFor } from './dispatch.ts'
import { HttpAudit } from './httpAudit.ts'
import type { Metrics } from './metrics.ts'
import { OneByOne, requestGate } from './oneByOne.ts'
import { Refusals, tellFlow } from './refusals.ts'
import { ShortGets } from './shortGets.ts'
import { ShortWays } from './shortWays.ts'
import { ShortWrites } from './shortWrites.ts'
import { WebSockets } from './webSockets.ts'
import { WholeAnswers } from './wholeAnswer.ts'

/** All PEM; `ca` vouches for clients. */
export interface TlsKeys {
  cert: string
  key: string
  ca: string
}

export interface HttpServerDeps {
  tls: TlsKeys
  pipeline: Pipeline
  strangers: Strangers
  services: Services
  stream: SpaceStreamDeps
  /** Answers what names no resource (discovery, health, …); false when there is no such path. */
  nonResource(request: FastifyRequest, reply: FastifyReply, authorized: AuthorizedRequest): Promise<boolean>
  subresources: SubresourceEndpoints
  metrics: Metrics
  /** Absent: nothing is recorded. */
  audit?: Auditor | undefined
  log: Logger
  inFlight: InFlight
  /** Who is asked for a certificate. Default: everybody. */
  certificates?: CertificateNetworks
  /** What bodies must not be larger than, beside the limit of all. */
  checkBody?: BodyCheck | undefined
  /** How often the peer of a WebSocket has to show that it is there. Default 30 s. */
  pingIntervalMs?: number | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    authorized: AuthorizedRequest | undefined
    startedMs: number
    /** What it is counted as while it runs. */
    inFlight: Ticket | undefined
    audit: AuditTrail | undefined
    /** What YAML said more than once; absent when the body was JSON. */
    repeatedKeys: RepeatedKey[] | undefined
    /** Whether what is done with the body takes turns with other long work. */
    isLarge: boolean
    /** The body's text where it is JSON, once it was parsed. */
    bodyText: string | undefined
    /** What a long body says, until somebody has read it, and whether it says a key twice. */
    parsed: ParsedJson | undefined
    repeatsKeys: boolean | undefined
  }
}

/** Room for a long token, selector and list of groups to impersonate; together with the URL. */
export const HEADERS_LIMIT_BYTES = 64 * 1024
/** From the first byte of a request to the last one of its headers, and of its body. Slower clients only hold connections. */
export const HEADERS_TIMEOUT_MS = 20_000
export const REQUEST_TIMEOUT_MS = 60_000
export const HANDSHAKE_TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 90_000
/** From the answer to what is no HTTP to the end of its connection: time to read it. */
const HELD_MS = 2000

/** The strong cipher that costs least goes first; large lists cost little else. All seal what they encipher: none is CBC. */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')
/** OpenSSL's SSL_OP_NO_RENEGOTIATION, which Node has no name for: a client of TLS 1.2 may not ask for more handshakes. */
const NO_RENEGOTIATION = 2 ** 30

/** From the first byte of a request to the last one of its answer, watches excluded; looked at so often. */
export const ANSWER_TIMEOUT_MS = 120_000
const ANSWER_CHECK_MS = 1000
/** How long running requests may take to end when the server closes. */
export const DRAIN_MS = 5000

// An `import` would read every export of the module, and with that load undici: 13 MB and 20 ms.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

const ANY_TYPE = /^./

/** Nothing here is validated or serialized by Fastify; its default compilers would cost 10 ms and 4 MB. */
const noSchemas = (): never => {
  throw new Error('routes have no schemas')
}

/** What new connections are secured with; also for `setSecureContext`, which leaves open ones alone. */
export function secureContext(tls: TlsKeys): SecureContextOptions {
  return { ...tls, ciphers: CIPHERS, honorCipherOrder: true, secureOptions: NO_RENEGOTIATION, minVersion: 'TLSv1.2' }
}

export interface HttpServer {
  readonly app: FastifyInstance
  /** Do not serve yet: others may come to stand before requests. */
  readonly requests: OneByOne
  /** Absent where requests are recorded. */
  readonly shortWays: ShortWays | undefined
}

export function createHttpServer(deps: HttpServerDeps): HttpServer {
  const { tls, strangers, metrics, inFlight } = deps
  const door = new FrontDoor({ pipeline: deps.pipeline, draining: deps.services.draining })
  const webSockets = new WebSockets({ ...deps, door })
  const { compression } = deps.services
  const audit = deps.audit && new HttpAudit(deps.audit, deps.services)
  metrics.follow(inFlight)
  metrics.followConnections(strangers)
  const refusals = new Refusals({ ...deps, refused: socket => requests.refused(socket) })
  const app = Fastify({
    https: {
      ...secureContext(tls),
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxHeaderSize: HEADERS_LIMIT_BYTES,
      // malformedHeads.ts refuses those without one: Node would answer unseen, and take up the next request
      requireHostHeader: false,
      headersTimeout: HEADERS_TIMEOUT_MS,
      shouldUpgradeCallback: (request: IncomingMessage) => webSockets.wants(request),
    },
    bodyLimit: BODY_LIMIT_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    routerOptions: { maxParamLength: 8192 },
    logger: false,
    forceCloseConnections: true,
    return503OnClosing: false,
    frameworkErrors: (_error, request, reply) => {
      refusals.answer(request as FastifyRequest, reply as FastifyReply, statusError.badRequest('the URL is malformed'))
    },
    clientErrorHandler: refuseUnreadable,
  }) as unknown as FastifyInstance
  const { threads, work } = deps.services
  const longBodies = new LongBodies({ bigYaml: new BigYaml(job => threads.run(BIG_YAML, job)), work })
  const short = {
    ...deps,
    door,
    longBodies,
    refusals,
    answers: new WholeAnswers({ keepAliveMs: KEEP_ALIVE_MS, clock: Date.now }),
  }
  const shortWays = deps.audit
    ? undefined
    : new ShortWays({ gets: new ShortGets(short), writes: new ShortWrites(short) })
  const requests = new OneByOne(
    requestGate(() => performance.now()),
    shortWays,
  )
  paceHandshakes(app.server as unknown as ShakingServer, deps.certificates)
  strangers.follow(app.server as unknown as ConnectionServer, () => requests.closeIdle())
  app.server.on('connection', () => deps.services.work.giveWay())
  app.addHook('onClose', () => strangers.close())
  app.removeAllContentTypeParsers()
  const parse: FastifyBodyParser<Buffer> = (request, body, done) => {
    try {
      // one whose length was not told
      deps.checkBody?.(request.authorized!, body.length)
    } catch (error) {
      return done(error as StatusError)
    }
    const contentType = request.headers['content-type']
    if (!longBodies.concerns(contentType, body)) return done(null, body)
    const origin = { contentType, owner: request.authorized?.space ?? '', socket: request.raw.socket }
    longBodies.read(body, origin).then(read => {
      request.repeatedKeys = read.repeatedKeys
      request.isLarge = read.isLarge
      request.parsed = read.parsed
      done(null, read.body)
    }, done)
  }
  // Fastify remembers which types an expression took, and finds out anew each time what is left to the asterisk.
  for (const types of [ANY_TYPE, '*']) app.addContentTypeParser(types, { parseAs: 'buffer' }, parse)
  app.addHook('onClose', () => threads.close())
  app.decorateRequest('authorized', undefined)
  app.decorateRequest('startedMs', 0)
  app.decorateRequest('inFlight', undefined)
  app.decorateRequest('audit', undefined)
  app.decorateRequest('repeatedKeys', undefined)
  app.decorateRequest('isLarge', false)
  app.decorateRequest('bodyText', undefined)
  app.decorateRequest('parsed', undefined)
  app.decorateRequest('repeatsKeys', undefined)

  // Who may not ask is refused before the body is read.
  app.addHook('onRequest', (request, reply, done) => {
    request.startedMs = performance.now()
    strangers.begins(request.raw.socket)
    // Tells of answers that the client did not wait for, too; watches end like that. Node tells it once only.
    reply.raw.on('close', () => observe(request, reply))
    const trail = audit?.begin(request, reply)
    const entered = whenKnown(door.authorize(request.raw, trail), authorized => enter(request, reply, authorized))
    if (entered instanceof Promise) entered.then(() => done(), done)
    else done()
  })
  const enter = (request: FastifyRequest, reply: FastifyReply, authorized: AuthorizedRequest): Soon<void> => {
    request.authorized = authorized
    deps.checkBody?.(authorized, Number(request.headers['content-length'] ?? 0))
    // Whoever left meanwhile was seen off by `close` already: nothing would take its seat back, and none gets in without one.
    if (reply.raw.closed) throw new SeatRefused('cancelled')
    const flow = inFlight.flowOf(authorized)
    if (!isStranger(authorized.user)) requests.belongs(request.raw.socket, flow.path)
    // Also on a refusal: it says whose it is.
    tellFlow(reply, flow)
    const entering = { flow, answer: reply.raw, accept: request.headers.accept }
    const entered = inFlight.enter(authorized, entering, ticket =>
      reply.raw.once('close', () => inFlight.leave(ticket)),
    )
    return whenKnown(entered, ticket => {
      request.inFlight = ticket
      const length = request.headers['content-length']
      if (length !== undefined || request.headers['transfer-encoding'] !== undefined) {
        ticket.awaitsBody = true
        ticket.bodyBytes = Number(length ?? 0)
      }
    })
  }
  const observe = (request: FastifyRequest, reply: FastifyReply): void => {
    strangers.ends(request.raw.socket)
    if (request.inFlight) inFlight.leave(request.inFlight)
    audit?.end(request, reply)
    const seconds = (performance.now() - request.startedMs) / 1000
    const { authorized } = request
    const served =
      authorized?.info.resource &&
      deps.services.types
        .in(authorized.space)
        .find(authorized.info.resource.group, authorized.info.resource.version, authorized.info.resource.resource)
    metrics.observe({
      verb: authorized?.info.verb ?? 'unknown',
      type: served,
      code: reply.statusCode,
      seconds,
    })
  }
  const sweeper = setInterval(() => {
    inFlight.look()
    inFlight.lookAtWatches()
    inFlight.endOlderThan(ANSWER_TIMEOUT_MS)
  }, ANSWER_CHECK_MS)
  app.addHook('preClose', done => {
    clearInterval(sweeper)
    inFlight.idle(DRAIN_MS).then(() => done(), done)
  })
  // Sees answers before they are compressed.
  if (audit) {
    app.addHook('onSend', (request, reply, payload, done) => {
      audit.answered(request, reply, payload)
      done(null, payload)
    })
  }
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!compression.wants(request, reply, payload)) return done(null, payload)
    compression.apply(reply, payload).then(body => done(null, body), done)
  })
  app.setErrorHandler((error, request, reply) => refusals.answer(request, reply, error))
  app.setNotFoundHandler((request, reply) => refusals.answer(request, reply, methodNotAllowed()))
  // As Go's servers answer what they are not up to; Node would keep the connection, whoever's it is.
  app.server.on('checkExpectation', (_request, response) =>
    response.writeHead(417, { Connection: 'close', 'Content-Length': 0 }).end(),
  )
  app.server.on('upgrade', (request, socket, head) => void webSockets.accept(request, socket, head))

  const answer = (request: FastifyRequest, reply: FastifyReply): Soon<void> => {
    const authorized = request.authorized!
    if (authorized.info.stream) return openStream(deps, request, reply, authorized)
    if (authorized.info.resource)
      return dispatch(deps.services, exchangeFor(deps.services, request, reply, authorized), deps.subresources)
    return deps.nonResource(request, reply, authorized).then(isServed => {
      if (!isServed) throw new StatusError('NotFound', 'the server could not find the requested resource', {})
    })
  }
  const fail = (request: FastifyRequest, reply: FastifyReply, error: unknown): void => {
    if (!reply.sent) return void reply.send(error)
    refusals.statusOf(error, request)
    // An answer that has begun can only be broken off: its end is missing, so nobody takes it for whole. What has ended
    // (a watch that told its client) leaves as it is.
    if (!reply.raw.writableEnded) reply.raw.destroy()
  }
  const handler = (request: FastifyRequest, reply: FastifyReply): void => {
    try {
      request.inFlight?.received(request.body)
      const answered = answer(request, reply)
      if (answered instanceof Promise) answered.catch(error => fail(request, reply, error))
    } catch (error) {
      fail(request, reply, error)
    }
  }
  app.route({ method: [...METHODS], url: '/*', handler })
  return { app, requests, shortWays }
}

/** Of silence on a stream. The kernel then asks once a second, and ends the connection after ten questions without an answer. */
export const PROBE_AFTER_MS = 20_000

async function openStream(
  deps: HttpServerDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  authorized: AuthorizedRequest,
): Promise<void> {
  if (request.method !== 'GET') {
    reply.header('Allow', 'GET')
    throw methodNotAllowed()
  }
  const plan = planStream(authorized.space, authorized.info.query, deps.stream)
  const raw: ServerResponse = reply.hijack().raw
  raw.writeHead(200, {
    ...keptHeaders(reply),
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache, private',
    'Transfer-Encoding': 'chunked',
  })
  raw.flushHeaders()
  request.inFlight?.begun()
  // the kernel asks a quiet peer whether it is there: of a lost network nothing else would tell for minutes
  raw.socket?.setKeepAlive(true, PROBE_AFTER_MS)
  const reader = { gone: goneSignal(raw), user: authorized.user, permission: authorized.permission! }
  const turns = deps.services.turns.of(request.inFlight?.flow.path ?? [])
  // each makes its own lines
  await runSpaceStream(deps.stream, plan, responseSink(raw, turns, { isAlone: true }), reader)
}

/** What is no HTTP, too long or too slow ends before there is a request that could be answered in style. */
function refuseUnreadable(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const code = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
  socket.end(`HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
  // Nobody reads from it any more, so that its other end would hold it for as long as it likes.
  const held = setTimeout(() => socket.destroy(), HELD_MS)
  socket.once('close', () => clearTimeout(held))
}
