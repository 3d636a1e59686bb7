/** Share of a request in a priority level. */

/** Seats of a request: those while it runs, and those of its watchers for a while once it has ended. */
export interface Work {
  readonly initialSeats: number
  readonly finalSeats: number
  readonly extraMs: number
}

export const ONE_SEAT: Work = { initialSeats: 1, finalSeats: 0, extraMs: 0 }

export type Refusal = 'concurrency-limit' | 'queue-full' | 'time-out' | 'cancelled'

/** Thrown to whoever gets no seat. */
export class SeatRefused extends Error {
  readonly reason: Refusal
  constructor(reason: Refusal) {
    super(`no seat: ${reason}`)
    this.name = 'SeatRefused'
    this.reason = reason
  }
}

/** How long a request is thought to run before it has. */
export const GUESSED_MS = 3

export function seatsOf({ initialSeats, finalSeats }: Work): number {
  return finalSeats > initialSeats ? finalSeats : initialSeats
}

/** In seats × milliseconds. */
export function workOf({ initialSeats, finalSeats, extraMs }: Work): number {
  return initialSeats * GUESSED_MS + finalSeats * extraMs
}
