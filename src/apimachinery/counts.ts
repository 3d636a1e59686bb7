/** Counts by key. A key of which nothing is left is forgotten. */
export class Counts<K = string> {
  readonly #counts = new Map<K, number>()

  get size(): number {
    return this.#counts.size
  }

  of(key: K): number {
    return this.#counts.get(key) ?? 0
  }

  /** @returns the count from now on */
  add(key: K, by: number): number {
    const count = this.of(key) + by
    if (count > 0) this.#counts.set(key, count)
    else this.#counts.delete(key)
    return count
  }
}
