/**
 * How often a placement is looked at for what it is told: once a second where it changes all the time. What begins after a quiet
 * second is looked at sooner, so that a change that a thousand clusters take at once is told when the last of them has.
 */

const EVERY_MS = 1000
/** Looks that may come sooner, and how soon after each other. */
const AT_ONCE = 4
const APART_MS = 250

interface Paid {
  /** Until when the looks so far are paid for, at one in `EVERY_MS`. */
  untilMs: number
  lastMs: number
}

export class LookPace {
  readonly #paid = new Map<string, Paid>()

  /** How long the next look has to wait. */
  waitMs(id: string, nowMs: number): number {
    const paid = this.#paid.get(id)
    if (!paid) return 0
    return Math.max(0, paid.lastMs + APART_MS - nowMs, paid.untilMs - (AT_ONCE - 1) * EVERY_MS - nowMs)
  }

  /** Whether it was looked at in this run. */
  knows(id: string): boolean {
    return this.#paid.has(id)
  }

  looked(id: string, nowMs: number): void {
    const untilMs = Math.max(this.#paid.get(id)?.untilMs ?? 0, nowMs) + EVERY_MS
    this.#paid.set(id, { untilMs, lastMs: nowMs })
  }

  forget(id: string): void {
    this.#paid.delete(id)
  }
}
