/** Makes revisions of the edits of a placement, and forgets those that are needed no more. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import { timestamp } from '../../../apimachinery/timestamp.ts'
import { type Clock, steadyMs } from '../../../client/clock.ts'
import type { SourceReader } from '../copies/sourceReader.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Tasks } from '../join/tasks.ts'
import { locationKey, readsAlike } from './locationContent.ts'
import { cutRevision, locationContent } from './revisionCut.ts'
import type { NewContent, PlacementId, RevisionStore } from './revisionStore.ts'
import type { StagedPlacement } from './stagedPlacement.ts'

export interface RevisionMakerDeps {
  store: RevisionStore
  join: PlacementJoin
  clock: Clock
  sources: Pick<SourceReader, 'read'>
  tasks: Pick<Tasks, 'report'>
  location: (cluster: string, name: string) => KubeObject | undefined
}

/** After a revision could not be stored. */
const RETRY_MS = 30_000

export class RevisionMaker {
  readonly #deps: RevisionMakerDeps

  constructor(deps: RevisionMakerDeps) {
    this.#deps = deps
  }

  /** Makes a revision of what changed since the newest one. Where it cannot be stored, the placement has a problem. */
  async make(placement: StagedPlacement): Promise<void> {
    const { store, tasks } = this.#deps
    const { id } = placement
    placement.takeEdits()
    placement.isCutting = true
    try {
      const isStored = await this.#stored(placement, async () => {
        if (placement.problem !== undefined) placement.rows = await store.load(id)
        await this.#cut(placement)
      })
      if (!isStored) return
      placement.problem = undefined
    } finally {
      placement.isCutting = false
      placement.isUnsure = false
      tasks.report(id.space, id.name)
    }
    const { rows } = placement
    if (!placement.isStaged && placement.strategy.type === 'All') {
      placement.finished = rows.newest
      placement.approved.add(rows.newest)
    }
    await this.#trim(placement)
    await this.takeLocations(placement)
  }

  /**
   * Locations of destinations that no revision has yet come into all of them: that is no edit. Until then the destination reads the
   * Location as it is. One that was edited while it was no destination makes a revision.
   */
  async takeLocations(placement: StagedPlacement): Promise<void> {
    const { id, rows } = placement
    const names = rows.reads(rows.newest)
    if (placement.problem !== undefined || names.size === 0) return
    const added = new Map<number, NewContent[]>()
    for (const [key, location] of this.#locations(id)) {
      const kept = rows.at(key, rows.newest)?.location
      if (kept && !readsAlike(kept, location, names) && placement.dueAtMs === undefined) placement.edited()
      if (kept) continue
      const from = rows.last(key)?.until ?? rows.revisions[0]!
      added.set(from, [...(added.get(from) ?? []), locationContent(key, location, rows.readsOfAny)])
    }
    await this.#stored(placement, async () => {
      for (const [from, contents] of added) await this.#deps.store.add(id, rows, contents, from)
    })
  }

  /** Whether something could be stored. Else the placement has a problem, and it is tried again. */
  async #stored(placement: StagedPlacement, work: () => Promise<void>): Promise<boolean> {
    const { clock, tasks } = this.#deps
    const { space, name } = placement.id
    try {
      await work()
      return true
    } catch (error) {
      // it may be half written, and is read anew before the next attempt
      placement.problem = `a revision could not be stored, and clusters keep what they have: ${messageOf(error)}`
      placement.cutAgainAt(steadyMs(clock) + RETRY_MS)
      tasks.report(space, name)
      if (!isStatusError(error)) throw error
      return false
    }
  }

  #locations({ space, name }: PlacementId): ReadonlyMap<string, KubeObject> {
    const locations = new Map<string, KubeObject>()
    for (const several of this.#deps.join.waysOf(space, name)?.values() ?? [])
      for (const way of several) {
        const location = this.#deps.location(way.cluster, way.locationName)
        if (location) locations.set(locationKey(way), location)
      }
    return locations
  }

  async #cut({ id, rows }: StagedPlacement): Promise<void> {
    const { join, sources, store, clock } = this.#deps
    const resourceVersion = join.observed.of(id.space, id.name) ?? 0
    const workload = join.workload(id.space)
    const selected = workload.selectedBy(id.name).flatMap(key => {
      const fact = workload.get(key)
      return fact ? [{ fact, implied: !workload.names(id.name, key) }] : []
    })
    const cut = await cutRevision(rows, {
      selected,
      read: fact => sources.read(id.space, fact),
      customizer: reference => join.customizer(id.space, reference),
      locations: () => this.#locations(id),
      placement: () => store.placement(id),
    })
    const at = timestamp(new Date(clock.now()))
    if (cut) await store.save(id, rows, { ...cut, revision: rows.newest + 1, at, resourceVersion })
  }

  /** Forgets the oldest revisions but those that somebody needs. */
  async #trim({ id, rows, historyLimit, finished, pinned, rollout, named }: StagedPlacement): Promise<void> {
    const needed = new Set([...named.values(), finished, pinned, rollout?.revision, rollout?.from])
    for (const revision of rows.revisions.slice(0, -historyLimit))
      if (!needed.has(revision)) await this.#deps.store.forget(id, rows, revision)
  }
}
