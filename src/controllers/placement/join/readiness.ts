/**
 * Readiness: whether enough is known to act, in one object for all rooms. A task that cannot be judged yet waits until a stream is
 * complete. Beside it stand two facts of single things: the content of one mailbox (`synced`), and a consent that cannot be read.
 */
import { MAILBOX_NAME } from '../../../placement/words/placement.ts'
import type { Topology } from '../inventory/topology.ts'
import type { Signals } from '../signals/signals.ts'
import type { PlacementJoin } from './placementJoin.ts'
import { type Task, taskId } from './task.ts'
import type { Tasks } from './tasks.ts'
import type { Workloads } from './workloads.ts'

export interface ReadinessDeps {
  join: PlacementJoin
  workloads: Workloads
  topology: Pick<Topology, 'holds' | 'holdsAny'>
  /** All that are ready. */
  mailboxes: {
    all(): Iterable<{ readonly synced: boolean }>
    known(name: string): { readonly synced: boolean } | undefined
  }
  tasks: Pick<Tasks, 'addAll'>
  known: Signals['known']
}

export class Readiness {
  readonly #deps: ReadinessDeps
  readonly #postponed = new Map<string, Task>()
  #topologySynced = false
  #workspacesSynced = false
  #isStartWhole = false

  constructor(deps: ReadinessDeps) {
    this.#deps = deps
  }

  /** The topology is known whole. */
  topologyIsWhole(): void {
    this.#topologySynced = true
    this.#deps.known.send('topology', '')
    this.moreIsKnown()
  }

  /** Every mailbox that existed at the start is named. */
  workspacesAreWhole(): void {
    this.#workspacesSynced = true
    this.moreIsKnown()
  }

  /** Whether all inventories, placements, spaces and mailboxes that existed at the start were read once. */
  get isStartWhole(): boolean {
    return this.#isStartWhole
  }

  /** A mailbox is known whole, or gone. */
  moreIsKnown(): void {
    if (this.#isStartWhole || !this.#workspacesSynced || !this.#topologySynced) return
    for (const { synced } of this.#deps.mailboxes.all()) if (!synced) return
    this.#isStartWhole = true
    this.#deps.known.send('start', '')
  }

  /** Whether a mailbox that may have existed at the start is not read yet. */
  awaitsMailbox(name: string): boolean {
    const mailbox = this.#deps.mailboxes.known(name)
    return mailbox ? !mailbox.synced : !this.#workspacesSynced
  }

  get isTopologyWhole(): boolean {
    return this.#topologySynced
  }

  postpone(task: Task): void {
    this.#postponed.set(taskId(task), task)
  }

  /** Queues the tasks that were postponed: the topology or a space is known whole now. */
  release(): void {
    const tasks = [...this.#postponed.values()]
    this.#postponed.clear()
    this.#deps.tasks.addAll(tasks)
  }

  /**
   * The desired content of a mailbox is known only when its inventory and every space that feeds it are known whole.
   */
  knowsMailbox(mailbox: string): boolean {
    if (!this.#topologySynced) return false
    const topology = this.#deps.topology
    if (topology.holdsAny && topology.holds(MAILBOX_NAME.exec(mailbox)?.[1] ?? '')) return false
    return this.#deps.join.areAllFor(mailbox, space => this.#deps.workloads.isSynced(space))
  }

  /** Whether all objects of a space are known, or it places none. */
  knowsObjects(space: string): boolean {
    return !this.#deps.join.isWorkloadSpace(space) || this.#deps.workloads.isSynced(space)
  }

  /** Whether all is known that a space places, and where. */
  knowsSpace(space: string): boolean {
    return this.#topologySynced && this.knowsObjects(space)
  }

  /** Whether it is known where an object goes, or that its space feeds nobody any more. */
  knowsSource(space: string, key: string): boolean {
    if (!this.knowsSpace(space)) return false
    return this.#knowsWaysOf(space, this.#deps.join.workload(space).selectionOf(key).placements)
  }

  /** Whether it is known what a placement selects and where it leads. */
  knowsPlacement(space: string, name: string): boolean {
    return this.#topologySynced && this.#deps.workloads.isSynced(space) && this.#knowsWaysOf(space, [name])
  }

  /** Whether the inventories to which placements lead are known: a grant that nobody has seen yet is no refusal. */
  #knowsWaysOf(space: string, placements: readonly string[]): boolean {
    if (!this.#deps.topology.holdsAny) return true
    return placements.every(name =>
      [...(this.#deps.join.waysOf(space, name)?.values() ?? [])].every(ways =>
        ways.every(({ cluster }) => !this.#deps.topology.holds(cluster)),
      ),
    )
  }
}
