/** When whoever is refused shall come again: the longer, the more of a level are refused. */

const MOST_SECONDS = 32
/** So many for each second of clients' waits is a crowd that does not go away. */
const MANY = 3

export class RetryAfter {
  #seconds = 1
  #refused = 0
  #sinceMs: number

  constructor(nowMs: number) {
    this.#sinceMs = nowMs
  }

  /** Counts a refusal. The client's wait, in whole seconds. */
  refused(nowMs: number): number {
    this.#adjust(nowMs)
    this.#refused++
    return this.#seconds
  }

  #adjust(nowMs: number): void {
    const lastedMs = nowMs - this.#sinceMs
    if (lastedMs < this.#seconds * 1000) return
    // Updated once for each period of clients' waits; earlier ones were quiet.
    if (this.#refused >= MANY * this.#seconds) this.#seconds = Math.min(MOST_SECONDS, this.#seconds * 2)
    else if (this.#refused < this.#seconds) {
      const quiet = Math.max(1, Math.floor(lastedMs / (this.#seconds * 1000)))
      this.#seconds = Math.max(1, this.#seconds - quiet)
    }
    this.#refused = 0
    this.#sinceMs = nowMs
  }
}
