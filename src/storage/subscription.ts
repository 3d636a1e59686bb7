/**
 * One live watcher: a bounded queue between the writer, who never waits, and a reader.
 */
import { StorageError, type StoreEvent } from './store.ts'

export type Batch = readonly StoreEvent[]

/** One commit's events of a range. Shared by all its watchers, so what waits for a slow one costs it a reference. */
interface Commit {
  readonly batch: Batch
  /** The sum of the events' texts. */
  readonly bytes: number
}

/** Read places at the front of the queue are cut off when there are this many. */
const COMPACT_AT = 256

export interface SubscriptionOptions {
  backlogEvents: number
  backlogBytes: number
  /** Events from before the subscription, in order; outside the bounds. */
  missed: Batch
  /** Ends it, and what was not read is forgotten. */
  signal: AbortSignal
  /** Where it has fired, the subscription ends behind what was missed; {@link Subscription.close} ends it later. */
  closing?: AbortSignal | undefined
  /** Called once, when the subscription takes no more events; not when a signal had fired before it began. */
  onEnd: () => void
}

export class Subscription {
  readonly #options: SubscriptionOptions
  readonly #abort = (): void => this.end()
  #missed: Batch | undefined
  #queue: Commit[] = []
  /** Batches before this place were read. */
  #head = 0
  #unreadEvents = 0
  #unreadBytes = 0
  #reader: PromiseWithResolvers<IteratorResult<Batch>> | undefined
  #error: StorageError | undefined
  #ended = false

  constructor(options: SubscriptionOptions) {
    this.#options = options
    if (options.signal.aborted) {
      this.#ended = true
      return
    }
    if (options.missed.length > 0) this.#missed = options.missed
    if (options.closing?.aborted) {
      this.#ended = true
      return
    }
    options.signal.addEventListener('abort', this.#abort)
  }

  /** Whether it takes no more events. Unread ones may still be there. */
  get ended(): boolean {
    return this.#ended
  }

  /** Whether a reader waits for what is committed next. */
  get isWaiting(): boolean {
    return this.#reader !== undefined
  }

  push(commit: Commit): void {
    const { batch, bytes } = commit
    if (this.#reader !== undefined) {
      const reader = this.#reader
      this.#reader = undefined
      reader.resolve({ value: batch, done: false })
      return
    }
    const { backlogEvents, backlogBytes } = this.#options
    const unread = this.#unreadEvents + batch.length
    // A reader with nothing unread is not slow, however large one commit is.
    if (this.#unreadEvents > 0 && (unread > backlogEvents || this.#unreadBytes + bytes > backlogBytes)) {
      this.#finish(
        new StorageError('SlowWatcher', `the watcher left ${unread} events unread; at most ${backlogEvents} are kept`),
      )
      this.#missed = undefined
      this.#queue = []
      return
    }
    this.#queue.push(commit)
    this.#unreadEvents = unread
    this.#unreadBytes += bytes
  }

  /** The next batch. Calls are answered in order. */
  next(): Promise<IteratorResult<Batch>> {
    if (this.#missed !== undefined) {
      const value = this.#missed
      this.#missed = undefined
      return Promise.resolve({ value, done: false })
    }
    const entry = this.#queue[this.#head]
    if (entry !== undefined) {
      this.#head++
      this.#unreadEvents -= entry.batch.length
      this.#unreadBytes -= entry.bytes
      if (this.#head === this.#queue.length || this.#head === COMPACT_AT) {
        this.#queue = this.#queue.slice(this.#head)
        this.#head = 0
      }
      return Promise.resolve({ value: entry.batch, done: false })
    }
    if (this.#error !== undefined) {
      const error = this.#error
      this.#error = undefined
      return Promise.reject(error)
    }
    if (this.#ended) return Promise.resolve({ value: undefined, done: true })
    if (this.#reader !== undefined) {
      const again = (): Promise<IteratorResult<Batch>> => this.next()
      return this.#reader.promise.then(again, again)
    }
    this.#reader = Promise.withResolvers()
    return this.#reader.promise
  }

  /** Ends quietly and forgets what was not read. Safe to repeat. */
  end(): void {
    this.#missed = undefined
    this.#queue = []
    this.#error = undefined
    this.#finish(undefined)
  }

  /** Ends behind what was not read; with an error, where there is one. */
  close(error?: StorageError): void {
    this.#finish(error)
  }

  #finish(error: StorageError | undefined): void {
    if (this.#ended) return
    this.#ended = true
    this.#options.signal.removeEventListener('abort', this.#abort)
    this.#options.onEnd()
    const reader = this.#reader
    this.#reader = undefined
    if (reader === undefined) this.#error = error
    else if (error === undefined) reader.resolve({ value: undefined, done: true })
    else reader.reject(error)
  }
}
