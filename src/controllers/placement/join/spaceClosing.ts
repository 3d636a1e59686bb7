/**
 * When a workload space is followed no longer: it has no placement, and what it was told is taken back. Until then it is
 * followed; also a space that has lost its last placement while nobody was there.
 */
import type { SpacePlaces } from '../../placedSource.ts'
import { standsInMailbox } from '../../placedSource.ts'
import type { PendingCopies } from './pendingCopies.ts'
import type { PlacementJoin } from './placementJoin.ts'
import type { Workloads } from './workloads.ts'

export interface SpaceClosingDeps {
  join: PlacementJoin
  workloads: Workloads
  places: SpacePlaces
  pendingCopies: Pick<PendingCopies, 'queueBehind'>
}

export class SpaceClosing {
  readonly #deps: SpaceClosingDeps
  /** How many objects of a space are being told something right now. */
  readonly #reporting = new Map<string, number>()
  /** Spaces that are followed only to take back feedback of an earlier run. */
  readonly #leftovers = new Set<string>()

  constructor(deps: SpaceClosingDeps) {
    this.#deps = deps
  }

  closeIfIdle(space: string): void {
    if (!this.#deps.join.isWorkloadSpace(space)) this.#deps.pendingCopies.queueBehind({ type: 'close', space })
  }

  /** Whether it was closed. Each step of taking back asks again. */
  close(space: string): boolean {
    const { join, workloads } = this.#deps
    if (join.isWorkloadSpace(space) || join.hasFeedback(space)) return false
    if (this.#reporting.has(space)) return false
    if (this.#leftovers.has(space) && !workloads.isSynced(space)) return false
    this.#leftovers.delete(space)
    workloads.close(space)
    join.dropWorkload(space)
    return true
  }

  /** The space stays open while one of its objects is told something. */
  async whileReporting<T>(space: string, report: () => Promise<T>): Promise<T> {
    this.#reporting.set(space, (this.#reporting.get(space) ?? 0) + 1)
    try {
      return await report()
    } finally {
      const others = this.#reporting.get(space)! - 1
      if (others > 0) this.#reporting.set(space, others)
      else this.#reporting.delete(space)
      this.closeIfIdle(space)
    }
  }

  /** Whether it is known what the space holds, or that it says nothing: it is none that feeds others, or goes with all that it holds. */
  isFollowed(space: string): boolean {
    const { places, workloads } = this.#deps
    if (workloads.isSynced(space) || standsInMailbox(places, space) === true) return true
    return places.isDeleting(space) || places.pathOf(space) === undefined
  }

  /** Of a space that may have lost its last placement while copies of it are there. */
  follow(space: string): void {
    this.#leftovers.add(space)
    this.#deps.workloads.open(space)
  }

  /** Feedback of an earlier run in spaces that may have lost their last placement is taken back. */
  takeBack(spaces: Iterable<string>): void {
    for (const space of spaces) {
      if (standsInMailbox(this.#deps.places, space) !== false) continue
      this.follow(space)
    }
  }
}
