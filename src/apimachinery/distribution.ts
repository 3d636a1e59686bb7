/** How many of what was measured are how large, counted in the cheapest way that there is. */
export class Distribution {
  readonly bounds: readonly number[]
  /** How many are above the bound before and not above this one; the last is for what is above all. */
  readonly counts: number[]
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Array<number>(bounds.length + 1).fill(0)
  }

  add(value: number): void {
    let at = 0
    while (at < this.bounds.length && value > this.bounds[at]!) at++
    this.counts[at]!++
    this.sum += value
  }
}
