/** Some things of which the first is taken again and again. */

export class Heap<T> {
  readonly #precedes: (a: T, b: T) => boolean
  readonly #items: T[] = []

  constructor(precedes: (a: T, b: T) => boolean) {
    this.#precedes = precedes
  }

  get first(): T | undefined {
    return this.#items[0]
  }

  add(item: T): void {
    const items = this.#items
    let at = items.push(item) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!this.#precedes(item, items[parent]!)) break
      items[at] = items[parent]!
      at = parent
    }
    items[at] = item
  }

  take(): T | undefined {
    const items = this.#items
    const first = items[0]
    const last = items.pop()
    if (items.length === 0 || last === undefined) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= items.length) break
      if (child + 1 < items.length && this.#precedes(items[child + 1]!, items[child]!)) child++
      if (!this.#precedes(items[child]!, last)) break
      items[at] = items[child]!
      at = child
    }
    items[at] = last
    return first
  }
}
