/**
 * The short way of a write of one object, and of what syncers say of their clusters: past Node's parser, its requests and responses and Fastify. Whoever asks, whether they may,
 * their seat and the endpoint are those of the long way, by the same functions in the same order; only what carries the request is
 * another. Whatever would have to be waited for before the endpoint has it, or be refused there, goes the long way as if it had come
 * there first: nothing has happened by then. From there on what is written, refused or fails is answered here.
 */
import type { IncomingMessage } from 'node:http'
import type { BodyCheck } from '../authority/reportLimit.ts'
import type { LongBodies } from '../endpoints/longBodies.ts'
import type { Ticket } from '../http/inFlight.ts'
import type { AuthorizedRequest } from '../http/pipeline.ts'
import { parseRequest } from '../request/requestInfo.ts'
import { dispatch, goesShort, mayGoShort, type Target, targetOf } from './dispatch.ts'
import type { ShortRequest } from './oneByOne.ts'
import { type Refusals, tellFlow } from './refusals.ts'
import { admittedNow } from './shortAdmission.ts'
import type { ShortGetsDeps } from './shortGets.ts'
import { ShortAsked, ShortReply } from './shortReply.ts'

export interface ShortWritesDeps extends ShortGetsDeps {
  checkBody?: BodyCheck | undefined
  longBodies: Pick<LongBodies, 'concerns'>
  refusals: Refusals
}

interface Seated {
  target: Target
  ticket: Ticket
}

interface Run extends Seated {
  startedMs: number
  left: () => void
}

/** What bodies are called that are JSON, or mostly; others are seldom. */
const BODY_TYPES: ReadonlySet<string | undefined> = new Set([
  'application/json',
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/vnd.kubernetes.protobuf',
])

const VERBS: ReadonlySet<string> = new Set(['create', 'update', 'patch'])

export class ShortWrites {
  readonly #deps: ShortWritesDeps

  constructor(deps: ShortWritesDeps) {
    this.#deps = deps
  }

  suits({ headers }: IncomingMessage): boolean {
    return headers['content-encoding'] === undefined && BODY_TYPES.has(headers['content-type'])
  }

  answer(request: ShortRequest, left: () => void): readonly string[] | undefined {
    const startedMs = performance.now()
    const authorized = this.#admitted(request)
    if (authorized === undefined) return undefined
    const seated = this.#seated(request, authorized)
    if (seated === undefined) return undefined
    this.#run(request, { ...seated, startedMs, left }, authorized)
    return seated.ticket.flow.path
  }

  /** Who may, of what is a write. */
  #admitted(request: ShortRequest): AuthorizedRequest | undefined {
    try {
      const info = parseRequest(request.method, request.url)
      if (!VERBS.has(info.verb) || !mayGoShort(info.resource)) return undefined
      return admittedNow(this.#deps.door, request, info)
    } catch {
      // the long way comes upon the same, and says it
      return undefined
    }
  }

  /** What it is about, and its seat. */
  #seated({ socket, method, headers, body }: ShortRequest, authorized: AuthorizedRequest): Seated | undefined {
    const { services, subresources, inFlight, checkBody, longBodies } = this.#deps
    try {
      const target = targetOf(services, authorized, headers.accept)
      const { as, format } = target.form
      if (as !== undefined || format === 'yaml' || !goesShort(target, method, subresources)) return undefined
      checkBody?.(authorized, body.length)
      if (longBodies.concerns(headers['content-type'], body)) return undefined
      const flow = inFlight.flowOf(authorized)
      const ticket = inFlight.enterNow(authorized, { flow, answer: socket, accept: headers.accept })
      return ticket && { target, ticket }
    } catch {
      return undefined
    }
  }

  #run(request: ShortRequest, run: Run, authorized: AuthorizedRequest): void {
    const { services, subresources, inFlight, metrics, refusals, answers } = this.#deps
    const { target, ticket, startedMs, left } = run
    const { socket } = request
    // as long as something is asked on a connection it is not one on which nothing is
    const idleMs = socket.timeout ?? 0
    socket.setTimeout(0)
    const asked = new ShortAsked(request, authorized, ticket)
    const reply = new ShortReply({
      socket,
      request: asked,
      answers,
      compression: services.compression,
      over: ({ statusCode: code }) => {
        if (!socket.destroyed) socket.setTimeout(reply.keptMs ?? idleMs)
        inFlight.leave(ticket)
        const { info, type } = target
        metrics.observe({ verb: info.verb, type, code, seconds: (performance.now() - startedMs) / 1000 })
        left()
      },
      failed: error => refusals.answer(asked, reply, error),
    })
    const fail = (error: unknown): void => this.#fail(asked, reply, error)
    tellFlow(reply, ticket.flow)
    try {
      ticket.received(request.body)
      const exchange = { request: asked, reply, ...target }
      const answered = dispatch(services, exchange, subresources)
      if (answered instanceof Promise) answered.catch(fail)
    } catch (error) {
      fail(error)
    }
  }

  #fail(asked: ShortAsked, reply: ShortReply, error: unknown): void {
    const { refusals } = this.#deps
    if (!reply.sent) {
      refusals.answer(asked, reply, error)
      return
    }
    refusals.statusOf(error, asked)
    // what has left whole stays as it is
    if (!reply.isWhole) asked.raw.socket.destroy()
  }
}
