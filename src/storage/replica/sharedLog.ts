/**
 * The log of a store in shared memory, for replicas in other threads. Each commit is there before its writer is answered: their later
 * reads, here or there, are no older. Without followers it stays empty.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { CommitLog, LogSource, Moved } from '../commitLog.ts'
import type { HistoryPage } from '../journal.ts'
import { sizeOf } from '../sharedStored.ts'
import { type Key, type Range, type Revision, StorageError, type Stored, type StoreEvent } from '../store.ts'
import { type Asks, type ObjectsPage, type SentResult, type SentWrite, serveAsks } from './asks.ts'
import { type LogLink, LogSegments, type LogSegmentsOptions } from './logSegments.ts'
import {
  placeOf,
  RECORD_HEAD_BYTES,
  RECORDS,
  type RecordType,
  VersionRecord,
  versionsAsBytes,
  writeHead,
} from './versionRecords.ts'

/** Parts of a replica for its thread: to be transferred with its ports. */
export interface ReplicaLink {
  readonly log: LogLink
  readonly asks: MessagePort
}

export interface Following {
  readonly link: ReplicaLink
  /** Its ports, for whoever transfers it. */
  readonly ports: MessagePort[]
  end(): void
}

export interface SharedLogOptions extends LogSegmentsOptions {
  logger?: { error(fields: { err: unknown }, msg: string): void }
  /** Memory that was let go of can be given back. */
  packed?: () => void
}

/** Objects in one message, and how large their texts may be together, but for the last one. */
const PAGE_OBJECTS = 1000
const PAGE_BYTES = 1024 * 1024

export class SharedLog implements CommitLog {
  readonly #segments: LogSegments
  readonly #pieceBytes: number
  readonly #logger: SharedLogOptions['logger']
  readonly #packed: () => void
  #source: LogSource | undefined
  #isClosed = false

  constructor({ logger, packed = () => {}, ...options }: SharedLogOptions = {}) {
    this.#segments = new LogSegments(options)
    this.#pieceBytes = this.#segments.roomBytes >>> 2
    this.#logger = logger
    this.#packed = packed
  }

  /** Bytes of shared memory that it holds. */
  get heldBytes(): number {
    return this.#segments.heldBytes
  }

  get followers(): number {
    return this.#segments.followers
  }

  /** A new follower, which has everything from now on; what is there it asks for. `onCut` is called when it was too slow. */
  follow(onCut: () => void = () => {}): Following {
    const source = this.#source
    if (source === undefined || this.#isClosed) throw new StorageError('Closed', 'the store is closed')
    const asks = new MessageChannel()
    const cut = (): void => {
      asks.port1.close()
      onCut()
    }
    const { link, end } = this.#segments.follow(cut)
    serveAsks(asks.port1, {
      objects: ({ after }) => objectsPage(source, after),
      history: ({ range, after }) => historyPage(source, range, after),
      write: ({ writes }) => written(source, writes),
      compact: async ({ revision }) => void (await source.store.compact(revision)),
    })
    // its thread may die
    asks.port1.on('close', end)
    return {
      link: { log: link, asks: asks.port2 },
      ports: [link.news, asks.port2],
      end: () => {
        end()
        asks.port1.close()
      },
    }
  }

  begin(source: LogSource): void {
    this.#source = source
  }

  committed(events: readonly StoreEvent[]): void {
    this.#publish(() => {
      for (const { type, stored } of events) this.#append(type, stored)
    })
  }

  moved(texts: readonly Moved[]): void {
    this.#publish(() => {
      for (const { key, placed } of texts)
        this.#appendPlaced(new VersionRecord('moved', { ...placed, key }), placed.memory as SharedArrayBuffer, placed)
    })
  }

  packed(): void {
    this.#mark(RECORDS.packed, 0)
    this.#packed()
  }

  compacted(revision: Revision, inMemory: boolean): void {
    this.#mark(inMemory ? RECORDS.forgotten : RECORDS.compacted, revision)
  }

  closed(): void {
    this.#isClosed = true
    this.#mark(RECORDS.closed, 0)
  }

  #mark(type: RecordType, revision: Revision): void {
    this.#publish(() => this.#segments.append(RECORD_HEAD_BYTES, (into, at) => writeHead(into, at, type, revision)))
  }

  /** A follower that cannot get everything gets nothing any more: a commit is none the worse for it. */
  #publish(append: () => void): void {
    if (this.#segments.followers === 0) return
    try {
      append()
      this.#segments.publish()
    } catch (error) {
      this.#logger?.error({ err: error }, 'the log of the store cannot be written; its replicas are made anew')
      this.#segments.cutAll()
    }
  }

  #append(type: StoreEvent['type'], stored: Stored): void {
    if (this.#segments.followers === 0) return
    const record = new VersionRecord(type, stored)
    const place = placeOf(stored)
    if (place !== undefined) this.#appendPlaced(record, place.memory, place)
    else this.#appendWhole(record, stored)
  }

  #appendWhole(record: VersionRecord, stored: Stored): void {
    let text = stored.bytes
    while (record.bytes + text.length > this.#segments.roomBytes && text.length > 0) {
      this.#appendPiece(text.subarray(0, this.#pieceBytes), stored.revision)
      text = text.subarray(this.#pieceBytes)
    }
    this.#segments.append(record.bytes + text.length, (into, at) => record.write(into, at, text))
  }

  #appendPlaced(record: VersionRecord, memory: SharedArrayBuffer, text: { at: number; length: number }): void {
    if (this.#segments.followers === 0) return
    const slab = this.#segments.refer(memory, text.length)
    this.#segments.append(record.placedBytes, (into, at) => record.writePlaced(into, at, slab, text))
  }

  #appendPiece(piece: Buffer, revision: Revision): void {
    this.#segments.append(RECORD_HEAD_BYTES + piece.length, (into, at) => {
      writeHead(into, at, RECORDS.piece, revision, piece.length)
      into.set(piece, at + RECORD_HEAD_BYTES)
    })
  }
}

async function objectsPage({ store }: LogSource, after: Key | undefined): Promise<ObjectsPage> {
  const listed = store.list({}, { limit: PAGE_OBJECTS, uncounted: true, ...(after && { after }) })
  const { compactedRevision } = store
  const page = await listed
  const items = upTo(page.items, PAGE_BYTES, stored => (placeOf(stored) ? 0 : sizeOf(stored)))
  const slabs = new Map<SharedArrayBuffer, number>()
  const refer = (memory: SharedArrayBuffer): number => {
    if (!slabs.has(memory)) slabs.set(memory, slabs.size)
    return slabs.get(memory)!
  }
  return {
    versions: versionsAsBytes(
      items.map(stored => ({ type: 'put', stored })),
      refer,
    ),
    slabs: [...slabs.keys()],
    revision: page.revision,
    compactedRevision,
    more: page.more || items.length < page.items.length,
  }
}

async function historyPage(source: LogSource, range: Range, after: Revision): Promise<Asks['history']['answer']> {
  const page = await source.history(range, after)
  const { events, through } = cutPage(page)
  const versions = events.flatMap(({ type, stored, previous }) => [
    { type, stored },
    ...(previous ? [{ type: 'put' as const, stored: previous }] : []),
  ])
  return {
    versions: versionsAsBytes(versions),
    replaced: events.map(({ previous }) => previous !== undefined),
    through,
  }
}

function cutPage({ events, through }: HistoryPage): HistoryPage {
  const kept = upTo(events, PAGE_BYTES, ({ stored, previous }) => sizeOf(stored) + (previous ? sizeOf(previous) : 0))
  return kept.length === events.length ? { events, through } : { events: kept, through: kept.at(-1)!.revision }
}

async function written({ store }: LogSource, writes: readonly SentWrite[]): Promise<SentResult[]> {
  // what is large waits for its turn
  const results = writes.length === 1 ? [await store.write(writes[0]!)] : await store.writeMany(writes)
  return results.map((result, i): SentResult => {
    const { mutation } = writes[i]!
    if (result.ok) {
      const { stored } = result
      if (mutation.text !== undefined) return { ok: true, revision: stored.revision }
      return { ok: true, version: versionsAsBytes([{ type: mutation.type, stored }]) }
    }
    const { current, refused } = result
    const version = current && versionsAsBytes([{ type: 'put', stored: current }])
    return { ok: false, version, ...(refused && { refused }) }
  })
}

/** As many as have so many bytes together; one at least. */
function upTo<T>(items: readonly T[], limitBytes: number, bytesOf: (item: T) => number): T[] {
  let bytes = 0
  const end = items.findIndex((item, i) => {
    bytes += bytesOf(item)
    return i > 0 && bytes > limitBytes
  })
  return end < 0 ? [...items] : items.slice(0, end)
}
