/**
 * Names of the clusters that a space's placements lead to: the GrantedLocation, and the SyncTarget where its name differs from the
 * Location's. So a name stays, whatever else the Location stands for.
 */

import { BoundedCache } from '../../../apimachinery/boundedCache.ts'
import { clusterLabel, grantedName } from '../../../placement/words/grantedNames.ts'
import { type Destination, precedes } from '../../../placement/words/ways.ts'
import type { Consents } from '../inventory/consents.ts'
import type { Inventory } from '../inventory/inventory.ts'
import { Signal } from '../signals/signals.ts'
import type { PlacementJoin } from './placementJoin.ts'

export interface SpaceLocation {
  readonly mailbox: string
  /** Label of all the space's objects there; without colon. */
  readonly label: string
  /** Name of the GrantedLocation. */
  readonly granted: string
  /** The same of all Locations of the space's placements that lead there; at most {@link MAX_NAMES}, in order. */
  readonly names: readonly string[]
  /** The first by name of those that lead there. */
  readonly destination: Destination
}

export interface SpaceLocationsDeps {
  join: Pick<PlacementJoin, 'placementNames' | 'waysOf' | 'version'>
  inventory: Pick<Inventory, 'target'>
  consents: Pick<Consents, 'bindingTo'>
}

export interface Locations {
  readonly version: number
  readonly byLabel: ReadonlyMap<string, SpaceLocation>
  readonly byMailbox: ReadonlyMap<string, SpaceLocation>
  /** To which nothing leads any more, as they were called last. */
  readonly former: ReadonlyMap<string, SpaceLocation>
  /** In the order of the names that begin with their labels. */
  readonly sorted: readonly SpaceLocation[]
}

/** Locations of one cluster that are named. */
const MAX_NAMES = 16
/** Spaces whose locations are kept at hand. */
const KEPT = 100

export class SpaceLocations {
  readonly #deps: SpaceLocationsDeps
  readonly #known = new BoundedCache<string, Locations>(KEPT)
  /** Clusters of a space, or their names, may be others. */
  readonly changed = new Signal<[space: string]>()
  /** A location of a space has another name than before. */
  readonly renamed = new Signal<[space: string]>()

  constructor(deps: SpaceLocationsDeps) {
    this.#deps = deps
  }

  of(space: string): Locations {
    const known = this.#known.peek(space)
    if (known?.version === this.#deps.join.version) return known
    const now = this.#workOut(space, known)
    this.#known.set(space, now)
    for (const [mailbox, { label, names }] of known?.byMailbox ?? []) {
      const other = now.byMailbox.get(mailbox)
      if (!other || (other.label === label && other.names.join() === names.join())) continue
      this.renamed.send(space)
      break
    }
    return now
  }

  /** As it was called last, where nothing leads there any more. */
  labelOf(space: string, mailbox: string): string | undefined {
    return this.behind(space, mailbox)?.label
  }

  /** Also where nothing leads any more: as it was called last, or by its SyncTarget. */
  behind(space: string, mailbox: string): SpaceLocation | undefined {
    const { byMailbox, byLabel, former } = this.of(space)
    const known = byMailbox.get(mailbox) ?? former.get(mailbox)
    const syncTarget = this.#deps.inventory.target(mailbox)?.name
    const target = known?.destination.locationName ?? syncTarget
    if (target === undefined) return undefined
    if (known && (byLabel.get(known.label) ?? known).mailbox === mailbox) return known
    const cluster = inventoryOf(mailbox)
    const granted = grantedName(this.#deps.consents.bindingTo(space, cluster) ?? cluster, target)
    const destination = { mailbox, cluster, locationName: target, syncTarget: syncTarget ?? target }
    // what leads elsewhere by now has taken the name
    const label = byLabel.has(granted) ? `${granted}+${mailbox}` : granted
    return { mailbox, label, granted, names: [granted], destination }
  }

  #workOut(space: string, before: Locations | undefined): Locations {
    const { join, consents } = this.#deps
    const first = new Map<string, Destination>()
    const names = new Map<string, Set<string>>()
    const grantedOf = ({ cluster, locationName }: Destination): string =>
      grantedName(consents.bindingTo(space, cluster) ?? cluster, locationName)
    for (const name of join.placementNames(space)) {
      for (const [mailbox, ways] of join.waysOf(space, name) ?? []) {
        const [way] = ways
        const old = first.get(mailbox)
        if (way && (!old || precedes(way, old))) first.set(mailbox, way)
        names.set(mailbox, new Set([...(names.get(mailbox) ?? []), ...ways.map(grantedOf)]))
      }
    }
    const byLabel = new Map<string, SpaceLocation>()
    const byMailbox = new Map<string, SpaceLocation>()
    for (const [mailbox, destination] of first) {
      const { locationName, syncTarget = locationName } = destination
      const granted = grantedOf(destination)
      const label = clusterLabel(granted, locationName, syncTarget)
      const all = [...(names.get(mailbox) ?? [])].sort().slice(0, MAX_NAMES)
      const location = { mailbox, label, granted, names: all, destination }
      byLabel.set(label, location)
      byMailbox.set(mailbox, location)
    }
    const sorted = inOrder([...byMailbox.values()])
    const former = new Map([...(before?.former ?? []), ...(before?.byMailbox ?? [])])
    for (const mailbox of byMailbox.keys()) former.delete(mailbox)
    return { version: join.version, byLabel, byMailbox, former, sorted }
  }
}

/** In the order of the names that begin with their labels. */
export function inOrder(locations: SpaceLocation[]): SpaceLocation[] {
  return locations.sort((a, b) => (`${a.label}:` < `${b.label}:` ? -1 : 1))
}

/** Id of the inventory of a mailbox. */
function inventoryOf(mailbox: string): string {
  return mailbox.slice(0, mailbox.indexOf('-mb-'))
}
