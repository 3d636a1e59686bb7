/**
 * A token bucket as one number: the time until which everything taken so far is paid for, at one in `everyMs`. `atOnce` tokens can be saved
 * up, and the bucket starts full. The owner of the number names the clock. Pure.
 */
export class Rate {
  readonly #everyMs: number
  readonly #savedMs: number

  constructor({ everyMs, atOnce }: { everyMs: number; atOnce: number }) {
    this.#everyMs = everyMs
    this.#savedMs = (atOnce - 1) * everyMs
  }

  /** How long the next one has to wait; 0: not at all. */
  waitMs(paidUntilMs: number | undefined, nowMs: number): number {
    return paidUntilMs === undefined ? 0 : Math.max(0, paidUntilMs - nowMs - this.#savedMs)
  }

  /** The number after one more, whether that waited or not. */
  paid(paidUntilMs: number | undefined, nowMs: number): number {
    return Math.max(paidUntilMs ?? nowMs, nowMs) + this.#everyMs
  }
}
