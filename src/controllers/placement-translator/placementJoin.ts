/**
 * The placement join: EdgePlacement × object → selections (in each {@link Workload}), EdgePlacement × SinglePlacementSlice →
 * mailboxes; their product is what each mailbox should hold. The product is never stored: every change names the copies,
 * SyncerConfigs and source objects that it may have touched, and the questions below answer for one of them at a time.
 *
 * An object goes only where a Location leads on which it may be placed; what is refused everywhere counts as not selected there.
 */
import { SYNCER_CONFIGS } from '../../apimachinery/placement.ts'
import type { Allowance, Told } from './allowance.ts'
import { namespaceKey, parseObjectKey } from './names.ts'
import type { PlacementSpec } from './placementSpec.ts'
import { type SpaceSets, shareUpsync, type UpsyncShare } from './upsyncShare.ts'
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
  /** What the placement is told may be another now. */
  placement(space: string, name: string): void
}

/** Who says what may go where. */
export interface Consent {
  allowance(space: string, way: Destination): Allowance
  /** Whether any allowance may be uncertain. */
  readonly anyUncertain: boolean
}

export interface Source {
  readonly space: string
  readonly fact: ObjectFact
  /** First by name of the Locations that lead to the mailbox with the object: the one whose parameters count. */
  readonly location: Destination
  /** The placements of the space that claim the object for the mailbox. */
  readonly placements: readonly string[]
  /** Creation time of the oldest of them. */
  readonly since: string
}

/** By mailbox: the Locations that lead there, first by name first. */
export type Ways = ReadonlyMap<string, readonly Destination[]>

/** What has an object in a mailbox: a placement of a space. */
export interface Cause {
  readonly space: string
  readonly placement?: string
}

interface Space {
  readonly workload: Workload
  readonly specs: Map<string, PlacementSpec>
  /** Creation times of the placements, by name. */
  readonly created: Map<string, string>
  /** By placement name. Kept whether or not the placement exists. */
  readonly slices: Map<string, Ways>
}

const NOWHERE: Ways = new Map()

export class PlacementJoin {
  readonly #spaces = new Map<string, Space>()
  /** Mailbox → `space placement` pairs whose slice names it, for placements that exist. */
  readonly #byMailbox = new Map<string, Set<string>>()
  readonly #sink: ChangeSink
  readonly #consent: Consent

  constructor(sink: ChangeSink, consent: Consent) {
    this.#sink = sink
    this.#consent = consent
  }

  workload(id: string): Workload {
    return this.#space(id).workload
  }

  fact(id: string, key: string): ObjectFact | undefined {
    return this.#spaces.get(id)?.workload.get(key)
  }

  /** `created` is the placement's creation time: the older claim goes first. */
  setPlacement(id: string, name: string, spec: PlacementSpec, created = ''): void {
    const space = this.#space(id)
    const isNew = !space.specs.has(name)
    space.specs.set(name, spec)
    space.created.set(name, created)
    if (isNew) for (const mailbox of destinations(space, name).keys()) addTo(this.#byMailbox, mailbox, pair(id, name))
    space.workload.setPlacement(name, spec)
    for (const mailbox of destinations(space, name).keys()) this.#sink.config(mailbox)
    this.#sink.placement(id, name)
  }

  removePlacement(id: string, name: string): void {
    const space = this.#spaces.get(id)
    if (!space?.specs.has(name)) return
    const gone = destinations(space, name)
    space.workload.removePlacement(name)
    space.specs.delete(name)
    space.created.delete(name)
    for (const mailbox of gone.keys()) {
      removeFrom(this.#byMailbox, mailbox, pair(id, name))
      this.#sink.config(mailbox)
    }
  }

  /** What the slice of the same name as the placement says; `undefined` when there is none. */
  setDestinations(id: string, name: string, list: readonly Destination[] | undefined): void {
    const space = this.#space(id)
    const before = destinations(space, name)
    if (list) space.slices.set(name, waysOf(list))
    else space.slices.delete(name)
    const after = destinations(space, name)
    // what is to be made comes before what is to go, so that a move seldom waits
    const touched = new Set<string>()
    for (const [mailbox, ways] of after) {
      const old = before.get(mailbox)
      if (!old) addTo(this.#byMailbox, mailbox, pair(id, name))
      if (!old || !sameWays(old, ways)) touched.add(mailbox)
    }
    for (const mailbox of before.keys()) {
      if (after.has(mailbox)) continue
      removeFrom(this.#byMailbox, mailbox, pair(id, name))
      touched.add(mailbox)
    }
    if (space.specs.has(name)) this.#sink.placement(id, name)
    this.#touch(id, name, [...touched])
  }

  /** What a space, or any, may place on some ways may be another now. */
  touchConsent(id: string | undefined, through: (way: Destination) => boolean): void {
    for (const one of id === undefined ? this.#spaces.keys() : [id]) {
      const space = this.#spaces.get(one)
      for (const name of space?.specs.keys() ?? []) {
        const touched: string[] = []
        for (const [mailbox, ways] of destinations(space!, name)) if (ways.some(through)) touched.push(mailbox)
        this.#touch(one, name, touched)
        this.#sink.placement(one, name)
      }
    }
  }

  /** All that a placement has to do with some mailboxes. */
  #touch(id: string, name: string, mailboxes: readonly string[]): void {
    if (mailboxes.length === 0) return
    const selected = this.#spaces.get(id)!.workload.selectedBy(name)
    for (const mailbox of mailboxes) for (const key of selected) this.#sink.copy(mailbox, key)
    for (const key of selected) this.#sink.source(id, key)
    for (const mailbox of mailboxes) this.#sink.config(mailbox)
  }

  /** A Location's labels or annotations changed: its customized objects are to be projected anew. */
  touchLocation(cluster: string, locationName: string): void {
    for (const [id, space] of this.#spaces) {
      for (const name of space.specs.keys()) {
        for (const [mailbox, ways] of destinations(space, name)) {
          if (!ways.some(way => way.cluster === cluster && way.locationName === locationName)) continue
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
    const fact = space?.workload.get(key)
    if (!space || !fact) return found
    for (const name of space.workload.selectionOf(key).placements) {
      for (const ways of destinations(space, name).values()) {
        const way = this.#wayOf(id, ways, fact)
        const old = way && found.get(way.mailbox)
        if (way && (!old || precedes(way, old))) found.set(way.mailbox, way)
      }
    }
    return found
  }

  /** The first Location on which the object may be placed. */
  #wayOf(id: string, ways: readonly Destination[], fact: ObjectFact): Destination | undefined {
    for (const way of ways) if (this.#refusal(id, way, fact) === undefined) return way
    return undefined
  }

  /** Whether an object might be placed on one of the ways, or on an earlier one than is known. */
  #isUnsure(id: string, ways: readonly Destination[], fact: ObjectFact): boolean {
    for (const way of ways) {
      if (this.#refusal(id, way, fact) === undefined) return false
      if (this.#consent.allowance(id, way).isUncertain) return true
    }
    return false
  }

  /** Spaces of which it is not known whether they claim an object of a mailbox, or by which Location. */
  unsureOf(mailbox: string, key: string): Set<string> {
    const unsure = new Set<string>()
    if (!this.#consent.anyUncertain) return unsure
    for (const entry of this.#byMailbox.get(mailbox) ?? []) {
      const [id, name] = unpair(entry)
      const { workload, slices } = this.#spaces.get(id)!
      if (!workload.selects(name, key)) continue
      if (this.#isUnsure(id, slices.get(name)!.get(mailbox)!, workload.get(key)!)) unsure.add(id)
    }
    return unsure
  }

  /** Whether it is not known where one object of one space goes. */
  isUnsureOf(id: string, key: string): boolean {
    const space = this.#spaces.get(id)
    const fact = space?.workload.get(key)
    if (!this.#consent.anyUncertain || !space || !fact) return false
    return [...space.workload.selectionOf(key).placements].some(name =>
      [...destinations(space, name).values()].some(ways => this.#isUnsure(id, ways, fact)),
    )
  }

  /** Whether it is not known all that may go to a mailbox. */
  isUncertain(mailbox: string): boolean {
    if (!this.#consent.anyUncertain) return false
    return this.placementsOf(mailbox).some(({ space, name }) =>
      this.#spaces
        .get(space)!
        .slices.get(name)!
        .get(mailbox)!
        .some(way => this.#consent.allowance(space, way).isUncertain),
    )
  }

  #refusal(id: string, way: Destination, { resource, namespace, name }: ObjectFact): Told | undefined {
    const allowance = this.#consent.allowance(id, way)
    if (allowance.allowsAll) return undefined
    return allowance.refusal({ group: resource.group, resource: resource.resource, namespace, name })
  }

  wantsState(id: string, key: string): boolean {
    return this.#spaces.get(id)?.workload.selectionOf(key).wantsState ?? false
  }

  /** The claims on one object of a mailbox, one for each space, oldest first; empty when the mailbox should not hold it. */
  sourcesOf(mailbox: string, key: string): Source[] {
    const found = new Map<string, Source>()
    for (const entry of this.#byMailbox.get(mailbox) ?? []) {
      const [id, name] = unpair(entry)
      const space = this.#spaces.get(id)!
      if (!space.workload.selects(name, key)) continue
      const fact = space.workload.get(key)!
      const location = this.#wayOf(id, space.slices.get(name)!.get(mailbox)!, fact)
      if (!location) continue
      const since = space.created.get(name)!
      const old = found.get(id)
      found.set(id, {
        space: id,
        fact,
        location: old && !precedes(location, old.location) ? old.location : location,
        placements: old ? [...old.placements, name] : [name],
        since: old && old.since < since ? old.since : since,
      })
    }
    return [...found.values()].sort((a, b) => (claimOf(a) < claimOf(b) ? -1 : 1))
  }

  /** The placements by which a mailbox holds an object, or a Namespace for others; the mailbox's, for what serves all of them. */
  causesOf(mailbox: string, key: string): Cause[] {
    const { group, resource, name: object } = parseObjectKey(key)
    const all = [...(this.#byMailbox.get(mailbox) ?? [])].map(unpair)
    const causes = (wants: (workload: Workload, placement: string) => boolean): Cause[] =>
      all.flatMap(([space, placement]) =>
        wants(this.#spaces.get(space)!.workload, placement) ? [{ space, placement }] : [],
      )
    if (group === SYNCER_CONFIGS.group && resource === SYNCER_CONFIGS.resource) return causes(() => true)
    const claims = this.sourcesOf(mailbox, key).flatMap(({ space, placements }) =>
      placements.map(placement => ({ space, placement })),
    )
    if (claims.length > 0 || key !== namespaceKey(object)) return claims
    return causes((workload, placement) =>
      [...workload.inNamespace(object)].some(inside => workload.selects(placement, inside)),
    )
  }

  /** Everything that a mailbox should hold, one fact (of the oldest claim) for each object, unordered. */
  contentOf(mailbox: string): Map<string, ObjectFact> {
    const content = new Map<string, ObjectFact>()
    for (const entry of this.#claimsOn(mailbox)) {
      const [id, name] = unpair(entry)
      const { workload, slices } = this.#spaces.get(id)!
      const ways = slices.get(name)!.get(mailbox)!
      for (const key of workload.selectedBy(name)) {
        if (content.has(key)) continue
        const fact = workload.get(key)!
        if (this.#wayOf(id, ways, fact)) content.set(key, fact)
      }
    }
    return content
  }

  /** Whether some object of this kind is selected for the mailbox. */
  needsKind(mailbox: string, kind: string): boolean {
    for (const entry of this.#byMailbox.get(mailbox) ?? []) {
      const [id, name] = unpair(entry)
      if (this.#spaces.get(id)!.workload.uses(name, kind)) return true
    }
    return false
  }

  /** What is to be carried up into a mailbox: the sets of every placement that leads there, as far as they are granted. */
  upsyncOf(mailbox: string): UpsyncShare {
    const bySpace = new Map<string, SpaceSets>()
    for (const entry of this.#byMailbox.get(mailbox) ?? []) {
      const [id, name] = unpair(entry)
      const space = this.#spaces.get(id)!
      const spec = space.specs.get(name)!
      if (spec.upsync.length === 0) continue
      const allowances = new Set(
        space.slices
          .get(name)!
          .get(mailbox)!
          .map(way => this.#consent.allowance(id, way)),
      )
      const sets = [...allowances].flatMap(allowance => allowance.upsync(spec).sets)
      bySpace.set(id, (bySpace.get(id) ?? new Map()).set(name, sets))
    }
    return shareUpsync(bySpace)
  }

  /** Spaces and names of the placements that lead to the mailbox. */
  placementsOf(mailbox: string): { space: string; name: string }[] {
    return [...(this.#byMailbox.get(mailbox) ?? [])].map(entry => {
      const [space, name] = unpair(entry)
      return { space, name }
    })
  }

  spec(id: string, name: string): PlacementSpec | undefined {
    return this.#spaces.get(id)?.specs.get(name)
  }

  /** Where a placement leads; `undefined` as long as nobody knows. */
  waysOf(id: string, name: string): Ways | undefined {
    const space = this.#spaces.get(id)
    return space?.specs.has(name) ? space.slices.get(name) : undefined
  }

  /** Whether any placement leads to the mailbox. */
  isChosen(mailbox: string): boolean {
    return this.#byMailbox.has(mailbox)
  }

  /** Whether some object in this Namespace should be in the mailbox, or may have to. */
  needsNamespace(mailbox: string, namespace: string): boolean {
    for (const entry of this.#byMailbox.get(mailbox) ?? []) {
      const [id, name] = unpair(entry)
      const { workload, slices } = this.#spaces.get(id)!
      const ways = slices.get(name)!.get(mailbox)!
      for (const key of workload.inNamespace(namespace)) {
        if (!workload.selects(name, key)) continue
        const fact = workload.get(key)!
        if (this.#wayOf(id, ways, fact) || this.#isUnsure(id, ways, fact)) return true
      }
    }
    return false
  }

  /** Placements that lead to the mailbox, the oldest first. */
  #claimsOn(mailbox: string): string[] {
    const claim = (entry: string) => {
      const [space, name] = unpair(entry)
      return claimOf({ space, since: this.#spaces.get(space)!.created.get(name)! })
    }
    const entries = [...(this.#byMailbox.get(mailbox) ?? [])]
    return entries
      .map(entry => ({ entry, claim: claim(entry) }))
      .sort((a, b) => (a.claim < b.claim ? -1 : 1))
      .map(({ entry }) => entry)
  }

  #space(id: string): Space {
    let space = this.#spaces.get(id)
    if (!space) {
      const created: Space = {
        workload: new Workload((name, key, change) => this.#selectionChanged(id, name, key, change)),
        specs: new Map(),
        created: new Map(),
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
    if (change !== 'changed') this.#sink.placement(id, name)
  }
}

/** A slice counts only beside its placement. */
function destinations(space: Space, name: string): Ways {
  return space.specs.has(name) ? (space.slices.get(name) ?? NOWHERE) : NOWHERE
}

/** Sorts the older claim first; of two made in the same second, the one of the space whose id is first. */
function claimOf({ since, space }: { readonly since: string; readonly space: string }): string {
  return `${since} ${space}`
}

function waysOf(list: readonly Destination[]): Ways {
  const ways = new Map<string, Destination[]>()
  for (const way of list) {
    const others = ways.get(way.mailbox)
    if (others) others.push(way)
    else ways.set(way.mailbox, [way])
  }
  for (const several of ways.values()) if (several.length > 1) several.sort((a, b) => (precedes(a, b) ? -1 : 1))
  return ways
}

function sameWays(a: readonly Destination[], b: readonly Destination[]): boolean {
  return (
    a.length === b.length &&
    a.every((way, i) => way.locationName === b[i]!.locationName && way.cluster === b[i]!.cluster)
  )
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
