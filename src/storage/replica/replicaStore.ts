/**
 * The {@link Store} as another thread has it: it follows the log of a store, and applies what it misses before each read. Its answers are
 * so at least as new as anything sent anywhere before the question, and its projections are in step with that. Tasks of the writer alone
 * (older history, writes) are requests to it.
 */
import { sendable } from '../copyText.ts'
import type { HistoryPage } from '../journal.ts'
import { assertKey, keyText } from '../keys.ts'
import {
  type Key,
  type ListOptions,
  type Mutation,
  type Page,
  type Projection,
  type Range,
  type Revision,
  StorageError,
  type Store,
  type Stored,
  type StoreEvent,
  type UpdateResult,
  type WatchOptions,
  type Write,
  type WriteResult,
} from '../store.ts'
import { type MemoryBounds, StoreView } from '../storeView.ts'
import { versionOf } from '../texts.ts'
import { Asker, type SentResult } from './asks.ts'
import { Contents, load } from './contents.ts'
import { LogReader } from './logReader.ts'
import type { ReplicaLink } from './sharedLog.ts'
import { type ReadVersion, textOf, versionsIn } from './versionRecords.ts'

export interface ReplicaOptions extends MemoryBounds {
  /** Logs failed background work, and errors of projections. */
  logger: { error(fields: { err?: unknown }, msg: string): void }
  /** It was given up by its writer, or cannot go on, and answers nothing any more. */
  onLost?: (why: Error) => void
  /** Memory that was let go of can be given back. */
  packed?: () => void
}

/** Resolves when all is there. @throws StorageError `Closed` */
export async function openReplica(link: ReplicaLink, options: ReplicaOptions): Promise<Store> {
  const reader = new LogReader(link.log)
  const asker = new Asker(link.asks)
  const contents = new Contents()
  try {
    return new ReplicaStore({ reader, asker, contents, ...(await load(contents, reader, asker)) }, options)
  } catch (error) {
    asker.end(CLOSED)
    reader.close()
    throw error
  }
}

interface Parts {
  reader: LogReader
  asker: Asker
  contents: Contents
  revision: Revision
  compactedRevision: Revision
}

/** How often a replica that nobody watches looks for what it misses. */
const LOOK_MS = 100

const CLOSED = new StorageError('Closed', 'the store is closed')

class ReplicaStore implements Store {
  readonly #reader: LogReader
  readonly #asker: Asker
  readonly #contents: Contents
  readonly #view: StoreView
  readonly #options: ReplicaOptions
  /** By key, the last of those who write it: each begins when the one before it has ended. */
  readonly #lines = new Map<string, Promise<void>>()
  readonly #following: Promise<void>
  readonly #looking: NodeJS.Timeout
  /** Events that were read from the log and are unpublished. */
  #unpublished: StoreEvent[] = []
  #isApplying = false
  /** Nothing comes any more: the writer has closed, or this cannot be followed. */
  #ended: Error | undefined
  #closing: Promise<void> | undefined

  constructor({ reader, asker, contents, revision, compactedRevision }: Parts, options: ReplicaOptions) {
    this.#reader = reader
    this.#asker = asker
    this.#contents = contents
    this.#options = options
    this.#view = new StoreView({
      ...options,
      index: contents.index,
      bodies: contents.bodies,
      // the writer forgets, by its own clock
      journal: { read: (range, after) => this.#past(range, after), compact: async () => {}, timeOf: async () => 0 },
      revision,
      compactedRevision,
      arrive: () => this.#arrive(),
      watched: () => this.#reader.wake(),
    })
    this.#looking = setInterval(() => this.#catchUp(), LOOK_MS).unref()
    this.#following = this.#follow()
  }

  get revision(): Revision {
    this.#catchUp()
    return this.#view.history.revision
  }

  get compactedRevision(): Revision {
    this.#catchUp()
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

  watch(range: Range, options: WatchOptions): AsyncIterable<readonly StoreEvent[]> {
    return this.#view.watch(range, options)
  }

  project(range: Range, projection: Projection): () => void {
    return this.#view.project(range, projection)
  }

  async write(write: Write): Promise<WriteResult> {
    return (await this.writeMany([write]))[0]!
  }

  writeMany(writes: readonly Write[]): Promise<WriteResult[]> {
    return this.#inLine(
      writes.map(({ key }) => key),
      () => this.#write(writes),
    )
  }

  update(key: Key, change: (current: Stored | undefined) => Mutation | undefined): Promise<UpdateResult> {
    return this.#inLine([key], async () => {
      for (;;) {
        this.#catchUp()
        const current = this.#contents.index.get(key)
        const mutation = change(current)
        if (mutation === undefined || (mutation.type === 'delete' && current === undefined))
          return { ok: true, stored: current }
        const result = (await this.#write([{ key, mutation, expect: current?.revision ?? 0 }]))[0]!
        if (result.ok) return result
        if (result.refused !== undefined) return { ok: false, refused: result.refused }
      }
    })
  }

  async compact(revision?: Revision): Promise<void> {
    this.#arrive()
    await this.#asker.ask('compact', { revision })
    this.#catchUp()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    while (this.#lines.size > 0) await Promise.all(this.#lines.values())
    this.#end(CLOSED)
    await this.#following
    this.#reader.close()
  }

  /** Runs when whoever writes one of the keys before has ended. */
  async #inLine<T>(keys: readonly Key[], run: () => Promise<T>): Promise<T> {
    this.#arrive()
    for (const key of keys) assertKey(key)
    const ids = keys.map(keyText)
    const before = ids.map(id => this.#lines.get(id))
    const { promise, resolve } = Promise.withResolvers<void>()
    for (const id of ids) this.#lines.set(id, promise)
    try {
      for (const other of before) if (other !== undefined) await other
      return await run()
    } finally {
      for (const id of ids) if (this.#lines.get(id) === promise) this.#lines.delete(id)
      resolve()
    }
  }

  async #write(writes: readonly Write[]): Promise<WriteResult[]> {
    const sent = await this.#asker.ask('write', { writes: writes.map(sendable) })
    this.#catchUp()
    return sent.map((result, i) => resultOf(writes[i]!, result))
  }

  async #past(range: Range, after: Revision): Promise<HistoryPage> {
    const { versions, replaced, through } = await this.#asker.ask('history', { range, after })
    // the page may be newer than the content here at the time of the request
    this.#catchUp()
    const read = versionsIn(versions)
    const events = replaced.map((hasPrevious): StoreEvent => {
      const version = read.next().value!
      const previous = hasPrevious ? storedOf(read.next().value!) : undefined
      const { type, key, revision } = version
      return { type, key, revision, stored: storedOf(version), previous }
    })
    return { events, through }
  }

  /** Keeps up while nobody asks: for those who watch with each commit, else now and then, so that who asks waits for little. */
  async #follow(): Promise<void> {
    for (;;) {
      this.#reader.listen(this.#view.isWatched)
      this.#catchUp()
      // whoever ends it wakes only those who wait already
      if (this.#ended !== undefined) return
      await this.#reader.wait()
    }
  }

  /** @throws StorageError `Closed` */
  #arrive(): void {
    this.#catchUp()
    if (this.#closing !== undefined || this.#ended !== undefined) throw this.#ended ?? CLOSED
  }

  /** Applies what is missing. A receiver of an event inside of this reads the content with it. */
  #catchUp(): void {
    if (this.#isApplying || this.#ended !== undefined || !this.#reader.isBehind) return
    this.#isApplying = true
    try {
      let isLast = false
      this.#reader.read({
        version: (type, version) => this.#apply(type, version),
        moved: version => this.#contents.move(version),
        packed: () => this.#options.packed?.(),
        compacted: (through, inMemory) => this.#view.history.forget(through, inMemory),
        closed: () => {
          isLast = true
        },
      })
      if (this.#reader.isCut) throw new Error('it was too far behind')
      this.#publish()
      if (isLast) this.#end(CLOSED)
    } catch (cause) {
      const why = new StorageError('Closed', 'this replica of the store cannot go on', { cause })
      this.#end(why)
      this.#options.onLost?.(why)
    } finally {
      this.#isApplying = false
    }
  }

  #apply(type: StoreEvent['type'], version: ReadVersion): void {
    const previous = this.#contents.index.get(version.key)
    const stored = this.#contents.kept(version, previous)
    const event: StoreEvent = { type, key: stored.key, revision: stored.revision, stored, previous }
    this.#view.take([event])
    this.#unpublished.push(event)
  }

  #publish(): void {
    const events = this.#unpublished
    this.#unpublished = []
    if (events.length > 0) this.#view.publish(events)
  }

  /** Watchers end behind the events that they have. */
  #end(why: Error): void {
    if (this.#ended !== undefined) return
    this.#ended = why
    this.#view.close()
    this.#asker.end(why)
    clearInterval(this.#looking)
    this.#reader.wake()
  }
}

function storedOf(version: ReadVersion): Stored {
  const { key, revision, headBytes, note } = version
  return { key, revision, bytes: textOf(version), headBytes, ...(note !== undefined && { note }) }
}

function resultOf({ key, mutation }: Write, { ok, revision, version, refused }: SentResult): WriteResult {
  if (revision !== undefined) return { ok: true, stored: versionOf(key, revision, mutation.text!) }
  const stored = version && storedOf(versionsIn(version).next().value!)
  if (ok) return { ok, stored: stored! }
  return { ok, current: stored, ...(refused && { refused }) }
}
