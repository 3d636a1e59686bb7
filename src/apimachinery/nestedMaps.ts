/** Maps by two keys, and sets by a key. Neither holds anything of a key under which nothing is left. */

const NO_MAP: ReadonlyMap<never, never> = new Map<never, never>()
const NO_SET: ReadonlySet<never> = new Set<never>()

export class MapOfMaps<V, K = string, L = string> {
  readonly #maps = new Map<K, Map<L, V>>()

  get size(): number {
    return this.#maps.size
  }

  get(outer: K, inner: L): V | undefined {
    return this.#maps.get(outer)?.get(inner)
  }

  has(outer: K): boolean {
    return this.#maps.has(outer)
  }

  /** All under the outer key; empty where nothing is. */
  of(outer: K): ReadonlyMap<L, V> {
    return this.#maps.get(outer) ?? NO_MAP
  }

  keys(): MapIterator<K> {
    return this.#maps.keys()
  }

  [Symbol.iterator](): MapIterator<[K, ReadonlyMap<L, V>]> {
    return this.#maps.entries()
  }

  /** `undefined` deletes. */
  set(outer: K, inner: L, value: V | undefined): void {
    if (value === undefined) {
      this.delete(outer, inner)
      return
    }
    const map = this.#maps.get(outer)
    if (map) map.set(inner, value)
    else this.#maps.set(outer, new Map([[inner, value]]))
  }

  /** @returns whether it was there */
  delete(outer: K, inner: L): boolean {
    const map = this.#maps.get(outer)
    if (!map?.delete(inner)) return false
    if (map.size === 0) this.#maps.delete(outer)
    return true
  }

  /** @returns what was there */
  deleteAll(outer: K): ReadonlyMap<L, V> {
    const map = this.of(outer)
    this.#maps.delete(outer)
    return map
  }

  clear(): void {
    this.#maps.clear()
  }
}

export class MapOfSets<V, K = string> {
  readonly #sets = new Map<K, Set<V>>()

  get size(): number {
    return this.#sets.size
  }

  has(key: K): boolean {
    return this.#sets.has(key)
  }

  /** All under the key; empty where nothing is. */
  of(key: K): ReadonlySet<V> {
    return this.#sets.get(key) ?? NO_SET
  }

  keys(): MapIterator<K> {
    return this.#sets.keys()
  }

  [Symbol.iterator](): MapIterator<[K, ReadonlySet<V>]> {
    return this.#sets.entries()
  }

  add(key: K, value: V): void {
    const set = this.#sets.get(key)
    if (set) set.add(value)
    else this.#sets.set(key, new Set([value]))
  }

  /** @returns whether it was there */
  delete(key: K, value: V): boolean {
    const set = this.#sets.get(key)
    if (!set?.delete(value)) return false
    if (set.size === 0) this.#sets.delete(key)
    return true
  }

  /** @returns what was there */
  deleteAll(key: K): ReadonlySet<V> {
    const set = this.of(key)
    this.#sets.delete(key)
    return set
  }

  clear(): void {
    this.#sets.clear()
  }
}
