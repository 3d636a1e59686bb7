/**
 * The brake: what is deleted by name goes, an object as well as an EdgePlacement. What nobody wants any more for another reason
 * (a selector, a label, a Location, a grant, a binding, a Namespace that is deleted, a store that was restored) goes only while
 * it is little. Else it is held: the copies stay, the EdgePlacements are told, and it goes when one of them confirms just this.
 *
 * What another space waits for is no exception: to its owner it is lost as well.
 *
 * What a space's changes took away is judged once all work that they caused was looked at, so that the first copy does not go
 * before the last one is known. What is found at a start is judged when all mailboxes are known, for nobody remembers then what
 * was deleted by name. A hold is no state of its own that could be lost: it follows from what is in the mailboxes. The time
 * at which it began, which is part of its hash, is read from the EdgePlacements.
 */
import { setImmediate } from 'node:timers/promises'
import type { KubeObject } from '../../apimachinery/object.ts'
import { CONFIRM_DELETION_ANNOTATION } from '../../apimachinery/placement.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import type { Clock } from '../../client/clock.ts'
import { BrakeLedger, digestOf, planHash, type Removal } from './brakeLedger.ts'
import { type Hold, heldSince, holdOf } from './hold.ts'
import { type CopyFact, type Mailbox, ownersIn } from './mailbox.ts'
import { isNamespaceKey, parseObjectKey } from './names.ts'
import type { PlacementJoin } from './placementJoin.ts'
import { isTooMuch, MAX_REMOVED } from './removalLimits.ts'

export interface BrakeDeps {
  join: Pick<PlacementJoin, 'fact' | 'isWorkloadSpace' | 'placementNames'>
  clock: Clock
  /** All mailboxes, as far as their content is known. */
  mailboxes: () => Iterable<Mailbox>
  mailbox: (name: string) => Mailbox | undefined
  /** Whether the present is known: all mailboxes, and what is placed. */
  isWhole: () => boolean
  /** Whether all of a space is known. */
  isKnown: (space: string) => boolean
  /** Whether it is being found out of all that is in a mailbox whether it may have to go. */
  isOpen: (mailbox: string) => boolean
  /** Whether a space goes with all that is in it, or is gone. */
  isGoing: (space: string) => boolean
  /** Whether a mailbox is to be emptied, by the word of who administers the inventory about just this cluster. */
  isEvicted: (mailbox: string) => boolean
  /** Whether a copy is to go, or to pass to another space; `undefined`: nobody knows. */
  isUnwanted: (mailbox: Mailbox, key: string) => boolean | undefined
  /** Has {@link Brake.judge} called when all that the space's changes have named was looked at. */
  ask: (space: string) => void
  /** The copies are to be looked at again. */
  again: (copies: Iterable<{ readonly mailbox: string; readonly key: string }>, space: string) => void
  /** Copies are held from now on, or are held no more. */
  heldOrFreed: (space: string, copies: readonly { readonly mailbox: string; readonly key: string }[]) => void
  /** {@link Brake.holdOf} answers otherwise. */
  tell: (space: string, placement: string) => void
}

export type KeysByMailbox = ReadonlyMap<string, ReadonlySet<string>>

/** Copies that are looked at between two turns of the loop. */
const TURN_WORK = 2000

export class Brake {
  readonly #deps: BrakeDeps
  readonly #ledgers = new Map<string, BrakeLedger>()
  /** Removals by mailbox and key. */
  readonly #at = new Map<string, Map<string, Removal>>()
  readonly #holds = new Map<string, Hold>()
  /** Spaces that are judged once more is known. */
  readonly #waiting = new Set<string>()
  /** All that was in the mailboxes at the start is looked at, once. */
  #looking: Promise<void> | undefined
  #isPastStart = false
  /** Spaces that were not known then: they are looked at when they are. */
  readonly #unlooked = new Set<string>()

  constructor(deps: BrakeDeps) {
    this.#deps = deps
  }

  /** More is known than before. */
  release(): void {
    if (this.#waiting.size === 0) return
    const spaces = [...this.#waiting]
    this.#waiting.clear()
    for (const space of spaces) this.#deps.ask(space)
  }

  /** Whether a copy that its owner wants no more may go now, or pass to another space; else it is looked at again when it may. */
  mayGo(mailbox: Mailbox, key: string, copy: CopyFact): boolean {
    const [space] = ownersIn(copy.owner)
    if (space === undefined) return true
    const known = this.#removal(mailbox.name, key)
    const removal = known?.uid === copy.uid ? known : this.#add(space, mailbox, key, copy)
    if (removal.state === 'free') return true
    if (this.#isOrdered(removal)) {
      removal.state = 'free'
      removal.isPreserved = this.#ledgers.get(space)?.orderFor(mailbox.name, key)?.preserve ?? false
      if (known) this.#deps.ask(space)
      return true
    }
    if (removal.state === 'new') this.#deps.ask(space)
    return false
  }

  /** Whether the cluster is to keep a copy that goes because its EdgePlacement was deleted. */
  isPreserved(mailbox: string, key: string): boolean {
    return this.#removal(mailbox, key)?.isPreserved ?? false
  }

  /** A pause keeps the copy: it is judged anew when that ends, with all that it kept. */
  paused(mailbox: string, key: string): void {
    const removal = this.#removal(mailbox, key)
    if (removal && removal.state !== 'held') this.#drop(removal)
  }

  /** The copy is wanted, or not there (any more). */
  settled(mailbox: string, key: string): void {
    const removal = this.#removal(mailbox, key)
    if (!removal) return
    this.#drop(removal)
    if (removal.state !== 'free') this.#deps.ask(removal.space)
  }

  /** Something has left a placement. What is named until all is known has left none. */
  lost(space: string, placement: string): void {
    if (this.#looking) this.#ledger(space).lost(placement, this.#deps.clock.now())
  }

  /**
   * Whether it would be held that copies of a space go, as they are wanted no more. `going`: their keys, by mailbox; `kept`: of those that
   * would be wanted no more either, and that a pause keeps.
   */
  wouldHold(space: string, going: KeysByMailbox, kept: KeysByMailbox): boolean {
    const byMailbox = this.#ledgers.get(space)?.recent(this.#deps.clock.now()) ?? new Map<string, number>()
    for (const [mailbox, keys] of going) byMailbox.set(mailbox, (byMailbox.get(mailbox) ?? 0) + keys.size)
    const isDoomed = (name: string, key: string): boolean =>
      going.get(name)?.has(key) === true || kept.get(name)?.has(key) === true
    return isTooMuch({ byMailbox, remains: name => this.#remains(space, name, key => isDoomed(name, key)) })
  }

  /** Takes in what an EdgePlacement says of holds. */
  placementSeen(space: string, name: string, { metadata, status }: KubeObject): void {
    const confirmed = metadata.annotations?.[CONFIRM_DELETION_ANNOTATION]
    const since = heldSince(status)
    const ledger = this.#ledgers.get(space)
    if (confirmed === ledger?.confirmed.get(name) && (since === undefined || ledger?.since !== undefined)) return
    if (confirmed === undefined && since === undefined) {
      ledger?.confirmed.delete(name)
      return
    }
    const { told, inherited, confirmed: confirmations } = this.#ledger(space)
    if (confirmed === undefined) confirmations.delete(name)
    else confirmations.set(name, confirmed)
    if (since !== undefined && !told.has(name)) inherited.set(name, since)
    this.#deps.ask(space)
  }

  /** An EdgePlacement is gone; to be called before it is taken out of the join. What it had placed goes, if it was deleted. */
  placementGone(
    space: string,
    name: string,
    order?: { mailboxes: Iterable<string>; keys: readonly string[]; preserve: boolean },
  ): void {
    if (order) {
      const { mailboxes, keys, preserve } = order
      this.#ledger(space).orders.push({ mailboxes: new Set(mailboxes), keys: new Set(keys), preserve })
    }
    this.#ledgers.get(space)?.forget(name)
    this.#deps.ask(space)
  }

  /** An object of a workload space is there no more (`byName`), or is none that travels any more. */
  sourceGone(space: string, key: string, byName: boolean): void {
    if (!byName) this.#ledger(space).withdrawn.add(key)
    if (!this.#ledgers.has(space)) return
    this.#lookAgain(space, key)
  }

  /** An object of a workload space is there. */
  sourceCame(space: string, key: string): void {
    const ledger = this.#ledgers.get(space)
    ledger?.withdrawn.delete(key)
    if (!ledger) return
    // it may hand its copies over
    this.#lookAgain(space, key)
    if (ledger.going.size > 0 && isNamespaceKey(key)) ledger.going.delete(parseObjectKey(key).name)
  }

  /** A Namespace of a workload space is being deleted, with the objects in it. */
  namespaceGoing(space: string, namespace: string, keys: Iterable<string>): void {
    const { going } = this.#ledger(space)
    if (!going.has(namespace)) going.set(namespace, new Set(keys))
  }

  /** What is held in a mailbox is so no more: what becomes of it is between its SyncTarget and its syncer. */
  mailboxLeaves(mailbox: string): void {
    const spaces = new Set<string>()
    for (const { space, state } of this.#at.get(mailbox)?.values() ?? []) if (state !== 'free') spaces.add(space)
    for (const space of spaces) this.#deps.ask(space)
  }

  /** The space is followed no more. */
  forget(space: string): void {
    for (const removal of this.#ledgers.get(space)?.removals ?? []) this.#drop(removal)
    this.#ledgers.delete(space)
    this.#holds.delete(space)
  }

  /** What is held of a placement; `unknown` as long as nobody has looked. */
  holdOf(space: string, placement: string): Hold | 'unknown' | undefined {
    const ledger = this.#ledgers.get(space)
    if (ledger?.told.has(placement)) return this.#holds.get(space)
    return ledger?.inherited.has(placement) ? 'unknown' : undefined
  }

  /** Whether something of it was held when the server ended, and nobody has looked yet what of that still is. */
  isUnsure(space: string): boolean {
    return (this.#ledgers.get(space)?.inherited.size ?? 0) > 0
  }

  /** What of a space is held. */
  *heldIn(space: string): Generator<Removal> {
    for (const removal of this.#ledgers.get(space)?.removals ?? []) if (removal.state === 'held') yield removal
  }

  isHeld(space: string, mailbox: string, key: string): boolean {
    const removal = this.#removal(mailbox, key)
    return removal?.state === 'held' && removal.space === space
  }

  /** The hold of a space, and the first by name of the placements that are told of it. */
  holdIn(space: string): { readonly hold: Hold; readonly placement: string | undefined } | undefined {
    const hold = this.#holds.get(space)
    return hold && { hold, placement: [...(this.#ledgers.get(space)?.told ?? [])].sort()[0] }
  }

  async judge(space: string): Promise<void> {
    const { isWhole, isKnown } = this.#deps
    if (isWhole()) {
      this.#looking ??= this.#lookAtAll()
      await this.#looking
    }
    if (!isWhole() || !isKnown(space)) {
      if (this.#ledgers.has(space)) this.#waiting.add(space)
      return
    }
    if (this.#unlooked.delete(space)) await this.#lookAtAll(space)
    const ledger = this.#ledgers.get(space)
    if (!ledger) return
    await this.#refresh(ledger)
    await this.#lookAtOpen(space, ledger)
    this.#decide(space, ledger)
    if (ledger.isEmpty(this.#deps.clock.now())) this.#ledgers.delete(space)
  }

  /** What the start has named may be on its way still: it is judged together. `only`: of one space. */
  async #lookAtAll(only?: string): Promise<void> {
    await this.#lookAt([...this.#deps.mailboxes()], only)
    if (only === undefined) this.#isPastStart = true
  }

  /** More may have to go from mailboxes that are looked through than was come to: the first of it must not pass for little. */
  async #lookAtOpen(space: string, ledger: BrakeLedger): Promise<void> {
    const { mailbox: find, isOpen } = this.#deps
    const fresh = new Set<string>()
    for (const { state, mailbox } of ledger.removals) if (state === 'new') fresh.add(mailbox)
    const open = [...fresh].flatMap(name => (isOpen(name) ? (find(name) ?? []) : []))
    await this.#lookAt(open, space)
  }

  async #lookAt(mailboxes: readonly Mailbox[], only: string | undefined): Promise<void> {
    let work = 0
    for (const mailbox of mailboxes) {
      for (const [key, copy] of [...mailbox.copies]) {
        if (++work % TURN_WORK === 0) await setImmediate()
        const [space] = ownersIn(copy.owner)
        if (space === undefined || (only !== undefined && space !== only)) continue
        if (this.#removal(mailbox.name, key) || mailbox.copies.get(key) !== copy) continue
        if (!this.#deps.isKnown(space)) {
          this.#unlooked.add(space)
          this.#waiting.add(space)
          continue
        }
        if (this.#deps.isUnwanted(mailbox, key) !== true) continue
        this.#add(space, mailbox, key, copy)
        this.#deps.ask(space)
      }
    }
  }

  /** Forgets what is wanted again, or gone. */
  async #refresh(ledger: BrakeLedger): Promise<void> {
    let work = 0
    for (const removal of [...ledger.removals]) {
      if (++work % TURN_WORK === 0) await setImmediate()
      const mailbox = this.#deps.mailbox(removal.mailbox)
      if (mailbox && !mailbox.synced) continue
      const stands = mailbox?.copies.get(removal.key)?.uid === removal.uid
      if (removal.state === 'new') digestOf(removal)
      if (!mailbox || !stands || this.#deps.isUnwanted(mailbox, removal.key) === false) this.#drop(removal)
    }
  }

  #decide(space: string, ledger: BrakeLedger): void {
    const nowMs = this.#deps.clock.now()
    const freed: Removal[] = []
    const before = new Set(ledger.held())
    const free = (removal: Removal) => {
      ledger.free(removal, nowMs)
      freed.push(removal)
    }
    const open = [...ledger.removals].filter(({ state }) => state !== 'free')
    for (const removal of open) {
      if (!this.#isOrdered(removal)) continue
      removal.state = 'free'
      freed.push(removal)
    }
    const fresh = open.filter(({ state }) => state === 'new')
    if (fresh.length > 0) {
      const isHeld = this.#isTooMuch(space, ledger, nowMs)
      for (const removal of fresh) {
        if (!isHeld) free(removal)
        else [removal.state, removal.atMs] = ['held', nowMs]
      }
    }
    if (this.#isReleased(space, ledger, nowMs)) for (const removal of ledger.held()) free(removal)
    this.#tellHold(space, ledger)
    const changed = [...ledger.removals].filter(one => before.has(one) !== (one.state === 'held'))
    if (changed.length > 0) this.#deps.heldOrFreed(space, changed)
    ledger.orders.length = 0
    this.#deps.again(freed, space)
  }

  /** What goes now, has gone lately, and will go with Namespaces that are being deleted. */
  #isTooMuch(space: string, ledger: BrakeLedger, nowMs: number): boolean {
    const byMailbox = ledger.recent(nowMs)
    const doomed = new Set<string>()
    for (const keys of ledger.going.values()) {
      for (const key of keys) {
        if (doomed.size > MAX_REMOVED) return true
        let isPlaced = false
        for (const mailbox of this.#deps.mailboxes()) {
          if (!ownersIn(mailbox.copies.get(key)?.owner ?? '').includes(space)) continue
          isPlaced = true
          if (this.#removal(mailbox.name, key)) continue
          doomed.add(`${mailbox.name} ${key}`)
          byMailbox.set(mailbox.name, (byMailbox.get(mailbox.name) ?? 0) + 1)
        }
        if (!isPlaced && this.#deps.join.fact(space, key) === undefined) keys.delete(key)
      }
    }
    const remains = (name: string): boolean => this.#remains(space, name, key => doomed.has(`${name} ${key}`))
    return isTooMuch({ byMailbox, remains })
  }

  /** Whether something of the space that is wanted stays in a mailbox; Namespaces alone are nothing, nor is what only a pause keeps. */
  #remains(space: string, name: string, isDoomed: (key: string) => boolean): boolean {
    const mailbox = this.#deps.mailbox(name)
    if (!mailbox) return false
    for (const [key, { owner, terminating }] of mailbox.copies) {
      if (terminating || !ownersIn(owner).includes(space) || isNamespaceKey(key)) continue
      if (this.#removal(name, key) || isDoomed(key)) continue
      if (this.#deps.isUnwanted(mailbox, key) !== true) return true
    }
    return false
  }

  /** Who is to be told of a hold is found out, and whether what is held may go: confirmed, or nobody is left to do so. */
  #isReleased(space: string, ledger: BrakeLedger, nowMs: number): boolean {
    const held = ledger.held()
    if (held.length === 0) return false
    const { told, inherited, confirmed } = ledger
    const names = this.#deps.join.placementNames(space)
    const there = (list: Iterable<string>) => [...list].filter(name => names.includes(name))
    const before = told.size
    for (const name of [...told]) if (!names.includes(name)) told.delete(name)
    if (before > 0 && told.size === 0) return true
    for (const name of [...there(inherited.keys()), ...there(ledger.concerned(nowMs))]) told.add(name)
    if (told.size === 0) for (const name of names) told.add(name)
    ledger.since ??= [...inherited.values()].sort()[0] ?? timestamp(new Date(nowMs))
    inherited.clear()
    const hash = planHash(held, ledger.since)
    return [...told].some(name => confirmed.get(name) === hash)
  }

  #tellHold(space: string, ledger: BrakeLedger): void {
    const held = ledger.held()
    const names = [...ledger.told, ...ledger.inherited.keys()]
    if (held.length === 0) {
      ledger.since = undefined
      ledger.told.clear()
      ledger.inherited.clear()
      this.#holds.delete(space)
    } else {
      this.#holds.set(space, holdOf(held, ledger.since ?? ''))
    }
    for (const name of names) this.#deps.tell(space, name)
  }

  /** Whether somebody deleted by name what brought the copy, or nobody is left to be asked. */
  #isOrdered({ space, mailbox, key, isOrphan }: Pick<Removal, 'space' | 'mailbox' | 'key' | 'isOrphan'>): boolean {
    const { join, isKnown, isGoing, isWhole, isEvicted } = this.#deps
    if (isEvicted(mailbox) || isGoing(space) || !join.isWorkloadSpace(space)) return true
    const ledger = this.#ledgers.get(space)
    if (ledger?.orderFor(mailbox, key)) return true
    if (isOrphan || !isWhole() || !isKnown(space) || join.fact(space, key) !== undefined) return false
    return !ledger?.withdrawn.has(key) && !ledger?.isInGoingNamespace(key)
  }

  #lookAgain(space: string, key: string): void {
    for (const [mailbox, removals] of this.#at) if (removals.has(key)) this.#deps.again([{ mailbox, key }], space)
  }

  #ledger(space: string): BrakeLedger {
    const known = this.#ledgers.get(space)
    if (known) return known
    const ledger = new BrakeLedger()
    this.#ledgers.set(space, ledger)
    return ledger
  }

  #removal(mailbox: string, key: string): Removal | undefined {
    return this.#at.get(mailbox)?.get(key)
  }

  #add(space: string, mailbox: Mailbox, key: string, { uid }: CopyFact): Removal {
    const { isWhole, join } = this.#deps
    const isOrphan =
      (!isWhole() || !this.#isPastStart || this.#unlooked.has(space)) && join.fact(space, key) === undefined
    const removal: Removal = {
      space,
      mailbox: mailbox.name,
      key,
      uid,
      isOrphan,
      isPreserved: false,
      state: 'new',
      atMs: 0,
    }
    const known = this.#removal(mailbox.name, key)
    if (known) this.#drop(known)
    const inMailbox = this.#at.get(mailbox.name) ?? new Map<string, Removal>()
    this.#at.set(mailbox.name, inMailbox.set(key, removal))
    this.#ledger(space).removals.add(removal)
    return removal
  }

  #drop(removal: Removal): void {
    const inMailbox = this.#at.get(removal.mailbox)
    if (inMailbox?.get(removal.key) === removal) inMailbox.delete(removal.key)
    if (inMailbox?.size === 0) this.#at.delete(removal.mailbox)
    this.#ledgers.get(removal.space)?.removals.delete(removal)
    if (removal.state === 'held') this.#deps.heldOrFreed(removal.space, [removal])
  }
}
