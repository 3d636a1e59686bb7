/**
 * The {@link Store} over a journal: all current objects and the newest events in memory, everything on the journal. Reads
 * are answered from memory; only history that memory no longer holds is read from the journal.
 */

import { SERVER_SHORT } from '../apimachinery/errors.ts'
import type { LogFields } from '../apimachinery/logFields.ts'
import { Arena, ownMemory } from './arena.ts'
import { BlockTaker } from './blockTaker.ts'
import { Bodies } from './bodies.ts'
import type { CommitLog } from './commitLog.ts'
import { TURN_BYTES } from './commitTurns.ts'
import { leastBytes, lengthOf } from './copyText.ts'
import { type CommitBatch, GroupCommit } from './groupCommit.ts'
import type { Journal } from './journal.ts'
import { assertKey, keyText } from './keys.ts'
import type { LoadedBlock } from './loadedBlock.ts'
import { ObjectIndex } from './objectIndex.ts'
import type { Kin } from './objectSlots.ts'
import { Packing } from './packing.ts'
import { SharedStored, sizeOf } from './sharedStored.ts'
import {
  type Encoded,
  isStorageError,
  type Key,
  type ListOptions,
  type Mutation,
  type Page,
  type Projection,
  type Range,
  type Refusal,
  type Revision,
  StorageError,
  type Store,
  type Stored,
  type StoreEvent,
  type UpdateResult,
  type WatchOptions,
  type Write,
  type WriteResult,
} from './store.ts'
import { type MemoryBounds, StoreView } from './storeView.ts'

export const HISTORY_AGE_MS = 600_000

export interface JournaledStoreOptions extends MemoryBounds {
  /** How long history is kept. Default: 600 000 (10 minutes). */
  historyAgeMs?: number
  /** A synced batch takes no more events when it has reached this. Default: 4 MiB. */
  maxBatchBytes?: number
  /** Keeper of the room and of its use. */
  budget?: Budget
  /** Wall clock, ms since 1970. */
  clock?: () => number
  /** Runs something regularly until the returned function is called. Default: an interval that keeps no process alive. */
  every?: (intervalMs: number, run: () => void) => () => void
  /** Calls back when a full disk may have room again. Default: after a second. */
  retry?: (turn: () => void) => void
  /** Calls back once the loop has looked after all else: writers that come meanwhile share a batch. Default: `setImmediate`. */
  later?: (turn: () => void) => void
  /** Called for each commit, before any reader sees it. Must not throw. */
  committed?: (commit: Committed) => void
  /** Followed by replicas. */
  log?: CommitLog
  /** Logs failed background work, and errors of projections. Default: process warnings. */
  logger?: StoreLogger
}

export interface Committed {
  /** How long it was on its way to the disk. */
  readonly seconds: number
  /** Revision of its last change. */
  readonly revision: Revision
  /** Milliseconds since 1970. */
  readonly atMs: number
}

export interface StoreLogger {
  warn(fields: LogFields, msg: string): void
  error(fields: LogFields, msg: string): void
}

export interface Budget {
  /** Called before a put is queued, in the order of the queue; its answer refuses the write. Must not throw. */
  refusal(change: BudgetedChange): Refusal | undefined
  /** Tenant of a space, for turns. Default: each is a tenant. */
  tenantOf?(space: string): string
  /** Called for loaded objects: so many of a kind in a space, which have so many bytes with their notes. Must not throw. */
  loaded(kin: Kin, objects: number, bytes: number): void
  /**
   * Called for each change as it is queued. It will be written, at the latest when a full disk has room again; or the store takes no more
   * writes at all. `undefined`: there is none. Keeps neither of them. Must not throw.
   */
  count(key: Key, now: Stored | undefined, before: Stored | undefined): void
  /** Whether the disk is so short that history takes room which deletions need. Must not throw. */
  isShortOfDisk?(): boolean
}

/** Effect of a put on the store's size. */
export interface BudgetedChange {
  readonly key: Key
  readonly text: Encoded
  /** Length of the new text; the digits of its revision are not counted. */
  readonly bytes: number
  /** Version that it replaces. */
  readonly previous: Stored | undefined
  /** A step of the object's removal. */
  readonly leadsOut: boolean
}

/** History is looked through at least this often, however long it is kept: a timer can wait 24 days at most. */
const MAX_COMPACT_INTERVAL_MS = 3_600_000
/** Bytes on a disk that is short which are worth a merge of all that is there. */
const RECLAIM_BYTES = 8 * 1024 * 1024
/** Between attempts to open a journal again whose disk is full. */
const RETRY_MS = 1000

export async function openJournaledStore(journal: Journal, options: JournaledStoreOptions = {}): Promise<Store> {
  const index = new ObjectIndex()
  const memory = options.log ? (bytes: number) => new SharedArrayBuffer(bytes) : ownMemory
  const arena = new Arena(memory)
  const bodies = new Bodies()
  const { budget } = options
  const loaded = budget?.loaded.bind(budget)
  const taker = (): ((block: LoadedBlock) => void) => {
    const blocks = new BlockTaker({ index, arena, bodies, loaded })
    return block => blocks.take(block)
  }
  const state = await journal.load({ taker, memory })
  const lastTimeMs = state.revision > state.compactedRevision ? await journal.timeOf(state.revision) : 0
  return new JournaledStore({ journal, index, arena, bodies, ...state, lastTimeMs }, options)
}

interface Loaded {
  journal: Journal
  index: ObjectIndex
  arena: Arena
  bodies: Bodies
  revision: Revision
  compactedRevision: Revision
  lastTimeMs: number
}

class JournaledStore implements Store {
  readonly #journal: Journal
  readonly #index: ObjectIndex
  readonly #arena: Arena
  readonly #bodies: Bodies
  readonly #view: StoreView
  readonly #packing: Packing
  readonly #commits: GroupCommit
  readonly #historyAgeMs: number
  readonly #budget: JournaledStoreOptions['budget']
  readonly #committed: JournaledStoreOptions['committed']
  readonly #clock: () => number
  readonly #logger: StoreLogger
  readonly #log: CommitLog | undefined
  readonly #stopTimer: () => void
  /** The newest revision that a queued write was given. */
  #lastQueued: Revision
  #lastTimeMs: number
  /** The batch that is being written leaves no history. */
  #forgets = false
  /** Bytes that were forgotten or replaced since the disk was given any back; what there was before is enough. */
  #reclaimable = RECLAIM_BYTES
  #reclaiming = false
  /** The batch that is being written waits for room on the disk, and nothing more is taken. */
  #isFull = false
  readonly #retry: (turn: () => void) => void
  #closing: Promise<void> | undefined

  constructor(loaded: Loaded, options: JournaledStoreOptions) {
    this.#journal = loaded.journal
    this.#index = loaded.index
    this.#arena = loaded.arena
    this.#bodies = loaded.bodies
    this.#lastQueued = loaded.revision
    this.#lastTimeMs = loaded.lastTimeMs
    this.#historyAgeMs = options.historyAgeMs ?? HISTORY_AGE_MS
    this.#budget = options.budget
    this.#committed = options.committed
    this.#clock = options.clock ?? Date.now
    this.#logger = options.logger ?? PROCESS_WARNINGS
    this.#log = options.log
    this.#retry = options.retry ?? (turn => setTimeout(turn, RETRY_MS))
    this.#view = new StoreView({
      ...options,
      ...loaded,
      arrive: () => this.#assertOpen(),
      compacted: (revision, inMemory) => this.#log?.compacted(revision, inMemory),
      logger: this.#logger,
    })
    this.#packing = new Packing({
      index: loaded.index,
      arena: loaded.arena,
      own: work => this.#report(work),
      log: this.#log,
    })
    this.#commits = new GroupCommit({
      maxBatchBytes: options.maxBatchBytes ?? 4 * 1024 * 1024,
      append: events => this.#append(events),
      publish: events => this.#publish(events),
      later: options.later ?? setImmediate,
    })
    const intervalMs = Math.min(this.#historyAgeMs / 10, MAX_COMPACT_INTERVAL_MS)
    this.#stopTimer = (options.every ?? everyUnref)(intervalMs, () => this.#compactByItself())
    this.#report(this.#view.history.finishCompaction())
    this.#log?.begin({ store: this, history: (range, after) => this.#view.pastEvents(range, after) })
  }

  get revision(): Revision {
    return this.#view.history.revision
  }

  get compactedRevision(): Revision {
    return this.#view.history.compactedRevision
  }

  get(key: Key): Stored | undefined {
    return this.#view.get(key)
  }

  async count(range: Range): Promise<number> {
    return this.#view.count(range)
  }

  list(range: Range, options: ListOptions = {}): Promise<Page> {
    return this.#view.list(range, options)
  }

  slices(range: Range, options: ListOptions = {}): AsyncIterable<Page> {
    return this.#view.slices(range, options)
  }

  async write(write: Write): Promise<WriteResult> {
    const turn = this.#turnOf(write)
    if (turn !== undefined) await turn
    const queued = this.#compareAndQueue(write)
    await queued.batch?.done.promise
    return queued.result
  }

  async writeMany(writes: readonly Write[]): Promise<WriteResult[]> {
    const queued = writes.map(write => this.#compareAndQueue(write))
    for (const batch of new Set(queued.map(q => q.batch))) await batch?.done.promise
    return queued.map(q => q.result)
  }

  async update(key: Key, change: (current: Stored | undefined) => Mutation | undefined): Promise<UpdateResult> {
    this.#assertWritable()
    if (this.#isFull) return { ok: false, refused: fullDisk(key) }
    const id = keyText(key)
    const pending = this.#commits.pending(id)
    const current = pending === undefined ? this.#index.get(key) : pending.stored
    let mutation: Mutation | undefined
    try {
      mutation = change(current)
    } catch (error) {
      // The state that `change` has seen must be on disk before its answer leaves.
      await pending?.batch.done.promise
      throw error
    }
    const unchanged = mutation === undefined || (mutation.type === 'delete' && current === undefined)
    const refused = unchanged ? undefined : this.#refusal(key, mutation!, current)
    if (unchanged || refused !== undefined) {
      await pending?.batch.done.promise
      return refused === undefined ? { ok: true, stored: current } : { ok: false, refused }
    }
    const { batch, stored } = this.#queue(id, current?.key ?? key, mutation!, current)
    await batch.done.promise
    return { ok: true, stored }
  }

  watch(range: Range, options: WatchOptions): AsyncIterable<readonly StoreEvent[]> {
    return this.#view.watch(range, options)
  }

  project(range: Range, projection: Projection): () => void {
    return this.#view.project(range, projection)
  }

  async compact(revision?: Revision): Promise<void> {
    this.#assertOpen()
    await this.#view.history.compact(
      revision ?? (await this.#view.history.newestBefore(this.#clock() - this.#historyAgeMs)),
    )
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#stopTimer()
    await this.#commits.idle()
    this.#view.close()
    this.#log?.closed()
    await this.#journal.close()
  }

  /** Before a large write is compared with what is there; `undefined`: now. */
  #turnOf({ key, expect, mutation }: Write): Promise<void> | undefined {
    const bytes = mutation.text === undefined ? 0 : leastBytes(mutation.text)
    if (bytes < TURN_BYTES && mutation.type === 'put') return undefined
    // what it replaces becomes a row of history
    const before = expect === 0 ? undefined : this.#index.get(key)
    const all = bytes + (before === undefined ? 0 : sizeOf(before))
    if (all < TURN_BYTES) return undefined
    const tenant = this.#budget?.tenantOf?.(key.space) ?? key.space
    return this.#commits.turn(tenant, key.space, all)
  }

  #compareAndQueue(write: Write): { result: WriteResult; batch: CommitBatch | undefined } {
    this.#assertWritable()
    if (this.#isFull)
      return {
        result: { ok: false, current: this.#index.get(write.key), refused: fullDisk(write.key) },
        batch: undefined,
      }
    const id = keyText(write.key)
    const pending = this.#commits.pending(id)
    const current = pending === undefined ? this.#current(write) : pending.stored
    const matches = write.expect === (current?.revision ?? 0)
    if (!matches || (write.mutation.type === 'delete' && current === undefined))
      return { result: { ok: false, current }, batch: pending?.batch }
    const refused = this.#refusal(write.key, write.mutation, current)
    if (refused !== undefined) return { result: { ok: false, current, refused }, batch: pending?.batch }
    const { batch, stored } = this.#queue(id, current?.key ?? write.key, write.mutation, current)
    return { result: { ok: true, stored }, batch }
  }

  /** A create mostly finds no object; where names are counted, that is known at once. */
  #current({ key, expect }: Write): Stored | undefined {
    return expect === 0 && this.#index.isBehindAll(key) ? undefined : this.#index.get(key)
  }

  #refusal(key: Key, mutation: Mutation, current: Stored | undefined): Refusal | undefined {
    if (this.#budget === undefined || mutation.type === 'delete') return undefined
    const { text } = mutation
    const leadsOut = mutation.leads === 'out'
    const refused = this.#budget.refusal({ key, text, bytes: lengthOf(text), previous: current, leadsOut })
    if (refused?.reason === 'Shortage' && this.#isShortOfDisk()) this.#makeRoom()
    return refused
  }

  #queue(id: string, key: Key, mutation: Mutation, previous: Stored | undefined) {
    if (previous === undefined) assertKey(key)
    const revision = this.#lastQueued + 1
    this.#packing.consider()
    const { type, text } = mutation
    const declared = type === 'put' ? this.#bodies.declared(key, text) : undefined
    const place = { key: previous === undefined ? this.#index.ownKey(key, declared?.body.name) : key, revision }
    const stored = declared ? this.#bodies.stored(place, declared) : this.#own(place, mutation, previous)
    this.#lastQueued = revision
    this.#budget?.count(stored.key, type === 'put' ? stored : undefined, previous)
    const batch = this.#commits.add(id, { type, key: stored.key, revision, stored, previous })
    return { batch, stored }
  }

  #own({ key, revision }: Pick<Stored, 'key' | 'revision'>, { text }: Mutation, previous: Stored | undefined): Stored {
    // the note of its writer is no part of the last state
    if (text === undefined && previous instanceof SharedStored && previous.note === undefined)
      return previous.at(revision)
    const { bytes, headBytes } =
      text === undefined ? this.#arena.rewrite(previous!, revision) : this.#arena.encode(text, revision)
    const note = text?.note
    return note === undefined ? { key, revision, bytes, headBytes } : { key, revision, bytes, headBytes, note }
  }

  async #append(events: readonly StoreEvent[]): Promise<void> {
    const begunMs = performance.now()
    for (;;) {
      this.#lastTimeMs = Math.max(this.#lastTimeMs, this.#clock())
      this.#forgets = this.#isShortOfDisk()
      if (!this.#forgets) this.#reclaimable = RECLAIM_BYTES
      try {
        await this.#journal.append(events, this.#lastTimeMs, this.#forgets)
        break
      } catch (error) {
        if (!isStorageError(error, 'Full')) throw error
        if (await this.#isKeptAfter(error, events)) break
      }
    }
    if (this.#isFull) this.#logger.warn({}, 'the disk has room again, and the store takes writes')
    this.#isFull = false
    const seconds = (performance.now() - begunMs) / 1000
    this.#committed?.({ seconds, revision: events.at(-1)!.revision, atMs: this.#clock() })
  }

  /**
   * Waits until the disk has room, and answers whether it has the events already: only a journal that is open again shows that.
   * Their writers wait as long as they like. All other writes are refused meanwhile.
   */
  async #isKeptAfter(full: StorageError, events: readonly StoreEvent[]): Promise<boolean> {
    if (!this.#isFull)
      this.#logger.error({ err: full }, 'the disk is full, and the store takes no write until it has room')
    this.#isFull = true
    for (;;) {
      await new Promise<void>(resolve => this.#retry(resolve))
      if (this.#closing !== undefined) throw full
      try {
        const revision = await this.#journal.reopen()
        if (revision === events.at(-1)!.revision) return true
        if (revision === events[0]!.revision - 1) return false
        throw new StorageError('Damaged', `the data dir is damaged: revision ${revision} is not the newest`)
      } catch (error) {
        if (!isStorageError(error, 'Full')) throw error
      }
    }
  }

  #publish(events: readonly StoreEvent[]): void {
    this.#view.take(events)
    this.#log?.committed(events)
    if (this.#forgets) this.#makeRoom(events)
    this.#view.publish(events)
  }

  #isShortOfDisk(): boolean {
    return this.#budget?.isShortOfDisk?.() ?? false
  }

  /** Deletions are to make room at once: history goes, and what was replaced. Memory still has the newest of it for watches. */
  #makeRoom(events: readonly StoreEvent[] = []): void {
    this.#view.history.forgotten()
    for (const { previous } of events) this.#reclaimable += previous === undefined ? 0 : sizeOf(previous)
    if (!this.#reclaiming && this.#reclaimable >= RECLAIM_BYTES) this.#report(this.#reclaim())
  }

  async #reclaim(): Promise<void> {
    this.#reclaiming = true
    try {
      while (this.#reclaimable >= RECLAIM_BYTES && this.#closing === undefined) {
        this.#reclaimable = 0
        await this.#view.history.finishCompaction()
        await this.#journal.reclaim()
      }
    } finally {
      this.#reclaiming = false
    }
  }

  #compactByItself(): void {
    this.#report(this.compact())
  }

  /** Owns background work: what fails while the store is open is reported. */
  #report(work: Promise<void>): void {
    work.catch(error => {
      if (this.#closing === undefined) this.#logger.warn({ err: error }, 'background work of the store failed')
    })
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new StorageError('Closed', 'the store is closed')
  }

  #assertWritable(): void {
    this.#assertOpen()
    if (this.#commits.failure !== undefined) throw this.#commits.failure
  }
}

function fullDisk(key: Key): Refusal {
  const message = 'the disk of the server is full'
  return {
    reason: 'Shortage',
    message: `the server takes nothing for now, not even deletions: ${message}`,
    key,
    causes: [{ reason: SERVER_SHORT, field: 'disk', message }],
  }
}

const warnProcess = (_: object, msg: string): void => process.emitWarning(msg)
const PROCESS_WARNINGS: StoreLogger = { warn: warnProcess, error: warnProcess }

function everyUnref(intervalMs: number, run: () => void): () => void {
  const timer = setInterval(run, intervalMs)
  timer.unref()
  return () => clearInterval(timer)
}
