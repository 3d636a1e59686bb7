/**
 * Work that follows a range of the log, through every failure. It begins with the present content. A watch that ends is resumed with
 * backoff from its position, and with the present content when that history is no longer kept. Events end in a queue, where work may fail
 * and starts from the present state.
 *
 * For what must be true with the next read, see `Store.project`.
 */
import { backoffMs, type Random } from '../../client/backoff.ts'
import { type Clock, pause } from '../../client/clock.ts'
import type { WorkQueueOptions } from '../../client/workqueue.ts'
import {
  isStorageError,
  type Key,
  type Range,
  type Revision,
  type Store,
  type StoreEvent,
} from '../../storage/store.ts'
import type { Logger } from '../request/logger.ts'

/** For a part that works on the objects that the log tells of: for its queue, and to follow. */
export interface FollowerDeps extends Pick<WorkQueueOptions<Key>, 'guard' | 'turns'> {
  clock: Clock
  random: Random
  log: Logger
}

interface LogFollowing {
  store: Pick<Store, 'slices' | 'watch'>
  range: Range
  /** Followed objects, in the plural, for the log. */
  what: string
  /**
   * Whether an event asks for work on its object. Called for each event, in order and synchronously. At the beginning, or after lost
   * events, it is called for each present object, as if that had just been created. (Objects gone by then give no event.) When it throws,
   * `note` is called, and the work has to look for itself.
   */
  wants(event: StoreEvent): boolean
  /** Asks for work on an object. */
  add(key: Key): void
  note(key: Key, error: unknown): void
  log: Logger
  clock: Clock
  random: Random
}

/** Next step. `failures`: number of attempts since the last event. */
type State =
  | { readonly next: 'list'; readonly failures: number }
  | { readonly next: 'watch'; readonly after: Revision; readonly failures: number }

const RETRY = { baseMs: 100, maxMs: 15_000 }

/** Until the signal aborts or the store closes. Never rejects. */
export async function followLog(following: LogFollowing, signal: AbortSignal): Promise<void> {
  const { store, range, what, log, clock, random } = following
  let state: State = { next: 'list', failures: 0 }
  while (!signal.aborted) {
    try {
      if (state.next === 'list') {
        const after = await deliverAll(following, signal)
        if (after === undefined) return
        state = { next: 'watch', after, failures: state.failures }
      }
      for await (const batch of store.watch(range, { after: state.after, signal })) {
        for (const event of batch) deliver(following, event)
        state = { next: 'watch', after: batch.at(-1)!.revision, failures: 0 }
      }
    } catch (error) {
      if (signal.aborted || isStorageError(error, 'Closed')) return
      if (isStorageError(error, 'Compacted', 'Future')) state = { next: 'list', failures: state.failures }
      log.error({ err: error, failures: state.failures }, `the watch of ${what} ended; it is taken up again`)
    }
    state = { ...state, failures: state.failures + 1 }
    await pause(clock, backoffMs(state.failures, RETRY, random), signal)
  }
}

/** Delivers the present content, in slices; answers its revision, or nothing when the signal aborts. */
async function deliverAll(following: LogFollowing, signal: AbortSignal): Promise<Revision | undefined> {
  for await (const { items, more, revision } of following.store.slices(following.range)) {
    for (const stored of items)
      deliver(following, { type: 'put', key: stored.key, revision: stored.revision, stored, previous: undefined })
    if (!more) return revision
    await new Promise(setImmediate)
    if (signal.aborted) return undefined
  }
  throw new Error('the store ended a list without a last page')
}

function deliver({ wants, add, note }: LogFollowing, event: StoreEvent): void {
  let wanted = true
  try {
    wanted = wants(event)
  } catch (error) {
    note(event.key, error)
  }
  if (wanted) add(event.key)
}
