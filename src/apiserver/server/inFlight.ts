/**
 * Bounds on what the server does at a time. Beyond them a request is answered at once with 429 and told when to come again,
 * so that a burst costs its senders time instead of the server its memory. Long-running requests are counted apart.
 * @see https://kubernetes.io/docs/reference/command-line-tools-reference/kube-apiserver/ `--max-requests-inflight`
 */
import { StatusError } from '../../apimachinery/errors.ts'
import { GROUPS } from '../auth/users.ts'
import type { Admitted } from './pipeline.ts'
import type { RequestInfo } from './requestInfo.ts'

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

/** One request that runs. */
export interface Ticket {
  readonly kind: InFlightKind
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
  readonly #limits: InFlightLimits
  readonly #clock: () => number
  readonly #running: InFlightLimits = { reading: 0, mutating: 0, watching: 0 }
  /** Ends of the list of tickets; watches excluded. */
  #oldest: Running | undefined
  #newest: Running | undefined
  #idle: PromiseWithResolvers<void> | undefined

  constructor({ limits = DEFAULT_IN_FLIGHT, clock }: InFlightOptions) {
    this.#limits = limits
    this.#clock = clock
  }

  /**
   * Counts a request until `leave`; `end` breaks it off, should it take too long. Members of system:masters always get in,
   * so that an administrator can see to a server that is overrun.
   * @throws StatusError TooManyRequests
   */
  enter({ info, user }: Admitted, end: () => void): Ticket {
    const kind = kindOf(info)
    if (this.#running[kind] >= this.#limits[kind] && !user.groups.includes(GROUPS.masters)) {
      throw new StatusError('TooManyRequests', 'Too many requests, please try again later.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    }
    this.#running[kind]++
    const ticket: Running = { kind, sinceMs: this.#clock(), end, older: undefined, newer: undefined }
    if (kind !== 'watching') this.#append(ticket)
    return ticket
  }

  /** Takes a ticket of `enter` back, once. */
  leave(ticket: Ticket): void {
    this.#running[ticket.kind]--
    if (ticket.kind !== 'watching') this.#remove(ticket as Running)
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
    return this.#running[kind]
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
    const { reading, mutating, watching } = this.#running
    return reading + mutating + watching === 0
  }
}

function kindOf({ verb, stream, resource }: RequestInfo): InFlightKind {
  if (stream || verb === 'watch') return 'watching'
  if (resource === undefined) return verb === 'get' || verb === 'head' ? 'reading' : 'mutating'
  return verb === 'get' || verb === 'list' ? 'reading' : 'mutating'
}
