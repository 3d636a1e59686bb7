/**
 * Bound on the work that the input of one user may cause, where the input's size gives none: loops, copies, places of a path. The amount is
 * charged before the work.
 *
 * A unit is about what it takes to look at one value; reading text costs one for ten characters (`READ`). So a budget bounds
 * time and memory at once: what is not paid for is not made.
 */
import { LOOK_EVERY, type TimeBound } from './threadTime.ts'

export const READ = 0.1

export class WorkBudget {
  #left: number
  readonly #refuse: () => Error
  #refusal: Error | undefined
  readonly #isLate: TimeBound | undefined
  /** The clock is looked at when less than this is left. */
  #lookAt: number

  /** `refuse` makes the error that names the exhausted budget to the user; `isLate` is called now and then, and ends the budget too. */
  constructor(units: number, refuse: () => Error, isLate?: TimeBound) {
    this.#left = units
    this.#refuse = refuse
    this.#isLate = isLate
    this.#lookAt = isLate === undefined ? 0 : units - LOOK_EVERY
  }

  /** Unspent units, although they may be out of reach. */
  get #spendable(): number {
    return Math.max(0, this.#left)
  }

  /** Never less than 0. */
  get left(): number {
    return this.#refusal === undefined ? Math.max(0, this.#left) : 0
  }

  /** The error of the first charge beyond the budget. */
  get refusal(): Error | undefined {
    return this.#refusal
  }

  /** @throws the budget's error when less is left, and from then on always: the same one, so that throwing it costs nothing */
  spend(units = 1): void {
    if (this.#refusal !== undefined) throw this.#refusal
    this.#left -= units
    // a NaN is no price
    if (!(this.#left >= this.#lookAt)) this.#look()
  }

  #look(): void {
    if (!(this.#left >= 0)) throw this.#refuseFromNowOn()
    if (this.#isLate?.() === true) throw this.#refuseFromNowOn()
    this.#lookAt = Math.max(0, this.#left - LOOK_EVERY)
  }

  /**
   * Runs with a budget of at most `units`, taken out of this one. `refuse` makes the error for when that runs out first; when
   * this one does, the error is its own.
   */
  part<T>(units: number, refuse: () => Error, run: (part: WorkBudget) => T): T {
    if (!(this.#left >= this.#lookAt)) this.#look()
    const left = this.left
    const isLate = this.#isLate
    const part =
      units <= left
        ? new WorkBudget(units, refuse, isLate)
        : new WorkBudget(left, () => this.#refuseFromNowOn(), isLate)
    const given = part.left
    try {
      return run(part)
    } finally {
      this.#left -= given - part.#spendable
    }
  }

  #refuseFromNowOn(): Error {
    this.#refusal ??= this.#refuse()
    return this.#refusal
  }
}
