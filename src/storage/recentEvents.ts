/**
 * The newest events in memory, bounded by count and bytes: what most resumed watches and paginated lists need. Revisions
 * are dense, so an event is found by subtraction.
 */
import { heldBytes } from './sharedStored.ts'
import type { Revision, StoreEvent } from './store.ts'

/** Cost of an event beside the texts that nothing but the event keeps alive; measured, rounded up. */
const EVENT_BYTES = 400

export class RecentEvents {
  readonly #maxEvents: number
  readonly #maxBytes: number
  /** `undefined` in the place of what is forgotten: it must not keep texts of a megabyte each until the array is cut. */
  #events: (StoreEvent | undefined)[] = []
  /** Events before this place are forgotten; cut off when there are many of them. */
  #start = 0
  #bytes = 0
  /** The events begin behind this revision. */
  #after: Revision

  /** @param options.after the store's revision; events follow from there */
  constructor(options: { maxEvents: number; maxBytes: number; after: Revision }) {
    this.#maxEvents = options.maxEvents
    this.#maxBytes = options.maxBytes
    this.#after = options.after
  }

  add(events: readonly StoreEvent[]): void {
    for (const event of events) {
      this.#events.push(event)
      this.#bytes += costOf(event)
    }
    while (this.#length > this.#maxEvents || (this.#bytes > this.#maxBytes && this.#length > 0)) this.#forgetOne()
    this.#trim()
  }

  dropThrough(revision: Revision): void {
    while (this.#after < revision && this.#length > 0) this.#forgetOne()
    this.#trim()
  }

  /** Whether every event behind `revision` is here. */
  reaches(revision: Revision): boolean {
    return revision >= this.#after
  }

  /** Calls `visit` for the events behind `revision`, in order; only where {@link reaches} holds. */
  visit(revision: Revision, visit: (event: StoreEvent) => void): void {
    for (let i = this.#start + (revision - this.#after); i < this.#events.length; i++) visit(this.#events[i]!)
  }

  get #length(): number {
    return this.#events.length - this.#start
  }

  #forgetOne(): void {
    const event = this.#events[this.#start]!
    this.#events[this.#start++] = undefined
    this.#bytes -= costOf(event)
    this.#after = event.revision
  }

  #trim(): void {
    if (this.#start === this.#events.length || this.#start > Math.max(64, this.#maxEvents >>> 2)) {
      this.#events = this.#events.slice(this.#start)
      this.#start = 0
    }
  }
}

/** A new version is the current one, or the `previous` of a later event: each text is counted once. */
function costOf(event: StoreEvent): number {
  const tombstone = event.type === 'delete' ? heldBytes(event.stored) : 0
  return EVENT_BYTES + tombstone + (event.previous === undefined ? 0 : heldBytes(event.previous))
}
