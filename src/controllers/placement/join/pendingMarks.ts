/** Pending marks: while an owner (a space or a mailbox) has one open, more of its copies may have to change. */
import { MAILBOX_NAME } from '../../../placement/words/placement.ts'
import type { Signals } from '../signals/signals.ts'

export class PendingMarks {
  readonly #open = new Map<string, number>()
  readonly #signals: Pick<Signals, 'known' | 'mailboxChanged'>

  constructor(signals: Pick<Signals, 'known' | 'mailboxChanged'>) {
    this.#signals = signals
  }

  isOpen(owner: string): boolean {
    return this.#open.has(owner)
  }

  /** Opens a mark; the answer closes it. */
  open(owner: string): () => void {
    this.#open.set(owner, (this.#open.get(owner) ?? 0) + 1)
    return () => {
      const left = (this.#open.get(owner) ?? 1) - 1
      if (left === 0) {
        this.#open.delete(owner)
        if (MAILBOX_NAME.test(owner)) this.#signals.mailboxChanged.send(owner, 'named')
        else this.#signals.known.send('named', owner)
      } else this.#open.set(owner, left)
    }
  }

  /** The same items under a mark that is open from now until all of them are drawn; `each` runs before an item is drawn. */
  of<T>(owner: string, items: Iterable<T>, each?: (item: T) => void): Iterable<T> {
    return this.#drawn(this.open(owner), items, each)
  }

  *#drawn<T>(close: () => void, items: Iterable<T>, each?: (item: T) => void): Generator<T> {
    try {
      for (const item of items) {
        each?.(item)
        yield item
      }
    } finally {
      close()
    }
  }
}
