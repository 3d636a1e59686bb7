/**
 * Lets many watches write in turns, a bounded number in each turn of the event loop, so that an event for thousands of
 * watchers delays no request; what a watcher is sent meanwhile leaves with its next write.
 */

/** A fraction of a millisecond of encryption and system calls. */
const WRITES_PER_TURN = 16

export class WriteTurns {
  readonly #later: (turn: () => void) => void
  #waiting: (() => void)[] = []
  #scheduled = false

  /** `later` calls back once the loop has looked after all else. */
  constructor(later: (turn: () => void) => void = setImmediate) {
    this.#later = later
  }

  /** Calls `write` once, soon, in the order of asking. `write` must not throw. */
  take(write: () => void): void {
    this.#waiting.push(write)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0) return
    this.#scheduled = true
    this.#later(() => this.#run())
  }

  #run(): void {
    this.#scheduled = false
    for (const write of this.#waiting.splice(0, WRITES_PER_TURN)) write()
    this.#schedule()
  }
}
