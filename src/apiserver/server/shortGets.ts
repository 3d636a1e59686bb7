/**
 * The short way of a GET of one object: what is known at once of who asks, of their rights and of the object is answered in the step that
 * read the request, by one write, without Node's parser, its responses and Fastify. It asks what the long way asks, in the same order,
 * and answers the same bytes. Whatever would have to be waited for, refused, recorded or told otherwise goes the long way, as if it
 * had come there first: nothing has happened by then.
 */
import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'
import type { Soon } from '../../apimachinery/soon.ts'
import { isStranger } from '../auth/users.ts'
import type { Services, SubresourceEndpoints } from '../endpoints/exchange.ts'
import { objectFor } from '../endpoints/get.ts'
import type { Format } from '../endpoints/negotiate.ts'
import { bodyOf } from '../endpoints/respond.ts'
import { parseRequest, type RequestInfo } from '../request/requestInfo.ts'
import { readsObject, type Target, targetOf } from './dispatch.ts'
import type { FrontDoor } from './frontDoor.ts'
import type { InFlight, Ticket } from './inFlight.ts'
import type { Metrics } from './metrics.ts'
import type { ShortRequest, ShortWay } from './oneByOne.ts'
import { type AuthorizedRequest, hasImpersonation } from './pipeline.ts'
import { WholeAnswers } from './wholeAnswer.ts'

export interface ShortGetsDeps {
  door: Pick<FrontDoor, 'admit'>
  services: Services
  subresources: SubresourceEndpoints
  inFlight: Pick<InFlight, 'flowOf' | 'enterNow' | 'leave'>
  metrics: Pick<Metrics, 'observe'>
  /** How long a connection is kept on which nothing is asked. */
  keepAliveMs: number
}

interface Found {
  ticket: Ticket
  type: Target['type']
  body: Buffer
  format: Format
}

/** Whether a request with this URL is to go the long way. */
export type Detour = (url: string) => boolean

/** Longer bodies gain little, and are copied here. */
const BODY_BYTES = 32 * 1024

/** Headers that say that there is more to a request than its head, or to its connection than answers. */
const MORE = ['content-length', 'expect', 'transfer-encoding', 'upgrade'] as const

export class ShortGets implements ShortWay {
  readonly #deps: ShortGetsDeps
  readonly #answers: WholeAnswers
  readonly #detours: Detour[] = []

  constructor(deps: ShortGetsDeps) {
    this.#deps = deps
    this.#answers = new WholeAnswers(deps)
  }

  /** To be called before the server listens. */
  unless(detour: Detour): void {
    this.#detours.push(detour)
  }

  suits({ method, headers, socket, url = '' }: IncomingMessage): boolean {
    // what is asked with a query is mostly a list or a watch
    if (method !== 'GET' || url.includes('?') || !(socket instanceof TLSSocket)) return false
    if (!/^keep-alive$/i.test(headers.connection ?? 'keep-alive')) return false
    return MORE.every(name => headers[name] === undefined) && !hasImpersonation(headers)
  }

  answer(request: ShortRequest, left: () => void): readonly string[] | undefined {
    const startedMs = performance.now()
    const { socket, url } = request
    if (!socket.writable || this.#detours.some(leads => leads(url))) return undefined
    const found = this.#find(request)
    if (found === undefined) return undefined
    const { ticket, type, ...answered } = found
    const { inFlight, metrics } = this.#deps
    socket.write(this.#answers.of(ticket.flow.schema, answered), () => {
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

  #admitted({ socket, url, headers }: ShortRequest): AuthorizedRequest | undefined {
    const info = parseRequest('GET', url)
    if (!namesObject(info)) return undefined
    const raw = { method: 'GET', url, headers, distinctHeaders: NO_HEADERS, socket: socket as TLSSocket }
    const authorized = known(this.#deps.door.admit(raw, { info }))
    return authorized === undefined || isStranger(authorized.user) ? undefined : authorized
  }
}

/** Asked for those of who acts as somebody else alone, who does not come this way. */
const NO_HEADERS = (): Record<string, never> => ({})

function namesObject({ verb, resource }: RequestInfo): boolean {
  return verb === 'get' && resource !== undefined && resource.subresource === ''
}

/** `undefined` for what nobody knows yet. The long way asks again. */
function known<T>(soon: Soon<T>): T | undefined {
  if (!(soon instanceof Promise)) return soon
  soon.catch(() => undefined)
  return undefined
}
