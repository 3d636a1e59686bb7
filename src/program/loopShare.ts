/**
 * How long each owner (a space) may hold the loop up at a time with work that could be done elsewhere. Short work is done at once, where it
 * costs least. An owner with much work has less and less time for each piece, and the rest is done in the pool. The place of work so
 * depends on time; its result must not.
 */

/** Share of an owner without recent work. */
export const FULL_MS = 20
/** Always: ordinary work takes a small part of it. */
export const LEAST_MS = 2
/** Refill of an owner, as a share of the time that goes by. */
const REFILL = 0.05
/** Owners of which something is known; for one that is forgotten all is as at the beginning. */
const OWNERS = 1000
/** Shorter work is not counted. */
const SHORT_MS = 0.5

interface Used {
  leftMs: number
  atMs: number
}

export class LoopShare {
  readonly #clock: () => number
  /** Owners with used time; the longest ago first. */
  readonly #used = new Map<string, Used>()

  /** `clock` in milliseconds; it never goes back. */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Runs with the time that it may take, and counts what it took. */
  run<T>(owner: string, work: (ms: number) => T): T {
    const began = this.#clock()
    const leftMs = this.#left(owner, began)
    try {
      return work(Math.max(LEAST_MS, leftMs))
    } finally {
      const tookMs = this.#clock() - began
      if (tookMs >= SHORT_MS) this.#count(owner, { leftMs: Math.max(0, leftMs - tookMs), atMs: began + tookMs })
    }
  }

  #left(owner: string, now: number): number {
    const used = this.#used.get(owner)
    if (used === undefined) return FULL_MS
    const leftMs = used.leftMs + (now - used.atMs) * REFILL
    if (leftMs < FULL_MS) return leftMs
    this.#used.delete(owner)
    return FULL_MS
  }

  #count(owner: string, used: Used): void {
    this.#used.delete(owner)
    this.#used.set(owner, used)
    if (this.#used.size <= OWNERS) return
    const [oldest] = this.#used.keys()
    this.#used.delete(oldest!)
  }
}
