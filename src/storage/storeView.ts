/**
 * Memory of a store, and its reading half: the current objects, the newest events, watchers and projections. The writer, or the follower of
 * a writer, brings commits in; every read calls it first.
 */
import type { Bodies } from './bodies.ts'
import { History } from './history.ts'
import { WatchHub } from './hub.ts'
import type { HistoryPage, Journal } from './journal.ts'
import { assertRange } from './keys.ts'
import type { ObjectIndex } from './objectIndex.ts'
import { listAt, SlicedRead, stretchesAt, Undo } from './pastReads.ts'
import { Projections } from './projections.ts'
import type { Key, ListOptions, Page, Projection, Range, Revision, Stored, StoreEvent, WatchOptions } from './store.ts'
import { type EventSource, watchFrom } from './watchFrom.ts'

export const WATCHER_BACKLOG = 10_000
export const WATCHER_BACKLOG_BYTES = 16 * 1024 * 1024

/** How much a store keeps in memory beside its objects. */
export interface MemoryBounds {
  /** Newest events in memory, which spare a read of the journal, beside a bound of 16 MiB of texts. Default: 10 000. */
  maxHistoryEventsInMemory?: number
  /** Events that a watcher may leave unread before it is ended with `SlowWatcher`, beside a bound of 16 MiB. Default: 10 000. */
  watcherBacklog?: number
}

export interface StoreViewOptions extends MemoryBounds {
  index: ObjectIndex
  bodies: Bodies
  /** Source of older history. */
  journal: Pick<Journal, 'read' | 'timeOf' | 'compact'>
  revision: Revision
  compactedRevision: Revision
  /** First step of every read: brings in missing commits, and throws where the store is closed to reads. */
  arrive: () => void
  /** History up to a revision was forgotten; `inMemory`: but for the newest events. */
  compacted?: (revision: Revision, inMemory: boolean) => void
  /** Somebody watches, where nobody did. */
  watched?: () => void
  logger: { error(obj: object, msg: string): void }
}

/** Objects of a list in a row: a fraction of a millisecond. */
const SLICE_OBJECTS = 512

export class StoreView {
  readonly index: ObjectIndex
  readonly history: History
  readonly #bodies: Bodies
  readonly #hub: WatchHub
  readonly #projections: Projections
  readonly #arrive: () => void
  readonly #source: EventSource
  /** Those that others may write under. */
  readonly #slicedReads = new Set<SlicedRead>()

  constructor(options: StoreViewOptions) {
    this.index = options.index
    this.#bodies = options.bodies
    this.#arrive = options.arrive
    this.history = new History({
      journal: options.journal,
      revision: options.revision,
      compactedRevision: options.compactedRevision,
      maxEvents: options.maxHistoryEventsInMemory ?? 10_000,
      maxBytes: 16 * 1024 * 1024,
      assertOpen: options.arrive,
      ...(options.compacted && { compacted: options.compacted }),
    })
    this.#hub = new WatchHub({
      backlogEvents: options.watcherBacklog ?? WATCHER_BACKLOG,
      backlogBytes: WATCHER_BACKLOG_BYTES,
    })
    this.#projections = new Projections({
      items: range => itemsOf(this.index, range),
      revision: () => this.history.revision,
      logger: options.logger,
    })
    this.#source = {
      assertReadable: after => this.history.assertReadable(after),
      recent: (range, after) => this.history.recent(range, after),
      older: (range, after) => this.history.older(range, after),
      subscribe: (range, missed, ends) => {
        if (!this.isWatched) options.watched?.()
        return this.#hub.subscribe(range, missed, ends)
      },
    }
  }

  get isWatched(): boolean {
    return this.#hub.watcherCount > 0
  }

  get(key: Key): Stored | undefined {
    this.#arrive()
    return this.index.get(key)
  }

  count(range: Range): number {
    this.#arrive()
    assertRange(range)
    return this.index.count(range)
  }

  async list(range: Range, options: ListOptions): Promise<Page> {
    assertRange(range)
    this.#arrive()
    const { history, index } = this
    const at = options.at ?? history.revision
    history.assertReadable(at)
    const { after, limit, uncounted } = options
    if (uncounted && limit && at < history.revision && history.reaches(at)) {
      const changes = (behind: Key | undefined, through: Key | undefined): Undo => {
        const undo = new Undo()
        history.undoRecent(undo, range, at, { behind, through })
        return undo
      }
      return { ...stretchesAt(index, changes, range, { after, limit }), revision: at }
    }
    const undo = new Undo()
    let cursor = at
    while (!history.reaches(cursor)) cursor = await history.undoOlder(undo, range, cursor)
    // No await from here on, nor behind the last look at `reaches`: a commit between them would not be undone.
    history.undoRecent(undo, range, cursor)
    return { ...listAt(index, undo, range, options), revision: at }
  }

  async *slices(range: Range, options: ListOptions): AsyncGenerator<Page, void, void> {
    assertRange(range)
    this.#arrive()
    const { history, index } = this
    const at = options.at ?? history.revision
    history.assertReadable(at)
    const undo = new Undo()
    let cursor = at
    while (!history.reaches(cursor)) cursor = await history.undoOlder(undo, range, cursor)
    // as above: without an await it is known to those who take commits in
    history.undoRecent(undo, range, cursor)
    const read = new SlicedRead(index, undo, range, options)
    this.#slicedReads.add(read)
    try {
      for (;;) {
        const { isLast, ...page } = read.next(SLICE_OBJECTS)
        if (isLast) this.#slicedReads.delete(read)
        yield { ...page, revision: at }
        if (isLast) return
        this.#arrive()
      }
    } finally {
      this.#slicedReads.delete(read)
    }
  }

  /** A page of events of a range behind `after`. @throws as a watch from there */
  async pastEvents(range: Range, after: Revision): Promise<HistoryPage> {
    this.history.assertReadable(after)
    const events = this.history.recent(range, after)
    return events === undefined ? this.history.older(range, after) : { events, through: this.history.revision }
  }

  watch(range: Range, options: WatchOptions): AsyncIterable<readonly StoreEvent[]> {
    assertRange(range)
    return watchFrom(this.#source, range, options)
  }

  project(range: Range, projection: Projection): () => void {
    this.#arrive()
    assertRange(range)
    return this.#projections.add(range, projection)
  }

  /** Readers see the events of a commit from now on. */
  take(events: readonly StoreEvent[]): void {
    for (const event of events) {
      for (const read of this.#slicedReads) read.changed(event)
      if (event.type === 'put') this.index.put(event.stored)
      else this.index.delete(event.key)
      this.#bodies.replaced(event.type === 'put' ? event.stored : undefined, event.previous)
    }
    this.history.add(events)
  }

  /** Its projections are then brought in step, and watchers get it, who may look at those. */
  publish(events: readonly StoreEvent[]): void {
    this.#projections.apply(events)
    this.#hub.publish(events)
  }

  /** Ends all watchers. */
  close(): void {
    this.#hub.close()
  }
}

/** Reads the index on demand: of all objects there are never many at a time. */
function* itemsOf(index: ObjectIndex, range: Range): Generator<Stored> {
  let after: Key | undefined
  for (;;) {
    const items: Stored[] = []
    index.visit(range, after, stored => items.push(stored) < SLICE_OBJECTS, true)
    yield* items
    if (items.length < SLICE_OBJECTS) return
    after = items.at(-1)!.key
  }
}
