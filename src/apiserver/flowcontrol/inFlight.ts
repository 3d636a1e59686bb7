/**
 * Requests in flight: each is admitted to a seat of its priority level, or waits for one in its turn. Those that run are
 * {@link RunningRequests}; watches have a budget of their own.
 */
import type { AuthorizedRequest } from '../access/accessControl.ts'
import type { UserInfo } from '../auth/types.ts'
import { selectorParts } from '../registry/selection.ts'
import { deadlineOf } from '../request/requestDeadline.ts'
import type { Flow, FlowControl } from './flowControl.ts'
import { type RunningOptions, RunningRequests } from './runningRequests.ts'
import { SeatRefused, type Work } from './seats.ts'
import { type AnswerSide, type InFlightKind, type InFlightLimits, Ticket } from './ticket.ts'
import { WatchBudget, type WatchCounts, watchWeight } from './watchBudget.ts'
import type { WatchedPlace, WatchOwner } from './watchTally.ts'

/** Reading and mutating as upstream. An idle watch costs some 30 KB, most of it its TLS connection. */
export const DEFAULT_IN_FLIGHT: InFlightLimits = { reading: 400, mutating: 200, watching: 20_000 }

export interface Entering {
  flow: Flow
  answer: AnswerSide
  /** The requested form of the answer. */
  accept?: string | undefined
}

export interface InFlightOptions extends RunningOptions {
  limits?: InFlightLimits | undefined
  /** How much work a request is. */
  estimate(request: AuthorizedRequest, accept: string, watches: WatchCounts, widest: number): Work | Promise<Work>
  isSyncer(user: UserInfo): boolean
}

export class InFlight {
  readonly #options: InFlightOptions
  readonly flowControl: FlowControl
  readonly running: RunningRequests
  readonly watches: WatchBudget
  #reading = 0
  #mutating = 0
  #idle: PromiseWithResolvers<void> | undefined

  constructor(options: InFlightOptions) {
    this.#options = options
    this.flowControl = options.flowControl
    this.running = new RunningRequests(options)
    this.watches = new WatchBudget((options.limits ?? DEFAULT_IN_FLIGHT).watching)
  }

  flowOf({ user, info, space }: AuthorizedRequest): Flow {
    return this.flowControl.flowOf(user, info, space)
  }

  /**
   * Counts a request until `leave`. Resolves when it is its turn; rejects when its client goes away before.
   * @throws StatusError TooManyRequests, also by the promise
   */
  enter(request: AuthorizedRequest, { flow, answer, accept = '' }: Entering): Ticket | Promise<Ticket> {
    const ticket = new Ticket(this.running, request, flow, answer, this.#options.clock())
    this.running.requireRoom(ticket)
    if (ticket.kind === 'watching' && !this.watches.admit(this.#watcher(ticket), placeOf(ticket)))
      throw this.flowControl.refuse(flow.schema, 'watches')
    this.#count(ticket, 1)
    try {
      const work = this.#options.estimate(request, accept, this.watches, flow.schema.level.widest)
      if (!(work instanceof Promise)) {
        ticket.seat = this.flowControl.enter(flow, work)
        if (ticket.seat.state === 'running') return this.#start(ticket)
      }
      answer.once('close', () => this.leave(ticket))
      return this.#wait(ticket, work)
    } catch (error) {
      this.#uncount(ticket)
      throw error
    }
  }

  /** Its answer is over, or it waits no more. Again does nothing. */
  leave(ticket: Ticket): void {
    const { flow, seat } = ticket
    if (!ticket.hasStarted) {
      ticket.hasLeft = true
      if (seat) flow.schema.level.set.withdraw(seat)
      return
    }
    if (ticket.isOver) return
    ticket.isOver = true
    this.running.remove(ticket)
    this.#uncount(ticket)
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

  /** How many there are. Those that wait for their turn are included; watches are those of all threads. */
  count(kind: InFlightKind): number {
    return kind === 'watching' ? this.watches.all.open : kind === 'reading' ? this.#reading : this.#mutating
  }

  async #wait(ticket: Ticket, work: Work | Promise<Work>): Promise<Ticket> {
    const { flowControl } = this
    try {
      ticket.seat ??= flowControl.enter(ticket.flow, await work)
      if (ticket.seat.state === 'waiting') {
        const turn = flowControl.turn(ticket.flow, ticket.seat, deadlineOf(ticket.request.info))
        this.running.reclaimIfDue()
        await turn
      }
      if (ticket.hasLeft) {
        flowControl.leave(ticket.flow, ticket.seat, false)
        throw new SeatRefused('cancelled')
      }
    } catch (error) {
      this.#uncount(ticket)
      throw error
    }
    return this.#start(ticket)
  }

  #start(ticket: Ticket): Ticket {
    ticket.hasStarted = true
    this.running.add(ticket)
    return ticket
  }

  #watcher({ request, flow, user }: Ticket): WatchOwner {
    const isSyncer = this.#options.isSyncer(request.user)
    return {
      spaces: isSyncer ? [request.space] : flow.spaces,
      user,
      isSyncer,
      isExempt: flow.schema.level.spec.exempt,
      weight: watchWeight(requestedParts(request)),
    }
  }

  #count({ kind }: Ticket, by: 1 | -1): void {
    if (kind === 'reading') this.#reading += by
    else if (kind === 'mutating') this.#mutating += by
  }

  #uncount(ticket: Ticket): void {
    this.#count(ticket, -1)
    if (ticket.kind === 'watching') this.watches.release(this.#watcher(ticket), placeOf(ticket))
    if (this.#isIdle()) this.#idle?.resolve()
  }

  #isIdle(): boolean {
    return this.#reading + this.#mutating + this.watches.open === 0
  }
}

function placeOf({ request: { space, info } }: Ticket): WatchedPlace {
  return { space, resource: info.resource?.resource ?? '', namespace: info.resource?.namespace ?? '' }
}

function requestedParts({ info: { query } }: AuthorizedRequest): number {
  const labelSelector = query.get('labelSelector') ?? undefined
  const fieldSelector = query.get('fieldSelector') ?? undefined
  return selectorParts({ labelSelector, fieldSelector })
}
