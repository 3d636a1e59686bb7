/** A request among those that run, and those that wait to run: its seat, and the memory that it holds without one. */
import type { AuthorizedRequest } from '../access/accessControl.ts'
import type { UserInfo } from '../auth/types.ts'
import { EXTRAS, GROUPS } from '../auth/users.ts'
import type { Pausable } from '../registry/context.ts'
import type { RequestInfo } from '../request/requestInfo.ts'
import type { Flow } from './flowControl.ts'
import type { Holder } from './heldRequests.ts'
import type { Link } from './linkedList.ts'
import type { Seat } from './seatQueue.ts'

/** Requests at a time, by what they do. Those that read and those that change make the seats of the server, together. */
export interface InFlightLimits {
  reading: number
  mutating: number
  /** Watches and space streams. */
  watching: number
}
export type InFlightKind = keyof InFlightLimits

/** Transport of the answer: a response, or the socket of a WebSocket. */
export interface AnswerSide {
  destroy(): void
  once(event: 'close', left: () => void): unknown
  /** Absent: yes. */
  readonly headersSent?: boolean
  /** Bytes that the client has not read. */
  readonly writableLength: number
}

/** Has the seats of all tickets that run. */
export interface SeatKeeper {
  /** @throws StatusError TooManyRequests */
  pause(ticket: Ticket): void
  resume(ticket: Ticket): void
  release(ticket: Ticket): void
}

export class Ticket implements Pausable, Holder, Link<Ticket> {
  readonly kind: InFlightKind
  readonly flow: Flow
  readonly sinceMs: number
  readonly request: AuthorizedRequest
  readonly answer: AnswerSide
  readonly #keeper: SeatKeeper
  /** Absent while it is not known what it needs. */
  seat: Seat | undefined
  hasStarted = false
  /** Its client has left before it was its turn. */
  hasLeft = false
  isOver = false
  /** Its body has not come yet. */
  awaitsBody = false
  /** A webhook may have to convert what it is about: whatever it does, it may wait for that. */
  mayConvert = false
  /** Bytes that it holds without a seat; -1 while it has one. */
  heldBytes = -1
  /** Bytes of its body. */
  bodyBytes = 0
  pauses = 0
  /** Since when a watch has something in hand that its client does not read. */
  unreadMs: number | undefined
  older: Ticket | undefined
  newer: Ticket | undefined

  constructor(keeper: SeatKeeper, request: AuthorizedRequest, flow: Flow, answer: AnswerSide, sinceMs: number) {
    this.#keeper = keeper
    this.kind = kindOf(request.info)
    this.flow = flow
    this.request = request
    this.answer = answer
    this.sinceMs = sinceMs
  }

  /** Its user; names count in their space. Made when it is read: few are. */
  get user(): string {
    return ownerOf(this.request.user)
  }

  get spaces(): readonly string[] {
    return this.flow.spaces
  }

  /** Its watch runs: from now on it waits more than it works. */
  releaseSeat(): void {
    this.#keeper.release(this)
  }

  /** 0 bytes where its length is unknown. */
  awaitBody(bodyBytes: number): void {
    this.awaitsBody = true
    this.bodyBytes = bodyBytes
  }

  receiveBody(body: unknown): void {
    if (Buffer.isBuffer(body)) this.bodyBytes = body.length
    const waited = this.awaitsBody && this.pauses > 0
    this.awaitsBody = false
    if (waited) this.resume()
  }

  pause(): void {
    this.#keeper.pause(this)
  }

  resume(): void {
    this.#keeper.resume(this)
  }
}

function kindOf({ verb, stream, resource }: RequestInfo): InFlightKind {
  if (stream || verb === 'watch') return 'watching'
  if (resource === undefined) return verb === 'get' || verb === 'head' ? 'reading' : 'mutating'
  return verb === 'get' || verb === 'list' ? 'reading' : 'mutating'
}

/** Names count in the space that they are of. */
function ownerOf({ name, groups, extra }: UserInfo): string {
  if (groups.includes(GROUPS.masters)) return ''
  return `${extra?.[EXTRAS.clusterName]?.[0] ?? ''}\0${name}`
}
