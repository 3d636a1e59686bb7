/** How many seats a priority level would have used, over a while: average, deviation and peak, weighted by time. */

export interface DemandStatistics {
  average: number
  deviation: number
  peak: number
}

export class SeatDemand {
  #sinceMs: number
  #lastMs: number
  #value = 0
  #peak = 0
  #sum = 0
  #squares = 0

  constructor(nowMs: number) {
    this.#sinceMs = nowMs
    this.#lastMs = nowMs
  }

  /** From now on it is `seats`. */
  set(nowMs: number, seats: number): void {
    this.#advance(nowMs)
    this.#value = seats
    if (seats > this.#peak) this.#peak = seats
  }

  get value(): number {
    return this.#value
  }

  /** Statistics since the last harvest; another period begins. */
  harvest(nowMs: number): DemandStatistics {
    this.#advance(nowMs)
    const lasted = this.#lastMs - this.#sinceMs
    const average = lasted > 0 ? this.#sum / lasted : this.#value
    const variance = lasted > 0 ? this.#squares / lasted - average * average : 0
    const found = { average, deviation: Math.sqrt(Math.max(0, variance)), peak: this.#peak }
    this.#sinceMs = this.#lastMs
    this.#sum = 0
    this.#squares = 0
    this.#peak = this.#value
    return found
  }

  #advance(nowMs: number): void {
    const passed = nowMs - this.#lastMs
    if (passed <= 0) return
    this.#sum += passed * this.#value
    this.#squares += passed * this.#value * this.#value
    this.#lastMs = nowMs
  }
}
