/**
 * First in, first out, each at most once. One iterator goes on over the set for as long as it finds something. A new one for each step
 * would begin behind all the holes that earlier steps have left.
 */
export class Line<T extends object> {
  readonly #items = new Set<T>()
  #next: Iterator<T> | undefined

  get size(): number {
    return this.#items.size
  }

  get isEmpty(): boolean {
    return this.#items.size === 0
  }

  add(item: T): void {
    this.#items.add(item)
  }

  take(): T | undefined {
    if (this.#items.size === 0) return undefined
    let step = this.#next?.next()
    if (!step || step.done) {
      this.#next = this.#items.values()
      step = this.#next.next()
    }
    this.#items.delete(step.value as T)
    return step.value as T
  }

  clear(): void {
    this.#items.clear()
    this.#next = undefined
  }
}
