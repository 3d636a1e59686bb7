/** A journal in memory whose disk fails, tears and waits where a test says so, and that outlives the store on top of it. */
import { BlockMaker } from '../../src/storage/blockMaker.ts'
import type { HistoryPage, Journal, JournalState, LoadedObjects } from '../../src/storage/journal.ts'
import { MemoryJournal } from '../../src/storage/memory/memoryJournal.ts'
import { type Range, type Revision, StorageError, type Stored, type StoreEvent } from '../../src/storage/store.ts'
import type { FaultPoints } from '../support/faultPoints.ts'
import { keyText } from '../support/watchRecords.ts'

export class FaultyJournal implements Journal {
  readonly #points: FaultPoints
  readonly #disk = new MemoryJournal()
  readonly #objects = new Map<string, Stored>()
  #revision: Revision = 0
  #compacted: Revision = 0
  /** Batches that came, also those that were refused. */
  appends = 0

  constructor(points: FaultPoints) {
    this.#points = points
  }

  async load({ taker, memory }: LoadedObjects): Promise<JournalState> {
    const maker = new BlockMaker({ give: taker(), memory })
    for (const stored of this.#objects.values()) maker.add(stored)
    maker.end()
    return { revision: this.#revision, compactedRevision: this.#compacted }
  }

  async append(events: readonly StoreEvent[], timeMs: number): Promise<void> {
    this.appends++
    await this.#points.pass('journal.append waits')
    if (this.#points.strikes('journal.append fails')) throw new Error('no space left on device')
    if (this.#points.strikes('journal.append full')) throw full()
    if (this.#points.strikes('journal.append full, and kept')) {
      await this.#keep(events, timeMs)
      throw full()
    }
    if (this.#points.strikes('journal.append torn')) {
      await this.#keep(events.slice(0, Math.ceil(events.length / 2)), timeMs)
      throw new Error('the power went')
    }
    await this.#keep(events, timeMs)
    await this.#points.pass('publish delayed')
  }

  async reopen(): Promise<Revision> {
    if (this.#points.strikes('journal.reopen full')) throw full()
    return this.#revision
  }

  read(range: Range, after: Revision, through: Revision): Promise<HistoryPage> {
    return this.#disk.read(range, after, through)
  }

  timeOf(revision: Revision): Promise<number> {
    return this.#disk.timeOf(revision)
  }

  async compact(through: Revision): Promise<void> {
    await this.#disk.compact(through)
    this.#compacted = Math.max(this.#compacted, through)
  }

  reclaim(): Promise<void> {
    return this.#disk.reclaim()
  }

  /** Its content stays: another store may be opened on it. */
  async close(): Promise<void> {}

  async #keep(events: readonly StoreEvent[], timeMs: number): Promise<void> {
    await this.#disk.append(events, timeMs)
    for (const { type, key, stored } of events) {
      if (type === 'put') this.#objects.set(keyText(key), stored)
      else this.#objects.delete(keyText(key))
    }
    this.#revision = events.at(-1)?.revision ?? this.#revision
  }
}

const full = () => new StorageError('Full', 'the disk is full')
