/** Whatever was thrown while a request was answered, as the Status that its client sees, and as the headers that go with it. */

import type { Socket } from 'node:net'
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { ProtobufCodec } from '../../apimachinery/protobuf/protobufCodec.ts'
import { yamlText } from '../../apimachinery/yamlWriter.ts'
import { Abandoned } from '../../program/workTurns.ts'
import { isStorageError } from '../../storage/store.ts'
import { type AccessControl, shuttingDown } from '../access/accessControl.ts'
import { UNPROVEN } from '../access/forwarded.ts'
import type { Strangers } from '../connections/strangers.ts'
import type { InFlight } from '../flowcontrol/inFlight.ts'
import { SeatRefused } from '../flowcontrol/seats.ts'
import type { Logger } from '../request/logger.ts'
import { type Answer, CACHE_CONTROL } from './answer.ts'
import { letRefusalBeRead } from './bareAnswer.ts'
import { CONTENT_TYPES, errorFormat, wantsPretty } from './negotiate.ts'
import type { Request } from './request.ts'

export interface RefusalsDeps {
  access: Pick<AccessControl, 'refusedBy'>
  protobuf: ProtobufCodec
  inFlight: Pick<InFlight, 'flowOf'>
  strangers: Pick<Strangers, 'refused'>
  /** Called for connections with a refused request of unknown origin. */
  refused: (socket: Socket) => void
  log: Logger
}

const NO_QUERY = new URLSearchParams()

export class Refusals {
  readonly #deps: RefusalsDeps

  constructor(deps: RefusalsDeps) {
    this.#deps = deps
  }

  answer(request: Request, answer: Answer, error: unknown): void {
    const { access, inFlight, strangers, refused } = this.#deps
    const status = this.#statusOf(error, request)
    // An answer that has begun can only be broken off: its end is missing, so that no client takes it for whole. One that has
    // ended (a watch that reported its error) leaves as it is.
    if (answer.sent) {
      if (!answer.writableEnded) answer.destroy()
      return
    }
    request.audit?.failed(status)
    const refusedRequest = access.refusedBy(status)
    if (refusedRequest !== undefined) answer.namesFlow(inFlight.flowOf(refusedRequest).schema)
    if (refusedRequest !== undefined || status.code === 429) answer.header('x-content-type-options', 'nosniff')
    const { socket, complete, awaitsContinue, forwarded } = request
    // a front proxy carries many users, of whom none counts against it
    const isStranger = forwarded === undefined || forwarded === UNPROVEN
    // what cannot be read is refused before anybody asks who sends it
    const isUnknown = status.reason === 'Unauthorized' || (status.code === 400 && request.authorized === undefined)
    if (isUnknown && isStranger) {
      refused(socket)
      if (strangers.refused(socket)) answer.header('connection', 'close')
    }
    if ((status.code === 413 || awaitsContinue) && !complete) {
      answer.header('connection', 'close')
      letRefusalBeRead(socket)
    }
    this.#send(request, answer, status)
  }

  /** In the requested form, as far as there is one for it. */
  #send(request: Request, answer: Answer, error: StatusError): void {
    const { protobuf } = this.#deps
    const { retryAfterSeconds } = error.details ?? {}
    if (retryAfterSeconds !== undefined) answer.header('retry-after', String(retryAfterSeconds))
    answer.code(error.code).header('cache-control', CACHE_CONTROL)
    const { accept, 'user-agent': agent } = request.headers
    const format = errorFormat(accept)
    const status = error.toStatus()
    answer.header('content-type', CONTENT_TYPES[format])
    if (format === 'protobuf') answer.send(protobuf.encode({ ...status }))
    else if (format === 'yaml') answer.send(Buffer.from(yamlText(status)))
    else {
      const pretty = wantsPretty(request.authorized?.info.query ?? NO_QUERY, agent)
      answer.send(Buffer.from(`${JSON.stringify(status, undefined, pretty ? 2 : undefined)}\n`))
    }
  }

  #statusOf(error: unknown, request: Request): StatusError {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ECONNRESET' && request.destroyed) return statusError.badRequest('the request ended before its body')
    return statusOf(error, () => {
      request.audit?.panicked(error)
      this.#deps.log.error(
        { err: error, method: request.method, path: request.url.split('?')[0] },
        'a request failed by a fault of the server',
      )
    })
  }
}

/** The Status of a thrown error. `report` is called for one that nobody foresaw: it is a fault of the server. */
export function statusOf(error: unknown, report: () => void): StatusError {
  if (error instanceof StatusError) return error
  // it came, or was read, while the server ends
  if (isStorageError(error, 'Closed')) return shuttingDown()
  // Nobody is there to read these, and nobody here is to blame.
  if (error instanceof Abandoned) return statusError.badRequest('the request ended before its answer')
  if (error instanceof SeatRefused) return statusError.badRequest('the request ended before it was its turn')
  report()
  return statusError.internal(error)
}
