/** A clock that stands until a test moves it. */
import type { Clock } from '../../../src/client/clock.ts'

interface Timer {
  atMs: number
  run(): void
}

export class SteppedClock implements Clock {
  #nowMs = 0
  readonly #timers = new Set<Timer>()

  now = (): number => this.#nowMs

  after = (delayMs: number, run: () => void): (() => void) => {
    const timer = { atMs: this.#nowMs + delayMs, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Runs what is due meanwhile, in its order. */
  pass(ms: number): void {
    const until = this.#nowMs + ms
    for (;;) {
      const [next] = [...this.#timers].filter(({ atMs }) => atMs <= until).sort((a, b) => a.atMs - b.atMs)
      if (next === undefined) break
      this.#timers.delete(next)
      this.#nowMs = next.atMs
      next.run()
    }
    this.#nowMs = until
  }

  get waiting(): number {
    return this.#timers.size
  }
}
