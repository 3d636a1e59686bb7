/**
 * End of the watch over a workload space: it has no placement, and its feedback is withdrawn. Until then it is followed; also a space that
 * has lost its last placement while nobody was there.
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
  /** Number of running reports to objects of a space. */
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

  /** The space stays open during a report to one of its objects. */
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

  /** Whether the content of the space is known, or without weight: the space feeds no mailbox, or goes with its whole content. */
  isFollowed(space: string): boolean {
    const { places, workloads } = this.#deps
    if (workloads.isSynced(space) || standsInMailbox(places, space) === true) return true
    return places.isDeleting(space) || places.pathOf(space) === undefined
  }

  /** For a space that may have lost its last placement while copies of it are there. */
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
