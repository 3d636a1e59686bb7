/** Who keeps a record of what becomes of a store, for others to follow in their own memory. */
import type { HistoryPage } from './journal.ts'
import type { Range, Revision, Store, StoreEvent } from './store.ts'

/** The store as those see it who follow it. */
export interface LogSource {
  readonly store: Store
  /** A page of history behind `after`, wherever it is kept. @throws as a watch from there */
  history(range: Range, after: Revision): Promise<HistoryPage>
}

/** Told of everything in the turn in which it happens, in the order of revisions. Must not throw. */
export interface CommitLog {
  /** First of all. */
  begin(source: LogSource): void
  /** Readers of the store see this commit; its writers and watchers have not heard of it yet. */
  committed(events: readonly StoreEvent[]): void
  /** History up to a revision is forgotten; `inMemory`: the newest events can still be read. */
  compacted(revision: Revision, inMemory: boolean): void
  /** The last commit was told. */
  closed(): void
}
