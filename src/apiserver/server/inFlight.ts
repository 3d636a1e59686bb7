/**
 * Bounds on what the server does at a time. Beyond them a request is answered at once with 429 and told when to come again,
 * so that a burst costs its senders time instead of the server its memory. Reading and changing have bounds of their own, each
 * divided among the priority levels; long-running requests are counted apart.
 * @see https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/ `--max-requests-inflight`
 */
import { StatusError } from '../../apimachinery/errors.ts'
import type { RequestInfo } from '../request/requestInfo.ts'
import type { AuthorizedRequest } from './pipeline.ts'
import { type PriorityLevel, priorityLevelOf } from './priorityLevels.ts'
import { Seats } from './seats.ts'

/** Requests at a time, by what they do. */
export interface InFlightLimits {
  reading: number
  mutating: number
  /** Watches and space streams. */
  watching: number
}
export type InFlightKind = keyof InFlightLimits

/** Reading and mutating as upstream. An idle watch costs some 30 KB, most of it its TLS connection. */
export const DEFAULT_IN_FLIGHT: InFlightLimits = { reading: 400, mutating: 200, watching: 20_000 }
const RETRY_AFTER_SECONDS = 1
const TOO_MANY = 'the server has received too many requests and has asked us to try again later'

/** One request that runs. */
export interface Ticket {
  readonly kind: InFlightKind
  readonly level: PriorityLevel
  readonly sinceMs: number
  readonly end: () => void
}

/**
 * A ticket among its neighbours. Not a Set: the tables that a Set leaves behind as it turns over hold each other and what was
 * in them, so once one of them is old the collector of young garbage frees none of the requests.
 */
interface Running extends Ticket {
  older: Running | undefined
  newer: Running | undefined
}

export interface InFlightOptions {
  limits?: InFlightLimits | undefined
  /** Milliseconds on any clock that only goes forward. */
  clock: () => number
}

export class InFlight {
  readonly #clock: () => number
  readonly #reading: Seats
  readonly #mutating: Seats
  readonly #watchingLimit: number
  #watching = 0
  /** Ends of the list of tickets; watches excluded. */
  #oldest: Running | undefined
  #newest: Running | undefined
  #idle: PromiseWithResolvers<void> | undefined

  constructor({ limits = DEFAULT_IN_FLIGHT, clock }: InFlightOptions) {
    this.#clock = clock
    this.#reading = new Seats(limits.reading, clock)
    this.#mutating = new Seats(limits.mutating, clock)
    this.#watchingLimit = limits.watching
  }

  /**
   * Counts a request until `leave`; `end` breaks it off, should it take too long. Members of system:masters always get in,
   * so that an administrator can see to a server that is overrun.
   * @throws StatusError TooManyRequests
   */
  enter({ info, user }: AuthorizedRequest, end: () => void): Ticket {
    const kind = kindOf(info)
    const level = priorityLevelOf(user, info)
    if (!this.#take(kind, level)) {
      throw new StatusError('TooManyRequests', TOO_MANY, { retryAfterSeconds: RETRY_AFTER_SECONDS })
    }
    const ticket: Running = { kind, level, sinceMs: this.#clock(), end, older: undefined, newer: undefined }
    if (kind !== 'watching') this.#append(ticket)
    return ticket
  }

  /** Takes a ticket of `enter` back, once. */
  leave(ticket: Ticket): void {
    const { kind, level } = ticket
    if (kind === 'watching') this.#watching--
    else {
      this.#seatsFor(kind).give(level)
      this.#remove(ticket as Running)
    }
    if (this.#isIdle()) this.#idle?.resolve()
  }

  /** Breaks off what has run longer than `limitMs`, watches excluded: clients that do not take their answers. */
  endOlderThan(limitMs: number): void {
    const before = this.#clock() - limitMs
    let ticket = this.#oldest
    while (ticket !== undefined && ticket.sinceMs <= before) {
      const { newer }: Running = ticket
      ticket.end()
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

  running(kind: InFlightKind): number {
    return kind === 'watching' ? this.#watching : this.#seatsFor(kind).total
  }

  /** What runs of a priority level, watches excluded. */
  runningAt(level: PriorityLevel): number {
    return this.#reading.running(level) + this.#mutating.running(level)
  }

  #take(kind: InFlightKind, level: PriorityLevel): boolean {
    if (kind !== 'watching') return this.#seatsFor(kind).take(level)
    if (this.#watching >= this.#watchingLimit && level !== 'exempt') return false
    this.#watching++
    return true
  }

  #seatsFor(kind: 'reading' | 'mutating'): Seats {
    return kind === 'reading' ? this.#reading : this.#mutating
  }

  #append(ticket: Running): void {
    ticket.older = this.#newest
    if (this.#newest === undefined) this.#oldest = ticket
    else this.#newest.newer = ticket
    this.#newest = ticket
  }

  #remove(ticket: Running): void {
    const { older, newer } = ticket
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    ticket.older = undefined
    ticket.newer = undefined
  }

  #isIdle(): boolean {
    return this.#reading.total + this.#mutating.total + this.#watching === 0
  }
}

function kindOf({ verb, stream, resource }: RequestInfo): InFlightKind {
  if (stream || verb === 'watch') return 'watching'
  if (resource === undefined) return verb === 'get' || verb === 'head' ? 'reading' : 'mutating'
  return verb === 'get' || verb === 'list' ? 'reading' : 'mutating'
}
