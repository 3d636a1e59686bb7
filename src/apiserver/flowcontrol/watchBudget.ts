/**
 * Watches and space streams that are open. They stay, so no queue can help: a space has a share of them, with all spaces below it,
 * and each of these half of that, and so on; so has a user. A part of all is for syncers alone, and one mailbox needs few. One with a long selector counts as several:
 * it takes memory, and each change is held against all of it.
 */

export interface WatchOwner {
  /** The own space, behind those above it. */
  readonly spaces: readonly string[]
  readonly user: string
  readonly isSyncer: boolean
  /** Always gets in. */
  readonly isExempt: boolean
  /** As how many it counts. */
  readonly weight: number
}

/** Parts of a selector that count as a watch: as many take as long to ask as an event takes to be told. */
const SELECTOR_PARTS = 4
/** Of all watches: what one space, or one user, may have. */
const SHARE = 1 / 4
/** Of all watches: what a space may have however far down it is, while those above it have not had theirs. */
const LEAST_SHARE = 1 / 32
/** Of all watches: what only syncers may use. */
const FOR_SYNCERS = 1 / 4
/** Of all watches: what the syncer of one mailbox may have. It needs one. */
const SYNCER_SHARE = 1 / 200

export class WatchBudget {
  readonly #limit: number
  #open = 0
  /** By weight, as all that follow. */
  #total = 0
  #others = 0
  readonly #spaces = new Map<string, number>()
  readonly #users = new Map<string, number>()
  readonly #syncers = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** How many there are. */
  get open(): number {
    return this.#open
  }

  /** Counts one until `give`; false when there is no room for it. */
  take(owner: WatchOwner): boolean {
    const { isExempt } = owner
    if (!isExempt && !this.#hasRoom(owner)) return false
    this.#count(owner, 1)
    return true
  }

  give(owner: WatchOwner): void {
    this.#count(owner, -1)
  }

  #count({ spaces, user, isSyncer, weight }: WatchOwner, one: 1 | -1): void {
    const by = one * weight
    this.#open += one
    this.#total += by
    if (isSyncer) {
      change(this.#syncers, spaces.at(-1)!, by)
      return
    }
    this.#others += by
    for (const space of spaces) change(this.#spaces, space, by)
    change(this.#users, user, by)
  }

  #hasRoom({ spaces, user, isSyncer, weight }: WatchOwner): boolean {
    const fits = (taken: number | undefined, share: number): boolean =>
      (taken ?? 0) + weight <= Math.ceil(this.#limit * share)
    if (!fits(this.#total, 1)) return false
    if (isSyncer) return fits(this.#syncers.get(spaces.at(-1)!), SYNCER_SHARE)
    if (!fits(this.#others, 1 - FOR_SYNCERS) || !fits(this.#users.get(user), SHARE)) return false
    return spaces.every((space, depth) => fits(this.#spaces.get(space), Math.max(SHARE / 2 ** depth, LEAST_SHARE)))
  }
}

/** As how many a watch counts whose selectors have so many parts. */
export function watchWeight(selectorParts: number): number {
  return 1 + Math.floor(selectorParts / SELECTOR_PARTS)
}

/** How many watches are told of a change, so that it can be charged for it. */
export class WatchCounts {
  /** By space, resource, namespace; `''` for all of a level. Groups are not told apart. */
  readonly #watches = new Map<string, Map<string, Map<string, number>>>()

  change(space: string, resource: string, namespace: string, by: 1 | -1): void {
    const resources = this.#watches.get(space) ?? new Map<string, Map<string, number>>()
    const namespaces = resources.get(resource) ?? new Map<string, number>()
    this.#watches.set(space, resources)
    resources.set(resource, namespaces)
    change(namespaces, namespace, by)
    if (namespaces.size === 0) resources.delete(resource)
    if (resources.size === 0) this.#watches.delete(space)
  }

  of(space: string, resource: string, namespace: string): number {
    if (this.#watches.size === 0) return 0
    return this.#in(space, resource, namespace) + this.#in('*', resource, namespace)
  }

  #in(space: string, resource: string, namespace: string): number {
    const resources = this.#watches.get(space)
    if (resources === undefined) return 0
    const namespaces = resources.get(resource)
    const streams = resources.get('')?.get('') ?? 0
    if (namespaces === undefined) return streams
    return streams + (namespaces.get('') ?? 0) + (namespace === '' ? 0 : (namespaces.get(namespace) ?? 0))
  }
}

function change(counts: Map<string, number>, key: string, by: number): void {
  const left = (counts.get(key) ?? 0) + by
  if (left === 0) counts.delete(key)
  else counts.set(key, left)
}
