/** Watches that are open, so that some of them can be ended early: their clients take them up again. */

export class OpenWatches {
  /**
   * Whether the connection of a watch ends with it. With several threads that listen, its client comes to another one, maybe: over
   * the same connection it would come back.
   */
  readonly endConnections: boolean
  /** What ends each, the oldest first. */
  readonly #ends = new Set<() => void>()

  constructor(endConnections: boolean) {
    this.endConnections = endConnections
  }

  get size(): number {
    return this.#ends.size
  }

  /** `end` is called once at most. The answer is for when the watch is over. */
  opened(end: () => void): () => void {
    this.#ends.add(end)
    return () => void this.#ends.delete(end)
  }

  /** Ends those that are open for longest. */
  endOldest(count: number): void {
    let left = count
    for (const end of this.#ends) {
      if (left-- <= 0) return
      this.#ends.delete(end)
      end()
    }
  }
}
