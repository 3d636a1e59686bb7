/**
 * Facts by which the brake judges, read anew each time from the join, the mailboxes and the list. Only {@link BrakeFacts.doomed} changes
 * something: it ends the deletion of a Namespace.
 */
import { setImmediate } from 'node:timers/promises'
import { isTooMuch, MAX_REMOVED } from '../../../placement/brake/removalLimits.ts'
import { isNamespaceKey, isShared } from '../../../placement/words/names.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { BrakeLedger, Removal } from './brakeLedger.ts'
import { TURN_WORK, type UnwantedCopies, type UnwantedCopiesDeps } from './unwantedCopies.ts'

export interface BrakeFactsDeps extends Pick<UnwantedCopiesDeps, 'mailboxes' | 'mailbox' | 'isKnown' | 'isUnwanted'> {
  join: Pick<PlacementJoin, 'fact' | 'isWorkloadSpace' | 'placementNames' | 'carrying' | 'sourcesOf'>
  /** Whether the present is known: all mailboxes, and what is placed. */
  isWhole: () => boolean
  /** Whether a space goes with all that is in it, or is gone. */
  isGoing: (space: string) => boolean
  /** Whether a mailbox is to be emptied, by the word of who administers the inventory about just this cluster. */
  isEvicted: (mailbox: string) => boolean
}

export type KeysByMailbox = ReadonlyMap<string, ReadonlySet<string>>

export class BrakeFacts {
  readonly #deps: BrakeFactsDeps
  readonly #list: UnwantedCopies

  constructor(deps: BrakeFactsDeps, list: UnwantedCopies) {
    this.#deps = deps
    this.#list = list
  }

  /** Whether a deletion by name removed the cause of the copy, or no placement is left that could confirm. */
  isOrdered({ space, mailbox, key, isOrphan, order }: Removal): boolean {
    const { join, isKnown, isGoing, isWhole, isEvicted } = this.#deps
    if (order || isEvicted(mailbox) || isGoing(space) || !join.isWorkloadSpace(space)) return true
    const ledger = this.#list.known(space)
    if (isOrphan || !isWhole() || !isKnown(space) || join.fact(space, key) !== undefined) return false
    return !ledger?.withdrawn.has(key) && !ledger?.isInGoingNamespace(key)
  }

  /** Whether another space takes the copy over: its object stays in the cluster, and nothing is emptied. */
  isAwaited({ space, mailbox, key }: Removal): boolean {
    return this.#deps.join.sourcesOf(mailbox, key).some(source => source.space !== space)
  }

  /** Which copies belong to an EdgePlacement that carries nothing any more, and not because its objects were edited one by one. */
  async emptying(
    space: string,
    ledger: BrakeLedger,
    judged: ReadonlySet<Removal>,
  ): Promise<(removal: Removal) => boolean> {
    const namesOf = ({ had, isFromStart, isOrphan }: Removal): string[] =>
      // of what was found at the start nobody remembers whose it was
      isFromStart && !isOrphan && had.size === 0
        ? this.#deps.join.placementNames(space)
        : [...had].flatMap(([name, isTaken]) => (isTaken ? [name] : []))
    const emptied = new Map<string, boolean>()
    const idOf = (name: string, key: string) => `${name} ${isShared(key)}`
    for (const removal of judged) {
      for (const name of namesOf(removal)) {
        const id = idOf(name, removal.key)
        if (!emptied.has(id)) emptied.set(id, !(await this.#carries(space, name, isShared(removal.key))))
      }
    }
    return removal =>
      (removal.isFromStart && ledger.inherited.size > 0) ||
      (!this.isAwaited(removal) && namesOf(removal).some(name => emptied.get(idOf(name, removal.key)) === true))
  }

  /** Copies that will go with Namespaces under deletion, up to the bound. The deletion of one ends with its last copy. */
  async doomed(space: string, ledger: BrakeLedger): Promise<KeysByMailbox> {
    const doomed = new Map<string, Set<string>>()
    // also in mailboxes that are closed
    const listed = new Set(ledger.going.size > 0 ? [...ledger.removals].map(({ key }) => key) : [])
    let [work, count] = [0, 0]
    for (const [namespace, keys] of [...ledger.going]) {
      const mailboxes = [...this.#deps.mailboxes()].filter(({ copies }) => copies.hasIn(namespace))
      for (const key of [...keys]) {
        let isPlaced = listed.has(key)
        for (const { name, copies } of mailboxes) {
          if (++work % TURN_WORK === 0) await setImmediate()
          if (copies.get(key)?.owner !== space) continue
          isPlaced = true
          if (this.#list.find(name, key)) continue
          doomed.set(name, (doomed.get(name) ?? new Set<string>()).add(key))
          if (++count > MAX_REMOVED) return doomed
        }
        if (!isPlaced && this.#deps.join.fact(space, key) === undefined) keys.delete(key)
      }
      if (keys.size === 0 && ledger.going.get(namespace) === keys) ledger.going.delete(namespace)
    }
    return doomed
  }

  /** Whether so many removals are to be held. `gone`: keys that will not remain. */
  isTooMuch(space: string, byMailbox: KeysByMailbox, gone: KeysByMailbox): boolean {
    return isTooMuch({ byMailbox, remains: name => this.#remains(space, name, gone.get(name)) })
  }

  /** Whether something of the space that is wanted stays in a mailbox; what came along is nothing, nor is what only a pause keeps. */
  #remains(space: string, name: string, gone: ReadonlySet<string> | undefined): boolean {
    const mailbox = this.#deps.mailbox(name)
    if (!mailbox) return false
    for (const [key, { owner, terminating }] of mailbox.copies) {
      if (terminating || owner !== space || isNamespaceKey(key)) continue
      if (this.#list.find(name, key) || gone?.has(key)) continue
      if (isShared(key) && !this.#isMeant(space, name, key)) continue
      if (this.#deps.isUnwanted(mailbox, key) !== true) return true
    }
    return false
  }

  /** Whether a space places an object for its own sake there. */
  #isMeant(space: string, mailbox: string, key: string): boolean {
    return this.#deps.join.sourcesOf(mailbox, key).some(source => source.space === space && !source.implied)
  }

  /** Whether an EdgePlacement brings something somewhere; what others need as well counts only beside the same. */
  async #carries(space: string, name: string, isAlsoShared: boolean): Promise<boolean> {
    let work = 0
    for (const isCarried of this.#deps.join.carrying(space, name, key => isAlsoShared || !isShared(key))) {
      if (isCarried) return true
      if (++work % TURN_WORK === 0) await setImmediate()
    }
    return false
  }

  /** The EdgePlacements whose copies are held. */
  concerned(space: string, ledger: BrakeLedger): string[] {
    const names = new Set(this.#deps.join.placementNames(space))
    const concerned = new Set<string>()
    for (const { had } of ledger.held()) {
      for (const name of isAnyOf(had.keys(), names) ? had.keys() : ledger.askers)
        if (names.has(name)) concerned.add(name)
    }
    return [...concerned]
  }
}

export function joined(a: KeysByMailbox, b: KeysByMailbox): KeysByMailbox {
  const all = new Map(a)
  for (const [mailbox, keys] of b) all.set(mailbox, new Set([...(all.get(mailbox) ?? []), ...keys]))
  return all
}

export function isAnyOf(names: Iterable<string>, known: ReadonlySet<string>): boolean {
  for (const name of names) if (known.has(name)) return true
  return false
}
