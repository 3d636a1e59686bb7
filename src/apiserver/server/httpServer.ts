/**
 * The Fastify assembly: TLS, body limits, one road for every request, errors as Status.
 */
import type { ServerResponse } from 'node:http'
import type { TLSSocket } from 'node:tls'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { BODY_LIMIT_BYTES } from '../endpoints/body.ts'
import type { Services } from '../endpoints/exchange.ts'
import { planStream, runSpaceStream, type SpaceStreamDeps } from '../endpoints/spaceStream.ts'
import { responseSink } from '../endpoints/streamWriter.ts'
import { dispatch, exchangeFor, type SubresourceEndpoints } from './dispatch.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import type { Admitted, Pipeline } from './pipeline.ts'

export interface HttpServerDeps {
  tls: { cert: string; key: string; ca: string }
  pipeline: Pipeline
  services: Services
  stream: SpaceStreamDeps
  /** Answers what names no resource (discovery, health, …); false when there is no such path. */
  nonResource(request: FastifyRequest, reply: FastifyReply, admitted: Admitted): Promise<boolean>
  subresources: SubresourceEndpoints
  metrics: Metrics
  log: Logger
}

declare module 'fastify' {
  interface FastifyRequest {
    admitted: Admitted | undefined
    startedNs: bigint
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const

export function createHttpServer(deps: HttpServerDeps): FastifyInstance {
  const { tls, metrics } = deps
  const app = Fastify({
    https: { ...tls, requestCert: true, rejectUnauthorized: false, minVersion: 'TLSv1.2' },
    bodyLimit: BODY_LIMIT_BYTES,
    keepAliveTimeout: 90_000,
    requestTimeout: 60_000,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 8192 },
    logger: false,
    forceCloseConnections: true,
    frameworkErrors: (_error, _request, reply) => {
      sendStatus(reply, statusError.badRequest('the URL is malformed'))
    },
  }) as unknown as FastifyInstance
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.decorateRequest('admitted', undefined)
  app.decorateRequest('startedNs', 0n)

  // Who may not ask is refused before the body is read.
  app.addHook('onRequest', async request => {
    request.startedNs = process.hrtime.bigint()
    request.admitted = await deps.pipeline.admit({
      method: request.method,
      url: request.raw.url ?? '/',
      headers: request.headers,
      get distinctHeaders() {
        return request.raw.headersDistinct
      },
      socket: request.raw.socket as TLSSocket,
    })
  })
  app.addHook('onResponse', (request, reply, done) => {
    const seconds = Number(process.hrtime.bigint() - request.startedNs) / 1e9
    const { admitted } = request
    const served =
      admitted?.info.resource &&
      deps.services.types
        .in(admitted.space)
        .find(admitted.info.resource.group, admitted.info.resource.version, admitted.info.resource.resource)
    metrics.observe({
      verb: admitted?.info.verb ?? 'unknown',
      resource: served?.resource ?? '',
      group: served?.group ?? '',
      code: reply.statusCode,
      seconds,
      builtin: served?.origin === 'builtin',
    })
    done()
  })
  app.setErrorHandler((error, request, reply) => sendStatus(reply, toStatus(error, request, deps.log)))

  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const admitted = request.admitted!
    if (admitted.info.stream) await openStream(deps, reply, admitted)
    else if (admitted.info.resource)
      await dispatch(deps.services, exchangeFor(deps.services, request, reply, admitted), deps.subresources)
    else if (!(await deps.nonResource(request, reply, admitted))) {
      throw new StatusError('NotFound', 'the server could not find the requested resource')
    }
    return reply
  }
  app.route({ method: [...METHODS], url: '/*', handler })
  return app
}

async function openStream(deps: HttpServerDeps, reply: FastifyReply, admitted: Admitted): Promise<void> {
  const plan = planStream(admitted.space, admitted.info.query, deps.stream.store)
  const raw: ServerResponse = reply.hijack().raw
  raw.writeHead(200, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-cache, private',
    'Transfer-Encoding': 'chunked',
  })
  raw.flushHeaders()
  const gone = new AbortController()
  raw.on('close', () => gone.abort())
  await runSpaceStream(deps.stream, plan, responseSink(raw), gone.signal)
}

/** Whatever was thrown, as the Status that the client shall see. What we did not foresee is logged: it is our fault. */
function toStatus(error: unknown, request: FastifyRequest, log: Logger): StatusError {
  if (error instanceof StatusError) return error
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    return new StatusError('RequestEntityTooLarge', `Request entity too large: limit is ${BODY_LIMIT_BYTES}`)
  }
  if (typeof code === 'string' && code.startsWith('FST_ERR_CTP'))
    return statusError.badRequest((error as Error).message)
  log.error(
    { err: error, method: request.method, path: request.url.split('?')[0] },
    'a request failed by a fault of the server',
  )
  return statusError.internal(error)
}

export function sendStatus(reply: FastifyReply, error: StatusError): void {
  const { retryAfterSeconds } = error.details ?? {}
  if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds))
  reply
    .code(error.code)
    .header('Cache-Control', 'no-cache, private')
    .type('application/json')
    .send(`${JSON.stringify(error.toStatus())}\n`)
}
