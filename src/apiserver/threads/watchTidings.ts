/** Changes of a thread's watches on their way to the other threads: a moment later, in one message for all. */
import type { WatchBudget } from '../flowcontrol/watchBudget.ts'
import { countWatch, emptyTally, type WatchTally } from '../flowcontrol/watchTally.ts'

interface WatchTidingsDeps {
  budget: Pick<WatchBudget, 'onChange'>
  send(change: WatchTally): void
  after(delayMs: number, run: () => void): void
}

/** So much more than its bound somebody may have open who opens them on all threads at once: what comes in such a time. */
const SEND_MS = 100

export class WatchTidings {
  readonly #deps: WatchTidingsDeps
  #change = emptyTally()
  #isDue = false

  constructor(deps: WatchTidingsDeps) {
    this.#deps = deps
    deps.budget.onChange((owner, place, one) => {
      countWatch(this.#change, owner, place, one)
      if (this.#isDue) return
      this.#isDue = true
      deps.after(SEND_MS, () => {
        this.#isDue = false
        this.send()
      })
    })
  }

  /** Sends pending changes at once. */
  send(): void {
    const change = this.#change
    const { places, spaces, syncers } = change
    // those that came and went meanwhile
    if (places.size + spaces.size + syncers.size === 0) return
    this.#change = emptyTally()
    this.#deps.send(change)
  }
}
