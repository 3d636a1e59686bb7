/**
 * The HTTPS server: Fastify as its front, TLS, times and bounds of connections, and the road of every request behind one hook.
 */
import type { IncomingMessage, ServerOptions } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify'
import type { CertificateNetworks } from '../connections/certificateNetworks.ts'
import { paceFirstReads } from '../connections/paceFirstReads.ts'
import { paceHandshakes, type ShakingServer } from '../connections/paceHandshakes.ts'
import { requestGate } from '../connections/requestTurns.ts'
import type { ConnectionServer } from '../connections/strangers.ts'
import { secureContext, type TlsKeys } from '../connections/tls.ts'
import { Answer } from './answer.ts'
import { answerBare } from './bareAnswer.ts'
import { Refusals, type RefusalsDeps } from './refusals.ts'
import { Request } from './request.ts'
import { hasBody } from './requestBody.ts'
import { RequestLines } from './requestLines.ts'
import { Road, type RoadDeps } from './road.ts'

export interface HttpServerDeps
  extends Omit<RoadDeps, 'access' | 'lines' | 'upgrade' | 'refuse'>,
    Omit<RefusalsDeps, 'access' | 'inFlight' | 'strangers' | 'refused'> {
  access: RoadDeps['access'] & RefusalsDeps['access']
  tls: TlsKeys
  /** Networks of clients that show a certificate. */
  certificates: CertificateNetworks
  webSockets: {
    /** Whether a request is to become one. */
    wants(request: Request): boolean
    /** Takes over the connection of a request that it wants. */
    accept(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void>
  }
  /** A connection comes before long work. */
  giveWay: () => void
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
  /** How it parses requests, for a server that shares its listeners. */
  readonly parsing: ServerOptions
  /** Bounds and paces the connections of another HTTPS server, whose requests this one answers. To be called before it listens. */
  pace(server: HttpsServer): void
}

export function createHttpServer(deps: HttpServerDeps): HttpServer {
  const { tls, strangers, inFlight, webSockets } = deps
  const gate = requestGate(() => performance.now())
  const lines = new RequestLines(gate)
  const refusals = new Refusals({ ...deps, refused: socket => lines.refused(socket) })

  const road = new Road({
    ...deps,
    lines,
    upgrade: (request, socket, head) => void webSockets.accept(request, socket, head),
    refuse: (request, answer, error) => refusals.answer(request, answer, error),
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
      request.stripAuthority()
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
    frameworkErrors: (_error: unknown, request: FastifyRequest, reply: FastifyReply) => handOver(request, reply),
    clientErrorHandler: (error: Error & { code?: string }, socket: Socket) =>
      lines.unreadable(socket, () => refuseUnreadable(error, socket)),
  } as unknown as FastifyServerOptions)
  const handOver = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack()
    road.receive(request.raw as Request, reply.raw as unknown as Answer)
  }
  // `done` is never called: the framework has no more to do with the request
  app.addHook('onRequest', (request, reply, _done) => handOver(request, reply))
  app.route({ method: [...METHODS], url: '/*', handler: () => {} })

  const pace = (each: HttpsServer): void => {
    paceHandshakes(each as unknown as ShakingServer, deps.certificates)
    paceFirstReads(each, gate)
    strangers.follow(each as unknown as ConnectionServer, () => each.closeIdleConnections())
    each.on('connection', deps.giveWay)
  }
  const server = app.server as unknown as HttpsServer
  pace(server)
  server.on('checkContinue', (message, answer) => {
    const request = message as Request
    request.awaitsContinue = hasBody(request)
    if (!request.awaitsContinue) answer.writeContinue()
    server.emit('request', message, answer)
  })
  server.on('checkExpectation', (request, answer) =>
    road.refuseExpectation(request as Request, answer as unknown as Answer),
  )
  server.on('upgrade', (request, socket, head) => road.receiveUpgrade(request as Request, socket as Socket, head))

  const { running } = inFlight
  const sweeper = setInterval(() => {
    running.reclaimSeats()
    running.endUnreadWatches()
    running.endOlderThan(ANSWER_TIMEOUT_MS)
  }, ANSWER_CHECK_MS)
  app.addHook('preClose', done => {
    clearInterval(sweeper)
    inFlight.idle(DRAIN_MS).then(() => {
      strangers.close()
      done()
    }, done)
  })
  return { app, road, parsing: parsing as unknown as ServerOptions, pace }
}

const TOO_SLOW = 'ERR_HTTP_REQUEST_TIMEOUT'

/** Bytes that are no HTTP, too long or too slow end their connection before there is a request to answer. */
function refuseUnreadable({ code }: Error & { code?: string }, socket: Duplex): void {
  if (code === 'ECONNRESET') socket.destroy()
  else answerBare(socket, code === 'HPE_HEADER_OVERFLOW' ? 431 : code === TOO_SLOW ? 408 : 400)
}
