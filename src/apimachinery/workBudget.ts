/**
 * How much work the input of one user may cause, where its size does not follow from the size of the input: loops, copies,
 * places that a path finds. Whoever is about to work says first how much that will be.
 *
 * A unit is about what it takes to look at one value; reading text costs one for ten characters (`READ`). So a budget bounds
 * time and memory at once: what is not paid for is not made.
 */
export const READ = 0.1

export class WorkBudget {
  #left: number
  readonly #refuse: () => Error
  #refusal: Error | undefined

  /** `refuse` makes the error that tells the user what ran out. */
  constructor(units: number, refuse: () => Error) {
    this.#left = units
    this.#refuse = refuse
  }

  /** Never less than 0. */
  get left(): number {
    return this.#refusal === undefined ? Math.max(0, this.#left) : 0
  }

  /** The error that was thrown, once more was asked for than was left. */
  get refusal(): Error | undefined {
    return this.#refusal
  }

  /** @throws the budget's error when less is left, and from then on always: the same one, so that throwing it costs nothing */
  spend(units = 1): void {
    if (this.#refusal !== undefined) throw this.#refusal
    this.#left -= units
    // a NaN is no price
    if (!(this.#left >= 0)) throw this.#refuseFromNowOn()
  }

  /**
   * Runs with a budget of at most `units`, taken out of this one. `refuse` makes the error for when that runs out first; when
   * this one does, the error is its own.
   */
  part<T>(units: number, refuse: () => Error, run: (part: WorkBudget) => T): T {
    const left = this.left
    const part = units <= left ? new WorkBudget(units, refuse) : new WorkBudget(left, () => this.#refuseFromNowOn())
    const given = part.left
    try {
      return run(part)
    } finally {
      this.#left -= given - part.left
    }
  }

  #refuseFromNowOn(): Error {
    this.#refusal ??= this.#refuse()
    return this.#refusal
  }
}
