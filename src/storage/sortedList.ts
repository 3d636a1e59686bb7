/**
 * Objects of one (space, group, resource) in (namespace, name) order, by the numbers that {@link ObjectSlots} gave them: a list of
 * short sorted chunks. Lookups are binary searches, an insert moves at most one chunk, and a rank is a sum of chunk sizes.
 */
import type { ObjectSlots } from './objectSlots.ts'

/** Long enough that a million objects are a few thousand chunks, short enough that an insert moves 4 KiB at most. */
const CHUNK = 512
/**
 * Up to so many a chunk is an array of just that length. One that grows by itself has room for 17, and most spaces have a few of each kind.
 */
const FEW = 8

export const ABSENT = -1

/** Called with the slots from `start` to before `end`, in order; answers whether to go on. */
export type RunVisit = (slots: readonly number[], start: number, end: number) => boolean

export class SortedList {
  readonly #slots: ObjectSlots
  #chunks: number[][] = []
  #size = 0

  constructor(slots: ObjectSlots) {
    this.#slots = slots
  }

  get size(): number {
    return this.#size
  }

  /** The object's number, or {@link ABSENT}. */
  find(namespace: string, name: string): number {
    const chunk = this.#chunks[this.#chunkOf(namespace, name)]
    if (chunk === undefined) return ABSENT
    return this.#at(chunk, this.#lowerBound(chunk, namespace, name), namespace, name)
  }

  /** As names with counters are, and all while they are loaded. */
  isBehindAll(namespace: string, name: string): boolean {
    const last = this.#chunks.at(-1)
    return last === undefined || this.#slots.isBefore(last.at(-1)!, namespace, name)
  }

  /** The first object that does not come before (namespace, name). */
  first(namespace: string, name: string): number {
    const place = this.#chunkOf(namespace, name)
    const chunk = this.#chunks[place]
    if (chunk === undefined) return ABSENT
    return chunk[this.#lowerBound(chunk, namespace, name)] ?? this.#chunks[place + 1]?.[0] ?? ABSENT
  }

  /** Puts an object that is not there at the place of its name. */
  add(slot: number): void {
    const slots = this.#slots
    const [namespace, name] = [slots.namespace(slot), slots.name(slot)]
    this.#size++
    if (!this.isBehindAll(namespace, name)) this.#insert(slot, namespace, name)
    else {
      const last = this.#chunks.at(-1)
      if (last === undefined) this.#chunks = [[slot]]
      else if (last.length < FEW) this.#chunks[this.#chunks.length - 1] = last.concat(slot)
      // Full chunks stay behind instead of half-full ones.
      else if (last.length < CHUNK) last.push(slot)
      else this.#chunks.push([slot])
    }
  }

  /** The number of the object that was there, or {@link ABSENT}. */
  delete(namespace: string, name: string): number {
    const chunkIndex = this.#chunkOf(namespace, name)
    const chunk = this.#chunks[chunkIndex]
    if (chunk === undefined) return ABSENT
    const i = this.#lowerBound(chunk, namespace, name)
    const found = this.#at(chunk, i, namespace, name)
    if (found === ABSENT) return ABSENT
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
    let rank = this.#lowerBound(chunk, namespace, name)
    for (let i = 0; i < chunkIndex; i++) rank += this.#chunks[i]!.length
    return rank
  }

  /** Calls `visit` for runs of objects, together those of ranks [from, to), until it answers false; tells whether it reached the end. */
  visit(from: number, to: number, visit: RunVisit): boolean {
    let rank = 0
    for (const chunk of this.#chunks) {
      if (rank >= to) return true
      const [start, end] = [Math.max(0, from - rank), Math.min(chunk.length, to - rank)]
      if (start < end && !visit(chunk, start, end)) return false
      rank += chunk.length
    }
    return true
  }

  #insert(slot: number, namespace: string, name: string): void {
    const chunkIndex = this.#chunkOf(namespace, name)
    const chunk = this.#chunks[chunkIndex]!
    const i = this.#lowerBound(chunk, namespace, name)
    if (chunk.length < FEW) this.#chunks[chunkIndex] = chunk.slice(0, i).concat(slot, chunk.slice(i))
    else if (chunk.length < CHUNK) chunk.splice(i, 0, slot)
    else if (i === CHUNK) this.#chunks.splice(chunkIndex + 1, 0, [slot])
    else {
      const upper = chunk.splice(CHUNK / 2)
      this.#chunks.splice(chunkIndex + 1, 0, upper)
      if (i <= CHUNK / 2) chunk.splice(i, 0, slot)
      else upper.splice(i - CHUNK / 2, 0, slot)
    }
  }

  #at(chunk: readonly number[], i: number, namespace: string, name: string): number {
    return i < chunk.length && this.#slots.is(chunk[i]!, namespace, name) ? chunk[i]! : ABSENT
  }

  /** The last chunk that starts at or before (namespace, name); the first one when all start behind it. */
  #chunkOf(namespace: string, name: string): number {
    let low = 0
    let high = this.#chunks.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.#slots.isBehind(this.#chunks[middle]![0]!, namespace, name)) high = middle - 1
      else low = middle
    }
    return low
  }

  /** The first place whose object is not before (namespace, name). */
  #lowerBound(chunk: readonly number[], namespace: string, name: string): number {
    let low = 0
    let high = chunk.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#slots.isBefore(chunk[middle]!, namespace, name)) low = middle + 1
      else high = middle
    }
    return low
  }
}
