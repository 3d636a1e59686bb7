/**
 * EdgePlacement × Location × SyncTarget, indexed. A placement chooses Locations in every space by their labels; a Location
 * stands for the SyncTargets of its own space that its instanceSelector matches. Each change names what it touches: the
 * placements whose selectors match the Location before or after, and the Locations whose counts may differ.
 */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { LabelSelector } from '../../apimachinery/selectors.ts'
import { compileSelector, compileSelectors } from './selectors.ts'

export interface ObjectId {
  readonly space: string
  readonly name: string
}

export interface SliceDestination {
  cluster: string
  locationName: string
  syncTargetName: string
  syncTargetUID: string
}

type Labels = Readonly<Record<string, string>>
interface Location extends ObjectId {
  readonly labels: Labels
  readonly instances: LabelSelector | undefined
}
interface Target extends ObjectId {
  readonly labels: Labels
  readonly uid: string
  readonly available: boolean
}

export interface TouchSink {
  placement(id: ObjectId): void
  location(id: ObjectId): void
}

export class WhereIndex {
  readonly #placements = new Map<string, { id: ObjectId; selectors: readonly LabelSelector[] }>()
  readonly #locations = new Map<string, Map<string, Location>>()
  readonly #targets = new Map<string, Map<string, Target>>()
  readonly #sink: TouchSink

  constructor(sink: TouchSink) {
    this.#sink = sink
  }

  setPlacement(id: ObjectId, object: KubeObject | undefined): void {
    const key = `${id.space} ${id.name}`
    if (object) {
      const { selectors } = compileSelectors(isRecord(object.spec) ? object.spec.locationSelectors : [], 'spec')
      this.#placements.set(key, { id, selectors })
    } else this.#placements.delete(key)
    this.#sink.placement(id)
  }

  setLocation(id: ObjectId, object: KubeObject | undefined): void {
    const old = this.#locations.get(id.space)?.get(id.name)
    const location = object && {
      ...id,
      labels: object.metadata.labels ?? {},
      instances: compileSelector(isRecord(object.spec) ? object.spec.instanceSelector : undefined, 'spec').selectors[0],
    }
    put(this.#locations, id, location)
    this.#sink.location(id)
    if (old && location && sameLabels(old.labels, location.labels) && sameSelector(old.instances, location.instances))
      return
    this.#touchPlacements([old, location])
  }

  setTarget(id: ObjectId, object: KubeObject | undefined): void {
    const old = this.#targets.get(id.space)?.get(id.name)
    const target = object && {
      ...id,
      labels: object.metadata.labels ?? {},
      uid: object.metadata.uid ?? '',
      available: isAvailable(object),
    }
    put(this.#targets, id, target)
    const same = old && target && old.uid === target.uid && sameLabels(old.labels, target.labels)
    if (same && old.available === target.available) return
    for (const location of this.#locations.get(id.space)?.values() ?? []) {
      const before = old !== undefined && selects(location, old)
      const after = target !== undefined && selects(location, target)
      if (!before && !after) continue
      this.#sink.location(location)
      if (!same) this.#touchPlacements([location])
    }
  }

  /** Destinations of a placement, ordered by space, Location, SyncTarget; and how many Locations it chooses. */
  resolve(id: ObjectId): { destinations: SliceDestination[]; matchingLocationCount: number } | undefined {
    const placement = this.#placements.get(`${id.space} ${id.name}`)
    if (!placement) return undefined
    const destinations: SliceDestination[] = []
    let matchingLocationCount = 0
    for (const locations of this.#locations.values()) {
      for (const location of locations.values()) {
        if (!chooses(placement.selectors, location)) continue
        matchingLocationCount++
        for (const target of this.#targetsOf(location)) {
          destinations.push({
            cluster: location.space,
            locationName: location.name,
            syncTargetName: target.name,
            syncTargetUID: target.uid,
          })
        }
      }
    }
    return { destinations: destinations.sort(byPlace), matchingLocationCount }
  }

  /** SyncTargets behind a Location, and how many of them are available; `undefined` when there is no such Location. */
  countOf(id: ObjectId): { instances: number; availableInstances: number } | undefined {
    const location = this.#locations.get(id.space)?.get(id.name)
    if (!location) return undefined
    const targets = this.#targetsOf(location)
    return { instances: targets.length, availableInstances: targets.filter(target => target.available).length }
  }

  #targetsOf(location: Location): Target[] {
    return [...(this.#targets.get(location.space)?.values() ?? [])].filter(target => selects(location, target))
  }

  #touchPlacements(locations: readonly (Location | undefined)[]): void {
    for (const { id, selectors } of this.#placements.values()) {
      if (locations.some(location => location && chooses(selectors, location))) this.#sink.placement(id)
    }
  }
}

function chooses(selectors: readonly LabelSelector[], location: Location): boolean {
  return selectors.some(selector => selector.matches(location.labels))
}

function selects(location: Location, target: Target): boolean {
  return location.instances?.matches(target.labels) ?? false
}

/** The Ready condition decides; before there is one, a syncer that was ever heard of. */
function isAvailable({ status }: KubeObject): boolean {
  if (!isRecord(status)) return false
  const conditions: unknown[] = Array.isArray(status.conditions) ? status.conditions : []
  const ready = conditions.find(condition => isRecord(condition) && condition.type === 'Ready')
  if (isRecord(ready)) return ready.status === 'True'
  return typeof status.lastSyncerHeartbeatTime === 'string'
}

function put<V>(index: Map<string, Map<string, V>>, id: ObjectId, value: V | undefined): void {
  const inSpace = index.get(id.space) ?? new Map<string, V>()
  if (value === undefined) inSpace.delete(id.name)
  else inSpace.set(id.name, value)
  if (inSpace.size > 0) index.set(id.space, inSpace)
  else index.delete(id.space)
}

function byPlace(a: SliceDestination, b: SliceDestination): number {
  return (
    compare(a.cluster, b.cluster) ||
    compare(a.locationName, b.locationName) ||
    compare(a.syncTargetName, b.syncTargetName)
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function sameLabels(a: Labels, b: Labels): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every(key => a[key] === b[key])
}

function sameSelector(a: LabelSelector | undefined, b: LabelSelector | undefined): boolean {
  return a?.toString() === b?.toString()
}
