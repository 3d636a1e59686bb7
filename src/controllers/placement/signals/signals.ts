/**
 * Signals: facts that a room sends to the rooms after it, which it does not know. A signal names what changed and never what to do.
 * Readers get it in the order in which they were added; translator.ts adds all of them.
 */

export class Signal<Fact extends readonly unknown[]> {
  readonly #readers: ((...fact: Fact) => void)[] = []

  on(reader: (...fact: Fact) => void): void {
    this.#readers.push(reader)
  }

  send(...fact: Fact): void {
    for (const reader of this.#readers) reader(...fact)
  }
}

export type CopyChange =
  /** Its content, or whether it is there, by other hands than the center's. */
  | 'content'
  /** Work of the center on it ended, with success or without. */
  | 'written'
  /** It is as its claims want it, and was named or reported otherwise before. */
  | 'converged'
  /** Its syncer has processed its newest content. */
  | 'processed'
  /** The status in it. */
  | 'status'
  /** The generation of its owner's object that it has. */
  | 'generation'
  | 'health'
  /** The report of its syncer on it. */
  | 'outcome'
  /** A reason of the center why it is not in the mailbox as it should be. */
  | 'remark'
  /** Its owner, or whether the mailbox takes it. */
  | 'standing'

/** Placements of a space that claim an object. */
export interface ClaimedBy {
  readonly space: string
  readonly placements: readonly string[]
}

export class Signals {
  /** One copy changed. `claims`: those on it, where the sender has just looked at them. */
  readonly copyChanged = new Signal<
    [mailbox: string, key: string, what: CopyChange, claims?: readonly ClaimedBy[] | undefined]
  >()
  /** Any copy of a mailbox may have changed, and any report on its cluster. */
  readonly mailboxChanged = new Signal<[mailbox: string]>()
  /** A mailbox is ready. Nothing of its content is known yet. */
  readonly mailboxOpened = new Signal<[mailbox: string]>()
  /** Mailboxes that placements of a space lead to may be others, or the ways there. */
  readonly waysChanged = new Signal<[space: string]>()
  /** Claims of a space on each of the objects in each of the mailboxes may be others. Objects and copies may be gone. */
  readonly claimsChanged = new Signal<[space: string, mailboxes: readonly string[], keys: readonly string[]]>()
  /** An object that a syncer carried up changed, or is gone. */
  readonly carriedChanged = new Signal<[mailbox: string, key: string]>()
  /** A StatusCollector of a space changed; `undefined`: a placement may name others. */
  readonly collectorsChanged = new Signal<[space: string, collector: string | undefined]>()
}
