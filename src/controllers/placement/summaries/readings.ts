/**
 * Readings of one summary, one for each cluster or carried object, by an item source. Only those that changed are made again, and only when
 * somebody asks for the summary: changes in a row cost one evaluation.
 */
import type { Pace } from '../../../placement/desks/answered.ts'
import { type Combination, combine, type SummaryItem } from '../../../placement/summary/combination.ts'
import type { UsedCollector } from './collectors.ts'

export interface Item extends SummaryItem {
  /** resourceVersion of the object that was read. */
  readonly revision: number
  /** The same while nothing that expressions see has changed. */
  readonly stamp: string
}

export interface ItemSource {
  /** Whether it knows the object and the clusters as they are. A request may have waited since it began. */
  isCurrent(): boolean
  /** All that there are; `undefined`: one that is looked at is none of them. */
  ids(): Iterable<string | undefined>
  /** `known` itself where nothing has changed; `undefined`: it is not there. `count`: how many there are. */
  read(id: string, known: Item | undefined, count: number): Promise<Item | undefined>
}

export class Readings {
  readonly collectors: readonly UsedCollector[]
  readonly #items = new Map<string, Item>()
  #touched = new Set<string>()
  #isWhole = false
  #stale = 0
  #weight = 0
  #newest = 0
  #results: readonly Combination[] | undefined
  #running: Promise<void> | undefined

  constructor(collectors: readonly UsedCollector[]) {
    this.collectors = collectors
  }

  get size(): number {
    return this.#items.size
  }

  /** The number of items; a large one counts as several. */
  get weight(): number {
    return this.#weight
  }

  /** Rows of each collector, worked out once for all answers between two changes. */
  get results(): readonly Combination[] {
    const items = { [Symbol.iterator]: () => this.#items.values() }
    this.#results ??= this.collectors.map(({ collector }, i) => combine(collector, items, i))
    return this.#results
  }

  /** Names of the silent clusters among them. */
  staleClusters(): string[] {
    if (this.#stale === 0) return []
    return [...this.#items.values()].filter(({ isStale }) => isStale).map(({ origin }) => origin.cluster)
  }

  /** The newest revision of all that was read. */
  get newest(): number {
    return this.#newest
  }

  /** One may be another now, come or gone. */
  touch(id: string): void {
    if (this.#isWhole) this.#touched.add(id)
  }

  /** All may be others. */
  touchAll(): void {
    this.#isWhole = false
    this.#touched.clear()
  }

  async refresh(source: ItemSource, pace: Pace): Promise<void> {
    while (this.#running) await this.#running
    if (this.#isWhole && this.#touched.size === 0) return
    const running = this.#refresh(source, pace)
    this.#running = running.then(
      () => undefined,
      () => undefined,
    )
    try {
      await running
    } catch (error) {
      this.touchAll()
      throw error
    } finally {
      this.#running = undefined
    }
  }

  async #refresh(source: ItemSource, pace: Pace): Promise<void> {
    const touched = this.#isWhole ? this.#touched : undefined
    // changes from here on count for the next time; those that the source does not know count then, too
    this.#isWhole = source.isCurrent()
    this.#touched = new Set()
    for (const id of touched ?? (await this.#allOf(source, pace))) {
      this.#put(id, await source.read(id, this.#items.get(id), this.#items.size))
      if (pace.due) await pace.rest()
    }
  }

  /** Those that are there. Others go. */
  async #allOf(source: ItemSource, pace: Pace): Promise<ReadonlySet<string>> {
    const all = new Set<string>()
    for (const id of source.ids()) {
      if (id !== undefined) all.add(id)
      if (pace.due) await pace.rest()
    }
    for (const id of this.#items.keys()) if (!all.has(id)) this.#put(id, undefined)
    return all
  }

  #put(id: string, item: Item | undefined): void {
    const before = this.#items.get(id)
    if (before === item) return
    this.#results = undefined
    if (before?.isStale) this.#stale--
    this.#weight += (item ? weightOf(item) : 0) - (before ? weightOf(before) : 0)
    if (!item) {
      this.#items.delete(id)
      return
    }
    if (item.isStale) this.#stale++
    this.#newest = Math.max(this.#newest, item.revision)
    this.#items.set(id, item)
  }
}

/** Bytes for which an item counts once. */
const ITEM_BYTES = 512

function weightOf({ readings }: Item): number {
  return 1 + Math.floor(readings.reduce((bytes, { size }) => bytes + size, 0) / ITEM_BYTES)
}
