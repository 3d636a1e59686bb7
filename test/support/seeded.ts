/** Seed of what a test leaves to chance: always the same one, unless `SEED` or `npm run flakes` names another. */
export const SEED = Number(process.env.SEED ?? 1)

/** Numbers that look random and follow from a seed. */
export class Seeded {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to but not including `below`. */
  number(below: number): number {
    // a linear congruential generator with the constants of Numerical Recipes; its high bits are the good ones
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.#state / 2 ** 32) * below)
  }

  chance(percent: number): boolean {
    return this.number(100) < percent
  }

  one<T>(of: readonly T[]): T {
    return of[this.number(of.length)]!
  }
}
