/**
 * Group commit: while one batch is on its way to disk, the next one gathers. Batches go one at a time, in order; a batch
 * is published and then acknowledged once it is on disk. After a failure nothing is written any more.
 */
import { messageOf } from '../apimachinery/messageOf.ts'
import { CommitTurns } from './commitTurns.ts'
import { sizeOf } from './sharedStored.ts'
import { type Revision, StorageError, type Stored, type StoreEvent } from './store.ts'

export interface CommitBatch {
  readonly events: StoreEvent[]
  /** Key texts, at their event's index. */
  readonly ids: string[]
  bytes: number
  /** Settles when the batch is on disk and published, or when that failed. */
  readonly done: PromiseWithResolvers<void>
}

/** Future state of a key, once its queued writes are on disk. */
interface Pending {
  readonly stored: Stored | undefined
  readonly revision: Revision
  readonly batch: CommitBatch
}

interface GroupCommitOptions {
  /** A batch that has reached this takes no more events. */
  maxBatchBytes: number
  append: (events: readonly StoreEvent[]) => Promise<void>
  /** Makes a batch visible; synchronous. */
  publish: (events: readonly StoreEvent[]) => void
  /** Calls back once the loop has looked after all else. */
  later: (turn: () => void) => void
}

/** Cost of a write in a batch beside its texts. */
const EVENT_BYTES = 200

export class GroupCommit {
  readonly #options: GroupCommitOptions
  readonly #turns = new CommitTurns()
  readonly #pending = new Map<string, Pending>()
  #queue: CommitBatch[] = []
  #running: Promise<void> | undefined
  #failure: StorageError | undefined

  constructor(options: GroupCommitOptions) {
    this.#options = options
  }

  /** Why nothing is written any more. */
  get failure(): StorageError | undefined {
    return this.#failure
  }

  /** The newest queued state of a key; `undefined` when nothing is queued for it. */
  pending(id: string): Pending | undefined {
    return this.#pending.get(id)
  }

  /** Before a large write in this tenant's space may be queued; `undefined`: now. */
  turn(tenant: string, space: string, bytes: number): Promise<void> | undefined {
    // who was let in and wrote nothing left their room to nobody
    if (this.#running === undefined) this.#turns.next()
    return this.#turns.enter(tenant, space, bytes)
  }

  /** Queues an event behind all others; its revision is the next one. Await the batch's `done`. */
  add(id: string, event: StoreEvent): CommitBatch {
    let batch = this.#queue.at(-1)
    if (batch === undefined || batch.bytes >= this.#options.maxBatchBytes) {
      batch = { events: [], ids: [], bytes: 0, done: Promise.withResolvers() }
      // A writer of many batches awaits them one by one: a failure of a later one must not count as unhandled meanwhile.
      batch.done.promise.catch(() => {})
      this.#queue.push(batch)
    }
    batch.events.push(event)
    batch.ids.push(id)
    batch.bytes += sizeOf(event.stored) + (event.previous === undefined ? 0 : sizeOf(event.previous)) + EVENT_BYTES
    const stored = event.type === 'put' ? event.stored : undefined
    this.#pending.set(id, { stored, revision: event.revision, batch })
    this.#running ??= this.#run()
    return batch
  }

  /** Resolves when all that is queued now is on disk, or failed. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0 || this.#turns.isWaiting) {
      // One turn of the event loop lets the writers that the last batch woke, and requests that wait in sockets, join in.
      await new Promise<void>(resolve => this.#options.later(resolve))
      // Whatever comes from now on belongs to the next batch.
      const batch = this.#queue.shift()
      this.#turns.next()
      if (batch === undefined) continue
      try {
        await this.#options.append(batch.events)
        this.#options.publish(batch.events)
      } catch (cause) {
        this.#fail(batch, cause)
        break
      }
      for (let i = 0; i < batch.ids.length; i++) {
        const id = batch.ids[i]!
        if (this.#pending.get(id)?.revision === batch.events[i]!.revision) this.#pending.delete(id)
      }
      batch.done.resolve()
    }
    this.#running = undefined
  }

  #fail(batch: CommitBatch, cause: unknown): void {
    const why = messageOf(cause)
    this.#failure = new StorageError('Failed', `the disk refused a write, the store takes no more: ${why}`, { cause })
    for (const lost of [batch, ...this.#queue]) lost.done.reject(this.#failure)
    this.#queue = []
    this.#pending.clear()
    this.#turns.end()
  }
}
