/**
 * The brake on deletions. A deletion by name passes, of an object as well as of an EdgePlacement with all that it had. Copies may be
 * unwanted for another reason: a selector, a label, a Location, a grant, a binding, a deleted Namespace, a restored store. They pass while
 * they are few and leave no EdgePlacement empty. Else they are held: the copies stay, the EdgePlacements that had them report it, and they
 * go when one of these confirms just this.
 *
 * A copy that another space waits for counts by number, too. It empties no EdgePlacement: the object stays in its cluster.
 *
 * Removals by a space's changes are judged after all work that these caused: the last copy is known before the first one goes. Removals
 * found at a start are judged when all mailboxes are known, because deletions by name are not remembered. A hold is no state that could be
 * lost: it follows from the mailboxes. The time at which it began, which is part of its hash, is read from the EdgePlacements.
 */
import type { KubeObject } from '../../../apimachinery/object.ts'
import { timestamp } from '../../../apimachinery/timestamp.ts'
import type { Clock } from '../../../client/clock.ts'
import { isNamespaceKey, isShared, parseObjectKey } from '../../../placement/words/names.ts'
import { CONFIRM_DELETION_ANNOTATION } from '../../../placement/words/placement.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { CopyFact, Mailbox } from '../mailboxes/mailbox.ts'
import type { LostCopies, SourceChange } from '../signals/signals.ts'
import { BrakeFacts, type BrakeFactsDeps, isAnyOf, joined, type KeysByMailbox } from './brakeFacts.ts'
import {
  type BrakeLedger,
  type HeldRemovals,
  heldSince,
  holdOf,
  type Order,
  planHash,
  type Removal,
} from './brakeLedger.ts'
import { UnwantedCopies, type UnwantedCopiesDeps } from './unwantedCopies.ts'

interface BrakeDeps extends BrakeFactsDeps, Omit<UnwantedCopiesDeps, 'isThere' | 'dropped'> {
  join: BrakeFactsDeps['join'] & Pick<PlacementJoin, 'workload'>
  clock: Clock
  /** Whether a pause keeps all in a mailbox that its space wants no more. */
  keepsAll: (space: string, mailbox: string) => boolean
  /** The copies are to be looked at again. */
  again: (copies: Iterable<{ readonly mailbox: string; readonly key: string }>, space: string) => void
  /** Copies stay from now on although their space wants them no more, or do so no more. */
  stays: (space: string, copies: readonly { readonly mailbox: string; readonly key: string }[]) => void
  /** No copy is left that the space wants no more. */
  emptied: (space: string) => void
  /** {@link Brake.holdOf} answers otherwise. */
  report: (space: string, placement: string) => void
}

/** By which copies of one moment are judged. */
interface Circumstances {
  /** Removals that are new on the list. Later ones are for the next judgement. */
  readonly judged: ReadonlySet<Removal>
  readonly isEmptying: (removal: Removal) => boolean
  /** Keys that go soon with their Namespace, by mailbox. */
  readonly doomed: KeysByMailbox
}

export class Brake {
  readonly #deps: BrakeDeps
  readonly #list: UnwantedCopies
  readonly #facts: BrakeFacts
  readonly #holds = new Map<string, HeldRemovals>()
  /** Spaces that are judged once more is known. */
  readonly #waiting = new Set<string>()
  /** All that was in the mailboxes at the start is looked at, once. */
  #looking: Promise<void> | undefined

  constructor(deps: BrakeDeps) {
    this.#deps = deps
    this.#list = new UnwantedCopies({
      ...deps,
      isThere: (space, key) => deps.join.fact(space, key) !== undefined,
      dropped: removal => {
        const { space, state, isPaused } = removal
        if (state === 'held' || isPaused) deps.stays(space, [removal])
        if (this.isPending(space)) return
        if (this.#list.known(space)?.going.size) deps.ask(space)
        deps.emptied(space)
      },
    })
    this.#facts = new BrakeFacts(deps, this.#list)
  }

  /** More is known than before. */
  release(): void {
    if (this.#waiting.size === 0) return
    const spaces = [...this.#waiting]
    this.#waiting.clear()
    for (const space of spaces) this.#deps.ask(space)
  }

  /**
   * Submits a copy that its owner wants no more. The answer says whether it may go now, or pass to another space; otherwise the copy is
   * looked at again once it may.
   */
  submit(mailbox: Mailbox, key: string, copy: CopyFact): boolean {
    const space = copy.owner
    if (space === '') return true
    const known = this.#list.find(mailbox.name, key)
    const removal = this.#list.list(space, mailbox, key, copy)
    if (removal.isPaused) {
      removal.isPaused = false
      this.#deps.stays(space, [removal])
    }
    if (removal.state === 'held' && removal.isOfEmptied && this.#facts.isAwaited(removal)) {
      removal.state = 'new'
      this.#deps.stays(space, [removal])
    }
    if (removal.state === 'free') return true
    removal.order ??= this.#list.ledger(space).orderFor(mailbox.name, key)
    if (this.#facts.isOrdered(removal)) {
      removal.state = 'free'
      if (known === removal) this.#deps.ask(space)
      return true
    }
    if (removal.state === 'new') this.#deps.ask(space)
    return false
  }

  /** Whether the cluster is to keep a copy that goes because its EdgePlacement was deleted. */
  isPreserved(mailbox: string, key: string): boolean {
    return this.#list.find(mailbox, key)?.order?.preserve ?? false
  }

  /** A pause keeps the copy: it is judged anew when that ends, with all that it kept. */
  paused(mailbox: Mailbox, key: string): void {
    const copy = mailbox.copies.get(key)
    if (copy && copy.owner !== '') this.#pause(this.#list.list(copy.owner, mailbox, key, copy))
  }

  #pause(removal: Removal): void {
    if (removal.state === 'free') removal.state = 'new'
    if (removal.isPaused) return
    removal.isPaused = true
    this.#deps.stays(removal.space, [removal])
  }

  /** The copy was found wanted, or not there (any more): what has changed since then counts. */
  settled(mailbox: Mailbox, key: string): void {
    const removal = this.#list.find(mailbox.name, key)
    if (!removal || this.#deps.isUnwanted(mailbox, key) === true) return
    this.#list.drop(removal)
    if (removal.state !== 'free') this.#deps.ask(removal.space)
  }

  /** Copies that a placement has lost. A key that is named before all is known is no loss, unless the placement is deleted by name. */
  lost(space: string, placement: string, what: LostCopies): void {
    if (what.mailboxes.length === 0 || what.keys.length === 0) return
    if (!this.#looking && !this.#list.known(space)?.isDeparting(placement)) return
    const ledger = this.#list.ledger(space)
    ledger.lose(placement, what)
    if (ledger.isScheduled) return
    ledger.isScheduled = true
    // behind all that this turn of the loop names
    queueMicrotask(() => {
      ledger.isScheduled = false
      this.#deps.ask(space)
    })
  }

  /** A reason that retains copies of a space may be over. */
  lookAgain(space: string): void {
    if (this.isPending(space)) this.#deps.ask(space)
  }

  /**
   * Whether it would be held that copies of a space go, as they are wanted no more. `going`: their keys, by mailbox; `kept`: of those that
   * would be wanted no more either, and that a pause keeps.
   */
  wouldHold(space: string, going: KeysByMailbox, kept: KeysByMailbox): boolean {
    const recent = this.#list.known(space)?.recent(this.#deps.clock.now()) ?? new Map<string, Set<string>>()
    return this.#facts.isTooMuch(space, joined(recent, going), joined(going, kept))
  }

  /** Takes in what an EdgePlacement says of holds. */
  placementSeen(space: string, name: string, { metadata, status }: KubeObject): void {
    const confirmed = metadata.annotations?.[CONFIRM_DELETION_ANNOTATION]
    const since = heldSince(status)
    const ledger = this.#list.known(space)
    ledger?.arrive(name)
    if (confirmed === ledger?.confirmed.get(name) && (since === undefined || ledger?.since !== undefined)) return
    if (confirmed === undefined && since === undefined) {
      ledger?.confirmed.delete(name)
      return
    }
    const { reported, inherited, confirmed: confirmations } = this.#list.ledger(space)
    if (confirmed === undefined) confirmations.delete(name)
    else confirmations.set(name, confirmed)
    if (since !== undefined && !reported.has(name)) inherited.set(name, since)
    this.#deps.ask(space)
  }

  /** An EdgePlacement is gone; to be called before it is taken out of the join. `order`: it was deleted by name, and what it had goes. */
  placementGone(space: string, name: string, order?: Order): void {
    if (order) this.#list.ledger(space).depart(name, order)
    this.#list.known(space)?.forget(name)
    this.#deps.ask(space)
  }

  sourceChanged(space: string, key: string, what: SourceChange): void {
    if (what === 'came') this.sourceCame(space, key)
    else if (what === 'deleted' || what === 'left') this.sourceGone(space, key, what === 'deleted')
    else if (what === 'closing') {
      const namespace = parseObjectKey(key).name
      this.namespaceGoing(space, namespace, this.#deps.join.workload(space).inNamespace(namespace))
    }
  }

  /** An object of a workload space is there no more (`byName`), or is none that travels any more. */
  sourceGone(space: string, key: string, byName: boolean): void {
    if (byName) this.#list.known(space)?.withdrawn.delete(key)
    else this.#list.ledger(space).withdrawn.add(key)
    // with the last of its copies its deletion is over
    if (isNamespaceKey(key) && this.#list.known(space)?.going.has(parseObjectKey(key).name)) this.#deps.ask(space)
    this.#lookAgainAt(space, key)
  }

  /** An object of a workload space is there. */
  sourceCame(space: string, key: string): void {
    const ledger = this.#list.known(space)
    ledger?.withdrawn.delete(key)
    if (!ledger) return
    // it may hand its copies over
    this.#lookAgainAt(space, key)
    if (ledger.going.size > 0 && isNamespaceKey(key)) ledger.going.delete(parseObjectKey(key).name)
  }

  /** A Namespace of a workload space is being deleted, with the objects in it. */
  namespaceGoing(space: string, namespace: string, keys: Iterable<string>): void {
    const { going } = this.#list.ledger(space)
    if (!going.has(namespace)) going.set(namespace, new Set(keys))
  }

  /** Ends the hold over a mailbox: its content is between its SyncTarget and its syncer, or it is emptied. */
  mailboxLeaves(mailbox: string): void {
    const spaces = new Set<string>()
    for (const { space } of this.#list.in(mailbox)) spaces.add(space)
    for (const space of spaces) this.#deps.ask(space)
  }

  /** Whether copies are there that the space wants no more, or may be: until that is over it is followed. */
  isPending(space: string): boolean {
    return this.#list.known(space)?.isPending ?? false
  }

  /** The space is followed no more. */
  forget(space: string): void {
    this.#list.forget(space)
    this.#holds.delete(space)
  }

  /** Held removals of a placement; `unknown` before the first judgement. */
  holdOf(space: string, placement: string): HeldRemovals | 'unknown' | undefined {
    const ledger = this.#list.known(space)
    if (ledger?.reported.has(placement)) return this.#holds.get(space)
    return ledger?.inherited.has(placement) ? 'unknown' : undefined
  }

  /** Whether something of it was held when the server ended, and nobody has looked yet what of that still is. */
  isUnsure(space: string): boolean {
    return (this.#list.known(space)?.inherited.size ?? 0) > 0
  }

  /** Copies of a space that stay although it wants them no more. */
  *stayingIn(space: string): Generator<Removal> {
    for (const removal of this.#list.known(space)?.removals ?? [])
      if (removal.state === 'held' || removal.isPaused) yield removal
  }

  /** Why a copy stays that its space wants no more; `undefined`: it does not. */
  staysAs(space: string, mailbox: string, key: string): 'held' | 'paused' | undefined {
    const removal = this.#list.find(mailbox, key)
    if (removal?.space !== space) return undefined
    return removal.state === 'held' ? 'held' : removal.isPaused ? 'paused' : undefined
  }

  /** The hold of a space, and the first by name of the placements that report it. */
  holdIn(space: string): { readonly hold: HeldRemovals; readonly placement: string | undefined } | undefined {
    const hold = this.#holds.get(space)
    return hold && { hold, placement: [...(this.#list.known(space)?.reported ?? [])].sort()[0] }
  }

  async judge(space: string): Promise<void> {
    const { isWhole, isKnown, clock, emptied } = this.#deps
    if (isWhole()) {
      this.#looking ??= this.#list.lookAtAll()
      await this.#looking
    }
    if (!isWhole() || !isKnown(space)) {
      if (space !== '') this.#waiting.add(space)
      return
    }
    const judged = await this.#list.complete(space)
    const ledger = this.#list.known(space)
    if (!ledger) return
    const isEmptying = await this.#facts.emptying(space, ledger, judged)
    const doomed = await this.#facts.doomed(space, ledger)
    this.#decide(space, ledger, { judged, isEmptying, doomed })
    if (!ledger.isPending) emptied(space)
    if (ledger.isEmpty(clock.now())) this.#list.forget(space)
  }

  #decide(space: string, ledger: BrakeLedger, { judged, isEmptying, doomed }: Circumstances): void {
    const nowMs = this.#deps.clock.now()
    const again: Removal[] = []
    const before = new Set(ledger.held())
    const free = (removal: Removal) => {
      ledger.free(removal, nowMs)
      again.push(removal)
    }
    const keptIn = new Map<string, boolean>()
    const open: Removal[] = []
    for (const removal of ledger.removals) {
      const { mailbox, key } = removal
      const isAllKept = keptIn.get(mailbox) ?? this.#deps.keepsAll(space, mailbox)
      keptIn.set(mailbox, isAllKept)
      if (isAllKept || this.#deps.join.fact(space, key)?.isPaused) this.#pause(removal)
      // the work on it finds that the pause is over
      else if (removal.isPaused) again.push(removal)
      else if (removal.state === 'held' || (removal.state === 'new' && judged.has(removal))) open.push(removal)
    }
    for (const removal of open) {
      if (!this.#facts.isOrdered(removal) && !follows(removal)) continue
      removal.state = 'free'
      again.push(removal)
    }
    const fresh = open.filter(({ state }) => state === 'new')
    const isHeld = fresh.length > 0 && this.#facts.isTooMuch(space, joined(ledger.recent(nowMs), doomed), doomed)
    for (const removal of fresh) {
      removal.isOfEmptied = !isHeld && isEmptying(removal)
      if (isHeld || removal.isOfEmptied) [removal.state, removal.atMs] = ['held', nowMs]
      else free(removal)
    }
    for (const removal of this.#released(space, ledger, nowMs)) free(removal)
    this.#reportHold(space, ledger)
    const changed = [...ledger.removals].filter(one => before.has(one) !== (one.state === 'held'))
    if (changed.length > 0) this.#deps.stays(space, changed)
    this.#deps.again(again, space)
  }

  /** Held copies that may go: all after a confirmation; those without known placements when all of the possible ones are gone. */
  #released(space: string, ledger: BrakeLedger, nowMs: number): Removal[] {
    const held = ledger.held()
    if (held.length === 0) return []
    const { askers, inherited, confirmed } = ledger
    const names = new Set(this.#deps.join.placementNames(space))
    const unclear = held.filter(removal => !isAnyOf(removal.had.keys(), names))
    if (unclear.length > 0 && askers.size > 0 && !isAnyOf(askers, names)) {
      askers.clear()
      return unclear
    }
    if (unclear.length > 0 && askers.size === 0)
      for (const name of isAnyOf(inherited.keys(), names) ? inherited.keys() : names) askers.add(name)
    ledger.since ??= [...inherited.values()].sort()[0] ?? timestamp(new Date(nowMs))
    const hash = planHash(held, ledger.since)
    return this.#facts.concerned(space, ledger).some(name => confirmed.get(name) === hash) ? held : []
  }

  #reportHold(space: string, ledger: BrakeLedger): void {
    const held = ledger.held()
    const before = [...ledger.reported, ...ledger.inherited.keys()]
    ledger.reported = new Set(this.#facts.concerned(space, ledger))
    ledger.inherited.clear()
    if (held.length === 0) {
      ledger.since = undefined
      ledger.askers.clear()
      this.#holds.delete(space)
    } else {
      this.#holds.set(space, holdOf(held, ledger.since ?? ''))
    }
    for (const name of new Set([...before, ...ledger.reported])) this.#deps.report(space, name)
  }

  #lookAgainAt(space: string, key: string): void {
    this.#deps.again(
      [...this.#list.of(key)].filter(removal => removal.space === space),
      space,
    )
  }
}

/** Whether it waited until nothing needed it any more: what did has gone, and was judged. */
function follows({ key, had, isFromStart }: Removal): boolean {
  return isShared(key) && had.size === 0 && !isFromStart
}
