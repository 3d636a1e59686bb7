/**
 * How the clusters are called to which the placements of a space lead: by the name of the space's GrantedLocation, and of the
 * SyncTarget where the Location has another name than that. So a name stays whatever else the Location stands for.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { grantedName } from '../where-resolver/grantedNames.ts'
import type { PlacementJoin } from './placementJoin.ts'
import { type Destination, precedes } from './ways.ts'

export interface SpaceLocation {
  readonly mailbox: string
  /** Of all that the space has there; without colon. */
  readonly label: string
  /** Name of the GrantedLocation. */
  readonly granted: string
  /** The first by name of those that lead there. */
  readonly destination: Destination
}

export interface SpaceLocationsDeps {
  join: Pick<PlacementJoin, 'placementNames' | 'waysOf'> & { version(): number }
  /** Name of the InventoryBinding by which a space uses an inventory. */
  bindingTo: (space: string, inventory: string) => string | undefined
  /** What something of a space was called it is called no more. */
  renamed: (space: string) => void
}

export interface Locations {
  readonly version: number
  readonly byLabel: ReadonlyMap<string, SpaceLocation>
  readonly byMailbox: ReadonlyMap<string, SpaceLocation>
  /** In the order of the names that begin with their labels. */
  readonly sorted: readonly SpaceLocation[]
}

/** Spaces whose locations are kept at hand. */
const KEPT = 100

export class SpaceLocations {
  readonly #deps: SpaceLocationsDeps
  readonly #known = new BoundedCache<string, Locations>(KEPT)

  constructor(deps: SpaceLocationsDeps) {
    this.#deps = deps
  }

  of(space: string): Locations {
    const known = this.#known.peek(space)
    if (known?.version === this.#deps.join.version()) return known
    const now = this.#workOut(space)
    this.#known.set(space, now)
    for (const [mailbox, { label }] of known?.byMailbox ?? []) {
      const other = now.byMailbox.get(mailbox)
      if (!other || other.label === label) continue
      this.#deps.renamed(space)
      break
    }
    return now
  }

  /** As it was called last, where nothing leads there any more. */
  labelOf(space: string, mailbox: string): string | undefined {
    const before = this.#known.peek(space)?.byMailbox.get(mailbox)?.label
    return this.of(space).byMailbox.get(mailbox)?.label ?? before
  }

  #workOut(space: string): Locations {
    const { join, bindingTo } = this.#deps
    const first = new Map<string, Destination>()
    for (const name of join.placementNames(space)) {
      for (const [mailbox, [way]] of join.waysOf(space, name) ?? []) {
        const old = first.get(mailbox)
        if (way && (!old || precedes(way, old))) first.set(mailbox, way)
      }
    }
    const byLabel = new Map<string, SpaceLocation>()
    const byMailbox = new Map<string, SpaceLocation>()
    for (const [mailbox, destination] of first) {
      const { cluster, locationName, syncTarget = locationName } = destination
      const granted = grantedName(bindingTo(space, cluster) ?? cluster, locationName)
      const label = syncTarget === locationName ? granted : `${granted}+${syncTarget}`
      const location = { mailbox, label, granted, destination }
      byLabel.set(label, location)
      byMailbox.set(mailbox, location)
    }
    const sorted = [...byMailbox.values()].sort((a, b) => (`${a.label}:` < `${b.label}:` ? -1 : 1))
    return { version: join.version(), byLabel, byMailbox, sorted }
  }
}
