/**
 * Items of one space's Services, and of requests under way. Pure: its owner keeps it in step with the log. One item is one holder's; a
 * holder may be given the same item twice.
 */
import type { ServiceRange } from './serviceRanges.ts'

/** An IP address as text, or a port as number. */
export type Item = string | number

/** `held`: a stored Service says so. `reserved`: a request is being worked on. `kept`: it is nobody's to take. */
type Claim = { readonly by: 'held'; readonly owner: string } | { readonly by: 'reserved' | 'kept' }

/** How often a free item is looked for at random before the range is walked. */
const RANDOM_TRIES = 8

export class SpaceAllocations {
  /** Nobody's to take. */
  readonly #kept: Item
  readonly #holders = new Map<Item, string>()
  readonly #byOwner = new Map<string, readonly Item[]>()
  readonly #reserved = new Map<Item, { owner: string; times: number }>()

  constructor(kept: Item) {
    this.#kept = kept
  }

  /** Holder of the item other than `owner`. */
  claim(item: Item, owner: string): Claim | undefined {
    if (item === this.#kept) return { by: 'kept' }
    const holder = this.#holders.get(item)
    if (holder !== undefined && holder !== owner) return { by: 'held', owner: holder }
    const reserved = this.#reserved.get(item)
    return reserved === undefined || reserved.owner === owner ? undefined : { by: 'reserved' }
  }

  /** Items of the owner from now on, in place of its earlier ones. Items of another owner stay there. */
  hold(owner: string, items: readonly Item[]): void {
    const before = this.#byOwner.get(owner) ?? []
    if (items.length === 0) this.#byOwner.delete(owner)
    else this.#byOwner.set(owner, items)
    for (const item of before) if (this.#holders.get(item) === owner) this.#holders.delete(item)
    for (const item of items) if (!this.#holders.has(item)) this.#holders.set(item, owner)
  }

  /** Everything that is held, in place of what was known; reservations stay. */
  holdOnly(all: Iterable<readonly [owner: string, items: readonly Item[]]>): void {
    this.#holders.clear()
    this.#byOwner.clear()
    for (const [owner, items] of all) this.hold(owner, items)
  }

  reserve(item: Item, owner: string): void {
    const known = this.#reserved.get(item)
    this.#reserved.set(item, { owner, times: (known?.times ?? 0) + 1 })
  }

  release(item: Item): void {
    const known = this.#reserved.get(item)
    if (known === undefined) return
    if (known.times > 1) this.#reserved.set(item, { ...known, times: known.times - 1 })
    else this.#reserved.delete(item)
  }

  /** An item that nobody has, reserved for nobody yet; `undefined` when the range is full. */
  free<T extends Item>(range: ServiceRange<T>, random: () => number): T | undefined {
    const { size, dynamicFrom } = range
    return (
      this.#freeIn(range, { from: dynamicFrom, count: size - dynamicFrom }, random) ??
      this.#freeIn(range, { from: 0, count: dynamicFrom }, random)
    )
  }

  #freeIn<T extends Item>(
    range: ServiceRange<T>,
    { from, count }: { from: number; count: number },
    random: () => number,
  ): T | undefined {
    const isFree = (item: T): boolean => item !== this.#kept && !this.#holders.has(item) && !this.#reserved.has(item)
    for (let attempt = 0; attempt < RANDOM_TRIES && count > 0; attempt++) {
      const item = range.at(from + Math.floor(random() * count))
      if (isFree(item)) return item
    }
    const start = Math.floor(random() * count)
    for (let i = 0; i < count; i++) {
      const item = range.at(from + ((start + i) % count))
      if (isFree(item)) return item
    }
    return undefined
  }
}
