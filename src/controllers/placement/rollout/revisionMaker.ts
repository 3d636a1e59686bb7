/** Makes revisions of the edits of a placement, and forgets those that are needed no more. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { timestamp } from '../../../apimachinery/timestamp.ts'
import { type Clock, steadyMs } from '../../../client/clock.ts'
import type { SourceReader } from '../copies/sourceReader.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Tasks } from '../join/tasks.ts'
import { cutRevision } from './revisionCut.ts'
import type { RevisionStore } from './revisionStore.ts'
import type { StagedPlacement } from './stagedPlacement.ts'

export interface RevisionMakerDeps {
  store: RevisionStore
  join: PlacementJoin
  clock: Clock
  sources: Pick<SourceReader, 'read'>
  tasks: Pick<Tasks, 'report'>
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
    const { store, clock, tasks } = this.#deps
    const { id } = placement
    placement.takeEdits()
    try {
      if (placement.problem !== undefined) placement.rows = await store.load(id)
      await this.#cut(placement)
    } catch (error) {
      // it may be half written, and is read anew before the next attempt
      placement.problem = `a revision could not be stored, and clusters keep what they have: ${messageOf(error)}`
      placement.cutAgainAt(steadyMs(clock) + RETRY_MS)
      tasks.report(id.space, id.name)
      if (!isStatusError(error)) throw error
      return
    }
    if (placement.problem !== undefined) tasks.report(id.space, id.name)
    placement.problem = undefined
    const { rows } = placement
    if (!placement.isStaged && placement.strategy.type === 'All') {
      placement.finished = rows.newest
      placement.approved.add(rows.newest)
    }
    await this.#trim(placement)
  }

  async #cut({ id, rows }: StagedPlacement): Promise<void> {
    const { join, sources, store, clock, tasks } = this.#deps
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
    })
    const at = timestamp(new Date(clock.now()))
    if (cut) await store.save(id, rows, { ...cut, revision: rows.newest + 1, at, resourceVersion })
    // no rollout of these edits says that they are none
    else tasks.report(id.space, id.name)
  }

  /** Forgets the oldest revisions but those that somebody needs. */
  async #trim({ id, rows, historyLimit, finished, pinned, rollout, named }: StagedPlacement): Promise<void> {
    const needed = new Set([...named.values(), finished, pinned, rollout?.revision, rollout?.from])
    for (const revision of rows.revisions.slice(0, -historyLimit))
      if (!needed.has(revision)) await this.#deps.store.forget(id, rows, revision)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
