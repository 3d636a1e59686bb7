/** Which copies of mailboxes are to be looked at again, as tasks: those that a space owns, and those that several claim. */

import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Source } from '../join/placementProduct.ts'
import type { Task } from '../join/task.ts'
import type { Mailboxes } from './mailboxes.ts'

export class CopiesInHand {
  readonly #join: Pick<PlacementJoin, 'sourcesOf'>
  readonly #mailboxes: Pick<Mailboxes, 'known'>

  constructor(join: Pick<PlacementJoin, 'sourcesOf'>, mailboxes: Pick<Mailboxes, 'known'>) {
    this.#join = join
    this.#mailboxes = mailboxes
  }

  /** Copies of a space in some mailboxes, or of one key, wanted or not. */
  *ownedBy(space: string, mailboxes: readonly string[], only?: string): Generator<Task> {
    for (const mailbox of mailboxes) {
      const copies = this.#mailboxes.known(mailbox)?.copies
      for (const key of only === undefined ? (copies?.keys() ?? []) : [only]) {
        if (copies?.get(key)?.owner === space) yield { type: 'copy', mailbox, key, origin: space }
      }
    }
  }

  /** Copies in a mailbox that several spaces claim, or a space that is not the owner. */
  *contestedIn(mailbox: string): Generator<Task> {
    for (const [key, { owner }] of this.#mailboxes.known(mailbox)?.copies ?? [])
      if (isContested(this.#join.sourcesOf(mailbox, key), owner)) yield this.again(mailbox, key)
  }

  /** Spaces that claim copies. */
  *claimantsOf(copies: Iterable<{ readonly mailbox: string; readonly key: string }>): Generator<Task> {
    for (const { mailbox, key } of copies)
      for (const { space } of this.#join.sourcesOf(mailbox, key)) yield { type: 'source', space, key }
  }

  /** One copy, on account of whoever owns it. */
  again(mailbox: string, key: string): Task {
    return { type: 'copy', mailbox, key, origin: this.#mailboxes.known(mailbox)?.ownerOf(key) }
  }
}

/** Copies on account of one space. */
export function* copiesAgain(
  copies: Iterable<{ readonly mailbox: string; readonly key: string }>,
  origin: string,
): Generator<Task> {
  for (const { mailbox, key } of copies) yield { type: 'copy', mailbox, key, origin }
}

/** Whether several spaces claim a copy, or another than its owner. */
export function isContested(claims: readonly Pick<Source, 'space'>[], owner: string | undefined): boolean {
  const [first, ...others] = claims
  return first !== undefined && (others.length > 0 || first.space !== owner)
}
