/** A clock that moves when the test says so. */
import type { Clock } from '../../../src/client/clock.ts'
import { OWN_PATIENCE_MS } from '../../support/patience.ts'

export class FakeClock implements Clock {
  #nowMs = Date.parse('2026-01-01T00:00:00Z')
  readonly #timers = new Set<{ atMs: number; run: () => void }>()

  now(): number {
    return this.#nowMs
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#timers.size
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, run }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Time passes in which nothing runs. */
  leap(ms: number): void {
    this.#nowMs += ms
  }

  /** Runs what is due within the next `ms`, in order, letting promises settle after each. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    for (;;) {
      const due = [...this.#timers].filter(timer => timer.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)[0]
      if (!due) break
      this.#timers.delete(due)
      this.#nowMs = Math.max(this.#nowMs, due.atMs)
      due.run()
      await settle()
    }
    this.#nowMs = untilMs
    await settle()
  }
}

/** Somebody sets it: its time of day is another one than what has passed. */
export class SetClock extends FakeClock {
  setMs = 0

  override now(): number {
    return super.now() + this.setMs
  }

  steadyMs(): number {
    return super.now()
  }
}

/** For tests in which only the order matters: every timer fires at the next turn of the event loop. */
export const hastyClock: Clock = {
  now: () => Date.parse('2026-01-01T00:00:10Z'),
  after(_delayMs, run) {
    const timer = setImmediate(run)
    return () => clearImmediate(timer)
  },
}

/** Lets everything that is ready to run, run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise(resolve => setImmediate(resolve))
}

/** Resolves once `condition` holds, looking at every turn of the event loop. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const begun = performance.now()
  while (performance.now() - begun < OWN_PATIENCE_MS) {
    if (condition()) return
    await new Promise(resolve => setImmediate(resolve))
  }
  throw new Error(`never happened: ${what}`)
}
