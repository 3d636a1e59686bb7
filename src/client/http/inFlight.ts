/**
 * How many requests a server has of us at a time. It begins with all that are allowed. An answer that the server is busy halves it and
 * stops all requests until the time that it named. Each round of answers after that adds one.
 */
import { type Clock, pause, steadyMs } from '../clock.ts'

/** Fewer would make a busy server a silent one. */
const FEWEST = 1

export class InFlight {
  readonly #most: number
  readonly #clock: Clock
  readonly #busyMsOf: (error: unknown) => number | undefined
  readonly #waiting: (() => void)[] = []
  #limit: number
  #running = 0
  /** Answers since the limit last changed. */
  #answers = 0
  #notBeforeMs = 0

  /**
   * @param most at least 1
   * @param busyMsOf how long a server that says it is busy wants to be left alone; `undefined` for other failures
   */
  constructor(most: number, clock: Clock, busyMsOf: (error: unknown) => number | undefined) {
    this.#busyMsOf = busyMsOf
    this.#most = most
    this.#limit = most
    this.#clock = clock
  }

  /** How many may be under way now. */
  get limit(): number {
    return this.#limit
  }

  /** Runs `send` when its turn comes, first come first served. An abort lets it run at once, to fail as it does without us. */
  async run<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.#turn(signal)
    try {
      const answer = await send()
      this.#answered()
      return answer
    } catch (error) {
      // before the place is given to the next one
      const busyMs = this.#busyMsOf(error)
      if (busyMs !== undefined) this.#busy(busyMs)
      throw error
    } finally {
      this.#running--
      this.#next()
    }
  }

  /** The server has too much to do, and names a time. An answer to one request holds for those sent beside it, too. */
  #busy(waitMs: number): void {
    const nowMs = steadyMs(this.#clock)
    if (nowMs >= this.#notBeforeMs) {
      this.#limit = Math.max(FEWEST, Math.floor(this.#limit / 2))
      this.#answers = 0
    }
    this.#notBeforeMs = Math.max(this.#notBeforeMs, nowMs + waitMs)
  }

  #answered(): void {
    if (this.#limit === this.#most || ++this.#answers < this.#limit) return
    this.#answers = 0
    this.#limit++
  }

  async #turn(signal: AbortSignal): Promise<void> {
    if (this.#running >= this.#limit) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#waiting.push(resolve)
      const give = (): void => resolve()
      signal.addEventListener('abort', give, { once: true })
      await promise
      signal.removeEventListener('abort', give)
      const at = this.#waiting.indexOf(resolve)
      // nobody gave way to it: the abort did
      if (at >= 0) {
        this.#waiting.splice(at, 1)
        this.#running++
      }
    } else this.#running++
    for (;;) {
      const waitMs = this.#notBeforeMs - steadyMs(this.#clock)
      if (waitMs <= 0 || signal.aborted) return
      await pause(this.#clock, waitMs, signal)
    }
  }

  /** Gives a place that is free to who waits longest. */
  #next(): void {
    while (this.#running < this.#limit) {
      const resolve = this.#waiting.shift()
      if (resolve === undefined) return
      this.#running++
      resolve()
    }
  }
}
