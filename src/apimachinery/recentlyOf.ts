/**
 * Memory of objects for a while, and no longer than they live. A weak map that grows with all objects is copied whole each time: a
 * twentieth of a second for a hundred thousand. There are two short ones instead: when the younger is full the older is forgotten.
 */

interface RecentBounds<V> {
  /** Size of each of the two. */
  entries: number
  weight: number
  /** Called for each value as it is set. */
  of(value: V): number
}

export class RecentlyOf<K extends object, V extends NonNullable<unknown>> {
  readonly #bounds: RecentBounds<V>
  #young = new WeakMap<K, V>()
  #old = new WeakMap<K, V>()
  #entries = 0
  #weight = 0

  constructor(bounds: RecentBounds<V>) {
    this.#bounds = bounds
  }

  get(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  set(key: K, value: V): void {
    const { entries, weight, of } = this.#bounds
    if (this.#entries >= entries || this.#weight >= weight) {
      this.#old = this.#young
      this.#young = new WeakMap()
      this.#entries = 0
      this.#weight = 0
    }
    this.#young.set(key, value)
    this.#entries++
    this.#weight += of(value)
  }
}
