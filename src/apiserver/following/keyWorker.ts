/**
 * A worker inside the server: it brings what each key names to its wanted state, from the present state. A failure is retried with backoff,
 * and is news once for each cause. It is none once the store closes.
 */
import { WorkQueue, type WorkQueueOptions } from '../../client/workqueue.ts'
import { isStorageError } from '../../storage/store.ts'
import { FailureNotes } from './failureNotes.ts'
import type { FollowerDeps } from './followLog.ts'

interface KeyWork<K> extends Pick<WorkQueueOptions<K>, 'party' | 'lane'> {
  /** As people read it. */
  id(key: K): string
  /** Keys worked on at the same time. Default: as the queue's. */
  concurrency?: number
  reconcile(key: K): Promise<void>
  /** Whether nothing is left to do after an error, or a later change tells what is. Default: after none. */
  isEnd?(error: unknown): boolean
  /** Called for each failure that is news, before the next try. */
  failed(key: K, error: unknown): void | Promise<void>
  /** Called for the first success after such a failure. */
  healed?(key: K): void | Promise<void>
}

export class KeyWorker<K> {
  readonly #work: KeyWork<K>
  readonly #queue: WorkQueue<K>
  readonly #failures = new FailureNotes()
  readonly #stopping = new AbortController()
  #running: Promise<unknown> = Promise.resolve()

  constructor(work: KeyWork<K>, { guard, turns, clock, random }: Omit<FollowerDeps, 'log'>) {
    this.#work = work
    const { id, party, lane } = work
    this.#queue = new WorkQueue({ id, party, lane, guard, turns, clock, random })
  }

  /** Aborts when it stops. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  add(key: K): void {
    this.#queue.add(key)
  }

  /** Resolves when all keys are worked on, or wait for another try. */
  idle(): Promise<void> {
    return this.#queue.idle()
  }

  /** `beside`: what adds keys to it, until its signal aborts. */
  start(...beside: readonly Promise<unknown>[]): void {
    const { concurrency } = this.#work
    const options = { signal: this.signal, ...(concurrency !== undefined && { concurrency }) }
    this.#running = Promise.all([this.#queue.run(key => this.#reconcile(key), options), ...beside])
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** Records a failure, also one outside of the work. */
  async note(key: K, error: unknown): Promise<void> {
    if (!this.signal.aborted && this.#failures.isNews(this.#work.id(key), error)) await this.#work.failed(key, error)
  }

  async #reconcile(key: K): Promise<void> {
    const { id, reconcile, isEnd, healed } = this.#work
    try {
      await reconcile(key)
    } catch (error) {
      if (this.signal.aborted || isStorageError(error, 'Closed')) return
      if (!isEnd?.(error)) {
        await this.note(key, error)
        throw error
      }
    }
    if (this.#failures.settle(id(key))) await healed?.(key)
  }
}
