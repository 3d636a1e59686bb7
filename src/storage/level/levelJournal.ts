/**
 * The journal on LevelDB. A commit is one synced batch: for each event the object's row, the log's row, and the version
 * that it replaced under that version's revision. So current objects are read back without meeting history, and history is
 * forgotten without meeting current objects.
 */
import type { Level } from 'level'
import type { HistoryPage, Journal, JournalState } from '../journal.ts'
import { rangeHolds } from '../keys.ts'
import { type Key, type Range, type Revision, StorageError, type Stored, type StoreEvent } from '../store.ts'
import { revisionPlace } from './revisionPlace.ts'
import {
  COMPACTED_ROW,
  keyOfObjectRow,
  type LogRecord,
  logRow,
  logValue,
  OBJECT_ROWS,
  objectRow,
  objectValue,
  parseLog,
  parseObjectValue,
  versionRow,
} from './rows.ts'

export type Database = Level<string, Buffer>

/** Log rows in one page of history, and in one step of compaction: about a millisecond of work. */
const PAGE = 512
/** Rows and bytes that cross into JavaScript at once while loading. */
const LOAD_ROWS = 1000
const LOAD_BYTES = 1024 * 1024

export class LevelJournal implements Journal {
  readonly #db: Database
  #closing = false
  #compactedRevision: Revision = 0
  /** Log rows up to here are gone. LevelDB is slow at stepping over rows that it deleted not long ago. */
  #forgotten: Revision = 0
  #compacting: Promise<void> | undefined

  constructor(db: Database) {
    this.#db = db
  }

  async load(each: (stored: Stored) => void): Promise<JournalState> {
    const iterator = this.#db.iterator({ ...OBJECT_ROWS, highWaterMarkBytes: LOAD_BYTES })
    try {
      for (;;) {
        const rows = await iterator.nextv(LOAD_ROWS)
        if (rows.length === 0) break
        for (const [row, value] of rows) {
          const { revision, bytes } = parseObjectValue(value)
          each(versionIn(keyOfObjectRow(row), revision, bytes))
        }
      }
    } finally {
      await iterator.close()
    }
    const compacted = await this.#db.get(COMPACTED_ROW)
    this.#compactedRevision = compacted === undefined ? 0 : Number(compacted.toString())
    const [last] = await this.#db.keys({ gte: logRow(0), lt: 'l0', reverse: true, limit: 1 }).all()
    const newest = last === undefined ? 0 : Number(last.slice(2))
    return { revision: Math.max(newest, this.#compactedRevision), compactedRevision: this.#compactedRevision }
  }

  async append(events: readonly StoreEvent[], timeMs: number): Promise<void> {
    const batch = this.#db.batch()
    try {
      for (const event of events) {
        const { stored, previous, revision } = event
        if (event.type === 'put') batch.put(objectRow(event.key), objectValue(stored))
        else batch.del(objectRow(event.key)).put(versionRow(revision), stored.bytes)
        if (previous !== undefined) batch.put(versionRow(previous.revision), previous.bytes)
        batch.put(logRow(revision), logValue(event, timeMs))
      }
    } catch (error) {
      await batch.close()
      throw error
    }
    await batch.write({ sync: true })
  }

  async read(range: Range, after: Revision, through: Revision): Promise<HistoryPage> {
    const end = Math.min(through, after + PAGE)
    const snapshot = this.#db.snapshot()
    try {
      const rows = await this.#db.iterator({ gt: logRow(after), lte: logRow(end), snapshot }).all()
      if (rows.length !== end - after) throw new StorageError('Compacted', `events behind ${after} are not all kept`)
      const records = rows.map(([row, value]) => parseLog(row, value)).filter(record => rangeHolds(range, record.key))
      const versions = new Map<Revision, Buffer>()
      const wanted = new Set(records.flatMap(r => (r.previous === 0 ? [r.revision] : [r.previous, r.revision])))
      const revisions = [...wanted]
      const found = await this.#db.getMany(revisions.map(versionRow), { snapshot })
      for (const [i, bytes] of found.entries()) if (bytes !== undefined) versions.set(revisions[i]!, bytes)
      // A version without a row of its own is still the object's current one.
      const current = records.filter(record => !versions.has(record.revision))
      const objects = await this.#db.getMany(
        current.map(record => objectRow(record.key)),
        { snapshot },
      )
      for (const [i, value] of objects.entries()) {
        const object = value && parseObjectValue(value)
        if (object?.revision === current[i]!.revision) versions.set(object.revision, object.bytes)
      }
      return { events: records.map(record => eventOf(record, versions)), through: end }
    } finally {
      await snapshot.close()
    }
  }

  async timeOf(revision: Revision): Promise<number> {
    const value = await this.#db.get(logRow(revision))
    if (value === undefined) throw new StorageError('Compacted', `event ${revision} is not kept any more`)
    return parseLog(logRow(revision), value).timeMs
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

  async close(): Promise<void> {
    this.#closing = true
    // Whoever asked for the compaction hears of its failure; closing only waits for its end.
    await this.#compacting?.catch(() => {})
    await this.#db.close()
  }

  /** First the promise that history before `through` is not needed, on disk; then its rows, in order, as time allows. */
  async #compact(through: Revision): Promise<void> {
    if (through > this.#compactedRevision) {
      await this.#db.put(COMPACTED_ROW, Buffer.from(String(through)), { sync: true })
      this.#compactedRevision = through
    }
    while (!this.#closing) {
      const rows = await this.#db.iterator({ gt: logRow(this.#forgotten), lte: logRow(through), limit: PAGE }).all()
      if (rows.length === 0) return
      const batch = this.#db.batch()
      for (const [row, value] of rows) {
        const record = parseLog(row, value)
        batch.del(row)
        if (record.previous !== 0) batch.del(versionRow(record.previous))
        if (record.type === 'delete') batch.del(versionRow(record.revision))
      }
      await batch.write()
      this.#forgotten = Number(rows.at(-1)![0].slice(2))
    }
  }
}

function eventOf(record: LogRecord, versions: ReadonlyMap<Revision, Buffer>): StoreEvent {
  const { type, key, revision, previous } = record
  const version = (of: Revision): Stored => {
    const bytes = versions.get(of)
    if (bytes === undefined) throw new StorageError('Failed', `the data dir is damaged: version ${of} is missing`)
    return versionIn(key, of, bytes)
  }
  return { type, key, revision, stored: version(revision), previous: previous === 0 ? undefined : version(previous) }
}

function versionIn(key: Key, revision: Revision, bytes: Buffer): Stored {
  const headBytes = revisionPlace(bytes, revision)
  if (headBytes === undefined)
    throw new StorageError('Failed', `the data dir is damaged: version ${revision} does not tell its revision`)
  return { key, revision, bytes, headBytes }
}
