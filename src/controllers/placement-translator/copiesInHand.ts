/** Which copies of mailboxes are to be looked at again, as tasks: those that a space owns, and those that several claim. */
import type { Mailbox } from './mailbox.ts'
import { ownersIn } from './mailbox.ts'
import type { PlacementJoin } from './placementJoin.ts'
import type { Task } from './task.ts'

export interface CopiesInHandDeps {
  join: Pick<PlacementJoin, 'sourcesOf'>
  /** The mailbox, as far as it is known. */
  mailbox(name: string): Mailbox | undefined
}

export class CopiesInHand {
  readonly #deps: CopiesInHandDeps

  constructor(deps: CopiesInHandDeps) {
    this.#deps = deps
  }

  /** What a space has in some mailboxes, or of one key, whether it is wanted or not. */
  *ownedBy(space: string, mailboxes: readonly string[], only?: string): Generator<Task> {
    for (const mailbox of mailboxes) {
      const copies = this.#deps.mailbox(mailbox)?.copies
      for (const key of only === undefined ? (copies?.keys() ?? []) : [only]) {
        if (ownersIn(copies?.get(key)?.owner ?? '').includes(space)) yield { type: 'copy', mailbox, key, origin: space }
      }
    }
  }

  /** What several spaces claim in a mailbox. */
  *contestedIn(mailbox: string): Generator<Task> {
    for (const key of this.#deps.mailbox(mailbox)?.copies.keys() ?? []) {
      if (this.#deps.join.sourcesOf(mailbox, key).length > 1) yield this.again(mailbox, key)
    }
  }

  /** One copy, on account of whoever owns it. */
  again(mailbox: string, key: string): Task {
    return { type: 'copy', mailbox, key, origin: this.#deps.mailbox(mailbox)?.ownersOf(key)[0] }
  }
}

/** Copies on account of one space. */
export function* copiesAgain(
  copies: Iterable<{ readonly mailbox: string; readonly key: string }>,
  origin: string,
): Generator<Task> {
  for (const { mailbox, key } of copies) yield { type: 'copy', mailbox, key, origin }
}
