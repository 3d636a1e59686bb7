/**
 * Mailboxes whose SyncTarget is unschedulable: no object gets there that is not there yet. Copies that are there stay and are kept up to
 * date. A mailbox that is made again meanwhile is filled again: its cluster holds all of it.
 */
import type { Reason } from '../../../placement/words/reason.ts'
import type { TargetChange } from '../inventory/inventory.ts'
import type { Mailbox } from './mailbox.ts'

export const UNSCHEDULABLE: Reason = {
  reason: 'Unschedulable',
  message:
    'the SyncTarget is unschedulable and gets no new objects. Choose another place, or ask an administrator of the inventory to set its spec.unschedulable to false',
}

export class UnschedulableMailboxes {
  readonly #spaceOf: (mailbox: string) => string | undefined
  /** Those mailboxes, and the space that each was when that began; `undefined`: not known yet. */
  readonly #unschedulable = new Map<string, string | undefined>()

  /** @param spaceOf id of the space that a mailbox is now; `undefined` when there is none */
  constructor(spaceOf: (mailbox: string) => string | undefined) {
    this.#spaceOf = spaceOf
  }

  /** @returns whether the mailbox takes new objects again */
  targetChanged({ mailbox, after }: Pick<TargetChange, 'mailbox' | 'after'>): boolean {
    if (!after?.unschedulable) return this.#unschedulable.delete(mailbox)
    if (!this.#unschedulable.has(mailbox)) this.#unschedulable.set(mailbox, this.#spaceOf(mailbox))
    return false
  }

  /** A mailbox is known whole. */
  opened({ name, space }: Pick<Mailbox, 'name' | 'space'>): void {
    if (this.#unschedulable.has(name) && this.#unschedulable.get(name) === undefined)
      this.#unschedulable.set(name, space)
  }

  /** Whether an object is not to come into the mailbox. One that was taken out of it by hand is in its cluster still. */
  isUnschedulable(mailbox: Mailbox, key: string): boolean {
    if (!this.#unschedulable.has(mailbox.name) || mailbox.copies.has(key) || mailbox.lostOwners.has(key)) return false
    return (this.#unschedulable.get(mailbox.name) ?? mailbox.space) === mailbox.space
  }
}
