/**
 * How much is started in one turn of the loop. The requests of a crowd start little by little. A request beside it, which takes several
 * turns itself, so does not wait for all of the crowd in each of them. Those who wait have their turns by their paths, as in a queue of
 * flow control.
 */
import { type Standing, WaitingLine } from './waitingLine.ts'

interface LoopGateOptions {
  /** In a turn; one is always started. */
  most?: number | undefined
  /** Once what was started in a turn has taken so long nothing more is. */
  limitMs?: number | undefined
  /** Milliseconds on any clock that only goes forward. */
  clock: () => number
  /** Default: turns by the steps of their paths, in each first in, first out. */
  line?: WaitingLine<Entry> | undefined
}

export interface Entry extends Standing<Entry> {
  run(): void
}

export class LoopGate {
  readonly #most: number
  readonly #limitMs: number
  readonly #clock: () => number
  readonly #line: WaitingLine<Entry>
  #isOpen = false
  #started = 0
  #sinceMs = 0

  constructor({ most = Infinity, limitMs = Infinity, clock, line = new WaitingLine() }: LoopGateOptions) {
    this.#most = most
    this.#limitMs = limitMs
    this.#clock = clock
    this.#line = line
  }

  get waiting(): number {
    return this.#line.size
  }

  /** Runs it now, or in a turn to come. */
  enter(path: readonly string[], run: () => void): void {
    if (this.#line.size === 0 && this.#hasRoom()) {
      this.#started++
      run()
      return
    }
    this.#line.add({ path, run, inLine: undefined })
    this.#open()
  }

  #hasRoom(): boolean {
    this.#open()
    if (this.#started === 0) return true
    return this.#started < this.#most && this.#clock() - this.#sinceMs < this.#limitMs
  }

  /** A turn lasts from what is read to what is read next. */
  #open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#started = 0
    this.#sinceMs = this.#clock()
    setImmediate(this.#turn)
  }

  readonly #turn = (): void => {
    this.#isOpen = false
    if (this.#line.size > 0) this.#step()
  }

  readonly #step = (): void => {
    const entry = this.#line.next
    if (entry === undefined || !this.#hasRoom()) return
    this.#line.remove(entry, true)
    this.#started++
    // Immediate consequences belong to this turn, so they count before the next start.
    if (this.#line.size > 0) queueMicrotask(() => process.nextTick(this.#step))
    entry.run()
  }
}
