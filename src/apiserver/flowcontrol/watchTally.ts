/**
 * Watches and space streams that are open, counted by owner and by watched place. Plain data, which threads of a server exchange: its
 * bounds are those of all of them.
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

/** Watched place; `''` for all of a level. */
export interface WatchedPlace {
  readonly space: string
  readonly resource: string
  readonly namespace: string
}

/** Also a change of one: then its counts may be negative. No entries for nothing. */
export interface WatchTally {
  /** How many there are. */
  open: number
  /** By weight, as all that follow: of all, and of all but syncers. */
  total: number
  others: number
  readonly spaces: Map<string, number>
  readonly users: Map<string, number>
  /** By mailbox. */
  readonly syncers: Map<string, number>
  /** How many, by {@link placeId}. */
  readonly places: Map<string, number>
}

export function emptyTally(): WatchTally {
  return { open: 0, total: 0, others: 0, spaces: new Map(), users: new Map(), syncers: new Map(), places: new Map() }
}

/** One watch comes or goes. */
export function countWatch(tally: WatchTally, owner: WatchOwner, place: WatchedPlace, one: 1 | -1): void {
  const { spaces, user, isSyncer, weight } = owner
  const by = one * weight
  tally.open += one
  tally.total += by
  change(tally.places, placeId(place), one)
  if (isSyncer) {
    change(tally.syncers, spaces.at(-1)!, by)
    return
  }
  tally.others += by
  for (const space of spaces) change(tally.spaces, space, by)
  change(tally.users, user, by)
}

/** `sign`: -1 takes out of it what was added before. */
export function addTally(tally: WatchTally, more: WatchTally, sign: 1 | -1 = 1): void {
  tally.open += sign * more.open
  tally.total += sign * more.total
  tally.others += sign * more.others
  for (const counts of ['spaces', 'users', 'syncers', 'places'] as const)
    for (const [key, count] of more[counts]) change(tally[counts], key, sign * count)
}

/** No part holds NUL. Groups share a place. */
export function placeId({ space, resource, namespace }: WatchedPlace): string {
  return `${space}\0${resource}\0${namespace}`
}

function change(counts: Map<string, number>, key: string, by: number): void {
  const left = (counts.get(key) ?? 0) + by
  if (left === 0) counts.delete(key)
  else counts.set(key, left)
}
