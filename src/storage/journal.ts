/** Tasks of a {@link JournaledStore}'s disk: keep a commit whole, return history, forget it. */
import type { LoadedBlock } from './loadedBlock.ts'
import type { Memory } from './objectSlots.ts'
import type { Range, Revision, StoreEvent } from './store.ts'

export interface JournalState {
  /** The newest revision of the journal. */
  readonly revision: Revision
  readonly compactedRevision: Revision
}

/** Receiver of loaded objects. */
export interface LoadedObjects {
  /** Receiver for the blocks of one maker, in order: another one for each maker. */
  taker(): (block: LoadedBlock) => void
  /** Where their texts are to lie: there, or in memory that threads share. */
  memory(bytes: number): Memory
}

export interface HistoryPage {
  /** In revision order, each with its previous version. */
  readonly events: StoreEvent[]
  /** All events of the range up to here are in `events` or in pages before. */
  readonly through: Revision
}

export interface Journal {
  /** Gives all current objects, about in key order; called once, before everything else. */
  load(objects: LoadedObjects): Promise<JournalState>

  /**
   * Keeps the events, all or none, through a power cut. One call at a time, revisions dense. `timeMs` never falls. With `forgets`
   * only what they lead to is kept, and no history up to them.
   * @throws StorageError `Full` when the disk has no room: call {@link reopen}, which finds out whether they are kept
   */
  append(events: readonly StoreEvent[], timeMs: number, forgets?: boolean): Promise<void>

  /**
   * Opens the disk again after `Full`. Returns the newest revision there: that of the refused events, or the one before.
   * @throws StorageError `Full` while there is no room
   */
  reopen(): Promise<Revision>

  /**
   * Some events of `range` behind `after`, up to `through`; at least one revision further than `after`.
   * @throws StorageError `Compacted` when they are not all there any more
   */
  read(range: Range, after: Revision, through: Revision): Promise<HistoryPage>

  /** Wall-clock time of a kept event, in ms. @throws StorageError `Compacted` when it is not kept */
  timeOf(revision: Revision): Promise<number>

  /** Forgets events up to `through` and the versions that only they need. One call at a time; ends early on close. */
  compact(through: Revision): Promise<void>

  /** Gives the disk back what was forgotten or replaced, as far as that is possible now. One call at a time; ends early on close. */
  reclaim(): Promise<void>

  close(): Promise<void>
}
