/**
 * The requests of one priority level: as many at a time as it has seats, the others in queues, which are served fairly.
 *
 * Fair is by virtual time: R tells what an always busy queue would have been served by now. Each queue knows the R from which its next
 * request counts (S). The queue goes first whose request would be done first, S + its work. The work of a request is estimated at its start
 * and corrected at its end. Times are in milliseconds, work in seats × milliseconds.
 * @see https://github.com/kubernetes/enhancements/tree/master/keps/sig-api-machinery/1040-priority-and-fairness
 */
import type { Clock } from '../../client/clock.ts'
import { SeatDemand } from './seatDemand.ts'
import type { Seat } from './seatQueue.ts'
import { SeatQueue } from './seatQueue.ts'
import { type Refusal, SeatRefused, seatsOf, type Work, workOf } from './seats.ts'

export interface Queuing {
  readonly queues: number
  readonly handSize: number
  /** Requests that wait in one queue. */
  readonly lengthLimit: number
}

const KEPT_QUEUES = 256
/**
 * Share of the seats that requests of several seats may have together. They run for long, side by side, so none of theirs is free for a
 * while once they have all. A short request would wait for the first of them to end.
 */
const WIDE_PART = 3 / 4
/**
 * The last seats of a level stay free, even from a sole tenant. A tenant gets another one as long as all of theirs are at most so many
 * times those left then. One tenant has seven of eight seats, two have seven of fifteen each, and so on. A newcomer finds a seat at once,
 * and need not wait until some of a crowd end, which all run side by side. Levels of few seats have none to spare.
 */
const TIMES_LEFT = 7
const SPARE_FROM_SEATS = 8
/**
 * Share of the seats that requests which came back from a wait keep from newcomers. They go on whether there are seats or not, all those
 * that waited for one thing at the same time. Any other request would wait for all of them.
 */
const RETURNED_PART = 1 / 2

interface Candidate {
  readonly seat: Seat
  readonly doneR: number
  readonly turn: number
}

function isBefore(doneR: number, turn: number, other: Candidate | undefined): boolean {
  return other === undefined || doneR < other.doneR || (doneR === other.doneR && turn < other.turn)
}

interface QueueSetOptions {
  /** Any that only goes forward. */
  clock: Clock
  /** Absent: whoever finds no seat is refused. */
  queuing?: Queuing | undefined
  limit: number
  /** Whether it counts only, and holds back nobody. */
  exempt?: boolean
}

export class QueueSet {
  readonly #clock: Clock
  readonly #exempt: boolean
  readonly demand: SeatDemand
  #queuing: Queuing | undefined
  /** Those in use, and some that were: a level may have millions. By index. */
  readonly #queues = new Map<number, SeatQueue>()
  #limit: number
  #r = 0
  #lastMs: number
  #activeQueues = 0
  #enqueues = 0
  /** The queue that was served last. */
  #robin = 0
  /** Seats that went to others since the first in order was found too wide for what was free. */
  #passedSeats = 0
  #executing = 0
  #seatsInUse = 0
  /** Seats in use by requests of several. */
  #wideInUse = 0
  /** Seats in use by requests that came back. */
  #returned = 0
  /** Seats in use, by tenant. */
  readonly #taken = new Map<string, number>()
  #waiting = 0
  #seatsWaiting = 0

  constructor({ clock, queuing, limit, exempt = false }: QueueSetOptions) {
    this.#clock = clock
    this.#exempt = exempt
    this.#limit = limit
    this.#lastMs = clock.now()
    this.demand = new SeatDemand(this.#lastMs)
    this.configure(queuing)
  }

  get limit(): number {
    return this.#limit
  }
  get executing(): number {
    return this.#executing
  }
  get seatsInUse(): number {
    return this.#seatsInUse
  }
  get waiting(): number {
    return this.#waiting
  }
  get seatsWaiting(): number {
    return this.#seatsWaiting
  }

  /** For those who look at it. */
  get queues(): Iterable<Readonly<SeatQueue>> {
    return this.#queues.values()
  }

  /**
   * A seat, until `leave`; or, where it is `waiting`, a place in a queue: then `turn` is to be awaited. `hand`: the queues that it may wait
   * in, as dealt for the present number of queues. `path`: its identity within one of them.
   * @throws SeatRefused
   */
  enter(hand: readonly number[], work: Work, path: readonly string[] = []): Seat {
    const now = this.#clock.now()
    this.#advance(now)
    const seat: Seat = {
      work,
      arrivedMs: now,
      startedMs: now,
      state: 'running',
      queue: undefined,
      arrivalR: this.#r,
      older: undefined,
      newer: undefined,
      path,
      inLine: undefined,
      waiter: undefined,
      hasReturned: false,
    }
    if (this.#exempt) {
      this.#run(seat, now)
      return seat
    }
    if (this.#queuing === undefined) {
      if (!this.#fits(work, path)) throw new SeatRefused('concurrency-limit')
      this.#run(seat, now)
      return seat
    }
    const queue = this.#choose(hand)
    if (this.#waiting === 0 && this.#fits(work, path)) {
      seat.queue = queue
      this.#wake(queue)
      this.#dispatch(seat, now)
      return seat
    }
    if (
      (this.#seatsTaken >= this.#limit || this.#leavesNoRoom(work, path)) &&
      queue.waiting >= this.#queuing.lengthLimit
    ) {
      const excess = queue.line.excess(path)
      if (excess === undefined) throw new SeatRefused('queue-full')
      this.withdraw(excess, 'queue-full')
    }
    this.#wake(queue)
    this.#append(queue, seat)
    this.#noteDemand(now)
    this.#serve(now)
    return seat
  }

  /** Resolves when it is the turn of a seat that waits. At once after `enter`. @throws SeatRefused by the promise */
  turn(seat: Seat, waitLimitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancelTimer = this.#clock.after(waitLimitMs, () => this.withdraw(seat, 'time-out'))
      seat.waiter = { resolve, reject, cancelTimer }
    })
  }

  /** Gives up waiting. The promise of the seat is rejected. */
  withdraw(seat: Seat, reason: Refusal = 'cancelled'): void {
    if (seat.state !== 'waiting') return
    const now = this.#clock.now()
    this.#advance(now)
    this.#takeOut(seat)
    seat.state = 'over'
    this.#noteDemand(now)
    seat.waiter?.cancelTimer()
    seat.waiter?.reject(new SeatRefused(reason))
    this.#serve(now)
  }

  /** The request has ended. Once for each seat. */
  leave(seat: Seat): void {
    if (seat.state === 'waiting') this.withdraw(seat)
    const wasRunning = seat.state === 'running'
    seat.state = 'over'
    if (!wasRunning) return
    const now = this.#clock.now()
    this.#advance(now)
    seat.queue?.putRight(seat, now)
    if (seat.work.extraMs === 0 || this.#exempt) this.#free(seat, now)
    else {
      this.#clock.after(seat.work.extraMs, () => {
        const later = this.#clock.now()
        this.#advance(later)
        this.#free(seat, later)
      })
    }
  }

  /** The request waits for somebody else, and lets others run meanwhile. */
  pause(seat: Seat): void {
    if (seat.state !== 'running') return
    seat.state = 'paused'
    const now = this.#clock.now()
    this.#advance(now)
    seat.queue?.putRight(seat, now)
    this.#free(seat, now)
  }

  /** The request goes on at once, even where all seats are taken: it must not wait for those who wait behind it. */
  resume(seat: Seat): void {
    if (seat.state !== 'paused') return
    const now = this.#clock.now()
    this.#advance(now)
    seat.state = 'running'
    const { queue } = seat
    if (queue) this.#wake(queue)
    seat.hasReturned = true
    this.#returned += seatsOf(seat.work)
    this.#dispatch(seat, now)
  }

  setLimit(limit: number): void {
    const now = this.#clock.now()
    this.#advance(now)
    this.#limit = limit
    this.#serve(now)
  }

  /** Hands that were dealt before are of no use any more when the number of queues changes: whoever waits moves along. */
  configure(queuing: Queuing | undefined): void {
    const before = this.#queuing?.queues
    this.#queuing = queuing
    if (queuing?.queues === before) return
    const now = this.#clock.now()
    this.#advance(now)
    const waiting: Seat[] = []
    for (const queue of this.#queues.values()) {
      while (queue.oldest !== undefined) {
        const seat = queue.oldest
        this.#takeOut(seat)
        waiting.push(seat)
      }
    }
    this.#queues.clear()
    this.#robin = 0
    for (const seat of waiting.sort((a, b) => a.arrivalR - b.arrivalR)) {
      if (queuing !== undefined) {
        const queue = this.#queueAt(this.#enqueues++ % queuing.queues)
        this.#wake(queue)
        this.#append(queue, seat)
      } else {
        // Nobody waits in this level any more: whoever does was promised a turn, and gets it now.
        seat.queue = undefined
        this.#dispatch(seat, now)
        this.#admit(seat)
      }
    }
    this.#noteDemand(now)
    this.#serve(now)
  }

  /** The queue of the hand with the least work waiting; those with equally much take turns. */
  #choose(hand: readonly number[]): SeatQueue {
    const offset = this.#enqueues++ % hand.length
    let best = hand[offset]!
    let least = Infinity
    for (let i = 0; i < hand.length && least > 0; i++) {
      const index = hand[(offset + i) % hand.length]!
      const work = this.#queues.get(index)?.waitingWork ?? 0
      if (work >= least) continue
      best = index
      least = work
    }
    return this.#queueAt(best)
  }

  /** Begins to count a queue that stood idle from now. To be called before something is added. */
  #wake(queue: SeatQueue): void {
    if (!queue.isIdle) return
    queue.nextR = this.#r
    this.#activeQueues++
  }

  #append(queue: SeatQueue, seat: Seat): void {
    queue.append(seat)
    this.#waiting++
    this.#seatsWaiting += seatsOf(seat.work)
  }

  #takeOut(seat: Seat, served = false): void {
    const queue = seat.queue!
    queue.takeOut(seat, served)
    this.#waiting--
    this.#seatsWaiting -= seatsOf(seat.work)
    this.#rest(queue)
  }

  #rest(queue: SeatQueue): void {
    if (!queue.isIdle) return
    this.#activeQueues--
    // The state of an idle queue does not count when it is used again.
    if (this.#queues.size > KEPT_QUEUES && this.#queues.get(queue.index) === queue) this.#queues.delete(queue.index)
  }

  #queueAt(index: number): SeatQueue {
    let queue = this.#queues.get(index)
    if (queue === undefined) {
      queue = new SeatQueue(index, this.#r)
      this.#queues.set(index, queue)
    }
    return queue
  }

  /** Seats that nobody else may have now. */
  get #seatsTaken(): number {
    const beyond = this.#returned - Math.floor(RETURNED_PART * this.#limit)
    return this.#seatsInUse - Math.max(0, beyond)
  }

  /** Whether it would take the last seats from what is short. One alone never does. */
  #leavesNoRoom(work: Work, path: readonly string[]): boolean {
    const seats = seatsOf(work)
    if (isWide(work) && this.#wideInUse > 0 && this.#wideInUse + seats > WIDE_PART * this.#limit) return true
    const tenant = tenantOf(path)
    if (this.#limit < SPARE_FROM_SEATS || tenant === undefined) return false
    const theirs = this.#taken.get(tenant) ?? 0
    return theirs > 0 && theirs + seats > TIMES_LEFT * (this.#limit - this.#seatsTaken - seats)
  }

  readonly #leavesRoom = ({ work, path }: Seat): boolean => !this.#leavesNoRoom(work, path)

  #fits(work: Work, path: readonly string[]): boolean {
    if (this.#leavesNoRoom(work, path)) return false
    const seats = seatsOf(work)
    if (this.#seatsTaken + seats <= this.#limit) return true
    // Wider than the level has become: it runs alone. Where there is no seat at all, nobody does.
    return seats > this.#limit && this.#limit > 0 && this.#executing === 0 && this.#seatsInUse === 0
  }

  #serve(now: number): void {
    while (this.#waiting > 0 && this.#seatsTaken < this.#limit) {
      const seat = this.#next()
      if (seat === undefined) return
      const queue = seat.queue!
      this.#robin = queue.index
      // It stays active all along: it is counted as executing before it is taken for idle.
      queue.executing++
      this.#takeOut(seat, true)
      queue.executing--
      this.#dispatch(seat, now)
      this.#admit(seat)
    }
  }

  /**
   * Next request. Where the first in order does not fit into the free seats, others that do go by. They may until they have had as many
   * seats as the level has. Then it goes with the free ones. Thus no wide request blocks a level, or waits for ever.
   */
  #next(): Seat | undefined {
    const first = this.#robin + 1
    let best: Candidate | undefined
    let fitting: Candidate | undefined
    for (const queue of this.#queues.values()) {
      if (queue.waiting === 0) continue
      // Those that leave no room go when another one like them ends; who stands behind them does not wait for that.
      const seat = queue.line.nextThat(this.#leavesRoom)
      if (seat === undefined) continue
      const doneR = queue.nextR + workOf(seat.work)
      // Among equals it goes round.
      const turn = queue.index >= first ? queue.index - first : queue.index - first + this.#queuing!.queues
      if (isBefore(doneR, turn, best)) best = { seat, doneR, turn }
      if (isBefore(doneR, turn, fitting) && this.#fits(seat.work, seat.path)) fitting = { seat, doneR, turn }
    }
    if (best?.seat === fitting?.seat || this.#passedSeats >= this.#limit) {
      this.#passedSeats = 0
      return best?.seat
    }
    if (fitting !== undefined) this.#passedSeats += seatsOf(fitting.seat.work)
    return fitting?.seat
  }

  #dispatch(seat: Seat, now: number): void {
    seat.queue?.started(seat)
    this.#run(seat, now)
  }

  #run(seat: Seat, now: number): void {
    seat.state = 'running'
    seat.startedMs = now
    this.#executing++
    this.#seatsInUse += seatsOf(seat.work)
    if (isWide(seat.work)) this.#wideInUse += seatsOf(seat.work)
    this.#countTaken(seat, 1)
    this.#noteDemand(now)
  }

  #countTaken({ work, path }: Seat, sign: 1 | -1): void {
    const tenant = tenantOf(path)
    if (tenant === undefined || this.#exempt) return
    const theirs = (this.#taken.get(tenant) ?? 0) + sign * seatsOf(work)
    if (theirs > 0) this.#taken.set(tenant, theirs)
    else this.#taken.delete(tenant)
  }

  #admit(seat: Seat): void {
    seat.waiter?.cancelTimer()
    seat.waiter?.resolve()
    seat.waiter = undefined
  }

  #free(seat: Seat, now: number): void {
    const { queue } = seat
    const seats = seatsOf(seat.work)
    this.#executing--
    this.#seatsInUse -= seats
    if (isWide(seat.work)) this.#wideInUse -= seats
    this.#countTaken(seat, -1)
    if (seat.hasReturned) this.#returned -= seats
    seat.hasReturned = false
    if (queue) {
      queue.ends(seat)
      this.#rest(queue)
    }
    this.#noteDemand(now)
    if (this.#waiting > 0) this.#serve(now)
  }

  #advance(now: number): void {
    const passed = now - this.#lastMs
    if (passed <= 0) return
    this.#lastMs = now
    if (this.#activeQueues === 0) return
    this.#r += (passed * Math.min(this.#limit, this.#seatsInUse + this.#seatsWaiting)) / this.#activeQueues
  }

  #noteDemand(now: number): void {
    this.demand.set(now, this.#seatsInUse + this.#seatsWaiting)
  }
}

/** First step of a path; `undefined` where it is empty. */
function tenantOf(path: readonly string[]): string | undefined {
  return path[0] || path[1]
}

/** A request of several seats while it runs, not only for its watchers. */
function isWide({ initialSeats }: Work): boolean {
  return initialSeats > 1
}
