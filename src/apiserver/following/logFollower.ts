/**
 * Keeps a part of the server in step with a range of the log, whatever happens: a watch that ends is taken up again with
 * backoff from its cursor, and with a fresh list when that history is no longer kept. An event that cannot be handled is passed
 * over, so that the others go on; its object is looked at again by `retake`.
 */
import { backoffMs, type Random } from '../../client/backoff.ts'
import { type Clock, pause, systemClock } from '../../client/clock.ts'
import {
  isStorageError,
  type Key,
  type Range,
  type Revision,
  type Store,
  type Stored,
  type StoreEvent,
} from '../../storage/store.ts'
import type { Logger } from '../request/logger.ts'

/** Called in order and synchronously. */
export interface LogHandler {
  /** Everything in the range as it is now, because events were lost. What it throws has it called again. */
  reset(items: readonly Stored[]): void
  change(event: StoreEvent): void
  /** `change` threw `error`. To see to it that `retake` is called later, and to tell of the error. */
  missed(event: StoreEvent, error: unknown): void
}

export interface LogFollowerOptions {
  store: Store
  range: Range
  /** What is followed, in the plural, for the log. */
  what: string
  handler: LogHandler
  log: Logger
  clock?: Clock | undefined
  random?: Random | undefined
}

const RETRY = { baseMs: 100, maxMs: 15_000 }

export class LogFollower {
  readonly #options: LogFollowerOptions
  /** Objects whose last word was not understood, and how many events of theirs came since the first such. */
  readonly #missed = new Map<string, number>()

  constructor(options: LogFollowerOptions) {
    this.#options = options
  }

  /** Hears of every event behind `after`, until the signal aborts or the store closes. Never rejects. */
  async run(after: Revision, signal: AbortSignal): Promise<void> {
    const { store, range, what, handler, log, clock = systemClock, random = Math.random } = this.#options
    let cursor = after
    let isLost = false
    let failures = 0
    while (!signal.aborted) {
      try {
        if (isLost) {
          const { items, revision } = await store.list(range)
          handler.reset(items)
          cursor = revision
          isLost = false
        }
        for await (const batch of store.watch(range, { after: cursor, signal })) {
          for (const event of batch) {
            this.#deliver(event)
            cursor = event.revision
          }
          failures = 0
        }
      } catch (error) {
        if (signal.aborted || isStorageError(error, 'Closed')) return
        isLost ||= isStorageError(error, 'Compacted', 'Future')
        log.error({ err: error, failures }, `the watch of ${what} ended; it is taken up again`)
      }
      failures++
      await pause(clock, backoffMs(failures, RETRY, random), signal)
    }
  }

  /** Whether the object's last event was not handled, nor made good since. */
  isMissed(key: Key): boolean {
    return this.#missed.has(idOf(key))
  }

  /**
   * Looks again at an object whose event was missed: `act` gets it as it is now, in step with the events. Nothing happens when
   * it was not missed. @throws what `act` throws; the object then stays missed
   */
  async retake(key: Key, act: (present: Stored | undefined) => void): Promise<void> {
    const id = idOf(key)
    for (;;) {
      const events = this.#missed.get(id)
      if (events === undefined) return
      const present = await this.#options.store.get(key)
      // what was read may be older than an event that was handled meanwhile
      if (this.#missed.get(id) !== events) continue
      act(present)
      this.#missed.delete(id)
      return
    }
  }

  #deliver(event: StoreEvent): void {
    const id = idOf(event.key)
    const events = this.#missed.get(id)
    if (events !== undefined) this.#missed.set(id, events + 1)
    try {
      this.#options.handler.change(event)
    } catch (error) {
      if (events === undefined) this.#missed.set(id, 0)
      this.#options.handler.missed(event, error)
    }
  }
}

function idOf({ space, group, resource, namespace, name }: Key): string {
  return [space, group, resource, namespace, name].join('\0')
}
