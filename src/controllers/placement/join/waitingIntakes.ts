/**
 * Intakes that wait for an object amid which an earlier process ended: of a workload space, of a mailbox, or of the topology. The
 * EdgePlacements that wait with them report it. A space reads the names of its own objects only.
 */
import { groupResourceName } from '../../../apimachinery/object.ts'
import { timestamp } from '../../../apimachinery/timestamp.ts'
import type { Waiting } from '../../../client/setAside/intake.ts'
import type { Inventory } from '../inventory/inventory.ts'
import type { PlacementJoin } from './placementJoin.ts'
import type { Tasks } from './tasks.ts'

export interface WaitingIntakesDeps {
  join: Pick<PlacementJoin, 'placementNames' | 'placementsOf' | 'waysOf' | 'workloadSpaces'>
  inventory: Pick<Inventory, 'clusterName'>
  tasks: Pick<Tasks, 'report' | 'reportAll'>
}

export class WaitingIntakes {
  readonly #deps: WaitingIntakesDeps
  readonly #spaces = new Map<string, Waiting>()
  readonly #mailboxes = new Map<string, Waiting>()
  #topology: readonly Waiting[] = []

  constructor(deps: WaitingIntakesDeps) {
    this.#deps = deps
  }

  /** Objects for which the intake of a workload space waits; none: it goes on. */
  ofSpace(space: string, objects: readonly Waiting[]): void {
    if (replaces(this.#spaces, space, objects)) this.#reportAll(space)
  }

  ofMailbox(mailbox: string, objects: readonly Waiting[]): void {
    if (!replaces(this.#mailboxes, mailbox, objects)) return
    this.#deps.tasks.reportAll(this.#deps.join.placementsOf(mailbox))
  }

  ofTopology(objects: readonly Waiting[]): void {
    if (objects.length + this.#topology.length === 0) return
    this.#topology = objects
    for (const space of this.#deps.join.workloadSpaces()) this.#reportAll(space)
  }

  /** A placement is new, or another one now. */
  placed(space: string, name: string): void {
    if (this.messageFor(space, name) !== undefined) this.#deps.tasks.report(space, name)
  }

  /** The cause for which a placement waits, and the remedy; `undefined`: it waits for no intake. */
  messageFor(space: string, name: string): string | undefined {
    const own = this.#spaces.get(space) ?? this.#topology.find(({ event }) => event.space === space)
    if (own) {
      const { resource, namespace, name } = own.event
      const object = `${groupResourceName(resource)} "${namespace ? `${namespace}/` : ''}${name}"`
      return `nothing of this space is placed anew: ${wordsOf(own, object)}; mend or delete the object`
    }
    const [other] = this.#topology
    if (other) return `nothing of any space is placed anew: ${wordsOf(other, 'an object of another space')}`
    for (const [mailbox, waiting] of this.#mailboxes) {
      if (!this.#deps.join.waysOf(space, name)?.has(mailbox)) continue
      return `nothing is placed anew at SyncTarget ${this.#deps.inventory.clusterName(mailbox)}: ${wordsOf(waiting, 'an object there')}`
    }
    return undefined
  }

  #reportAll(space: string): void {
    for (const name of this.#deps.join.placementNames(space)) this.#deps.tasks.report(space, name)
  }
}

/** Keeps the first one; whether another one waits now, or at another time. */
function replaces(map: Map<string, Waiting>, id: string, [first]: readonly Waiting[]): boolean {
  const before = map.get(id)
  if (first) map.set(id, first)
  else map.delete(id)
  return before !== first
}

function wordsOf({ deaths, untilMs }: Waiting, object: string): string {
  const ends = deaths === 0 ? `while it took in ${object}, among others` : `${times(deaths)} while it took in ${object}`
  return `the server ended ${ends}; it tries again at ${timestamp(new Date(untilMs))}`
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
