/**
 * The one road of a request. It leads through its connection's line, its turn, access, a seat, its body, its endpoint, and the answer's end.
 * An immediate result goes on in the same step.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import type { AccessControl, AuthorizedRequest } from '../access/accessControl.ts'
import { isStranger } from '../auth/users.ts'
import type { BodyCheck } from '../authority/reportLimit.ts'
import { networkOf, type Strangers } from '../connections/strangers.ts'
import type { InFlight } from '../flowcontrol/inFlight.ts'
import { SeatRefused } from '../flowcontrol/seats.ts'
import type { Ticket } from '../flowcontrol/ticket.ts'
import type { Answer, BodyFilters } from './answer.ts'
import { faultOfHead, refuseHead, refuseUpgrade } from './malformedHeads.ts'
import type { Request } from './request.ts'
import { gatherBody, hasBody } from './requestBody.ts'
import type { RequestLines } from './requestLines.ts'

export interface RoadDeps {
  lines: RequestLines
  access: Pick<AccessControl, 'authorize'>
  inFlight: InFlight
  strangers: Strangers
  compression: BodyFilters['compression']
  /** Absent: nothing is recorded. */
  audit?:
    | (NonNullable<BodyFilters['audit']> & {
        openTrail(request: Request, answer: Answer): void
        closeTrail(request: Request, answer: Answer): void
      })
    | undefined
  /** Bounds of bodies beside the limit of all. @throws StatusError RequestEntityTooLarge */
  checkBody?: BodyCheck | undefined
  /** Reads a body that may be long. */
  readBody(request: Request, body: Buffer): Soon<void>
  /** @throws what {@link RoadDeps.refuse} answers, also by the promise */
  endpoint(request: Request, answer: Answer, authorized: AuthorizedRequest): Soon<void>
  /** Takes over the connection of a request that becomes a WebSocket. */
  upgrade: Upgrade
  /** Answers with the Status of an error. */
  refuse: BodyFilters['fail']
  /** The answer of the request is over. */
  observed(request: Request, answer: Answer): void
}

type Upgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => void

/** Where requests go that this server does not answer itself. */
export interface Forwarding {
  /** False for those that are answered here. `answered`: to be called with the status, once it is known. */
  forward(request: Request, answer: Answer, answered: (code: number) => void): boolean
  upgrade: Upgrade
}

/** As proxies log requests whose client did not wait for the answer. */
const CLIENT_LEFT = 499

export class Road {
  readonly #deps: RoadDeps
  readonly #filters: BodyFilters
  #forwarding: Forwarding | undefined

  constructor(deps: RoadDeps) {
    this.#deps = deps
    const { compression, audit, refuse } = deps
    this.#filters = { compression, audit, fail: refuse }
  }

  /** To be called before the server listens. */
  forwardBy(forwarding: Forwarding): void {
    this.#forwarding = forwarding
  }

  /** Each request that Node emits. */
  receive(request: Request, answer: Answer): void {
    // read in one piece with more requests than its connection may have
    if (request.socket.destroyed) {
      request.isSurplus = true
      return
    }
    // Also for an answer that its client did not wait for: watches end like that.
    answer.on('close', () => this.#finish(request, answer))
    this.#deps.lines.enter(answer, () => this.#start(request, answer))
  }

  /** As Go's servers refuse an expectation that they do not meet; Node would keep the connection, whoever's it is. */
  refuseExpectation(request: Request, answer: Answer): void {
    answer.on('close', () => this.#deps.lines.leave(answer))
    this.#deps.lines.enter(answer, () => {
      const fault = faultOfHead(request)
      if (fault !== undefined) refuseHead(request, answer, fault)
      else answer.writeHead(417, { Connection: 'close', 'Content-Length': 0 }).end()
    })
  }

  /** A request that is to become a WebSocket. */
  receiveUpgrade(request: Request, socket: Socket, head: Buffer): void {
    this.#deps.lines.upgrade(request, () => {
      const fault = faultOfHead(request)
      if (fault !== undefined) refuseUpgrade(socket, fault)
      else (this.#forwarding ?? this.#deps).upgrade(request, socket, head)
    })
  }

  #start(request: Request, answer: Answer): void {
    const fault = faultOfHead(request)
    request.stripAuthority()
    if (fault !== undefined) refuseHead(request, answer, fault)
    else if (!this.#forwarding?.forward(request, answer, code => this.#noteTurns(request, code)))
      this.#authorize(request, answer)
  }

  /** Turns of a request that was answered elsewhere: whoever showed a credential and was not refused for it is no stranger. */
  #noteTurns(request: Request, code: number): void {
    const { lines } = this.#deps
    const { socket, headers } = request
    // a request that cannot be read is refused before its credential is looked at
    if (code === 401 || code === 400) lines.refused(socket)
    else if (headers.authorization !== undefined || socket.authorized)
      lines.admitted(request, [networkOf(socket.remoteAddress), headers.authorization ?? `${socket.remotePort}`])
  }

  #authorize(request: Request, answer: Answer): void {
    const { strangers, audit, access } = this.#deps
    request.startedMs = performance.now()
    answer.filters = this.#filters
    strangers.requestStarted(request.socket)
    audit?.openTrail(request, answer)
    try {
      const admitted = whenKnown(access.authorize(request, request.audit), authorized =>
        whenKnown(this.#admit(request, answer, authorized), () => this.#serve(request, answer, authorized)),
      )
      if (admitted instanceof Promise) admitted.catch(error => this.#deps.refuse(request, answer, error))
    } catch (error) {
      this.#deps.refuse(request, answer, error)
    }
  }

  /** A refusal precedes the read of the body, and so does that of a body that is too long. */
  #admit(request: Request, answer: Answer, authorized: AuthorizedRequest): Soon<void> {
    const { checkBody, inFlight, lines } = this.#deps
    const { accept, 'content-length': length } = request.headers
    request.authorized = authorized
    checkBody?.(authorized, Number(length ?? 0))
    // `close` has come already: nothing would return the seat, and no request runs without one.
    if (answer.closed) throw new SeatRefused('cancelled')
    const flow = inFlight.flowOf(authorized)
    if (!isStranger(authorized.user)) lines.admitted(request, flow.path)
    // also on a refusal: it says whose it is
    answer.namesFlow(flow.schema)
    return whenKnown(inFlight.enter(authorized, { flow, answer, accept }), ticket => {
      request.ticket = ticket
    })
  }

  #serve(request: Request, answer: Answer, authorized: AuthorizedRequest): Soon<void> {
    const { checkBody, readBody, endpoint } = this.#deps
    if (!hasBody(request)) return endpoint(request, answer, authorized)
    const ticket = request.ticket as Ticket
    ticket.awaitBody(Number(request.headers['content-length'] ?? 0))
    return gatherBody(request, answer).then(async body => {
      // a body without a declared length
      checkBody?.(authorized, body.length)
      request.body = body
      const read = readBody(request, body)
      if (read instanceof Promise) await read
      ticket.receiveBody(request.body)
      const answered = endpoint(request, answer, authorized)
      if (answered instanceof Promise) await answered
    })
  }

  #finish(request: Request, answer: Answer): void {
    const { strangers, inFlight, audit, observed, lines } = this.#deps
    if (request.startedMs > 0) {
      // Its client left, or what it sent ended it, before there was an answer: no audit event and no figure may name a success.
      if (!answer.headersSent) answer.statusCode = CLIENT_LEFT
      strangers.requestEnded(request.socket)
      if (request.ticket) inFlight.leave(request.ticket)
      audit?.closeTrail(request, answer)
      observed(request, answer)
    }
    lines.leave(answer)
  }
}
