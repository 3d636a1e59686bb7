/**
 * The placement join: EdgePlacement × object → selections (in each {@link Workload}), EdgePlacement × SinglePlacementSlice →
 * mailboxes; their product is what each mailbox should hold. The product is never stored: every change names the copies,
 * SyncerConfigs and source objects that it may have touched, and the questions below answer for one of them at a time.
 */
import type { PlacementSpec, UpsyncSet } from './placementSpec.ts'
import { addTo, type ObjectFact, removeFrom, Workload } from './workload.ts'

/** A SyncTarget's mailbox, and the Location through which it was chosen. */
export interface Destination {
  readonly mailbox: string
  /** Logical-cluster id of the inventory space. */
  readonly cluster: string
  readonly locationName: string
}

export interface ChangeSink {
  copy(mailbox: string, key: string): void
  config(mailbox: string): void
  source(space: string, key: string): void
}

export interface Source {
  readonly space: string
  readonly fact: ObjectFact
  /** First by name of the Locations that lead to the mailbox: the one whose parameters count. */
  readonly location: Destination
}

interface Space {
  readonly workload: Workload
  readonly specs: Map<string, PlacementSpec>
  /** By placement name, then mailbox. Kept whether or not the placement exists. */
  readonly slices: Map<string, ReadonlyMap<string, Destination>>
}

const NOWHERE: ReadonlyMap<string, Destination> = new Map()

export class PlacementJoin {
  readonly #spaces = new Map<string, Space>()
  /** Mailbox → `space placement` pairs whose slice names it, for placements that exist. */
  readonly #byMailbox = new Map<string, Set<string>>()
  readonly #sink: ChangeSink

  constructor(sink: ChangeSink) {
    this.#sink = sink
  }

  workload(id: string): Workload {
    return this.#space(id).workload
  }

  fact(id: string, key: string): ObjectFact | undefined {
    return this.#spaces.get(id)?.workload.get(key)
  }

  setPlacement(id: string, name: string, spec: PlacementSpec): void {
    const space = this.#space(id)
    const isNew = !space.specs.has(name)
    space.specs.set(name, spec)
    if (isNew) for (const mailbox of destinations(space, name).keys()) addTo(this.#byMailbox, mailbox, pair(id, name))
    space.workload.setPlacement(name, spec)
    for (const mailbox of destinations(space, name).keys()) this.#sink.config(mailbox)
  }

  removePlacement(id: string, name: string): void {
    const space = this.#spaces.get(id)
    if (!space?.specs.has(name)) return
    const gone = destinations(space, name)
    space.workload.removePlacement(name)
    space.specs.delete(name)
    for (const mailbox of gone.keys()) {
      removeFrom(this.#byMailbox, mailbox, pair(id, name))
      this.#sink.config(mailbox)
    }
  }

  /** What the slice of the same name as the placement says; an empty list when there is none. */
  setDestinations(id: string, name: string, list: readonly Destination[]): void {
    const space = this.#space(id)
    const before = destinations(space, name)
    const slice = firstByLocation(list)
    if (slice.size === 0) space.slices.delete(name)
    else space.slices.set(name, slice)
    const after = destinations(space, name)
    // what is to be made comes before what is to go, so that a move seldom waits
    const touched = new Set<string>()
    for (const [mailbox, destination] of after) {
      const old = before.get(mailbox)
      if (!old) addTo(this.#byMailbox, mailbox, pair(id, name))
      if (!old || old.locationName !== destination.locationName || old.cluster !== destination.cluster)
        touched.add(mailbox)
    }
    for (const mailbox of before.keys()) {
      if (after.has(mailbox)) continue
      removeFrom(this.#byMailbox, mailbox, pair(id, name))
      touched.add(mailbox)
    }
    if (touched.size === 0) return
    const selected = space.workload.selectedBy(name)
    for (const mailbox of touched) for (const key of selected) this.#sink.copy(mailbox, key)
    for (const key of selected) this.#sink.source(id, key)
    for (const mailbox of touched) this.#sink.config(mailbox)
  }

  /** A Location's labels or annotations changed: its customized objects are to be projected anew. */
  touchLocation(cluster: string, locationName: string): void {
    for (const [id, space] of this.#spaces) {
      for (const name of space.specs.keys()) {
        for (const [mailbox, destination] of destinations(space, name)) {
          if (destination.cluster !== cluster || destination.locationName !== locationName) continue
          for (const key of space.workload.selectedBy(name)) {
            if (!space.workload.get(key)?.customized) continue
            this.#sink.copy(mailbox, key)
            this.#sink.source(id, key)
          }
        }
      }
    }
  }

  /** A Customizer of the space changed. `reference` is `namespace/name`. */
  touchCustomizer(id: string, reference: string): void {
    const space = this.#spaces.get(id)
    if (!space) return
    for (const key of space.workload.withCustomizer(reference)) {
      for (const mailbox of this.destinationsOf(id, key).keys()) this.#sink.copy(mailbox, key)
      this.#sink.source(id, key)
    }
  }

  /** Forgets a space's objects once it has no placements; its slices stay known. */
  dropWorkload(id: string): void {
    const space = this.#spaces.get(id)
    if (!space || space.specs.size > 0) return
    for (const key of [...space.workload.keys()]) space.workload.removeObject(key)
    if (space.slices.size === 0) this.#spaces.delete(id)
  }

  /** Whether objects of the space carry feedback that would stay there if the space were forgotten. */
  hasFeedback(id: string): boolean {
    return this.#spaces.get(id)?.workload.hasFeedback ?? false
  }

  isWorkloadSpace(id: string): boolean {
    return (this.#spaces.get(id)?.specs.size ?? 0) > 0
  }

  /** Spaces with a placement that leads to the mailbox. */
  spacesOf(mailbox: string): Set<string> {
    return new Set([...(this.#byMailbox.get(mailbox) ?? [])].map(entry => unpair(entry)[0]))
  }

  /** Where one object of one space goes. */
  destinationsOf(id: string, key: string): Map<string, Destination> {
    const space = this.#spaces.get(id)
    const found = new Map<string, Destination>()
    if (!space) return found
    for (const name of space.workload.selectionOf(key).placements) {
      for (const destination of destinations(space, name).values()) keepFirst(found, destination)
    }
    return found
  }

  wantsState(id: string, key: string): boolean {
    return this.#spaces.get(id)?.workload.selectionOf(key).wantsState ?? false
  }

  /** What a mailbox's copy of an object is made from; empty when the mailbox should not hold it. Newest source first. */
  sourcesOf(mailbox: string, key: string): Source[] {
    const found = new Map<string, Source>()
    for (const entry of this.#byMailbox.get(mailbox) ?? []) {
      const [id, name] = unpair(entry)
      const space = this.#spaces.get(id)!
      if (!space.workload.selects(name, key)) continue
      const location = space.slices.get(name)!.get(mailbox)!
      const old = found.get(id)
      if (old && !precedes(location, old.location)) continue
      found.set(id, { space: id, fact: space.workload.get(key)!, location })
    }
    return [...found.values()].sort((a, b) => b.fact.revision - a.fact.revision || (a.space < b.space ? -1 : 1))
  }

  /** Everything that a mailbox should hold, one (the newest) fact for each object, unordered. */
  contentOf(mailbox: string): Map<string, ObjectFact> {
    const content = new Map<string, ObjectFact>()
    for (const entry of this.#byMailbox.get(mailbox) ?? []) {
      const [id, name] = unpair(entry)
      const { workload } = this.#spaces.get(id)!
      for (const key of workload.selectedBy(name)) {
        const fact = workload.get(key)!
        const old = content.get(key)
        if (!old || fact.revision > old.revision) content.set(key, fact)
      }
    }
    return content
  }

  /** Upsync sets of every placement that leads to the mailbox, with repetitions. */
  upsyncOf(mailbox: string): UpsyncSet[] {
    return [...(this.#byMailbox.get(mailbox) ?? [])].flatMap(entry => {
      const [id, name] = unpair(entry)
      return [...this.#spaces.get(id)!.specs.get(name)!.upsync]
    })
  }

  /** Whether any placement leads to the mailbox. */
  isChosen(mailbox: string): boolean {
    return this.#byMailbox.has(mailbox)
  }

  /** Whether some object in this Namespace should be in the mailbox. */
  needsNamespace(mailbox: string, namespace: string): boolean {
    for (const entry of this.#byMailbox.get(mailbox) ?? []) {
      const [id, name] = unpair(entry)
      const { workload } = this.#spaces.get(id)!
      for (const key of workload.inNamespace(namespace)) if (workload.selects(name, key)) return true
    }
    return false
  }

  #space(id: string): Space {
    let space = this.#spaces.get(id)
    if (!space) {
      const created: Space = {
        workload: new Workload((name, key, change) => this.#selectionChanged(id, name, key, change)),
        specs: new Map(),
        slices: new Map(),
      }
      space = created
      this.#spaces.set(id, space)
    }
    return space
  }

  #selectionChanged(id: string, name: string, key: string, change: 'joined' | 'left' | 'changed'): void {
    this.#sink.source(id, key)
    for (const mailbox of destinations(this.#spaces.get(id)!, name).keys()) {
      this.#sink.copy(mailbox, key)
      if (change !== 'changed') this.#sink.config(mailbox)
    }
  }
}

/** A slice counts only beside its placement. */
function destinations(space: Space, name: string): ReadonlyMap<string, Destination> {
  return space.specs.has(name) ? (space.slices.get(name) ?? NOWHERE) : NOWHERE
}

function firstByLocation(list: readonly Destination[]): Map<string, Destination> {
  const found = new Map<string, Destination>()
  for (const destination of list) keepFirst(found, destination)
  return found
}

function keepFirst(found: Map<string, Destination>, destination: Destination): void {
  const old = found.get(destination.mailbox)
  if (!old || precedes(destination, old)) found.set(destination.mailbox, destination)
}

function precedes(a: Destination, b: Destination): boolean {
  return a.locationName !== b.locationName ? a.locationName < b.locationName : a.cluster < b.cluster
}

// Space ids hold no blanks.
const pair = (id: string, name: string) => `${id} ${name}`
const unpair = (entry: string): [id: string, name: string] => {
  const blank = entry.indexOf(' ')
  return [entry.slice(0, blank), entry.slice(blank + 1)]
}
