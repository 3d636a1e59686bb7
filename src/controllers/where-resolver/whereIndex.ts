/**
 * EdgePlacement × Location × SyncTarget, indexed. A placement chooses Locations by their labels, in the inventories that its space uses and
 * as far as those grant it. A Location stands for the SyncTargets of its own space that its instanceSelector matches. Each change names the
 * objects that it touches: placements whose selectors match the Location before or after, Locations whose counts may differ, and their
 * GrantedLocations. A grant touches the placements of its spaces.
 */

import { conditionOf } from '../../apimachinery/conditions.ts'
import { at } from '../../apimachinery/fields.ts'
import { MapOfMaps, MapOfSets } from '../../apimachinery/nestedMaps.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { LabelSelector } from '../../apimachinery/selectors.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import { compareTexts, equalJson } from '../../apimachinery/values.ts'
import { coversLocation, type Grant } from '../../placement/consent/grant.ts'
import { compileSelector, compileSelectors } from '../../placement/select/selectors.ts'
import { grantedName, mayBeShortened, splitGrantedName } from '../../placement/words/grantedNames.ts'
import type { Binding, ConsentIndex } from '../consent/consentIndex.ts'
import type { SpacePlaces } from '../placedSource.ts'
import type {
  Inventory,
  Labels,
  LocationChange,
  ObjectId,
  Target,
  TargetChange,
} from '../placement/inventory/inventory.ts'
import type { BindingChange, TopologyFacts, TopologyReader } from '../placement/inventory/topologyFacts.ts'
import type { SliceRow, WouldLead } from '../whereDesk.ts'
import { KINDS_SKIPPED } from './skippedCondition.ts'

/** The condition of an EdgePlacement about clusters that take no objects. */
export const SCHEDULED = 'Scheduled'

interface Location extends ObjectId {
  readonly labels: Labels
  readonly instances: LabelSelector | undefined
  /** SyncTargets that it stands for, by name. */
  readonly behind: Map<string, Target>
}

interface Counts {
  readonly instances: number
  readonly availableInstances: number
}

/** A space's view of a Location that it may place on. */
export interface GrantedRow extends Counts {
  /** Path of the inventory. */
  readonly inventory: string
  readonly location: string
  readonly labels: Labels
}

export interface Resolved extends WouldLead {
  /** Ordered by space, Location, SyncTarget. */
  readonly destinations: SliceRow[]
  /** Count over the Locations that the space may place on. */
  readonly matchingLocationCount: number
  /** Where the placement would lead, and nothing may be any more. */
  readonly evicted: readonly SliceRow[]
  /** When the next of the destinations is one of these; never: infinite. */
  readonly evictsAtMs: number
}

export interface TouchSink {
  placement(id: ObjectId): void
  location(id: ObjectId): void
  binding(id: ObjectId): void
  /** Many touched objects, in steps; those of one owner come in order. */
  all(touched: Iterable<Touched>, owner: string): void
}

export interface Touched {
  /** A GrantedLocation, or a placement. */
  readonly type: 'granted' | 'placement'
  readonly id: ObjectId
}

/** Compiled at first use: a start delivers all placements at once, and one may have thousands of selectors. */
class Placement {
  readonly id: ObjectId
  readonly #list: unknown
  #selectors: readonly LabelSelector[] | undefined
  #resolvedBy: readonly unknown[]

  constructor(id: ObjectId, object: KubeObject) {
    this.id = id
    this.#list = locationSelectors(object)
    this.#resolvedBy = resolvedBy(object)
  }

  /** Whether the object has the same meaning for its resolution; most writes are others' status. */
  repeats(object: KubeObject): boolean {
    const before = this.#resolvedBy
    this.#resolvedBy = resolvedBy(object)
    return equalJson(before, this.#resolvedBy)
  }

  /** Whether the object says the same of its selectors: status and annotations of placements change too. */
  isOf(object: KubeObject): boolean {
    return equalJson(this.#list, locationSelectors(object))
  }

  get selectors(): readonly LabelSelector[] {
    this.#selectors ??= compileSelectors(this.#list, 'spec').selectors
    return this.#selectors
  }
}

function resolvedBy({ metadata, status }: KubeObject): readonly unknown[] {
  const { uid, generation, deletionTimestamp, annotations } = metadata
  const conditions = [SCHEDULED, KINDS_SKIPPED].map(type => conditionOf({ status }, type) ?? null)
  const own = [at(status, 'specGeneration'), at(status, 'matchingLocationCount'), conditions]
  return [uid, generation, deletionTimestamp, annotations, ...own].map(each => each ?? null)
}

function locationSelectors({ spec }: KubeObject): unknown {
  return at(spec, 'locationSelectors')
}

/** Facts of the topology that it joins. */
type WhereFacts = Pick<TopologyFacts, 'inventory' | 'consents'>

export class WhereIndex implements TopologyReader {
  readonly consent: ConsentIndex
  readonly #places: SpacePlaces
  readonly #placements = new MapOfMaps<Placement>()
  readonly #locations = new MapOfMaps<Location>()
  readonly #inventory: Inventory
  /** Names of GrantedLocations by space: see {@link keepRow}. */
  readonly #keptRows = new MapOfSets<string>()
  readonly #sink: TouchSink

  constructor(places: SpacePlaces, { inventory, consents }: WhereFacts, sink: TouchSink) {
    this.#places = places
    this.#sink = sink
    this.#inventory = inventory
    this.consent = consents
  }

  setPlacement(id: ObjectId, object: KubeObject | undefined): void {
    const known = this.#placements.get(id.space, id.name)
    const isOf = object !== undefined && known?.isOf(object) === true
    if (!isOf) this.#placements.set(id.space, id.name, object && new Placement(id, object))
    else if (known.repeats(object)) return
    this.#sink.placement(id)
  }

  bindingChanged({ space, name, before, after }: BindingChange): void {
    if (before?.inventory === after?.inventory) return
    for (const { inventory } of [before ?? {}, after ?? {}] as Partial<Binding>[])
      if (inventory !== undefined) this.#sink.all(this.#rows(inventory, [{ space, name }]), space)
  }

  bindingJudged(space: string, name: string): void {
    this.#sink.binding({ space, name })
  }

  locationChanged({ space, name, after: object }: LocationChange): void {
    const id = { space, name }
    const old = this.#locations.get(space, name)
    const isGone = object === undefined || object.metadata.deletionTimestamp !== undefined
    const location = isGone ? undefined : locationOf(id, object)
    for (const target of location ? this.#inventory.targetsOf(space) : [])
      if (isLive(target) && selects(location!, target)) location!.behind.set(target.name, target)
    this.#locations.set(space, name, location)
    this.#sink.location(id)
    if (old && location && equalJson(old.labels, location.labels) && sameSelector(old.instances, location.instances))
      return
    this.#touchUsers(space, [old, location])
  }

  targetChanged({ space, before, after }: TargetChange): void {
    const [was, is] = [isLive(before) ? before : undefined, isLive(after) ? after : undefined]
    const name = (before ?? after)!.name
    const same =
      was &&
      is &&
      was.unschedulable === is.unschedulable &&
      was.evictAtMs === is.evictAtMs &&
      equalJson(was.labels, is.labels)
    if (same && was.available === is.available) return
    for (const location of this.#locations.of(space).values()) {
      const stood = location.behind.delete(name)
      const stands = is !== undefined && selects(location, is)
      if (stands) location.behind.set(name, is)
      if (!stood && !stands) continue
      this.#sink.location(location)
      this.#touchUsers(space, [location], same)
    }
  }

  /** The grant of an inventory to a space changed. */
  consentChanged(space: string, inventory: string | undefined): void {
    this.#sink.all(this.#ofSpace(space, inventory, this.#keptRows.deleteAll(space)), space)
  }

  /** Matches of a placement's selectors among the present Locations, for {@link resolve}: they may be ten thousand. */
  *choices({ space, name }: ObjectId): Steps<Choices> {
    return yield* this.#choicesBy(space, this.#placements.get(space, name)?.selectors ?? [])
  }

  /** Where a placement would lead that need not be stored, or says something else there. */
  *wouldLead(space: string, placement: KubeObject, nowMs: number): Steps<Resolved> {
    const { selectors } = new Placement({ space, name: '' }, placement)
    const choices = yield* this.#choicesBy(space, selectors)
    return this.#leads(space, selectors, nowMs, choices)
  }

  *#choicesBy(space: string, selectors: readonly LabelSelector[]): Steps<Choices> {
    const byLabels = new Map<Location['labels'], boolean>()
    for (const inventory of this.consent.inventoriesOf(space)) {
      for (const { labels } of this.#locations.of(inventory).values()) {
        if (byLabels.has(labels)) continue
        byLabels.set(labels, chooses(selectors, labels))
        yield
      }
    }
    return { selectors, byLabels }
  }

  /** `undefined` when there is no such placement. Changes since `known` are judged anew. */
  resolve({ space, name }: ObjectId, nowMs: number, known?: Choices): Resolved | undefined {
    const placement = this.#placements.get(space, name)
    return placement && this.#leads(space, placement.selectors, nowMs, known)
  }

  #leads(space: string, selectors: readonly LabelSelector[], nowMs: number, known?: Choices): Resolved {
    const destinations: SliceRow[] = []
    const onlyKept = new Set<SliceRow>()
    const evicted: SliceRow[] = []
    let evictsAtMs = Number.POSITIVE_INFINITY
    let matchingLocationCount = 0
    const byLabels = known?.selectors === selectors ? known.byLabels : undefined
    for (const inventory of this.consent.inventoriesOf(space)) {
      const grants = this.consent.grantsFor(space, inventory)
      if (grants.length === 0) continue
      for (const location of this.#locations.of(inventory).values()) {
        const { labels } = location
        if (!(byLabels?.get(labels) ?? chooses(selectors, labels)) || !mayUse(grants, location)) continue
        matchingLocationCount++
        for (const target of location.behind.values()) {
          if (!mayUse(grants, location, target)) continue
          const destination = {
            cluster: location.space,
            locationName: location.name,
            syncTargetName: target.name,
            syncTargetUID: target.uid,
          }
          if (target.evictAtMs <= nowMs) {
            evicted.push(destination)
            continue
          }
          evictsAtMs = Math.min(evictsAtMs, target.evictAtMs)
          destinations.push(destination)
          if (target.unschedulable) onlyKept.add(destination)
        }
      }
    }
    const isUncertain = (inventory: string): boolean => this.consent.isUncertain(space, inventory)
    destinations.sort(byPlace)
    evicted.sort(byPlace)
    return { destinations, onlyKept, evicted, evictsAtMs, matchingLocationCount, isUncertain }
  }

  /** Content of a GrantedLocation; `undefined` when the space may not place there. */
  rowOf({ space, name }: ObjectId): GrantedRow | undefined {
    const { binding: bindingName, rest } = splitGrantedName(name)
    const inventory = this.consent.bindingOf(space, bindingName)?.inventory
    if (inventory === undefined) return undefined
    const location = this.#locationOf(inventory, bindingName, name, rest)
    const grants = this.consent.grantsFor(space, inventory)
    if (!location || !mayUse(grants, location)) return undefined
    const targets = [...location.behind.values()].filter(target => mayUse(grants, location, target))
    const { name: ofLocation, labels } = location
    return { inventory: this.#places.pathOf(inventory) ?? '', location: ofLocation, labels, ...counts(targets) }
  }

  /** Whether the absence of such a row is uncertain; a touch follows once more is known. */
  keepRow({ space, name }: ObjectId): boolean {
    const { inventory = '' } = this.consent.bindingOf(space, splitGrantedName(name).binding) ?? {}
    if (!this.consent.isUncertain(space, inventory)) return false
    this.#keptRows.add(space, name)
    return true
  }

  /** SyncTargets behind a Location, and how many of them are available; `undefined` when there is no such Location. */
  countOf(id: ObjectId): Counts | undefined {
    const location = this.#locations.get(id.space, id.name)
    return location && counts([...location.behind.values()])
  }

  /** The name of a Location may be too long to stand in that of its row: then it is looked for. */
  #locationOf(inventory: string, binding: string, row: string, rest: string): Location | undefined {
    const named = this.#locations.get(inventory, rest)
    if (named && grantedName(binding, named.name) === row) return named
    if (!mayBeShortened(row)) return undefined
    return this.#locations
      .of(inventory)
      .values()
      .find(location => grantedName(binding, location.name) === row)
  }

  /** A Location, or its targets, has changed for the spaces that may place there. `sameTargets`: only its state. */
  #touchUsers(inventory: string, locations: readonly (Location | undefined)[], sameTargets = false): void {
    const present = locations.filter(location => location !== undefined)
    this.#sink.all(this.#users(inventory, present, sameTargets), inventory)
  }

  /** A space that begins to use the inventory meanwhile, or changes its selectors, is touched by that. */
  *#users(inventory: string, present: readonly Location[], sameTargets: boolean): Generator<Touched> {
    for (const { space, bindings } of this.consent.usersOf(inventory)) {
      for (const binding of bindings) {
        for (const { name } of present) yield { type: 'granted', id: { space, name: grantedName(binding.name, name) } }
      }
      if (sameTargets) continue
      for (const { id, selectors } of this.#placements.of(space).values()) {
        if (present.some(({ labels }) => chooses(selectors, labels))) yield { type: 'placement', id }
      }
    }
  }

  *#ofSpace(space: string, inventory: string | undefined, kept: Iterable<string>): Generator<Touched> {
    for (const { id } of this.#placements.of(space).values()) yield { type: 'placement', id }
    for (const name of kept) yield { type: 'granted', id: { space, name } }
    if (inventory === undefined) return
    for (const user of this.consent.usersOf(inventory))
      if (user.space === space) yield* this.#rows(inventory, user.bindings)
  }

  *#rows(inventory: string, bindings: Iterable<ObjectId>): Generator<Touched> {
    for (const { space, name } of bindings) {
      for (const location of this.#locations.of(inventory).keys())
        yield { type: 'granted', id: { space, name: grantedName(name, location) } }
    }
  }
}

/** Whether selectors choose Locations with these labels. */
interface Choices {
  readonly selectors: readonly LabelSelector[]
  readonly byLabels: ReadonlyMap<Location['labels'], boolean>
}

/** Whether one of the grants is for the Location, and for the SyncTarget behind it. */
function mayUse(grants: readonly Grant[], location: Location, target: Location | Target = location): boolean {
  return grants.some(grant => coversLocation(grant, location.labels, target.labels))
}

function counts(targets: readonly Target[]): Counts {
  return { instances: targets.length, availableInstances: targets.filter(target => target.available).length }
}

function chooses(selectors: readonly LabelSelector[], labels: Location['labels']): boolean {
  return selectors.some(selector => selector.matches(labels))
}

/** A SyncTarget that is being deleted counts as gone. */
function isLive(target: Target | undefined): target is Target {
  return target?.state === 'stays'
}

function locationOf(id: ObjectId, { metadata, spec }: KubeObject): Location {
  return {
    ...id,
    labels: metadata.labels ?? {},
    instances: compileSelector(at(spec, 'instanceSelector'), 'spec').selectors[0],
    behind: new Map<string, Target>(),
  }
}

function selects(location: Location, target: Target): boolean {
  return location.instances?.matches(target.labels) ?? false
}

export function byPlace(a: SliceRow, b: SliceRow): number {
  return (
    compareTexts(a.cluster, b.cluster) ||
    compareTexts(a.locationName, b.locationName) ||
    compareTexts(a.syncTargetName, b.syncTargetName)
  )
}

function sameSelector(a: LabelSelector | undefined, b: LabelSelector | undefined): boolean {
  return a?.toString() === b?.toString()
}
