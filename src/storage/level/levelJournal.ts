/**
 * The journal on LevelDB. A commit is one synced batch. It has for each event the object's row, and the replaced version under that
 * version's revision. All together have one or more rows of the log, and the state of the whole store. Without room for history, it has
 * only objects and that state. Thus current objects are read back without history, history is forgotten without current objects, and a
 * missing row shows.
 */
import { availableParallelism } from 'node:os'
import { dirname } from 'node:path'
import { setImmediate as letOthers } from 'node:timers/promises'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { keepAddonIn } from '../../program/addon.ts'
import { BlockMaker } from '../blockMaker.ts'
import type { Whole } from '../body.ts'
import type { HistoryPage, Journal, JournalState, LoadedObjects } from '../journal.ts'
import { keyText, parseKeyText, rangeHolds } from '../keys.ts'
import { saysTheSame } from '../sharedStored.ts'
import { type Key, type Range, type Revision, StorageError, type Stored, type StoreEvent } from '../store.ts'
import { atRevision } from '../texts.ts'
import { Acknowledged } from './acknowledged.ts'
import { type Database, inUse, isOfFullDisk, openDatabase } from './database.ts'
import { removeLeftovers } from './linkedCopy.ts'
import { readInThreads } from './readInThreads.ts'
import {
  addToSum,
  COMPACTED_ROW,
  compactedValue,
  LOG_END,
  LOG_ENTRIES,
  type LogEntry,
  type LogRecord,
  logRow,
  logValue,
  objectChecksum,
  objectRow,
  parseCompacted,
  parseLog,
  parseState,
  parseVersion,
  revisionOfRow,
  STATE_ROW,
  type StateRecord,
  sealed,
  stateValue,
  type VersionRecord,
  versionRow,
  versionValue,
} from './rows.ts'
import { type AcceptedLoss, acceptLoss, finishAcceptedLoss } from './salvage.ts'
import { bytesIn, createStore, type FolderOptions, readStore } from './storeFolder.ts'
import type { Tally } from './tally.ts'

export interface LevelJournalOptions extends FolderOptions {
  /** Gets errors of the file of acknowledged revisions. */
  warn: (error: unknown, message: string) => void
  /** Given: the intact part replaces a damaged store, and this gets the losses. */
  lossAccepted?: ((loss: AcceptedLoss) => void) | undefined
  /** Threads read what is so large. Default: 4 MiB. */
  threadsFromBytes?: number | undefined
  /** Number of threads that read objects. Default: one for each 64 MiB on disk, as far as there are processors. */
  readers?: number | undefined
}

/** A database of so many bytes takes longer to read than threads to begin. */
const THREADS_FROM_BYTES = 4 * 1024 * 1024

/** For less of a database another thread that reads objects is not worth its beginning. */
const READER_BYTES = 64 * 1024 * 1024
const MOST_READERS = 4

/** Threads that read the objects of a database of so many bytes. One processor is for whoever reads what happened, and for the store's own thread. */
function readersOf(bytes: number): number {
  return Math.max(1, Math.min(Math.ceil(bytes / READER_BYTES), availableParallelism() - 1, MOST_READERS))
}

const EMPTY = { state: { revision: 0, count: 0, sum: 0 }, compactedRevision: 0 }

/** Events in one page of history, and about so many in one step of compaction: about a millisecond of work. */
const PAGE = 512
/** Rows of the log in a step of compaction: those of small commits have some 100 bytes. */
const COMPACTED_BYTES = 64 * 1024

/** Bytes of a batch in a turn of the loop: all of it is copied twice and more, mostly into fresh memory. */
const PORTION_BYTES = 1024 * 1024

/** Rows by what they are: history first, which is the first to go. */
const KINDS = [
  ['v/', 'v0'],
  ['l/', LOG_END],
  ['o/', 'o0'],
] as const

/** State while the journal is open. */
interface Open {
  readonly db: Database
  readonly acknowledged: Acknowledged
}

/** Counts bytes of large values, as they come. */
class Portions {
  #bytes = 0

  /** Whether others are to have their turn. */
  isFull(bytes: number): boolean {
    this.#bytes += bytes
    if (this.#bytes < PORTION_BYTES) return false
    this.#bytes = 0
    return true
  }
}

export class LevelJournal implements Journal {
  readonly #options: LevelJournalOptions
  #open: Open | undefined
  #closing = false
  /** As the newest batch wrote it. */
  #state: StateRecord = { revision: 0, count: 0, sum: 0 }
  #compactedRevision: Revision = 0
  /** Log rows up to here are gone. LevelDB is slow at stepping over rows that it deleted not long ago. */
  #forgotten: Revision = 0
  #compacting: Promise<void> | undefined
  #reclaiming: Promise<void> | undefined
  #promising: Promise<void> = Promise.resolve()

  constructor(options: LevelJournalOptions) {
    this.#options = options
  }

  get #db(): Database {
    const db = this.#open?.db
    if (db?.status === 'open') return db
    // closed by itself only between attempts to open it again
    if (db === undefined || this.#closing) throw new StorageError('Closed', 'the store is not open')
    throw new StorageError('Full', 'the disk is full, and the store waits for room')
  }

  /**
   * Reads and checks everything in a copy, and opens the database only then. A refusal changes nothing, and the files that LevelDB has
   * mapped into memory for the reading are released.
   */
  async load({ taker, memory }: LoadedObjects): Promise<JournalState> {
    const { path, warn } = this.#options
    keepAddonIn(dirname(path))
    await finishAcceptedLoss(path)
    await this.#acceptLoss()
    const maker = new BlockMaker({ give: taker(), memory })
    let each = (stored: Whole): void => maker.add(stored)
    const readQuickly = async (folder: string): Promise<(() => Promise<Tally>) | undefined> => {
      const bytes = await bytesIn(folder)
      if (bytes < (this.#options.threadsFromBytes ?? THREADS_FROM_BYTES)) return undefined
      // what is read again, carefully, leads to a refusal
      each = () => {}
      const readers = this.#options.readers ?? readersOf(bytes)
      return () => readInThreads(folder, { taker, readers })
    }
    const read = await readStore({ ...this.#options, readQuickly }, stored => each(stored))
    maker.end()
    if (read === undefined) await createStore(path)
    const { state, compactedRevision } = read?.inspection ?? EMPTY
    const db = await openDatabase(path, { create: false })
    try {
      const now = parseState((await db.get(STATE_ROW))!)
      if (now.revision !== state!.revision || now.sum !== state!.sum) throw inUse(path)
      await removeLeftovers(path)
      const acknowledged = await Acknowledged.open(this.#options, now.revision, error =>
        warn(error, 'the file of acknowledged revisions cannot be written'),
      )
      this.#open = { db, acknowledged }
    } catch (error) {
      await db.close()
      throw error
    }
    this.#state = state!
    this.#compactedRevision = compactedRevision
    return { revision: state!.revision, compactedRevision }
  }

  async #acceptLoss(): Promise<void> {
    const { path, witness, established, lossAccepted } = this.#options
    if (lossAccepted === undefined) return
    const loss = await acceptLoss({ path, witness, established, now: new Date() })
    if (loss !== undefined) lossAccepted(loss)
  }

  async append(events: readonly StoreEvent[], timeMs: number, forgets = false): Promise<void> {
    const { acknowledged } = this.#open!
    const batch = this.#db.batch()
    let { count, sum } = this.#state
    const portions = new Portions()
    const entries: LogEntry[] = []
    const last = events.at(-1)!.revision
    try {
      for (const { type, key, revision, stored, previous } of events) {
        const id = keyText(key)
        if (previous !== undefined) {
          const value = versionValue(previous)
          sum = addToSum(sum, -objectChecksum(id, value))
          count--
          if (!forgets) batch.put(versionRow(previous.revision), value)
          if (portions.isFull(value.length)) await letOthers()
        }
        const isAsItWas = type === 'delete' && previous !== undefined && saysTheSame(stored, previous)
        const value = isAsItWas ? undefined : versionValue(stored)
        if (type === 'put') {
          const checksum = objectChecksum(id, value!)
          sum = addToSum(sum, checksum)
          count++
          batch.put(objectRow(id), sealed(value!, checksum))
        } else {
          batch.del(objectRow(id))
          if (value !== undefined && !forgets) batch.put(versionRow(revision), value)
        }
        if (!forgets) {
          entries.push({ type, previous: previous?.revision ?? 0, isAsItWas, id })
          if (entries.length === LOG_ENTRIES || revision === last)
            batch.put(logRow(revision), logValue(entries.splice(0), revision, timeMs))
        }
        if (value !== undefined && portions.isFull(value.length)) await letOthers()
      }
    } catch (error) {
      await batch.close()
      throw error
    }
    const state = { revision: last, count, sum }
    batch.put(STATE_ROW, stateValue(state))
    const write = (): Promise<void> => batch.write({ sync: true })
    try {
      if (forgets) {
        batch.put(COMPACTED_ROW, compactedValue(state.revision))
        await this.#promise(state.revision, write)
      } else await write()
    } catch (error) {
      throw isOfFullDisk(error) ? fullDisk(error) : error
    }
    this.#state = state
    acknowledged.note(state.revision)
  }

  /** LevelDB refuses all writes after one that failed, until it is opened again; that merges its newest rows, synced. */
  async reopen(): Promise<Revision> {
    const { db, acknowledged } = this.#open!
    await db.close()
    try {
      const opened = await openDatabase(this.#options.path, { create: false })
      this.#open = { db: opened, acknowledged }
      this.#state = parseState((await opened.get(STATE_ROW))!)
      const compacted = await opened.get(COMPACTED_ROW)
      if (compacted !== undefined) this.#compactedRevision = parseCompacted(compacted)
    } catch (error) {
      throw isOfFullDisk(error) ? fullDisk(error) : error
    }
    acknowledged.note(this.#state.revision)
    return this.#state.revision
  }

  async read(range: Range, after: Revision, through: Revision): Promise<HistoryPage> {
    const db = this.#db
    const end = Math.min(through, after + PAGE)
    const snapshot = db.snapshot()
    try {
      // the row of the last of them may go on behind it
      const rows = await db.iterator({ gt: logRow(after), lt: logRow(end + LOG_ENTRIES), snapshot }).all()
      const page = rows.flatMap(([row, value]) => parseLog(row, value)).filter(isWithin(after, end))
      if (page.length !== end - after) throw new StorageError('Compacted', `events behind ${after} are not all kept`)
      const records = page.map(keyed).filter(record => rangeHolds(range, record.key))
      const versions = new Map<Revision, VersionRecord>()
      const wanted = new Set(records.flatMap(versionsOf))
      const revisions = [...wanted]
      const found = await db.getMany(revisions.map(versionRow), { snapshot })
      for (const [i, value] of found.entries())
        if (value !== undefined) versions.set(revisions[i]!, parseVersion(versionRow(revisions[i]!), value))
      // A version without a row of its own is still the object's current one.
      const current = records.filter(({ revision, isAsItWas }) => !isAsItWas && !versions.has(revision))
      const objects = await db.getMany(
        current.map(record => objectRow(record.id)),
        { snapshot },
      )
      for (const [i, value] of objects.entries()) {
        const object = value && parseVersion(objectRow(current[i]!.id), value)
        if (object?.revision === current[i]!.revision) versions.set(object.revision, object)
      }
      return { events: records.map(record => eventOf(record, versions)), through: end }
    } finally {
      await snapshot.close()
    }
  }

  async timeOf(revision: Revision): Promise<number> {
    const [found] = await this.#db
      .iterator({ gte: logRow(revision), lt: logRow(revision + LOG_ENTRIES), limit: 1 })
      .all()
    const first = found && parseLog(...found)[0]!
    if (first === undefined || first.revision > revision || revision <= this.#compactedRevision)
      throw new StorageError('Compacted', `event ${revision} is not kept any more`)
    return first.timeMs
  }

  async compact(through: Revision): Promise<void> {
    if (this.#closing) throw new StorageError('Closed', 'the store is closed')
    this.#compacting = this.#compact(through)
    try {
      await this.#compacting
    } finally {
      this.#compacting = undefined
    }
  }

  /** LevelDB merges what has grown, and holds what was deleted until then. One kind of rows at a time: each takes some room itself. */
  async reclaim(): Promise<void> {
    for (const [from, to] of KINDS) {
      if (this.#closing) return
      this.#reclaiming = this.#db.compactRange(from, to)
      try {
        await this.#reclaiming
      } finally {
        this.#reclaiming = undefined
      }
    }
  }

  async close(): Promise<void> {
    this.#closing = true
    // The caller of the compaction gets its failure; closing only waits for its end.
    await this.#compacting?.catch(() => {})
    await this.#reclaiming?.catch(() => {})
    await this.#open?.acknowledged.close()
    await this.#open?.db.close()
  }

  /** Records that no history up to a revision is needed: one after the other, so that none takes back a later one. */
  async #promise(through: Revision, write: () => Promise<void>): Promise<void> {
    const before = this.#promising.catch(() => {}) // its own caller knows
    this.#promising = before.then(async () => {
      if (through <= this.#compactedRevision) return
      await write()
      this.#compactedRevision = through
    })
    await this.#promising
  }

  /** Rows of the log whose last entry may go: about as many as a step is to take. */
  async #oldestRows(through: Revision): Promise<[row: string, value: Buffer][]> {
    const range = { gt: logRow(this.#forgotten), lte: logRow(through) }
    const iterator = this.#db.iterator({ ...range, highWaterMarkBytes: COMPACTED_BYTES })
    try {
      return await iterator.nextv(PAGE)
    } finally {
      await iterator.close()
    }
  }

  /** First the promise that history before `through` is not needed, on disk; then its rows, in order, as time allows. */
  async #compact(through: Revision): Promise<void> {
    await this.#promise(through, () => this.#db.put(COMPACTED_ROW, compactedValue(through), { sync: true }))
    while (!this.#closing) {
      const rows = await this.#oldestRows(through)
      if (rows.length === 0) return
      const batch = this.#db.batch()
      for (const [row, value] of rows) {
        batch.del(row)
        for (const { type, revision, previous, isAsItWas } of parseLog(row, value)) {
          if (previous !== 0) batch.del(versionRow(previous))
          if (type === 'delete' && !isAsItWas) batch.del(versionRow(revision))
        }
      }
      await batch.write()
      this.#forgotten = revisionOfRow(rows.at(-1)![0])
    }
  }
}

function fullDisk(cause: unknown): StorageError {
  return new StorageError('Full', `the disk is full: ${messageOf(cause)}`, { cause })
}

const isWithin =
  (after: Revision, through: Revision) =>
  ({ revision }: LogRecord): boolean =>
    revision > after && revision <= through

interface KeyedRecord extends LogRecord {
  readonly key: Key
}

function keyed(record: LogRecord): KeyedRecord {
  return { ...record, key: parseKeyText(record.id) }
}

/** Those that an entry speaks of. */
function versionsOf({ revision, previous, isAsItWas }: LogRecord): Revision[] {
  if (previous === 0) return [revision]
  return isAsItWas ? [previous] : [previous, revision]
}

function eventOf(record: KeyedRecord, versions: ReadonlyMap<Revision, VersionRecord>): StoreEvent {
  const { type, key, revision, previous, isAsItWas } = record
  const version = (of: Revision): Stored => {
    const found = versions.get(of)
    if (found === undefined) throw new StorageError('Damaged', `the data dir is damaged: version ${of} is missing`)
    const { bytes, headBytes, note } = found
    return { key, revision: of, bytes, headBytes, ...(note !== undefined && { note }) }
  }
  const before = previous === 0 ? undefined : version(previous)
  // what its writer noted is no part of the last state
  const stored = isAsItWas && before !== undefined ? atRevision(before, revision) : version(revision)
  return { type, key, revision, stored, previous: before }
}
