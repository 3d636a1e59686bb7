/**
 * Signals: facts that a room sends to the rooms after it, which it does not know. A signal names what changed and never what to do.
 * Readers get it in the order in which they were added. signalReaders.ts adds all readers of {@link Signals}.
 */
import type { Destination } from '../../../placement/words/ways.ts'

export class Signal<Fact extends readonly unknown[]> {
  readonly #readers = new Set<(...fact: Fact) => void>()

  /** @returns the way to stop */
  on(reader: (...fact: Fact) => void): () => void {
    this.#readers.add(reader)
    return () => this.#readers.delete(reader)
  }

  /** A reader that fails keeps nothing from the others. @throws what the first one threw, once all have it */
  send(...fact: Fact): void {
    let failure: { readonly error: unknown } | undefined
    for (const reader of this.#readers) {
      try {
        reader(...fact)
      } catch (error) {
        failure ??= { error }
      }
    }
    if (failure) throw failure.error
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
  /** It stays from now on although its space wants it no more, or does so no more. `claims` names that space. */
  | 'retained'
  /** It is no copy: a syncer carried the object up, and it changed or is gone. */
  | 'carried'

export type MailboxChange =
  /** It is ready. Nothing of its content is known yet. */
  | 'opened'
  /** It is not there any more, or is about to be made again. */
  | 'closed'
  /** All that it holds is known (again). */
  | 'known'
  /** Holders of copies: a pause, or its SyncTarget. */
  | 'gate'
  /** The report of its syncer. */
  | 'outcome'
  /** All of its copies that may have to change are named. */
  | 'named'

export type SourceChange =
  | 'came'
  /** Deleted by name. Sent while it is still indexed. */
  | 'deleted'
  /** Gone for another reason. Sent while it is still indexed. */
  | 'left'
  /** It is a Namespace, and is being deleted with all that is in it. */
  | 'closing'
  /** It is paused from now on, or no more. */
  | 'paused'
  /** The index has it as it is now. */
  | 'indexed'

export type SpaceChange =
  /** Mailboxes that its placements lead to may be others, or the ways there. `name` is empty. */
  | 'ways'
  /** More content of the placement `name` is taken in. */
  | 'content'
  /** The placement `name` may name other StatusCollectors. */
  | 'collecting'
  /** The StatusCollector `name`. */
  | 'collector'

/** Each of the objects in each of the mailboxes. */
export interface LostCopies {
  readonly mailboxes: readonly string[]
  readonly keys: readonly string[]
  /** The placement left the object, or the way was taken from it. */
  readonly how: 'left' | 'taken'
}

/** Placements of a space that claim an object. */
export interface ClaimedBy {
  readonly space: string
  readonly placements: readonly string[]
}

export class Signals {
  /** The rights of a space on some ways may have changed. `undefined`: any space. */
  readonly consentChanged = new Signal<[space: string | undefined, through: (way: Destination) => boolean]>()
  /** All is known of: the topology, a space, the start; or all copies of a space that may have to change are named. */
  readonly known = new Signal<[what: 'topology' | 'space' | 'start' | 'named', space: string]>()
  /** An object of a workload space. */
  readonly sourceChanged = new Signal<[space: string, key: string, what: SourceChange]>()
  /** Claims of a space on each of the objects in each of the mailboxes may be others. Objects and copies may be gone. */
  readonly claimsChanged = new Signal<[space: string, mailboxes: readonly string[], keys: readonly string[]]>()
  /** A placement may have brought copies that it brings no more, or may not. */
  readonly claimsLost = new Signal<[space: string, placement: string, what: LostCopies]>()
  /** The same copies, of a space that is known by now, grouped. `isNews`: it was known when its claims changed. */
  readonly copiesNamed = new Signal<
    [space: string, mailboxes: readonly string[], keys: readonly string[], isNews: boolean]
  >()
  /** The work on a copy amid which an earlier process ended is held back, or is so no more. */
  readonly copyHeld = new Signal<[mailbox: string, key: string, isHeld: boolean]>()
  /** One copy changed. `claims`: those on it, where the sender has just looked at them. */
  readonly copyChanged = new Signal<
    [mailbox: string, key: string, what: CopyChange, claims?: readonly ClaimedBy[] | undefined]
  >()
  /** A mailbox changed, and any of its copies may have. */
  readonly mailboxChanged = new Signal<[mailbox: string, what: MailboxChange]>()
  /** Changes of a space's topology, beside its objects. */
  readonly spaceChanged = new Signal<[space: string, what: SpaceChange, name: string]>()
}
