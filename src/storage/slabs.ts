/** Pieces of memory that texts lie in, by number, each held for as long as a text does. Numbers of those that are gone are given again. */
export type Memory = ArrayBuffer | SharedArrayBuffer

export class Slabs {
  readonly #memories: (Memory | undefined)[] = []
  /** Texts in each. */
  readonly #users: number[] = []
  readonly #numbers = new Map<Memory, number>()
  readonly #free: number[] = []
  /** Texts come slab by slab, mostly. */
  #last: Memory | undefined
  #lastNumber = -1

  get size(): number {
    return this.#numbers.size
  }

  /** One text more in this memory. */
  enter(memory: Memory): number {
    if (memory !== this.#last) {
      this.#lastNumber = this.#numbers.get(memory) ?? this.#add(memory)
      this.#last = memory
    }
    this.#users[this.#lastNumber]!++
    return this.#lastNumber
  }

  /** One text less. */
  leave(number: number): void {
    if (--this.#users[number]! > 0) return
    const memory = this.#memories[number]!
    this.#memories[number] = undefined
    this.#numbers.delete(memory)
    this.#free.push(number)
    if (memory === this.#last) this.#last = undefined
  }

  part(number: number, at: number, length: number): Buffer {
    return Buffer.from(this.#memories[number]! as ArrayBuffer, at, length)
  }

  #add(memory: Memory): number {
    const number = this.#free.pop() ?? this.#memories.length
    this.#memories[number] = memory
    this.#users[number] = 0
    this.#numbers.set(memory, number)
    return number
  }
}
