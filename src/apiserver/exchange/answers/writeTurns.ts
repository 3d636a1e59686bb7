/**
 * Lets many watches write in turns, a bounded number in each turn of the event loop: an event for thousands of watchers delays no request.
 * Later frames of a watcher leave with its next write. Turns go round among tenants, spaces and users, as requests do: a user with hundreds
 * of open watches delays their own events, and no others.
 */
import { type Standing, WaitingLine } from '../../flowcontrol/waitingLine.ts'

/** Those of one watch. */
export interface Turns {
  /** Calls `write` once, soon, in the order of the calls. `write` must not throw. */
  schedule(write: () => void): void
}

interface Entry extends Standing<Entry> {
  write(): void
}

/** In a turn of the loop: most take some 30 µs of encryption and system calls, an event of 200 KB half a millisecond. */
const WRITES_PER_TURN = 16
const WRITES_MS = 2

export class WriteTurns {
  readonly #later: (turn: () => void) => void
  readonly #clock: () => number
  readonly #line = new WaitingLine<Entry>()
  #scheduled = false

  /** `later` calls back once the loop has looked after all else; `clock` tells milliseconds and only goes forward. */
  constructor(clock: () => number, later: (turn: () => void) => void = setImmediate) {
    this.#later = later
    this.#clock = clock
  }

  /** `path`: whose they are, as in a queue of flow control. */
  of(path: readonly string[]): Turns {
    return {
      schedule: write => {
        this.#line.add({ path, write, inLine: undefined })
        this.#schedule()
      },
    }
  }

  #schedule(): void {
    if (this.#scheduled || this.#line.size === 0) return
    this.#scheduled = true
    this.#later(() => this.#run())
  }

  #run(): void {
    this.#scheduled = false
    const endMs = this.#clock() + WRITES_MS
    for (let writes = 0; writes === 0 || (writes < WRITES_PER_TURN && this.#clock() < endMs); writes++) {
      const entry = this.#line.next
      if (entry === undefined) return
      this.#line.remove(entry, true)
      entry.write()
    }
    this.#schedule()
  }
}
