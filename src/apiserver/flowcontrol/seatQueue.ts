/** One queue of a priority level: who waits in it, in both orders, what runs of it, and from when its next request counts. */
import { type Link, LinkedList } from './linkedList.ts'
import { GUESSED_MS, seatsOf, type Work, workOf } from './seats.ts'
import { type Standing, WaitingLine } from './waitingLine.ts'

/** One request. `path`: its place among those of its queue. Its own links are of the order in which it came there. */
export interface Seat extends Standing<Seat>, Link<Seat> {
  readonly work: Work
  readonly arrivedMs: number
  /** When it began to run, or to run again. */
  startedMs: number
  state: 'waiting' | 'running' | 'paused' | 'over'
  queue: SeatQueue | undefined
  arrivalR: number
  waiter: Waiter | undefined
  /** It came back from a wait, and runs. */
  hasReturned: boolean
}

interface Waiter {
  resolve(): void
  reject(error: Error): void
  cancelTimer(): void
}

export class SeatQueue {
  readonly index: number
  /** S: the virtual time from which its next request counts. */
  nextR: number
  executing = 0
  seatsInUse = 0
  waiting = 0
  waitingWork = 0
  /** In the order in which they came. */
  readonly #arrivals = new LinkedList<Seat>(seat => seat)
  /** In the order in which they go. */
  readonly line = new WaitingLine<Seat>()

  constructor(index: number, nextR: number) {
    this.index = index
    this.nextR = nextR
  }

  get isIdle(): boolean {
    return this.waiting === 0 && this.executing === 0
  }

  get oldest(): Seat | undefined {
    return this.#arrivals.oldest
  }

  append(seat: Seat): void {
    seat.queue = this
    seat.state = 'waiting'
    this.#arrivals.append(seat)
    this.line.add(seat)
    this.waiting++
    this.waitingWork += workOf(seat.work)
  }

  takeOut(seat: Seat, served: boolean): void {
    this.line.remove(seat, served)
    this.#arrivals.remove(seat)
    this.waiting--
    this.waitingWork = this.waiting === 0 ? 0 : this.waitingWork - workOf(seat.work)
  }

  /** Somebody of it runs. */
  started({ work }: Seat): void {
    this.nextR += workOf(work)
    this.executing++
    this.seatsInUse += seatsOf(work)
    this.#keepPace()
  }

  ends({ work }: Seat): void {
    this.executing--
    this.seatsInUse -= seatsOf(work)
  }

  /** Corrects the estimated work of a request to the actual one. */
  putRight({ work, startedMs }: Seat, now: number): void {
    this.nextR -= work.initialSeats * (GUESSED_MS - (now - startedMs))
    this.#keepPace()
  }

  /** Time in which nobody of the queue waited is no credit. */
  #keepPace(): void {
    const { oldest } = this
    if (oldest !== undefined && this.nextR < oldest.arrivalR) this.nextR = oldest.arrivalR
  }
}
