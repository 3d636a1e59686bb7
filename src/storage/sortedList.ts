/**
 * Objects of one (space, group, resource) in (namespace, name) order: a list of short sorted chunks. Lookups are binary
 * searches, an insert moves at most one chunk, and a rank is a sum of chunk sizes. It keeps no strings of its own.
 */
import type { Stored } from './store.ts'

/** Long enough that a million objects are a few thousand chunks, short enough that an insert moves 4 KiB at most. */
const CHUNK = 512

export class SortedList {
  readonly #chunks: Stored[][] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  find(namespace: string, name: string): Stored | undefined {
    const chunk = this.#chunks[this.#chunkOf(namespace, name)]
    if (chunk === undefined) return undefined
    const found = chunk[lowerBound(chunk, namespace, name)]
    return found !== undefined && found.key.name === name && found.key.namespace === namespace ? found : undefined
  }

  /** Puts an object at its place; returns the one that it replaced. */
  set(stored: Stored): Stored | undefined {
    const { namespace, name } = stored.key
    const chunkIndex = this.#chunkOf(namespace, name)
    const chunk = this.#chunks[chunkIndex]
    if (chunk === undefined) {
      this.#chunks.push([stored])
      this.#size = 1
      return undefined
    }
    const i = lowerBound(chunk, namespace, name)
    const found = chunk[i]
    if (found !== undefined && found.key.name === name && found.key.namespace === namespace) {
      chunk[i] = stored
      return found
    }
    this.#size++
    if (chunk.length < CHUNK) chunk.splice(i, 0, stored)
    // Appending in order (loading, counters in names) leaves full chunks behind instead of half-full ones.
    else if (i === CHUNK) this.#chunks.splice(chunkIndex + 1, 0, [stored])
    else {
      const upper = chunk.splice(CHUNK / 2)
      this.#chunks.splice(chunkIndex + 1, 0, upper)
      if (i <= CHUNK / 2) chunk.splice(i, 0, stored)
      else upper.splice(i - CHUNK / 2, 0, stored)
    }
    return undefined
  }

  delete(namespace: string, name: string): Stored | undefined {
    const chunkIndex = this.#chunkOf(namespace, name)
    const chunk = this.#chunks[chunkIndex]
    if (chunk === undefined) return undefined
    const i = lowerBound(chunk, namespace, name)
    const found = chunk[i]
    if (found === undefined || found.key.name !== name || found.key.namespace !== namespace) return undefined
    chunk.splice(i, 1)
    if (chunk.length === 0) this.#chunks.splice(chunkIndex, 1)
    this.#size--
    return found
  }

  /** How many objects come before (namespace, name), that one not counted. */
  rank(namespace: string, name: string): number {
    const chunkIndex = this.#chunkOf(namespace, name)
    const chunk = this.#chunks[chunkIndex]
    if (chunk === undefined) return 0
    let rank = lowerBound(chunk, namespace, name)
    for (let i = 0; i < chunkIndex; i++) rank += this.#chunks[i]!.length
    return rank
  }

  /** Calls `visit` for the objects of ranks [from, to) until it answers false; tells whether it reached the end. */
  visit(from: number, to: number, visit: (stored: Stored) => boolean): boolean {
    let rank = 0
    for (const chunk of this.#chunks) {
      if (rank >= to) return true
      const end = Math.min(chunk.length, to - rank)
      for (let i = Math.max(0, from - rank); i < end; i++) if (!visit(chunk[i]!)) return false
      rank += chunk.length
    }
    return true
  }

  /** The last chunk that starts at or before (namespace, name); the first one when all start behind it. */
  #chunkOf(namespace: string, name: string): number {
    let low = 0
    let high = this.#chunks.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (isBefore(namespace, name, this.#chunks[middle]![0]!)) high = middle - 1
      else low = middle
    }
    return low
  }
}

function isBefore(namespace: string, name: string, stored: Stored): boolean {
  const key = stored.key
  return namespace === key.namespace ? name < key.name : namespace < key.namespace
}

/** The first place whose object is not before (namespace, name). */
function lowerBound(chunk: readonly Stored[], namespace: string, name: string): number {
  let low = 0
  let high = chunk.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const key = chunk[middle]!.key
    if (key.namespace === namespace ? key.name < name : key.namespace < namespace) low = middle + 1
    else high = middle
  }
  return low
}
