/** Budget of expressions that belong together: budgets of their own, out of a common one. */
import { celBudget } from '../../apimachinery/structural/celProgram.ts'
import type { TimeBound } from '../../apimachinery/threadTime.ts'
import type { WorkBudget } from '../../apimachinery/workBudget.ts'

export class Purse {
  readonly #units: number
  readonly #isLate: TimeBound | undefined
  readonly #budgets: { budget: WorkBudget; units: number }[] = []

  constructor(units: number, isLate?: TimeBound) {
    this.#units = units
    this.#isLate = isLate
  }

  /** A fresh budget, as far as there is something left; those before it are not used any more. */
  budget(cost: number): WorkBudget {
    const units = Math.min(cost, this.#units - this.used)
    const budget = celBudget(units, this.#isLate)
    this.#budgets.push({ budget, units })
    return budget
  }

  get used(): number {
    return this.#budgets.reduce((all, { budget, units }) => all + units - budget.left, 0)
  }

  /** Whether something was stopped for its cost or its time. */
  get wasShort(): boolean {
    return this.#budgets.some(({ budget }) => budget.refusal !== undefined)
  }
}
