/** Things by number, each held for as long as somebody refers to it. Numbers of those that are gone are given again. */
export class Numbered<T> {
  readonly #things: (T | undefined)[] = []
  /** Number of users of each. */
  readonly #users: number[] = []
  readonly #numbers = new Map<T, number>()
  readonly #free: number[] = []
  /** Equal values come many times in a row. */
  #last: T | undefined
  #lastNumber = -1

  get size(): number {
    return this.#numbers.size
  }

  /** The thing's number; one more refers to it. */
  enter(thing: T): number {
    if (thing !== this.#last) {
      this.#lastNumber = this.#numbers.get(thing) ?? this.#add(thing)
      this.#last = thing
    }
    this.#users[this.#lastNumber]!++
    return this.#lastNumber
  }

  /** One less refers to it. */
  leave(number: number): void {
    if (--this.#users[number]! > 0) return
    const thing = this.#things[number]!
    this.#things[number] = undefined
    this.#numbers.delete(thing)
    this.#free.push(number)
    if (thing === this.#last) this.#last = undefined
  }

  /** Value of a number in use. */
  get(number: number): T {
    return this.#things[number]!
  }

  #add(thing: T): number {
    const number = this.#free.pop() ?? this.#things.length
    this.#things[number] = thing
    this.#users[number] = 0
    this.#numbers.set(thing, number)
    return number
  }
}
