/**
 * A map for very many texts. The engine's own interns each key. Whenever it collects garbage it goes through all interned texts while
 * nothing else runs, 30 ns each; and it grows in one step. Here texts are in short sorted chunks: a lookup compares some twenty of a
 * million, a change moves one chunk.
 */

/** Long enough that a million are a few thousand chunks, short enough to be moved at once. */
const CHUNK = 512

/** Up to so many a chunk's arrays are of just that length: what grows by itself has room for 17. */
const FEW = 8

interface Chunk<V> {
  keys: string[]
  values: V[]
}

export class TextMap<V> {
  /** None of them empty, but for the only one. */
  readonly #chunks: Chunk<V>[] = [{ keys: [], values: [] }]
  #size = 0

  get size(): number {
    return this.#size
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  get(key: string): V | undefined {
    const { keys, values } = this.#chunks[this.#chunkOf(key)]!
    const at = placeIn(keys, key)
    return keys[at] === key ? values[at] : undefined
  }

  set(key: string, value: V & NonNullable<unknown>): void {
    const number = this.#chunkOf(key)
    const chunk = this.#chunks[number]!
    const { keys, values } = chunk
    const at = placeIn(keys, key)
    if (keys[at] === key) {
      values[at] = value
      return
    }
    this.#size++
    if (keys.length < FEW) {
      chunk.keys = keys.toSpliced(at, 0, key)
      chunk.values = values.toSpliced(at, 0, value)
      return
    }
    keys.splice(at, 0, key)
    values.splice(at, 0, value)
    if (keys.length <= CHUNK) return
    const upper = { keys: keys.splice(CHUNK / 2), values: values.splice(CHUNK / 2) }
    this.#chunks.splice(number + 1, 0, upper)
  }

  /** Whether it was there. */
  delete(key: string): boolean {
    const number = this.#chunkOf(key)
    const { keys, values } = this.#chunks[number]!
    const at = placeIn(keys, key)
    if (keys[at] !== key) return false
    keys.splice(at, 1)
    values.splice(at, 1)
    this.#size--
    if (keys.length === 0 && this.#chunks.length > 1) this.#chunks.splice(number, 1)
    return true
  }

  /** The last chunk that begins at or before it; the first one when all begin behind it. */
  #chunkOf(key: string): number {
    const chunks = this.#chunks
    let low = 0
    let high = chunks.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (key < chunks[middle]!.keys[0]!) high = middle - 1
      else low = middle
    }
    return low
  }
}

/** The first place that does not come before it. */
function placeIn(keys: readonly string[], key: string): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (keys[middle]! < key) low = middle + 1
    else high = middle
  }
  return low
}
