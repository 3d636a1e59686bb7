/**
 * The requests that run: each has its seat in a priority level, or waits for one in its turn, and gives it back as soon as it
 * does not need the server itself any more. Watches and answers that are not taken have budgets of their own.
 */
import type { StatusError } from '../../apimachinery/errors.ts'
import type { UserInfo } from '../auth/types.ts'
import { EXTRAS, GROUPS } from '../auth/users.ts'
import type { Flow, FlowControl } from '../flowcontrol/flowControl.ts'
import { type HeldBounds, HeldRequests, type Holder } from '../flowcontrol/heldRequests.ts'
import { type Link, LinkedList } from '../flowcontrol/linkedList.ts'
import type { Seat } from '../flowcontrol/seatQueue.ts'
import { SeatRefused, type Work } from '../flowcontrol/seats.ts'
import { WatchBudget, type WatchCounts, watchWeight } from '../flowcontrol/watchBudget.ts'
import type { WatchedPlace, WatchOwner } from '../flowcontrol/watchTally.ts'
import type { Pausable } from '../registry/context.ts'
import { selectorParts } from '../registry/selection.ts'
import { deadlineOf } from '../request/requestDeadline.ts'
import type { RequestInfo } from '../request/requestInfo.ts'
import type { AuthorizedRequest } from './pipeline.ts'

/** Requests at a time, by what they do. Those that read and those that change make the seats of the server, together. */
export interface InFlightLimits {
  reading: number
  mutating: number
  /** Watches and space streams. */
  watching: number
}
export type InFlightKind = keyof InFlightLimits

/** Reading and mutating as upstream. An idle watch costs some 30 KB, most of it its TLS connection. */
export const DEFAULT_IN_FLIGHT: InFlightLimits = { reading: 400, mutating: 200, watching: 20_000 }

/** What watches and streams may have in hand that nobody reads. How many they are is bounded elsewhere. */
export const UNREAD: HeldBounds = {
  userBytes: 32 * 1024 * 1024,
  space: { requests: Number.POSITIVE_INFINITY, bytes: 64 * 1024 * 1024 },
  server: { requests: Number.POSITIVE_INFINITY, bytes: 512 * 1024 * 1024 },
}
/** What an unread watch takes beside what it was to send: frames that wait, records, encrypted copies. */
const UNREAD_BYTES = 128 * 1024

/** How often, at most, those who wait have the running looked through. */
const LOOK_MS = 10
/** How long a request may take to send its body, or to have objects converted, before its seat is somebody else's. */
const PATIENCE_MS = 20

/** What carries the answer: a response, or the socket of a WebSocket. */
export interface AnswerSide {
  destroy(): void
  /** Absent: yes. */
  readonly headersSent?: boolean
  /** Bytes that the client has not taken. */
  readonly writableLength: number
}

export interface Entering {
  flow: Flow
  answer: AnswerSide
  /** The form that the answer is asked for in. */
  accept?: string | undefined
}

export interface InFlightOptions {
  limits?: InFlightLimits | undefined
  flowControl: FlowControl
  /** What a request is worth. */
  estimate(request: AuthorizedRequest, accept: string, watches: WatchCounts, widest: number): Work | Promise<Work>
  isSyncer(user: UserInfo): boolean
  held?: HeldRequests
  unread?: HeldRequests
  /** Milliseconds on any clock that only goes forward. */
  clock: () => number
}

/** A request among its neighbours. */
export class Ticket implements Pausable, Holder, Link<Ticket> {
  readonly kind: InFlightKind
  readonly flow: Flow
  readonly sinceMs: number
  readonly request: AuthorizedRequest
  readonly answer: AnswerSide
  readonly #inFlight: InFlight
  /** Absent while nobody knows what it needs. */
  seat: Seat | undefined
  hasBegun = false
  /** Its client has left before it was its turn. */
  isGone = false
  isOver = false
  /** Its body has not come yet. */
  awaitsBody = false
  /** A webhook may have to convert what it is about: whatever it does, it may wait for that. */
  mayConvert = false
  /** Of what it holds without a seat; -1 while it has one. */
  heldBytes = -1
  /** Of its body. */
  bodyBytes = 0
  pauses = 0
  /** Since when a watch has something in hand that its client does not take. */
  unreadMs: number | undefined
  older: Ticket | undefined
  newer: Ticket | undefined

  constructor(inFlight: InFlight, request: AuthorizedRequest, flow: Flow, answer: AnswerSide, sinceMs: number) {
    this.#inFlight = inFlight
    this.kind = kindOf(request.info)
    this.flow = flow
    this.request = request
    this.answer = answer
    this.sinceMs = sinceMs
  }

  /** Who asks; names count in the space that they are of. Asked for few: not told beforehand. */
  get user(): string {
    return ownerOf(this.request.user)
  }

  get spaces(): readonly string[] {
    return this.flow.spaces
  }

  /** A watch has begun: from now on it waits more than it works. */
  begun(): void {
    if (this.seat) this.#inFlight.flowControl.leave(this.flow, this.seat, true)
  }

  /** Its body is to come; 0 bytes where its length is unknown. */
  awaits(bodyBytes: number): void {
    this.awaitsBody = true
    this.bodyBytes = bodyBytes
  }

  /** Its body is there. */
  received(body: unknown): void {
    if (Buffer.isBuffer(body)) this.bodyBytes = body.length
    const waited = this.awaitsBody && this.pauses > 0
    this.awaitsBody = false
    if (waited) this.resume()
  }

  pause(): void {
    this.#inFlight.pause(this)
  }

  resume(): void {
    this.#inFlight.resume(this)
  }
}

export class InFlight {
  readonly #options: InFlightOptions
  readonly #held: HeldRequests
  readonly #unread: HeldRequests
  readonly #watches: WatchBudget
  #reading = 0
  #mutating = 0
  /** In the order in which they began; watches excluded. */
  readonly #running = new LinkedList<Ticket>(ticket => ticket)
  readonly #open = new LinkedList<Ticket>(ticket => ticket)
  #lookedMs = Number.NEGATIVE_INFINITY
  #idle: PromiseWithResolvers<void> | undefined

  constructor(options: InFlightOptions) {
    this.#options = options
    this.#held = options.held ?? new HeldRequests()
    this.#unread = options.unread ?? new HeldRequests(UNREAD)
    this.#watches = new WatchBudget((options.limits ?? DEFAULT_IN_FLIGHT).watching)
  }

  get flowControl(): FlowControl {
    return this.#options.flowControl
  }

  get watches(): WatchBudget {
    return this.#watches
  }

  get held(): HeldRequests {
    return this.#held
  }

  flowOf({ user, info, space }: AuthorizedRequest): Flow {
    return this.#options.flowControl.flowOf(user, info, space)
  }

  /**
   * Counts a request until `leave`. Resolves when it is its turn. `waits` is given the ticket as soon as it stands in a queue: who
   * goes away meanwhile leaves it, and then the promise is rejected.
   * @throws StatusError TooManyRequests, also by the promise
   */
  enter(
    request: AuthorizedRequest,
    { flow, answer, accept = '' }: Entering,
    waits?: (ticket: Ticket) => void,
  ): Ticket | Promise<Ticket> {
    const ticket = new Ticket(this, request, flow, answer, this.#options.clock())
    const { level } = flow.schema
    if (!level.spec.exempt && !this.#held.hasRoom(ticket)) {
      throw this.#refusal(ticket, 'held')
    }
    if (ticket.kind === 'watching' && !this.#watches.take(this.#watcher(ticket), placeOf(ticket)))
      throw this.#refusal(ticket, 'watches')
    this.#count(ticket, 1)
    try {
      const work = this.#options.estimate(request, accept, this.#watches, level.widest)
      if (!(work instanceof Promise)) {
        ticket.seat = this.#options.flowControl.enter(flow, work)
        if (ticket.seat.state === 'running') return this.#begin(ticket)
      }
      waits?.(ticket)
      return this.#wait(ticket, work)
    } catch (error) {
      this.#uncount(ticket)
      throw error
    }
  }

  /** Takes a ticket of `enter` back, or one that waits. Again does nothing. */
  leave(ticket: Ticket): void {
    const { flow, seat } = ticket
    if (!ticket.hasBegun) {
      ticket.isGone = true
      if (seat) flow.schema.level.set.withdraw(seat)
      return
    }
    if (ticket.isOver) return
    ticket.isOver = true
    this.#options.flowControl.leave(flow, seat!, ticket.kind === 'watching')
    this.#release(ticket)
    this.#listOf(ticket).remove(ticket)
    this.#uncount(ticket)
  }

  /** The request waits for somebody else. @throws StatusError TooManyRequests */
  pause(ticket: Ticket): void {
    // Work that a request has left behind may wait as well, when there is nothing left to give back.
    if (ticket.pauses++ > 0 || ticket.seat?.state !== 'running') return
    const exempt = ticket.flow.schema.level.spec.exempt
    if (!exempt && !this.#held.hasRoom(ticket)) {
      ticket.pauses--
      throw this.#refusal(ticket, 'held')
    }
    this.#hold(ticket, ticket.bodyBytes)
    this.#options.flowControl.pause(ticket.flow, ticket.seat)
  }

  resume(ticket: Ticket): void {
    if (--ticket.pauses > 0 || ticket.seat?.state !== 'paused') return
    this.#release(ticket)
    this.#options.flowControl.resume(ticket.flow, ticket.seat)
  }

  /**
   * Takes the seats of those whose clients do not take their answers, are slow to send their bodies, or who may wait for somebody
   * else to convert their objects, and breaks off what is too much of such in memory for one space.
   */
  look(): void {
    this.#lookedMs = this.#options.clock()
    for (let ticket = this.#running.oldest; ticket !== undefined; ticket = ticket.newer) {
      const { answer, flow, seat } = ticket
      if (
        (ticket.awaitsBody || ticket.mayConvert) &&
        ticket.pauses === 0 &&
        ticket.heldBytes < 0 &&
        this.#lookedMs - ticket.sinceMs >= PATIENCE_MS
      ) {
        ticket.pauses = 1
        this.#hold(ticket, ticket.bodyBytes)
        this.#options.flowControl.pause(flow, seat!)
        if (!this.#held.fits(ticket)) answer.destroy()
      }
      if (answer.headersSent === false || answer.writableLength === 0) continue
      if (ticket.heldBytes < 0) this.#options.flowControl.leave(flow, seat!, false)
      this.#release(ticket)
      this.#hold(ticket, answer.writableLength)
      if (!this.#held.fits(ticket)) answer.destroy()
    }
  }

  /**
   * Breaks off watches, those first that were not read for longest, of a space whose unread ones have too much in hand, or of a
   * user in it. Once in a second or so: who reads at all has nothing left by then, or less.
   */
  lookAtWatches(): void {
    const now = this.#options.clock()
    let isTooMuch = false
    for (let ticket = this.#open.oldest; ticket !== undefined; ticket = ticket.newer) {
      const { writableLength } = ticket.answer
      if (writableLength === 0) {
        ticket.unreadMs = undefined
        this.#release(ticket)
        continue
      }
      ticket.unreadMs ??= now
      if (ticket.unreadMs === now) continue
      this.#release(ticket)
      ticket.heldBytes = writableLength + UNREAD_BYTES
      this.#unread.hold(ticket, ticket.heldBytes)
      isTooMuch ||= !this.#unread.fits(ticket)
    }
    if (!isTooMuch) return
    const unread: Ticket[] = []
    for (let ticket = this.#open.oldest; ticket !== undefined; ticket = ticket.newer) {
      if (ticket.heldBytes >= 0) unread.push(ticket)
    }
    for (const ticket of unread.sort((a, b) => a.unreadMs! - b.unreadMs!)) {
      if (this.#unread.fits(ticket)) continue
      this.#release(ticket)
      ticket.flow.schema.figures.reject('unread')
      ticket.answer.destroy()
    }
  }

  /** Breaks off what has run longer than `limitMs`, watches excluded: clients that do not take their answers. */
  endOlderThan(limitMs: number): void {
    const before = this.#options.clock() - limitMs
    let ticket = this.#running.oldest
    while (ticket !== undefined && ticket.sinceMs <= before) {
      const { newer }: Ticket = ticket
      ticket.answer.destroy()
      ticket = newer
    }
  }

  /** Resolves when nothing runs, or after `limitMs`. */
  async idle(limitMs: number): Promise<void> {
    if (this.#isIdle()) return
    this.#idle ??= Promise.withResolvers()
    const timer = setTimeout(this.#idle.resolve, limitMs)
    await this.#idle.promise
    clearTimeout(timer)
    this.#idle = undefined
  }

  /** Those that wait for their turn included; watches are those of all threads. */
  running(kind: InFlightKind): number {
    return kind === 'watching' ? this.#watches.all.open : kind === 'reading' ? this.#reading : this.#mutating
  }

  async #wait(ticket: Ticket, work: Work | Promise<Work>): Promise<Ticket> {
    const { flowControl, clock } = this.#options
    try {
      ticket.seat ??= flowControl.enter(ticket.flow, await work)
      if (ticket.seat.state === 'waiting') {
        const turn = flowControl.turn(ticket.flow, ticket.seat, deadlineOf(ticket.request.info))
        // Perhaps somebody has a seat who does not need it any more.
        if (clock() - this.#lookedMs >= LOOK_MS) this.look()
        await turn
      }
      if (ticket.isGone) {
        flowControl.leave(ticket.flow, ticket.seat, false)
        throw new SeatRefused('cancelled')
      }
    } catch (error) {
      this.#uncount(ticket)
      throw error
    }
    return this.#begin(ticket)
  }

  #begin(ticket: Ticket): Ticket {
    ticket.hasBegun = true
    this.#listOf(ticket).append(ticket)
    return ticket
  }

  #refusal({ flow }: Ticket, reason: string): StatusError {
    flow.schema.figures.reject(reason)
    return this.#options.flowControl.refuse(flow.schema.level)
  }

  #watcher({ request, flow, user }: Ticket): WatchOwner {
    const isSyncer = this.#options.isSyncer(request.user)
    return {
      spaces: isSyncer ? [request.space] : flow.spaces,
      user,
      isSyncer,
      isExempt: flow.schema.level.spec.exempt,
      weight: watchWeight(partsAsked(request)),
    }
  }

  #count({ kind }: Ticket, by: 1 | -1): void {
    if (kind === 'reading') this.#reading += by
    else if (kind === 'mutating') this.#mutating += by
  }

  #uncount(ticket: Ticket): void {
    this.#count(ticket, -1)
    if (ticket.kind === 'watching') this.#watches.give(this.#watcher(ticket), placeOf(ticket))
    if (this.#isIdle()) this.#idle?.resolve()
  }

  #hold(ticket: Ticket, bytes: number): void {
    ticket.heldBytes = bytes
    this.#held.hold(ticket, bytes)
  }

  #release(ticket: Ticket): void {
    if (ticket.heldBytes < 0) return
    const held = ticket.kind === 'watching' ? this.#unread : this.#held
    held.release(ticket, ticket.heldBytes)
    ticket.heldBytes = -1
  }

  #listOf({ kind }: Ticket): LinkedList<Ticket> {
    return kind === 'watching' ? this.#open : this.#running
  }

  #isIdle(): boolean {
    return this.#reading + this.#mutating + this.#watches.open === 0
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

function placeOf({ request: { space, info } }: Ticket): WatchedPlace {
  return { space, resource: info.resource?.resource ?? '', namespace: info.resource?.namespace ?? '' }
}

function partsAsked({ info: { query } }: AuthorizedRequest): number {
  const labelSelector = query.get('labelSelector') ?? undefined
  const fieldSelector = query.get('fieldSelector') ?? undefined
  return selectorParts({ labelSelector, fieldSelector })
}
