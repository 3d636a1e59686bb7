/** A map that may forget: it holds so many entries, or so much weight of them, and what is too much goes oldest first. */

interface CacheBounds<V, K = unknown> {
  /** Entries kept at most; at least 1. */
  entries: number
  /** Called for each entry as it is set; the unit is the caller's. */
  weight?: { limit: number; of(value: V, key: K): number }
}

export class BoundedCache<K, V extends NonNullable<unknown>> {
  readonly #bounds: CacheBounds<V, K>
  /** Oldest first. */
  readonly #entries = new Map<K, V>()
  readonly #weights = new Map<K, number>()
  #weight = 0
  /** As far as it is known: most look-ups repeat the latest key. */
  #youngest: K | undefined
  /**
   * Where the next one to go is looked for: behind all that went before. A search from the beginning would pass the places of those
   * that the map's table still has, a thousand and more each time.
   */
  #oldest: MapIterator<K> | undefined
  /** Entries that left their places since the last check: the map holds the tables that it has had meanwhile. */
  #left = 0

  /** A number counts entries. */
  constructor(bounds: number | CacheBounds<V, K>) {
    this.#bounds = typeof bounds === 'number' ? { entries: bounds } : bounds
  }

  get size(): number {
    return this.#entries.size
  }

  /** Makes the entry the youngest: a cache that is read only by this forgets the least recently used one. */
  get(key: K): V | undefined {
    const value = this.#entries.get(key)
    if (value === undefined || key === this.#youngest) return value
    // each deletion from a map that is small and old makes its table anew, for a full collection to take
    this.#entries.delete(key)
    this.#noteLeft()
    this.#entries.set(key, value)
    this.#youngest = key
    return value
  }

  /** Leaves the entry as old as it is: who only reads with this forgets what was set the longest ago. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)
  }

  has(key: K): boolean {
    return this.#entries.has(key)
  }

  /** Makes the entry the youngest. It stays even if it alone weighs too much. */
  set(key: K, value: V): void {
    const { entries, weight } = this.#bounds
    this.delete(key)
    this.#entries.set(key, value)
    this.#youngest = key
    if (weight !== undefined) this.#weigh(key, weight.of(value, key))
    const limit = weight?.limit ?? Infinity
    while (this.#entries.size > 1 && (this.#entries.size > entries || this.#weight > limit)) {
      this.#oldest ??= this.#entries.keys()
      this.delete(this.#oldest.next().value!)
      this.#left = 0
    }
  }

  /** Sets a new entry if nothing has to go for it. @returns whether it was set */
  setIfRoom(key: K, value: V): boolean {
    const { entries, weight } = this.#bounds
    if (this.#entries.size >= entries) return false
    if (weight !== undefined && this.#weight + weight.of(value, key) > weight.limit) return false
    this.set(key, value)
    return true
  }

  delete(key: K): boolean {
    if (!this.#entries.delete(key)) return false
    this.#noteLeft()
    this.#weight -= this.#weights.get(key) ?? 0
    this.#weights.delete(key)
    if (key === this.#youngest) this.#youngest = undefined
    return true
  }

  clear(): void {
    this.#entries.clear()
    this.#weights.clear()
    this.#weight = 0
    this.#youngest = undefined
    this.#oldest = undefined
  }

  /** Oldest first. Entries may be deleted on the way. */
  [Symbol.iterator](): MapIterator<[K, V]> {
    return this.#entries[Symbol.iterator]()
  }

  #noteLeft(): void {
    if (++this.#left > this.#entries.size) this.#oldest = undefined
  }

  #weigh(key: K, weight: number): void {
    this.#weights.set(key, weight)
    this.#weight += weight
  }
}
