/**
 * Requests that run. A seat goes to the next as soon as its request does not need the server itself any more. The memory of such requests
 * is bounded: those that hold too much are ended.
 */
import type { FlowControl } from './flowControl.ts'
import { type HeldBounds, HeldRequests } from './heldRequests.ts'
import { LinkedList } from './linkedList.ts'
import type { SeatKeeper, Ticket } from './ticket.ts'

/** Bytes of watches and streams that their clients do not read. How many watches there are is bounded elsewhere. */
export const UNREAD: HeldBounds = {
  userBytes: 32 * 1024 * 1024,
  space: { requests: Number.POSITIVE_INFINITY, bytes: 64 * 1024 * 1024 },
  server: { requests: Number.POSITIVE_INFINITY, bytes: 512 * 1024 * 1024 },
}
/** Memory of an unread watch beside its pending events: frames that wait, records, encrypted copies. */
const UNREAD_BYTES = 128 * 1024

/** How often, at most, requests that wait cause seats to be reclaimed. */
const RECLAIM_MS = 10
/** How long a request may take to send its body, or to have objects converted, before its seat is given to another. */
const PATIENCE_MS = 20

export interface RunningOptions {
  flowControl: FlowControl
  held?: HeldRequests | undefined
  unread?: HeldRequests | undefined
  /** Milliseconds on any clock that only goes forward. */
  clock: () => number
}

export class RunningRequests implements SeatKeeper {
  readonly #flowControl: FlowControl
  readonly #clock: () => number
  /** Memory of requests without a seat, watches excluded. */
  readonly #held: HeldRequests
  readonly #unread: HeldRequests
  /** In the order in which they started; watches excluded. */
  readonly #running = new LinkedList<Ticket>(ticket => ticket)
  readonly #watches = new LinkedList<Ticket>(ticket => ticket)
  #reclaimedMs = Number.NEGATIVE_INFINITY

  constructor({ flowControl, held, unread, clock }: RunningOptions) {
    this.#flowControl = flowControl
    this.#clock = clock
    this.#held = held ?? new HeldRequests()
    this.#unread = unread ?? new HeldRequests(UNREAD)
  }

  add(ticket: Ticket): void {
    this.#listOf(ticket).append(ticket)
  }

  remove(ticket: Ticket): void {
    this.#flowControl.leave(ticket.flow, ticket.seat!, ticket.kind === 'watching')
    this.#drop(ticket)
    this.#listOf(ticket).remove(ticket)
  }

  /** @throws StatusError TooManyRequests */
  requireRoom(ticket: Ticket): void {
    const { schema } = ticket.flow
    if (!schema.level.spec.exempt && !this.#held.hasRoom(ticket)) throw this.#flowControl.refuse(schema, 'held')
  }

  /** The request waits for another server or its client. @throws StatusError TooManyRequests */
  pause(ticket: Ticket): void {
    // Work that a request has left behind may wait as well, when there is nothing left to give back.
    if (ticket.pauses > 0 || ticket.seat?.state !== 'running') {
      ticket.pauses++
      return
    }
    this.requireRoom(ticket)
    this.#suspend(ticket)
  }

  resume(ticket: Ticket): void {
    if (--ticket.pauses > 0 || ticket.seat?.state !== 'paused') return
    this.#drop(ticket)
    this.#flowControl.resume(ticket.flow, ticket.seat)
  }

  /** Releases the seat of a watch that has its answer. */
  release({ flow, seat }: Ticket): void {
    if (seat) this.#flowControl.leave(flow, seat, true)
  }

  /**
   * Gives away the seats of requests whose clients do not read their answers, are slow to send their bodies, or wait for a webhook's
   * conversion. Ends those by which one space holds too much.
   */
  reclaimSeats(): void {
    this.#reclaimedMs = this.#clock()
    for (let ticket = this.#running.oldest; ticket !== undefined; ticket = ticket.newer) {
      const { answer, flow, seat } = ticket
      if (
        (ticket.awaitsBody || ticket.mayConvert) &&
        ticket.pauses === 0 &&
        ticket.heldBytes < 0 &&
        this.#reclaimedMs - ticket.sinceMs >= PATIENCE_MS
      ) {
        this.#suspend(ticket)
        if (!this.#held.fits(ticket)) answer.destroy()
      }
      if (answer.headersSent === false || answer.writableLength === 0) continue
      if (ticket.heldBytes < 0) this.#flowControl.leave(flow, seat!, false)
      this.#drop(ticket)
      this.#hold(ticket, answer.writableLength)
      if (!this.#held.fits(ticket)) answer.destroy()
    }
  }

  /** The same, unless it was done a moment ago. */
  reclaimIfDue(): void {
    if (this.#clock() - this.#reclaimedMs >= RECLAIM_MS) this.reclaimSeats()
  }

  /**
   * Ends watches of a space whose unread ones have too much in hand, or of a user in it; longest unread first. To be called about once in a
   * second: a client that reads at all has nothing left by then, or less.
   */
  endUnreadWatches(): void {
    const now = this.#clock()
    let isTooMuch = false
    for (let ticket = this.#watches.oldest; ticket !== undefined; ticket = ticket.newer) {
      const { writableLength } = ticket.answer
      if (writableLength === 0) {
        ticket.unreadMs = undefined
        this.#drop(ticket)
        continue
      }
      ticket.unreadMs ??= now
      if (ticket.unreadMs === now) continue
      this.#drop(ticket)
      ticket.heldBytes = writableLength + UNREAD_BYTES
      this.#unread.hold(ticket, ticket.heldBytes)
      isTooMuch ||= !this.#unread.fits(ticket)
    }
    if (!isTooMuch) return
    const unread: Ticket[] = []
    for (let ticket = this.#watches.oldest; ticket !== undefined; ticket = ticket.newer) {
      if (ticket.heldBytes >= 0) unread.push(ticket)
    }
    for (const ticket of unread.sort((a, b) => a.unreadMs! - b.unreadMs!)) {
      if (this.#unread.fits(ticket)) continue
      this.#drop(ticket)
      ticket.flow.schema.figures.reject('unread')
      ticket.answer.destroy()
    }
  }

  /** Ends what has run longer than `limitMs`, watches excluded: its client does not read the answer. */
  endOlderThan(limitMs: number): void {
    const before = this.#clock() - limitMs
    let ticket = this.#running.oldest
    while (ticket !== undefined && ticket.sinceMs <= before) {
      const { newer }: Ticket = ticket
      ticket.answer.destroy()
      ticket = newer
    }
  }

  #suspend(ticket: Ticket): void {
    ticket.pauses = 1
    this.#hold(ticket, ticket.bodyBytes)
    this.#flowControl.pause(ticket.flow, ticket.seat!)
  }

  #hold(ticket: Ticket, bytes: number): void {
    ticket.heldBytes = bytes
    this.#held.hold(ticket, bytes)
  }

  #drop(ticket: Ticket): void {
    if (ticket.heldBytes < 0) return
    const held = ticket.kind === 'watching' ? this.#unread : this.#held
    held.release(ticket, ticket.heldBytes)
    ticket.heldBytes = -1
  }

  #listOf({ kind }: Ticket): LinkedList<Ticket> {
    return kind === 'watching' ? this.#watches : this.#running
  }
}
