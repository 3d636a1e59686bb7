/**
 * Watches and space streams that are open. They stay, so no queue can help. A space has a share of them, with all spaces below it; each of
 * these has half of that, and so on. A user has a share, too. A part of all is for syncers alone, and one mailbox needs few. One with a
 * long selector counts as several: it takes memory, and each change is held against all of it. Where several threads serve them, the bounds
 * are those of all together.
 */

import {
  addTally,
  countWatch,
  emptyTally,
  placeId,
  type WatchedPlace,
  type WatchOwner,
  type WatchTally,
} from './watchTally.ts'

/** Parts of a selector that count as a watch: as many take as long to evaluate as an event takes to send. */
export const SELECTOR_PARTS = 4
/** Share of all watches for one space, or one user. */
export const SHARE = 1 / 4
/** Share of all watches that a space may have however far down it is, while those above it have not had theirs. */
export const LEAST_SHARE = 1 / 32
/** Share of all watches for syncers alone. */
export const FOR_SYNCERS = 1 / 4
/** Share of all watches for the syncer of one mailbox. It needs one. */
export const SYNCER_SHARE = 1 / 200

/** Number of watches on a change, by which it is charged. */
export interface WatchCounts {
  of(space: string, resource: string, namespace: string): number
}

export class WatchBudget implements WatchCounts {
  readonly #limit: number
  /** Watches of this thread. */
  #open = 0
  /** Watches of all threads of the server, as of their latest messages. */
  readonly #all = emptyTally()
  #changed: ((owner: WatchOwner, place: WatchedPlace, one: 1 | -1) => void) | undefined

  constructor(limit: number) {
    this.#limit = limit
  }

  /** How many there are here. */
  get open(): number {
    return this.#open
  }

  /** With those of other threads. */
  get all(): Readonly<WatchTally> {
    return this.#all
  }

  /** Called for each watch that comes or goes here. To be called once. */
  onChange(changed: (owner: WatchOwner, place: WatchedPlace, one: 1 | -1) => void): void {
    this.#changed = changed
  }

  /** Those of other threads have changed. */
  add(change: WatchTally, sign: 1 | -1 = 1): void {
    addTally(this.#all, change, sign)
  }

  /** Counts one until `give`; false when there is no room for it. */
  admit(owner: WatchOwner, place: WatchedPlace): boolean {
    const { isExempt } = owner
    if (!isExempt && !this.#hasRoom(owner)) return false
    this.#count(owner, place, 1)
    return true
  }

  release(owner: WatchOwner, place: WatchedPlace): void {
    this.#count(owner, place, -1)
  }

  of(space: string, resource: string, namespace: string): number {
    if (this.#all.places.size === 0) return 0
    return this.#in(space, resource, namespace) + this.#in('*', resource, namespace)
  }

  #in(space: string, resource: string, namespace: string): number {
    const at = (resource: string, namespace: string): number =>
      this.#all.places.get(placeId({ space, resource, namespace })) ?? 0
    // streams, then watches
    return at('', '') + at(resource, '') + (namespace === '' ? 0 : at(resource, namespace))
  }

  #count(owner: WatchOwner, place: WatchedPlace, one: 1 | -1): void {
    this.#open += one
    countWatch(this.#all, owner, place, one)
    this.#changed?.(owner, place, one)
  }

  #hasRoom({ spaces, user, isSyncer, weight }: WatchOwner): boolean {
    const all = this.#all
    const fits = (taken: number | undefined, share: number): boolean =>
      (taken ?? 0) + weight <= Math.ceil(this.#limit * share)
    if (!fits(all.total, 1)) return false
    if (isSyncer) return fits(all.syncers.get(spaces.at(-1)!), SYNCER_SHARE)
    if (!fits(all.others, 1 - FOR_SYNCERS) || !fits(all.users.get(user), SHARE)) return false
    return spaces.every((space, depth) => fits(all.spaces.get(space), Math.max(SHARE / 2 ** depth, LEAST_SHARE)))
  }
}

/** As how many a watch counts whose selectors have so many parts. */
export function watchWeight(selectorParts: number): number {
  return 1 + Math.floor(selectorParts / SELECTOR_PARTS)
}
