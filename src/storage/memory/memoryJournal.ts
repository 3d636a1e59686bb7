/**
 * A journal that forgets everything when the process ends: for tests and for trying things out.
 */
import type { HistoryPage, Journal, JournalState } from '../journal.ts'
import { rangeHolds } from '../keys.ts'
import { type Range, type Revision, StorageError, type StoreEvent } from '../store.ts'

/** Revisions in one page of history; small, so that tests meet page borders. */
const PAGE = 64

export class MemoryJournal implements Journal {
  #events: StoreEvent[] = []
  #timesMs: number[] = []
  /** The events begin behind this revision. */
  #after: Revision = 0

  async load(): Promise<JournalState> {
    return { revision: 0, compactedRevision: 0 }
  }

  async append(events: readonly StoreEvent[], timeMs: number): Promise<void> {
    for (const event of events) {
      this.#events.push(event)
      this.#timesMs.push(timeMs)
    }
  }

  async reopen(): Promise<Revision> {
    return this.#after + this.#events.length
  }

  async read(range: Range, after: Revision, through: Revision): Promise<HistoryPage> {
    this.#assertKept(after + 1)
    const end = Math.min(through, after + PAGE)
    const page = this.#events.slice(after - this.#after, end - this.#after)
    return { events: page.filter(event => rangeHolds(range, event.key)), through: end }
  }

  async timeOf(revision: Revision): Promise<number> {
    this.#assertKept(revision)
    return this.#timesMs[revision - this.#after - 1]!
  }

  async compact(through: Revision): Promise<void> {
    this.#events.splice(0, through - this.#after)
    this.#timesMs.splice(0, through - this.#after)
    this.#after = Math.max(this.#after, through)
  }

  /** There is no disk. */
  async reclaim(): Promise<void> {}

  async close(): Promise<void> {
    this.#events = []
    this.#timesMs = []
  }

  #assertKept(revision: Revision): void {
    if (revision <= this.#after) throw new StorageError('Compacted', `event ${revision} is not kept any more`)
  }
}
