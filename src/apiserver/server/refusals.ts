/** Whatever was thrown while a request was answered, as the Status that its client sees, and as the headers that go with it. */
import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { Abandoned } from '../../program/workTurns.ts'
import { isStorageError } from '../../storage/store.ts'
import { BODY_LIMIT_BYTES, unsupportedMediaType } from '../endpoints/body.ts'
import type { Answering, Asked } from '../endpoints/carriers.ts'
import type { Services } from '../endpoints/exchange.ts'
import { CONTENT_TYPES, errorFormat, wantsPretty } from '../endpoints/negotiate.ts'
import { PATCH_TYPES } from '../endpoints/patch.ts'
import { yamlText } from '../endpoints/yamlWriter.ts'
import type { Flow } from '../flowcontrol/flowControl.ts'
import { SeatRefused } from '../flowcontrol/seats.ts'
import { flowHeaders } from '../http/flowHeaders.ts'
import type { InFlight } from '../http/inFlight.ts'
import { letRefusalBeRead } from '../http/letRefusalBeRead.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { shuttingDown } from '../http/shuttingDown.ts'
import type { Strangers } from '../http/strangers.ts'
import type { Logger } from '../request/logger.ts'

export interface RefusalsDeps {
  pipeline: Pick<Pipeline, 'refusedBy'>
  services: Pick<Services, 'protobuf'>
  inFlight: Pick<InFlight, 'flowOf'>
  strangers: Pick<Strangers, 'refused'>
  /** Hears of connections on which a request was refused before it was known whose it is. */
  refused: (socket: Socket) => void
  log: Logger
}

/** A request that may be refused. */
export interface Refusable extends Asked, Pick<FastifyRequest, 'url'> {
  readonly raw: { readonly socket: Socket; readonly complete: boolean; readonly destroyed: boolean }
}

const NO_QUERY = new URLSearchParams()

/** Which FlowSchema it is of, and which level. */
export function tellFlow(reply: Answering, { schema }: Flow): void {
  for (const [name, value] of flowHeaders(schema)) reply.header(name, value)
}

export class Refusals {
  readonly #deps: RefusalsDeps

  constructor(deps: RefusalsDeps) {
    this.#deps = deps
  }

  answer(request: Refusable, reply: Answering, error: unknown): void {
    const { pipeline, inFlight, strangers, refused } = this.#deps
    const status = this.statusOf(error, request)
    request.audit?.failed(status)
    const asked = pipeline.refusedBy(status)
    if (asked !== undefined) tellFlow(reply, inFlight.flowOf(asked))
    if (asked !== undefined || status.code === 429) reply.header('X-Content-Type-Options', 'nosniff')
    const { socket, complete } = request.raw
    // what cannot be read is refused before anybody asks who sends it
    if (status.reason === 'Unauthorized' || (status.code === 400 && request.authorized === undefined)) {
      refused(socket)
      if (strangers.refused(socket)) reply.header('Connection', 'close')
    }
    if (status.code === 413 && !complete) letRefusalBeRead(socket)
    this.tell(request, reply, status)
  }

  /** In the form that the client asked for, as far as there is one for it. */
  tell(request: Asked, reply: Answering, error: StatusError): void {
    const { protobuf } = this.#deps.services
    const { retryAfterSeconds } = error.details ?? {}
    if (retryAfterSeconds !== undefined) reply.header('Retry-After', String(retryAfterSeconds))
    reply.code(error.code).header('Cache-Control', 'no-cache, private')
    const { accept, 'user-agent': agent } = request.headers
    const format = errorFormat(accept)
    const status = error.toStatus()
    // A Buffer, since Fastify names a charset for strings and upstream has none.
    reply.header('Content-Type', CONTENT_TYPES[format])
    if (format === 'protobuf') reply.send(protobuf.encode({ ...status }))
    else if (format === 'yaml') reply.send(Buffer.from(yamlText(status)))
    else {
      const pretty = wantsPretty(request.authorized?.info.query ?? NO_QUERY, agent)
      reply.send(Buffer.from(`${JSON.stringify(status, undefined, pretty ? 2 : undefined)}\n`))
    }
  }

  /** What we did not foresee is logged: it is our fault. */
  statusOf(error: unknown, request: Refusable): StatusError {
    if (error instanceof StatusError) return error
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
      return new StatusError('RequestEntityTooLarge', `Request entity too large: limit is ${BODY_LIMIT_BYTES}`)
    }
    if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE')
      return unsupportedMediaType(request.method === 'PATCH' ? PATCH_TYPES : undefined)
    if (isClientError(error)) return statusError.badRequest(error.message)
    // it came, or was read, while the server ends
    if (isStorageError(error, 'Closed')) return shuttingDown()
    // Nobody is there to read these, and nobody here is to blame.
    if (error instanceof Abandoned) return statusError.badRequest('the request ended before its answer')
    if (error instanceof SeatRefused) return statusError.badRequest('the request ended before it was its turn')
    if (code === 'ECONNRESET' && request.raw.destroyed)
      return statusError.badRequest('the request ended before its body')
    request.audit?.panicked(error)
    this.#deps.log.error(
      { err: error, method: request.method, path: request.url.split('?')[0] },
      'a request failed by a fault of the server',
    )
    return statusError.internal(error)
  }
}

/** What Fastify itself finds wrong with a request. */
function isClientError(error: unknown): error is Error {
  if (!(error instanceof Error) || !('code' in error) || !('statusCode' in error)) return false
  const { code, statusCode } = error
  return String(code).startsWith('FST_ERR') && typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
}
