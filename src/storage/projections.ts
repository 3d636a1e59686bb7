/**
 * The projections of a store: derived from its events inside each commit, before any reader, watcher or writer receives it. They sit by
 * resource, then space, so an event that no projection wants costs one look into a map.
 */
import { rangeHolds } from './keys.ts'
import type { Projection, Range, Revision, Stored, StoreEvent } from './store.ts'

interface ProjectionsOptions {
  /** Present content of a range; the newest commit is in it. */
  items: (range: Range) => Iterable<Stored>
  revision: () => Revision
  logger: { error(obj: object, msg: string): void }
}

interface Entry {
  readonly range: Range
  readonly projection: Projection
  /** Revision of its last reset, which covers the whole commit. */
  through: Revision
  /** Its last reset threw: what it holds counts for nothing until one succeeds. */
  isBroken: boolean
}

/** The projections of one resource, or of all. No empty sets inside. */
interface Place {
  readonly everywhere: Set<Entry>
  readonly bySpace: Map<string, Set<Entry>>
}

export class Projections {
  readonly #options: ProjectionsOptions
  /** By resource, then group; only what somebody projects, for the kinds that users define come and go. */
  readonly #resources = new Map<string, Map<string, Place>>()
  readonly #all = newPlace()
  #ofAll = 0

  constructor(options: ProjectionsOptions) {
    this.#options = options
  }

  /** @throws what `reset` throws; then it is not added */
  add(range: Range, projection: Projection): () => void {
    const { revision } = this.#options
    const entry: Entry = { range, projection, through: revision(), isBroken: false }
    projection.reset(this.#options.items(range), entry.through)
    const place = this.#placeOf(range)
    const { space } = range
    const entries = space === undefined ? place.everywhere : (place.bySpace.get(space) ?? new Set())
    entries.add(entry)
    if (space !== undefined) place.bySpace.set(space, entries)
    if (place === this.#all) this.#ofAll++
    return () => {
      if (!entries.delete(entry)) return
      if (place === this.#all) this.#ofAll--
      if (space !== undefined && entries.size === 0 && place.bySpace.get(space) === entries) place.bySpace.delete(space)
      this.#prune(range, place)
    }
  }

  /** One commit, which the readers' index already holds. Never throws. */
  apply(events: readonly StoreEvent[]): void {
    for (const event of events) {
      const place = this.#resources.get(event.key.resource)?.get(event.key.group)
      if (place !== undefined) this.#notify(place, event)
      if (this.#ofAll > 0) this.#notify(this.#all, event)
    }
  }

  #notify({ everywhere, bySpace }: Place, event: StoreEvent): void {
    for (const entry of everywhere) this.#applyTo(entry, event)
    for (const entry of bySpace.get(event.key.space) ?? []) this.#applyTo(entry, event)
  }

  #applyTo(entry: Entry, event: StoreEvent): void {
    if (event.revision <= entry.through || !rangeHolds(entry.range, event.key)) return
    if (!entry.isBroken) {
      try {
        entry.projection.apply(event)
        return
      } catch (error) {
        this.#failed(entry, error, 'a projection of the store threw; it is built anew')
      }
    }
    this.#rebuild(entry)
  }

  #rebuild(entry: Entry): void {
    const wasBroken = entry.isBroken
    entry.through = this.#options.revision()
    try {
      entry.projection.reset(this.#options.items(entry.range), entry.through)
      entry.isBroken = false
    } catch (error) {
      entry.isBroken = true
      if (!wasBroken)
        this.#failed(entry, error, 'a projection of the store cannot be built; it is tried again with each event')
    }
  }

  #failed({ range }: Entry, error: unknown, message: string): void {
    this.#options.logger.error({ err: error, ...range }, message)
  }

  #placeOf({ group, resource }: Range): Place {
    if (group === undefined || resource === undefined) return this.#all
    const groups = this.#resources.get(resource) ?? new Map<string, Place>()
    this.#resources.set(resource, groups)
    const place = groups.get(group) ?? newPlace()
    groups.set(group, place)
    return place
  }

  #prune({ group = '', resource = '' }: Range, place: Place): void {
    const groups = this.#resources.get(resource)
    if (place.everywhere.size > 0 || place.bySpace.size > 0 || groups?.get(group) !== place) return
    groups.delete(group)
    if (groups.size === 0) this.#resources.delete(resource)
  }
}

function newPlace(): Place {
  return { everywhere: new Set(), bySpace: new Map() }
}
