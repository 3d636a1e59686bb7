/**
 * Rate at which a contested object is repaired: at once the first times, then ever more slowly. Two writers who disagree do not keep a
 * cluster busy. Pure but for the clock.
 */
import { type Clock, steadyMs } from '../../client/clock.ts'

const FREE_REPAIRS = 5
const BASE_MS = 1000
const MAX_MS = 5 * 60_000
/** An object left in peace for this long starts anew. */
const PEACE_MS = 2 * MAX_MS

export class RepairPace {
  readonly #clock: Clock
  readonly #repairs = new Map<string, { count: number; lastMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long the next repair has to wait; 0: now. */
  waitMs(key: string): number {
    const known = this.#repairs.get(key)
    if (known === undefined || known.count < FREE_REPAIRS) return 0
    const sinceMs = steadyMs(this.#clock) - known.lastMs
    if (sinceMs > PEACE_MS) {
      this.#repairs.delete(key)
      return 0
    }
    return Math.max(0, Math.min(MAX_MS, BASE_MS * 2 ** Math.min(known.count - FREE_REPAIRS, 20)) - sinceMs)
  }

  /** Tells of a repair. True when this one made the quarrel plain: worth one line. */
  repaired(key: string): boolean {
    const known = this.#repairs.get(key)
    const nowMs = steadyMs(this.#clock)
    const count = known === undefined || nowMs - known.lastMs > PEACE_MS ? 1 : known.count + 1
    this.#repairs.set(key, { count, lastMs: nowMs })
    return count === FREE_REPAIRS
  }

  forget(key: string): void {
    this.#repairs.delete(key)
  }
}
