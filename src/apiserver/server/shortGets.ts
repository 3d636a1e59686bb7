/**
 * The short way of a GET of one object: what is known at once of who asks, of their rights and of the object is answered in the step that
 * read the request, by one write, without Node's parser, its responses and Fastify. It asks what the long way asks, in the same order,
 * and answers the same bytes. Whatever would have to be waited for, refused, recorded or told otherwise goes the long way, as if it
 * had come there first: nothing has happened by then.
 */
import type { Services, SubresourceEndpoints } from '../endpoints/exchange.ts'
import { objectFor } from '../endpoints/get.ts'
import type { Format } from '../endpoints/negotiate.ts'
import { bodyOf } from '../endpoints/respond.ts'
import type { FrontDoor } from '../http/frontDoor.ts'
import type { InFlight, Ticket } from '../http/inFlight.ts'
import type { AuthorizedRequest } from '../http/pipeline.ts'
import { parseRequest, type RequestInfo } from '../request/requestInfo.ts'
import { readsObject, type Target, targetOf } from './dispatch.ts'
import type { Metrics } from './metrics.ts'
import type { ShortRequest } from './oneByOne.ts'
import { admittedNow, known } from './shortAdmission.ts'
import type { WholeAnswers } from './wholeAnswer.ts'

export interface ShortGetsDeps {
  door: Pick<FrontDoor, 'admit'>
  services: Services
  subresources: SubresourceEndpoints
  inFlight: Pick<InFlight, 'flowOf' | 'enterNow' | 'leave'>
  metrics: Pick<Metrics, 'observe'>
  answers: WholeAnswers
}

interface Found {
  ticket: Ticket
  type: Target['type']
  body: Buffer
  format: Format
}

/** Longer bodies gain little, and are copied here. */
const BODY_BYTES = 32 * 1024

export class ShortGets {
  readonly #deps: ShortGetsDeps

  constructor(deps: ShortGetsDeps) {
    this.#deps = deps
  }

  answer(request: ShortRequest, left: () => void): readonly string[] | undefined {
    const startedMs = performance.now()
    const found = this.#find(request)
    if (found === undefined) return undefined
    const { ticket, type, ...answered } = found
    const { inFlight, metrics, answers } = this.#deps
    request.socket.write(answers.of(ticket.flow.schema, answered), () => {
      inFlight.leave(ticket)
      metrics.observe({ verb: 'get', type, code: 200, seconds: (performance.now() - startedMs) / 1000 })
      left()
    })
    return ticket.flow.path
  }

  /** What is to be answered, with a seat. */
  #find(request: ShortRequest): Found | undefined {
    const { services, subresources, inFlight } = this.#deps
    const { socket, headers } = request
    try {
      const authorized = this.#admitted(request)
      if (authorized === undefined) return undefined
      const target = targetOf(services, authorized, headers.accept)
      if (target.warnings.length > 0 || !readsObject(target, subresources)) return undefined
      const stored = known(objectFor(services, target))
      if (stored === undefined || stored.bytes.length > BODY_BYTES) return undefined
      const made = bodyOf(services, target, headers['user-agent'], stored)
      if (made === undefined || made.body.length > BODY_BYTES) return undefined
      const flow = inFlight.flowOf(authorized)
      const ticket = inFlight.enterNow(authorized, { flow, answer: socket, accept: headers.accept })
      return ticket && { ticket, type: target.type, ...made }
    } catch {
      // the long way comes upon the same, and says it
      return undefined
    }
  }

  #admitted(request: ShortRequest): AuthorizedRequest | undefined {
    const info = parseRequest('GET', request.url)
    return namesObject(info) ? admittedNow(this.#deps.door, request, info) : undefined
  }
}

function namesObject({ verb, resource }: RequestInfo): boolean {
  return verb === 'get' && resource !== undefined && resource.subresource === ''
}
