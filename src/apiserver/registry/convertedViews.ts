/**
 * Forms of stored custom resources of a space in other versions, or under a newer schema. They are kept, as a webhook took its time for
 * them, but the webhook's owner decides their length. A space therefore has a bound, beyond which the oldest goes, unless it may still be
 * needed.
 */
import { StatusError } from '../../apimachinery/errors.ts'
import type { KeptViews } from '../../apimachinery/resourceType.ts'
import { Line } from '../../client/line.ts'
import type { Stored } from '../../storage/store.ts'

/** In a space. */
export const VIEWS_BYTES = 128 * 1024 * 1024
/** From when one was made until all who waited for it have read it, lists aside. */
export const FRESH_MS = 2000
/** Cost of one beside its text. */
const EACH_BYTES = 256

interface Kept {
  readonly stored: WeakRef<Stored>
  readonly of: Views
  readonly bytes: number
  readonly atMs: number
}

export type Views = WeakMap<Stored, Buffer>

export class ConvertedViews implements KeptViews {
  /** Oldest first; also of what is stored no more. */
  readonly #kept = new Line<Kept>()
  /** Taken out of it, and still there. */
  #oldest: Kept | undefined
  readonly #clock: () => number
  #bytes = 0
  #readers = 0

  /** `clock`: milliseconds; it never goes back. */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** To be called before many are read, and what it returns afterwards: until then none goes. */
  hold(): () => void {
    this.#readers++
    let isOver = false
    return () => {
      if (!isOver) this.#readers--
      isOver = true
    }
  }

  /** Adds a view that cannot be made again at once. @throws StatusError TooManyRequests when there is no room */
  add(views: Views, stored: Stored, view: Buffer): void {
    if (this.offer(views, stored, view)) return
    const why = `what was converted for lists of this space takes more than ${VIEWS_BYTES / 2 ** 20} MiB; ask for pages (limit), or later`
    throw new StatusError('TooManyRequests', why, { retryAfterSeconds: 1 })
  }

  /** Adds a view that can be made again: whether there was room. */
  offer(views: Views, stored: Stored, view: Buffer): boolean {
    const bytes = view.length + EACH_BYTES
    const atMs = this.#clock()
    while (this.#bytes + bytes > VIEWS_BYTES) {
      this.#oldest ??= this.#kept.take()
      const oldest = this.#oldest
      if (oldest === undefined) break
      if (this.#readers > 0 || atMs - oldest.atMs < FRESH_MS) return false
      this.#oldest = undefined
      this.#bytes -= oldest.bytes
      const gone = oldest.stored.deref()
      if (gone) oldest.of.delete(gone)
    }
    views.set(stored, view)
    this.#kept.add({ stored: new WeakRef(stored), of: views, bytes, atMs })
    this.#bytes += bytes
    return true
  }
}
