/** The time of day, in which whoever has nothing else to wait for goes to where something is due. */
import type { Clock } from '../../src/client/clock.ts'

/** Longer waits are deadlines and safety nets: nobody hurries to these. */
const SOON_MS = 5000

interface Timer {
  readonly atMs: number
  readonly isSoon: boolean
  fire(): void
}

export class HurriedClock implements Clock {
  readonly #timers = new Set<Timer>()
  #aheadMs = 0

  now(): number {
    return Date.now() + this.#aheadMs
  }

  after(delayMs: number, run: () => void): () => void {
    const end = (): void => {
      clearTimeout(handle)
      this.#timers.delete(timer)
    }
    const timer: Timer = {
      atMs: this.now() + delayMs,
      isSoon: delayMs <= SOON_MS,
      fire() {
        end()
        run()
      },
    }
    const handle = setTimeout(timer.fire, delayMs)
    this.#timers.add(timer)
    return end
  }

  /** Goes to the first of what was to come soon, and does what is due by then. By how much; `undefined`: there is nothing. */
  hurry(): number | undefined {
    const next = [...this.#timers].filter(({ isSoon }) => isSoon).sort(byTime)[0]
    if (!next) return undefined
    const byMs = Math.max(0, next.atMs - this.now())
    this.#aheadMs += byMs
    const due = [...this.#timers].filter(({ atMs }) => atMs <= this.now()).sort(byTime)
    for (const timer of due) if (this.#timers.has(timer)) timer.fire()
    return byMs
  }
}

function byTime(a: Timer, b: Timer): number {
  return a.atMs - b.atMs
}
