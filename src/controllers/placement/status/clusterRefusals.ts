/**
 * Refusals that syncers list in the status of SyncerConfig `the-one`, for the spaces whose objects are refused.
 *
 * A syncer may report anything. A refusal counts for a copy in the mailbox alone, is shown to the owner's space alone, and is bounded.
 * Changes of one mailbox are taken in every few seconds, so that flapping in one cluster does not flap every placement.
 */
import type { Clock } from '../../../client/clock.ts'
import type { ReconcileResult } from '../../../client/workqueue.ts'
import { differentRefusals, NOTHING_REFUSED, type Refused, UPSYNC_KEY } from '../../../placement/desks/syncerConfig.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'

interface RefusingMailbox {
  readonly name: string
  readonly clusterRefuses: Refused
  /** Ids of the spaces whose object a copy is. */
  ownerOf(key: string): string | undefined
}

export interface ClusterRefusalsDeps {
  join: PlacementJoin
  /** The mailbox, once all that it holds is known. */
  mailbox: (name: string) => RefusingMailbox | undefined
  clock: Clock
  /** What a placement is told may be another now. */
  changed: (space: string, placement: string) => void
}

const INTERVAL_MS = 5000

export class ClusterRefusals {
  readonly #deps: ClusterRefusalsDeps
  /** What was last taken in, and when. */
  readonly #taken = new WeakMap<RefusingMailbox, { readonly refused: Refused; readonly atMs: number }>()
  /** `space placement` of those that wait for a mailbox to be known. */
  readonly #waiting = new Set<string>()

  constructor(deps: ClusterRefusalsDeps) {
    this.#deps = deps
  }

  /** Takes in what a mailbox says now. */
  reconcile(name: string): ReconcileResult {
    const { mailbox, clock, join, changed } = this.#deps
    const box = mailbox(name)
    if (!box) return {} // comes again when it is known
    for (const { space, name: placement } of this.#waiting.size > 0 ? join.placementsOf(name) : []) {
      if (this.#waiting.delete(`${space} ${placement}`)) changed(space, placement)
    }
    const before = this.#taken.get(box)
    const news = differentRefusals(before?.refused ?? NOTHING_REFUSED, box.clusterRefuses)
    if (news.size === 0) return {}
    const waitMs = (before?.atMs ?? Number.NEGATIVE_INFINITY) + INTERVAL_MS - clock.now()
    if (waitMs > 0) return { requeueAfterMs: waitMs }
    this.#taken.set(box, { refused: box.clusterRefuses, atMs: clock.now() })
    for (const key of news) for (const { space, placement } of this.#claimants(box, key)) changed(space, placement)
    return {}
  }

  /** What a cluster refuses of a space's objects; `undefined`: that is not known yet, and the placement is told when it is. */
  of(
    name: string,
    { space, placement }: { space: string; placement: string },
  ): [key: string, words: string][] | undefined {
    const box = this.#deps.mailbox(name)
    if (!box) {
      this.#waiting.add(`${space} ${placement}`)
      return undefined
    }
    const refused = this.#taken.get(box)?.refused ?? NOTHING_REFUSED
    return [...refused].filter(([key]) => key === UPSYNC_KEY || box.ownerOf(key) === space)
  }

  forget(space: string, placement: string): void {
    this.#waiting.delete(`${space} ${placement}`)
  }

  /** The placements by which the copy's owner has it there. */
  #claimants(box: RefusingMailbox, key: string): { space: string; placement: string }[] {
    if (key === UPSYNC_KEY) {
      return [...this.#deps.join.placementsOf(box.name)].map(({ space, name }) => ({ space, placement: name }))
    }
    const owner = box.ownerOf(key)
    if (owner === undefined) return []
    const sources = this.#deps.join.sourcesOf(box.name, key).filter(({ space }) => space === owner)
    return sources.flatMap(({ space, placements }) => placements.map(placement => ({ space, placement })))
  }
}
