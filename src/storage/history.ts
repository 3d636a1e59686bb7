/** History of a store: the newest events from memory, older ones from the journal, the oldest forgotten. */
import type { HistoryPage, Journal } from './journal.ts'
import { compareKeys, rangeHolds } from './keys.ts'
import type { Undo } from './pastReads.ts'
import { RecentEvents } from './recentEvents.ts'
import { isStorageError, type Key, type Range, type Revision, StorageError, type StoreEvent } from './store.ts'

interface HistoryOptions {
  journal: Pick<Journal, 'read' | 'timeOf' | 'compact'>
  revision: Revision
  compactedRevision: Revision
  /** Newest events in memory. */
  maxEvents: number
  maxBytes: number
  /** Throws when the store is closed. */
  assertOpen: () => void
  /** Events up to a revision are not to be read any more, but for the newest where they are still `inMemory`. */
  compacted?: (revision: Revision, inMemory: boolean) => void
}

interface Stretch {
  readonly behind?: Key | undefined
  readonly through?: Key | undefined
}

export class History {
  readonly #journal: HistoryOptions['journal']
  readonly #compacted: HistoryOptions['compacted']
  readonly #recent: RecentEvents
  readonly #assertOpen: () => void
  #revision: Revision
  #compactedRevision: Revision
  #compacting: Promise<void> = Promise.resolve()

  constructor(options: HistoryOptions) {
    this.#journal = options.journal
    this.#recent = new RecentEvents({ ...options, after: options.revision })
    this.#assertOpen = options.assertOpen
    this.#revision = options.revision
    this.#compactedRevision = options.compactedRevision
    this.#compacted = options.compacted
  }

  /** Newest committed revision. */
  get revision(): Revision {
    return this.#revision
  }

  /** The oldest revision that can be read and watched from. */
  get compactedRevision(): Revision {
    return this.#compactedRevision
  }

  /** Takes events that the journal has. */
  add(events: readonly StoreEvent[]): void {
    this.#revision = events.at(-1)!.revision
    this.#recent.add(events)
  }

  /** @throws StorageError `Closed`, `Future` or `Compacted` when nobody can read as of, or watch from, this revision */
  assertReadable(revision: Revision): void {
    this.#assertOpen()
    if (revision > this.#revision) throw this.#futureError(revision)
    if (revision < this.#compactedRevision && !this.#recent.reaches(revision))
      throw new StorageError(
        'Compacted',
        `revision ${revision} is too old: history is kept from ${this.#compactedRevision} on`,
      )
  }

  /** Events of a range behind `after`, when all of them are in memory. Synchronous. */
  recent(range: Range, after: Revision): StoreEvent[] | undefined {
    if (!this.#recent.reaches(after)) return undefined
    const events: StoreEvent[] = []
    this.#recent.visit(after, event => {
      if (rangeHolds(range, event.key)) events.push(event)
    })
    return events
  }

  /** A page of events of a range behind `after`, from the journal. */
  async older(range: Range, after: Revision): Promise<HistoryPage> {
    try {
      return await this.#journal.read(range, after, this.#revision)
    } catch (error) {
      // The journal fails in its own words when it is closed, or compacted, under a reader.
      this.assertReadable(after)
      throw error
    }
  }

  /** Whether all events behind a revision are in memory. */
  reaches(revision: Revision): boolean {
    return this.#recent.reaches(revision)
  }

  /** Adds a page of older events to `undo`; answers the revision up to which they are in it. */
  async undoOlder(undo: Undo, range: Range, after: Revision): Promise<Revision> {
    const page = await this.older(range, after)
    for (const event of page.events) undo.add(event)
    return page.through
  }

  /**
   * Adds all events behind `after`, which memory must reach: then `undo` leads back from this very instant. `stretch`: those of keys
   * behind one, and no further than another.
   */
  undoRecent(undo: Undo, range: Range, after: Revision, stretch: Stretch = {}): void {
    const { behind, through } = stretch
    this.#recent.visit(after, event => {
      const { key } = event
      if (!rangeHolds(range, key)) return
      if (behind !== undefined && compareKeys(key, behind) <= 0) return
      if (through !== undefined && compareKeys(key, through) > 0) return
      undo.add(event)
    })
  }

  /** Revision of the newest event from before a time, by bisection: times never fall from one event to the next. */
  async newestBefore(timeMs: number): Promise<Revision> {
    let low = this.#compactedRevision
    let high = this.#revision
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (await this.#isBefore(middle, timeMs)) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The journal has nothing up to the newest revision. Events in memory stay readable. */
  forgotten(): void {
    this.forget(this.#revision, true)
  }

  /** @throws StorageError `Future` */
  async compact(through: Revision): Promise<void> {
    if (through > this.#revision) throw this.#futureError(through)
    if (through <= this.#compactedRevision) return
    // Before the journal forgets anything: a reader of history gets an error now instead of holes.
    this.forget(through)
    await this.#compactJournal(through)
  }

  /** Events up to a revision become unreadable, but for the newest ones where they stay `inMemory`. */
  forget(through: Revision, inMemory = false): void {
    if (through < this.#compactedRevision) return
    this.#compactedRevision = through
    if (!inMemory) this.#recent.dropThrough(through)
    this.#compacted?.(through, inMemory)
  }

  /** Finishes a compaction that a crash cut short. */
  async finishCompaction(): Promise<void> {
    if (this.#compactedRevision > 0) await this.#compactJournal(this.#compactedRevision)
  }

  #compactJournal(through: Revision): Promise<void> {
    const run = this.#compacting.then(() => this.#journal.compact(through))
    // The next one starts whether this one worked or not; its caller gets the error.
    this.#compacting = run.catch(() => {})
    return run
  }

  async #isBefore(revision: Revision, timeMs: number): Promise<boolean> {
    try {
      return (await this.#journal.timeOf(revision)) < timeMs
    } catch (error) {
      // Another compaction was quicker: then it is old.
      if (isStorageError(error, 'Compacted')) return true
      this.#assertOpen()
      throw error
    }
  }

  #futureError(revision: Revision): StorageError {
    return new StorageError('Future', `revision ${revision} is greater than the newest, ${this.#revision}`)
  }
}
