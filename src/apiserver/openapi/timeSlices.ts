/** Long work in slices: all else that the process has to do gets its turn in between. */
import { setImmediate } from 'node:timers/promises'

/** How long others wait at most, in milliseconds, beside the step during which the time runs out. */
const SLICE_MS = 4

export class TimeSlices {
  #begun = performance.now()

  /** To be awaited after each small step. Resolves at once while the slice lasts. */
  async step(): Promise<void> {
    if (performance.now() - this.#begun < SLICE_MS) return
    await setImmediate()
    this.#begun = performance.now()
  }
}
