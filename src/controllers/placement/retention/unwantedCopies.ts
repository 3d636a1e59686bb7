/**
 * All copies that their space wants no more: one list. A copy stays on it until it is wanted again or gone, whatever keeps it meanwhile.
 * The losses of an EdgePlacement enter it before any judgement: no judgement depends on the progress of single copies.
 */

import { setImmediate } from 'node:timers/promises'
import { MapOfMaps } from '../../../apimachinery/nestedMaps.ts'
import type { CopyFact, Mailbox } from '../mailboxes/mailbox.ts'
import { BrakeLedger, digestOf, noteLoss, type Removal } from './brakeLedger.ts'

export interface UnwantedCopiesDeps {
  /** All mailboxes, as far as their content is known. */
  mailboxes: () => Iterable<Mailbox>
  mailbox: (name: string) => Mailbox | undefined
  /** Whether a mailbox has no SyncTarget any more that stays: it does not come back. */
  isLeaving: (mailbox: string) => boolean
  /** Whether all of a space is known. */
  isKnown: (space: string) => boolean
  /** Whether a search of the whole mailbox for unwanted copies is under way. */
  isOpen: (mailbox: string) => boolean
  /** Whether a copy is to go, or to pass to another space; `undefined`: nobody knows. */
  isUnwanted: (mailbox: Mailbox, key: string) => boolean | undefined
  /** Whether the space holds the object. */
  isThere: (space: string, key: string) => boolean
  /** Has a space judged when all that its changes have named was looked at. */
  ask: (space: string) => void
  /** A copy is on the list no more. */
  dropped: (removal: Removal) => void
}

/** Copies that are looked at between two turns of the loop. */
export const TURN_WORK = 2000

export class UnwantedCopies {
  readonly #deps: UnwantedCopiesDeps
  readonly #ledgers = new Map<string, BrakeLedger>()
  /** By mailbox and key. */
  readonly #at = new MapOfMaps<Removal>()
  #isPastStart = false
  /** Spaces that were not known at the start: they are looked at when they are. */
  readonly #unlooked = new Set<string>()

  constructor(deps: UnwantedCopiesDeps) {
    this.#deps = deps
  }

  known(space: string): BrakeLedger | undefined {
    return this.#ledgers.get(space)
  }

  ledger(space: string): BrakeLedger {
    const ledger = this.#ledgers.get(space) ?? new BrakeLedger()
    this.#ledgers.set(space, ledger)
    return ledger
  }

  /** Forgets a space without entries. */
  forget(space: string): void {
    if (this.#ledgers.get(space)?.isPending === false) this.#ledgers.delete(space)
  }

  find(mailbox: string, key: string): Removal | undefined {
    return this.#at.get(mailbox, key)
  }

  /** Mailboxes and what of an object is on the list there. */
  *of(key: string): Generator<Removal> {
    for (const [, removals] of this.#at) {
      const removal = removals.get(key)
      if (removal) yield removal
    }
  }

  in(mailbox: string): Iterable<Removal> {
    return this.#at.of(mailbox).values()
  }

  /** Puts a copy on the list, if it is not there yet. */
  list(space: string, mailbox: Mailbox, key: string, { uid }: CopyFact): Removal {
    const known = this.find(mailbox.name, key)
    const isKnown = known?.uid === uid && known.space === space
    if (known && !isKnown) this.drop(known)
    if (isKnown) return known
    const removal = this.#removalOf(space, mailbox.name, key, uid)
    this.#at.set(mailbox.name, key, removal)
    this.ledger(space).removals.add(removal)
    return removal
  }

  drop(removal: Removal): void {
    if (this.find(removal.mailbox, removal.key) === removal) this.#at.delete(removal.mailbox, removal.key)
    this.#ledgers.get(removal.space)?.removals.delete(removal)
    this.#deps.dropped(removal)
  }

  /** All that is in the mailboxes at the start is looked at, once: what the start has named may be on its way still. */
  async lookAtAll(): Promise<void> {
    await this.#lookAt([...this.#deps.mailboxes()], undefined)
    this.#isPastStart = true
  }

  /**
   * Puts all of a space on the list that its changes took away. Returns what can be judged. A copy that is lost later waits:
   * the list does not name the EdgePlacement yet that had it.
   */
  async complete(space: string): Promise<ReadonlySet<Removal>> {
    if (this.#unlooked.has(space)) await this.#lookAt([...this.#deps.mailboxes()], space)
    this.#unlooked.delete(space)
    const ledger = this.#ledgers.get(space)
    if (!ledger) return new Set()
    do await this.#takeInLost(space, ledger)
    while (ledger.hasLost)
    const complete = ledger.fresh()
    await this.#refresh(ledger)
    await this.#lookAtUnseen(space, ledger)
    await this.#lookAtOpen(space, ledger)
    return ledger.hasLost ? complete : ledger.fresh()
  }

  async #takeInLost(space: string, ledger: BrakeLedger): Promise<void> {
    const { mailbox: find, isUnwanted, isLeaving } = this.#deps
    const all = ledger.takeLost()
    let work = 0
    for (const { placement, copies, order } of all) {
      for (const { mailboxes, keys } of copies.values()) {
        for (const name of mailboxes) {
          for (const [key, isTaken] of keys) {
            if (++work % TURN_WORK === 0) await setImmediate()
            const mailbox = find(name)
            if (!mailbox?.synced && !isLeaving(name)) ledger.unseen.add(name)
            const copy = mailbox?.copies.get(key)
            if (!mailbox || !copy || copy.owner !== space || isUnwanted(mailbox, key) !== true) continue
            noteLoss(this.list(space, mailbox, key, copy), placement, isTaken, order)
          }
        }
      }
    }
    ledger.settleLost(all)
  }

  /** Copies in mailboxes that were closed meanwhile have no known placement. */
  async #lookAtUnseen(space: string, ledger: BrakeLedger): Promise<void> {
    const { mailbox: find, isLeaving } = this.#deps
    for (const name of [...ledger.unseen]) {
      const mailbox = find(name)
      if (mailbox?.synced) await this.#lookAt([mailbox], space)
      if (mailbox?.synced || isLeaving(name)) ledger.unseen.delete(name)
    }
  }

  /** Searches of mailboxes may still find unwanted copies: the first ones must not count as few. */
  async #lookAtOpen(space: string, ledger: BrakeLedger): Promise<void> {
    const { mailbox: find, isOpen } = this.#deps
    const fresh = new Set<string>()
    for (const { state, mailbox } of ledger.removals) if (state === 'new') fresh.add(mailbox)
    const open = [...fresh].flatMap(name => (isOpen(name) ? (find(name) ?? []) : []))
    await this.#lookAt(open, space)
  }

  async #lookAt(mailboxes: readonly Mailbox[], only: string | undefined): Promise<void> {
    const { isKnown, isUnwanted, ask } = this.#deps
    let work = 0
    for (const mailbox of mailboxes) {
      for (const [key, copy] of [...mailbox.copies]) {
        if (++work % TURN_WORK === 0) await setImmediate()
        const space = copy.owner
        if (space === '' || (only !== undefined && space !== only)) continue
        if (this.find(mailbox.name, key) || mailbox.copies.get(key) !== copy) continue
        if (!isKnown(space)) {
          this.#unlooked.add(space)
          ask(space)
          continue
        }
        if (isUnwanted(mailbox, key) !== true) continue
        this.list(space, mailbox, key, copy)
        ask(space)
      }
    }
  }

  /** Forgets what is wanted again, or gone. Content of a closed mailbox appears when it is opened again. */
  async #refresh(ledger: BrakeLedger): Promise<void> {
    let work = 0
    for (const removal of [...ledger.removals]) {
      if (++work % TURN_WORK === 0) await setImmediate()
      const mailbox = this.#deps.mailbox(removal.mailbox)
      if (mailbox ? !mailbox.synced : !this.#deps.isLeaving(removal.mailbox)) continue
      const stands = mailbox?.copies.get(removal.key)?.uid === removal.uid
      if (removal.state === 'new') digestOf(removal)
      if (!mailbox || !stands || this.#deps.isUnwanted(mailbox, removal.key) === false) this.drop(removal)
    }
  }

  #removalOf(space: string, mailbox: string, key: string, uid: string): Removal {
    const isUnseen = this.#ledgers.get(space)?.unseen.has(mailbox) === true
    const isFromStart = !this.#isPastStart || this.#unlooked.has(space) || isUnseen
    return {
      space,
      mailbox,
      key,
      uid,
      isFromStart,
      isOrphan: isFromStart && !this.#deps.isThere(space, key),
      had: new Map(),
      state: 'new',
      isPaused: false,
      isOfEmptied: false,
      order: undefined,
      atMs: 0,
    }
  }
}
