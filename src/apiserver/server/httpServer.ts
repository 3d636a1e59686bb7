/**
 * The HTTPS server: Fastify as its front, TLS, times and bounds of connections, and the road of every request behind one hook.
 */
import type { ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import type { Soon } from '../../apimachinery/soon.ts'
import type { Auditor } from '../audit/auditor.ts'
import type { BodyCheck } from '../authority/reportLimit.ts'
import type { CertificateNetworks } from '../connections/certificateNetworks.ts'
import { CrossedServer } from '../connections/crossedServer.ts'
import { paceHandshakes, type ShakingServer } from '../connections/paceHandshakes.ts'
import type { ConnectionServer, Strangers } from '../connections/strangers.ts'
import { secureContext, type TlsKeys } from '../connections/tls.ts'
import { CACHE_CONTROL } from '../endpoints/answerPieces.ts'
import { BIG_YAML, BigYaml } from '../endpoints/bigYaml.ts'
import { decodedBody } from '../endpoints/body.ts'
import { dispatch, exchangeFor } from '../endpoints/dispatch.ts'
import type { EndpointEntries, Services } from '../endpoints/exchange.ts'
import { LongBodies } from '../endpoints/longBodies.ts'
import { planStream, runSpaceStream, type SpaceStreamDeps } from '../endpoints/spaceStream.ts'
import { goneSignal, responseSink } from '../endpoints/streamWriter.ts'
import { WebSockets } from '../endpoints/webSockets.ts'
import { Answer } from '../http/answer.ts'
import { answerBare } from '../http/bareAnswer.ts'
import { FrontDoor } from '../http/frontDoor.ts'
import { HttpAudit } from '../http/httpAudit.ts'
import type { InFlight } from '../http/inFlight.ts'
import { paceFirstReads } from '../http/paceFirstReads.ts'
import { methodNotAllowed, type Paths } from '../http/paths.ts'
import type { AuthorizedRequest, Pipeline } from '../http/pipeline.ts'
import { Refusals } from '../http/refusals.ts'
import { Request } from '../http/request.ts'
import { hasBody } from '../http/requestBody.ts'
import { RequestLines, requestGate } from '../http/requestLines.ts'
import type { RequestMetrics } from '../http/requestMetrics.ts'
import { Road } from '../http/road.ts'
import type { Logger } from '../request/logger.ts'

export interface HttpServerDeps {
  tls: TlsKeys
  pipeline: Pipeline
  strangers: Strangers
  services: Services
  stream: SpaceStreamDeps
  /** Answers requests that name no resource (discovery, health, …). */
  paths: Pick<Paths, 'serve'>
  /** Sub-resources, and kinds that are answered. */
  endpoints: EndpointEntries
  requests: Pick<RequestMetrics, 'observe'>
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

/** Room for a long token, selector and list of groups to impersonate; together with the URL. */
export const HEADERS_LIMIT_BYTES = 64 * 1024
/** From the first byte of a request to the last one of its headers, and of its body. Slower clients only hold connections. */
export const HEADERS_TIMEOUT_MS = 20_000
export const REQUEST_TIMEOUT_MS = 60_000
export const HANDSHAKE_TIMEOUT_MS = 10_000
const KEEP_ALIVE_MS = 90_000

/** From the first byte of a request to the last one of its answer, watches excluded; looked at so often. */
export const ANSWER_TIMEOUT_MS = 120_000
const ANSWER_CHECK_MS = 1000
/** How long running requests may take to end when the server closes. */
export const DRAIN_MS = 5000

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

/** Nothing here is validated or serialized by Fastify; its default compilers would cost 10 ms and 4 MB. */
const noSchemas = (): never => {
  throw new Error('routes have no schemas')
}

export interface HttpServer {
  readonly app: FastifyInstance
  readonly road: Road
  readonly crossed: CrossedServer
}

export function createHttpServer(deps: HttpServerDeps): HttpServer {
  const { tls, strangers, requests, inFlight, services } = deps
  const { threads, work } = services
  const door = new FrontDoor({ pipeline: deps.pipeline, draining: services.draining })
  const webSockets = new WebSockets({ ...deps, door })
  const gate = requestGate(() => performance.now())
  const lines = new RequestLines(gate)
  const refusals = new Refusals({ ...deps, refused: socket => lines.refused(socket) })
  const longBodies = new LongBodies({ bigYaml: new BigYaml(job => threads.run(BIG_YAML, job)), work })

  const endpoint = (request: Request, answer: Answer, authorized: AuthorizedRequest): Soon<void> => {
    const { info } = authorized
    if (info.stream) return openStream(deps, request, answer, authorized)
    if (info.resource) return dispatch(services, exchangeFor(services, request, answer, authorized, deps.endpoints))
    return deps.paths.serve(request, answer, authorized)
  }
  const road = new Road({
    lines,
    door,
    inFlight,
    strangers,
    compression: services.compression,
    audit: deps.audit && new HttpAudit(deps.audit, (body, type) => decodedBody(services, body, type)),
    checkBody: deps.checkBody,
    readBody(request, body) {
      const { headers, socket, authorized } = request
      const contentType = headers['content-type']
      if (!longBodies.concerns(contentType, body)) return
      return longBodies.read(body, { contentType, owner: authorized?.space ?? '', socket }).then(read => {
        request.body = read.body
        request.repeatedKeys = read.repeatedKeys
        request.isLarge = read.isLarge
        request.parsed = read.parsed
      })
    },
    endpoint,
    upgrade: (request, socket, head) => void webSockets.accept(request, socket, head),
    refuse: (request, answer, error) => refusals.answer(request, answer, error),
    observed({ authorized, startedMs }, { statusCode }) {
      const { group, version, resource } = authorized?.info.resource ?? {}
      const type =
        resource === undefined ? undefined : services.types.in(authorized!.space).find(group!, version!, resource)
      const seconds = (performance.now() - startedMs) / 1000
      requests.observe({ verb: authorized?.info.verb ?? 'unknown', type, code: statusCode, seconds })
    },
  })

  const parsing = {
    IncomingMessage: Request,
    ServerResponse: Answer,
    optimizeEmptyRequests: true,
    maxHeaderSize: HEADERS_LIMIT_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // the road refuses those without one: Node would answer unseen, and take up the next request
    requireHostHeader: false,
    shouldUpgradeCallback(request: Request) {
      request.takePath()
      return webSockets.wants(request)
    },
  }
  const app = Fastify({
    https: {
      ...parsing,
      ...secureContext(tls),
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
    },
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    routerOptions: { maxParamLength: 8192 },
    logger: false,
    forceCloseConnections: true,
    return503OnClosing: false,
    // the road finds the fault of a malformed URL
    frameworkErrors: (_error: unknown, request: FastifyRequest, reply: FastifyReply) => take(request, reply),
    clientErrorHandler: (error: Error & { code?: string }, socket: Socket) =>
      lines.unreadable(socket, () => refuseUnreadable(error, socket)),
  } as unknown as FastifyServerOptions)
  const take = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack()
    road.take(request.raw as Request, reply.raw as unknown as Answer)
  }
  // `done` is never called: the framework has no more to do with the request
  app.addHook('onRequest', (request, reply, _done) => take(request, reply))
  app.route({ method: [...METHODS], url: '/*', handler: () => {} })

  const server = app.server as unknown as import('node:https').Server
  paceHandshakes(server as unknown as ShakingServer, deps.certificates)
  paceFirstReads(server, gate)
  strangers.follow(server as unknown as ConnectionServer, () => server.closeIdleConnections())
  server.on('connection', () => work.giveWay())
  server.on('checkContinue', (message, answer) => {
    const request = message as Request
    request.awaitsContinue = hasBody(request)
    if (!request.awaitsContinue) answer.writeContinue()
    server.emit('request', message, answer)
  })
  server.on('checkExpectation', (request, answer) => road.takeUnmet(request as Request, answer as unknown as Answer))
  server.on('upgrade', (request, socket, head) => road.takeUpgrade(request as Request, socket as Socket, head))

  const sweeper = setInterval(() => {
    inFlight.look()
    inFlight.lookAtWatches()
    inFlight.endOlderThan(ANSWER_TIMEOUT_MS)
  }, ANSWER_CHECK_MS)
  app.addHook('preClose', done => {
    clearInterval(sweeper)
    inFlight.idle(DRAIN_MS).then(() => {
      strangers.close()
      done()
    }, done)
  })
  const crossed = new CrossedServer(server, { ...parsing, keepAliveTimeout: KEEP_ALIVE_MS } as unknown as ServerOptions)
  app.addHook('onClose', () => crossed.close())
  app.addHook('onClose', () => threads.close())
  return { app, road, crossed }
}

/** Of silence on a stream. The kernel then asks once a second, and ends the connection after ten questions without an answer. */
export const PROBE_AFTER_MS = 20_000

async function openStream(
  deps: HttpServerDeps,
  request: Request,
  answer: Answer,
  authorized: AuthorizedRequest,
): Promise<void> {
  if (request.method !== 'GET') {
    answer.header('allow', 'GET')
    throw methodNotAllowed()
  }
  const plan = planStream(authorized.space, authorized.info.query, deps.stream)
  answer.stream({ 'cache-control': CACHE_CONTROL, 'content-type': 'application/json' })
  // the kernel asks a quiet peer whether it is there: of a lost network nothing else would tell for minutes
  answer.socket?.setKeepAlive(true, PROBE_AFTER_MS)
  const reader = { gone: goneSignal(answer), user: authorized.user, permission: authorized.permission! }
  const turns = deps.services.turns.of(request.inFlight?.flow.path ?? [])
  // each makes its own lines
  await runSpaceStream(deps.stream, plan, responseSink(answer, turns, { isAlone: true }), reader)
}

const TOO_SLOW = 'ERR_HTTP_REQUEST_TIMEOUT'

/** Bytes that are no HTTP, too long or too slow end their connection before there is a request to answer. */
function refuseUnreadable({ code }: Error & { code?: string }, socket: Duplex): void {
  if (code === 'ECONNRESET') socket.destroy()
  else answerBare(socket, code === 'HPE_HEADER_OVERFLOW' ? 431 : code === TOO_SLOW ? 408 : 400)
}
