/** How many API threads the load asks for: one more while all loops are busy, one less once fewer of them would do for long. */
import { BUSY, LOOKS } from './shedding.ts'

/** What each of those that stay may have to do, so that one can go. */
const SPARE = 0.3
/** Looks for which it must have been so: five minutes, for a thread takes a while to begin, and its connections end with it. */
export const SPARE_LOOKS = 300
/**
 * Which part of the time the main loop must have had a processor. A loop that is busy without one waits for other programs, and
 * another thread would take from it.
 */
const ON_PROCESSOR = 0.5

export class ThreadDemand {
  #busy = 0
  #spare = 0

  /**
   * @param loads which part of the time since the last look each loop has worked
   * @param onProcessor which part of it the main loop had a processor
   * @returns how many threads more are wanted
   */
  look(loads: readonly number[], onProcessor: number): 1 | 0 | -1 {
    const isBusy = onProcessor >= ON_PROCESSOR && loads.every(load => load >= BUSY)
    this.#busy = isBusy ? this.#busy + 1 : 0
    const sum = loads.reduce((all, load) => all + load, 0)
    const isSpare = loads.length > 1 && sum <= (loads.length - 1) * SPARE
    this.#spare = isSpare ? this.#spare + 1 : 0
    if (this.#busy >= LOOKS) {
      this.#busy = 0
      return 1
    }
    if (this.#spare < SPARE_LOOKS) return 0
    this.#spare = 0
    return -1
  }
}
