/**
 * A watch from a past revision: history in pages, read as fast as the reader takes them, then the hub. The last piece of history is
 * collected and the hub joined in one turn of the event loop. No event between them is lost or repeated.
 */
import type { SubscriptionEnds } from './hub.ts'
import type { HistoryPage } from './journal.ts'
import type { Range, StoreEvent, WatchOptions } from './store.ts'
import type { Batch, Subscription } from './subscription.ts'

/** Where the events of one range come from. */
export interface EventSource {
  /** Throws when a watch cannot begin behind `after`. */
  assertReadable(after: number): void
  /** Events behind `after` when they are all in memory, else `undefined`. Synchronous. */
  recent(range: Range, after: number): StoreEvent[] | undefined
  /** A page of older events behind `after`. */
  older(range: Range, after: number): Promise<HistoryPage>
  subscribe(range: Range, missed: Batch, ends: SubscriptionEnds): Subscription
}

const DONE: IteratorResult<Batch> = { value: undefined, done: true }

export function watchFrom(source: EventSource, range: Range, options: WatchOptions): AsyncIterable<Batch> {
  return { [Symbol.asyncIterator]: () => new WatchIterator(source, range, options) }
}

class WatchIterator implements AsyncIterator<Batch> {
  readonly #source: EventSource
  readonly #range: Range
  readonly #signal: AbortSignal
  readonly #closing: AbortSignal | undefined
  readonly #onLive: WatchOptions['onLive']
  #after: number
  #live: Subscription | undefined
  #ended = false
  /** A call that reads history, while it is not answered: calls are answered in order. */
  #reading: Promise<unknown> | undefined

  constructor(source: EventSource, range: Range, options: WatchOptions) {
    this.#source = source
    this.#range = range
    this.#signal = options.signal
    this.#closing = options.closing
    this.#onLive = options.onLive
    this.#after = options.after
  }

  next(): Promise<IteratorResult<Batch>> {
    if (this.#ended) return Promise.resolve(DONE)
    if (this.#live !== undefined) return this.#live.next()
    if (this.#reading !== undefined) return this.#reading.then(() => this.next())
    const answer = this.#history()
    const answered = (): void => {
      this.#reading = undefined
    }
    this.#reading = answer.then(answered, answered)
    return answer
  }

  async return(): Promise<IteratorResult<Batch>> {
    this.#ended = true
    this.#live?.end()
    return DONE
  }

  async #history(): Promise<IteratorResult<Batch>> {
    try {
      while (!this.#ended && !this.#signal.aborted) {
        this.#source.assertReadable(this.#after)
        const missed = this.#source.recent(this.#range, this.#after)
        if (missed !== undefined) {
          const live = this.#source.subscribe(this.#range, missed, { signal: this.#signal, closing: this.#closing })
          this.#live = live
          this.#onLive?.(() => live.isWaiting)
          return await live.next()
        }
        const page = await this.#source.older(this.#range, this.#after)
        this.#after = page.through
        if (page.events.length > 0)
          return this.#signal.aborted || this.#ended ? DONE : { value: page.events, done: false }
      }
      this.#ended = true
      return DONE
    } catch (error) {
      const quiet = this.#ended || (this.#signal.aborted && this.#live === undefined)
      this.#ended = true
      if (quiet) return DONE
      throw error
    }
  }
}
