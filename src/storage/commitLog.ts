/** Record of a store's changes, for followers with a memory of their own. */
import type { HistoryPage } from './journal.ts'
import type { Placed } from './objectSlots.ts'
import type { Key, Range, Revision, Store, StoreEvent } from './store.ts'

/** The store as those see it who follow it. */
export interface LogSource {
  readonly store: Store
  /** A page of history behind `after`, wherever it is kept. @throws as a watch from there */
  history(range: Range, after: Revision): Promise<HistoryPage>
}

/** Where the text of a version lies now. */
export interface Moved {
  readonly key: Key
  readonly placed: Placed
}

/**
 * Receives everything in the turn in which it happens, in the order of revisions. Must not throw. Texts lie in shared memory.
 */
export interface CommitLog {
  /** First of all. */
  begin(source: LogSource): void
  /** Readers of the store see this commit; its writers and watchers have yet to receive it. */
  committed(events: readonly StoreEvent[]): void
  /** The texts of current versions lie elsewhere from now on: their old places are to be let go. */
  moved(texts: readonly Moved[]): void
  /** That was all for now: most of what there was before can go. */
  packed(): void
  /** History up to a revision is forgotten; `inMemory`: the newest events can still be read. */
  compacted(revision: Revision, inMemory: boolean): void
  /** The last commit has been passed on. */
  closed(): void
}
