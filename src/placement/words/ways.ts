/** How a slice leads to mailboxes: by which Locations, in which order. */

/** A SyncTarget's mailbox, and the Location through which it was chosen. */
export interface Destination {
  readonly mailbox: string
  /** Logical-cluster id of the inventory space. */
  readonly cluster: string
  readonly locationName: string
  /** The name of the SyncTarget; absent where nobody says. */
  readonly syncTarget?: string
}

/** The name of the SyncTarget where it is not that of the Location. */
export function otherTarget({ locationName, syncTarget }: Pick<Destination, 'locationName' | 'syncTarget'>) {
  return syncTarget !== undefined && syncTarget !== locationName && { syncTarget }
}

/** By mailbox: the Locations that lead there, first by name first. */
export type Ways = ReadonlyMap<string, readonly Destination[]>

export function waysOf(list: readonly Destination[]): Ways {
  const ways = new Map<string, Destination[]>()
  for (const way of list) {
    const others = ways.get(way.mailbox)
    if (others) others.push(way)
    else ways.set(way.mailbox, [way])
  }
  for (const several of ways.values()) if (several.length > 1) several.sort((a, b) => (precedes(a, b) ? -1 : 1))
  return ways
}

export function sameWays(a: readonly Destination[], b: readonly Destination[]): boolean {
  return (
    a.length === b.length &&
    a.every((way, i) => way.locationName === b[i]!.locationName && way.cluster === b[i]!.cluster)
  )
}

export function precedes(a: Destination, b: Destination): boolean {
  return a.locationName !== b.locationName ? a.locationName < b.locationName : a.cluster < b.cluster
}
