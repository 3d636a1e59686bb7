/**
 * Long work on the loop, in slices: between two of them everybody else gets their turn. All long work of the process shares one slice for
 * each turn of the loop. Forty large answers at a time hold it up no longer than one does. Tenants take turns, and within a tenant its
 * owners (spaces): an owner with much work waits for itself. Some steps cannot be cut short. Behind a slice that took much longer than it
 * should, the loop is free for all else for as long. An answer takes several turns of the loop.
 */

import { TurnLine } from './turnLine.ts'

/** How long others wait for a turn's work, in milliseconds, beside the step during which the time runs out. */
const SLICE_MS = 3
/** Turns in a row that newcomers get for themselves: whoever connects without end slows long work down, and does not stop it. */
const GIVEN_WAY = 16
/**
 * Shorter work is not held up by that: admission bounds the work that begins in a turn. A short request that waited would keep its seat
 * from those who have been here for long.
 */
const SHORT_MS = 0.5
/** A slice that took longer by this had a step that cannot be cut. */
const OVERRUN_MS = 10
/** Bound on abandoned work that ends in a turn. */
const WOKEN_IN_TURN = 32
/** Nobody waits longer behind one: then it was the machine that had no time. */
export const PAUSE_LIMIT_MS = 500

interface WorkTurnsOptions {
  /** Milliseconds on any clock that only goes forward. */
  clock: () => number
  sliceMs?: number
  /** Calls back once the loop has looked after all else. */
  later?: (turn: () => void) => void
  after?: (ms: number, call: () => void) => void
  /** The longest pause behind a step that could not be cut. Default: none, for work on a loop that serves nobody else. */
  pauseLimitMs?: number
}

/** Nobody wants the result of the work any more. */
export class Abandoned extends Error {
  constructor() {
    super('nobody waits for it any more')
    this.name = 'Abandoned'
  }
}

/** One piece of long work. */
export interface Work {
  /** Whether others should get their turn now: to be read after each small step, and followed by `rest`. */
  readonly due: boolean
  /** @throws Abandoned when nobody wants the result any more */
  rest(): Promise<void>
}

export interface WorkOptions {
  /** Whom it is done for. */
  owner: string
  isAbandoned?(): boolean
}

/** One piece of work. */
interface Worker {
  /** The last slice in which it worked. */
  slice: number
  readonly begunMs: number
}

interface Resting {
  worker: Worker
  isAbandoned: () => boolean
  goOn(): void
}

export class WorkTurns {
  readonly #sliceMs: number
  readonly #clock: () => number
  readonly #later: (turn: () => void) => void
  readonly #after: (ms: number, call: () => void) => void
  readonly #pauseLimitMs: number
  /** In the order in which they go on. */
  readonly #resting = new TurnLine<Resting>()
  #tenantOf: (owner: string) => string = owner => owner
  #soon: (() => void)[] = []
  /** When the present slice is over; `undefined` while nobody has begun one since the loop turned. */
  #endMs: number | undefined
  /** Slices are counted. */
  #number = 0
  /** Whether the present slice has been found over. */
  #isOver = false
  /** No slice begins before. */
  #pauseEndMs = Number.NEGATIVE_INFINITY
  #isPausing = false
  #isTurnComing = false
  /** Since the last turn. */
  #hasNewcomer = false
  /** Turns without a slice since the last one with it. */
  #givenWay = 0

  constructor({
    sliceMs = SLICE_MS,
    clock,
    later = setImmediate,
    after = (ms, call) => setTimeout(call, ms),
    pauseLimitMs = 0,
  }: WorkTurnsOptions) {
    this.#sliceMs = sliceMs
    this.#clock = clock
    this.#later = later
    this.#after = after
    this.#pauseLimitMs = pauseLimitMs
  }

  /** From now on owners take their turns within their tenants. Before, each is one. */
  follow(tenantOf: (owner: string) => string): void {
    this.#tenantOf = tenantOf
  }

  begin({ owner, isAbandoned = never }: WorkOptions): Work {
    const worker: Worker = { slice: -1, begunMs: this.#clock() }
    const isDue = (): boolean => this.#isDue(worker)
    return {
      get due() {
        return isDue()
      },
      rest: async () => {
        await new Promise<void>(goOn => this.#rest(owner, { worker, isAbandoned, goOn }))
        if (isAbandoned()) throw new Abandoned()
      },
    }
  }

  /**
   * Somebody has connected, and others may be waiting to: each turn of the loop lets in only one, and takes as long as its slice.
   * So there are none until nobody comes any more, or enough of them have.
   */
  giveWay(): void {
    if (this.#givenWay >= GIVEN_WAY) return
    this.#hasNewcomer = true
    this.#noSlice()
    this.#scheduleTurn()
  }

  /** Calls back when the loop has looked after all else, and before the slice of that turn: for what is short and waited for. */
  soon(callback: () => void): void {
    this.#soon.push(callback)
    this.#scheduleTurn()
  }

  /** The first check begins the slice of this turn, which counts for all work in it. */
  #isDue(worker: Worker): boolean {
    const nowMs = this.#clock()
    if (this.#endMs === undefined) {
      this.#beginSlice(nowMs)
      this.#scheduleTurn()
    }
    const endMs = this.#endMs!
    const givesWay = this.#hasNewcomer || this.#givenWay > 0
    if (givesWay && worker.slice === -1 && nowMs - worker.begunMs < SHORT_MS) return false
    if (nowMs >= endMs) {
      this.#endSlice(worker, nowMs - endMs, nowMs)
      return true
    }
    worker.slice = this.#number
    return false
  }

  #beginSlice(nowMs: number): void {
    this.#endMs = nowMs + this.#sliceMs
    this.#number++
    this.#isOver = false
  }

  /** The worker checks first when its step is done; others' work behind it in the same turn of the loop does not count. */
  #endSlice(worker: Worker, overrunMs: number, nowMs: number): void {
    if (this.#isOver) return
    this.#isOver = true
    if (worker.slice !== this.#number) return
    if (overrunMs > OVERRUN_MS) this.#pauseEndMs = nowMs + Math.min(overrunMs, this.#pauseLimitMs)
  }

  /** Until then whoever begins waits, too. */
  #noSlice(): void {
    this.#endMs = Number.NEGATIVE_INFINITY
    this.#isOver = true
  }

  #rest(owner: string, resting: Resting): void {
    this.#resting.add(this.#tenantOf(owner), owner, resting)
    this.#scheduleTurn()
  }

  #scheduleTurn(): void {
    if (this.#isTurnComing) return
    this.#isTurnComing = true
    this.#later(() => this.#turn())
  }

  #turn(): void {
    const callbacks = this.#soon.splice(0)
    for (const callback of callbacks) callback()
    if (callbacks.length === 0) this.#slice()
    // Behind all that follows from them without waiting.
    else queueMicrotask(() => process.nextTick(() => this.#slice()))
  }

  #slice(): void {
    this.#isTurnComing = false
    if (this.#hasNewcomer) {
      this.#hasNewcomer = false
      this.#givenWay++
      // Work that begins before the next newcomer is seen waits, too.
      this.#scheduleTurn()
      return
    }
    this.#givenWay = 0
    const pauseMs = this.#pauseEndMs - this.#clock()
    if (pauseMs > 0) {
      this.#noSlice()
      this.#pause(pauseMs)
      return
    }
    if (this.#resting.isEmpty) {
      this.#endMs = undefined
      if (this.#soon.length > 0) this.#scheduleTurn()
      return
    }
    this.#beginSlice(this.#clock())
    this.#goOn()
    // The worker that went on may be done, or wait for something else, without a request for another turn.
    this.#scheduleTurn()
  }

  /** Short awaited work does not wait for its end. */
  #pause(ms: number): void {
    if (this.#soon.length > 0) this.#scheduleTurn()
    if (this.#isPausing) return
    this.#isPausing = true
    this.#after(ms, () => {
      this.#isPausing = false
      this.#scheduleTurn()
    })
  }

  /** One goes on, and so do abandoned ones, to their end. */
  #goOn(): void {
    for (let woken = 0; woken < WOKEN_IN_TURN; woken++) {
      const resting = this.#resting.shift()
      if (resting === undefined) return
      const goesOn = !resting.isAbandoned()
      if (goesOn) resting.worker.slice = this.#number
      resting.goOn()
      if (goesOn) return
    }
  }
}

const never = (): boolean => false
