/**
 * Events on an EdgePlacement about clusters that fell silent while it leads there, one for all that are silent at a time, and one when
 * none is any more. Syncers start anew and connections break: what is over before a SyncTarget would turn is none. Of a cluster that
 * this server has not heard yet nothing is told: after a start that is most of them.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Clock } from '../../client/clock.ts'
import { SILENCE_MS } from '../mailbox/syncerConnections.ts'
import type { ToldEvents } from '../toldEvents.ts'

/** Clusters of a placement that were heard, and are not now. */
export interface Fallen {
  readonly count: number
  /** Some of their Locations, as messages name them. */
  readonly names: readonly string[]
}

export interface OutageEventsDeps {
  events: Pick<ToldEvents, 'tell'>
  clock: Clock
}

interface Outage {
  readonly sinceMs: number
  /** How many clusters were told. */
  told: number
}

export const NOBODY: Fallen = { count: 0, names: [] }

export class OutageEvents {
  readonly #deps: OutageEventsDeps
  /** By `space placement`. */
  readonly #outages = new Map<string, Outage>()

  constructor(deps: OutageEventsDeps) {
    this.#deps = deps
  }

  forget(space: string, placement: string): void {
    this.#outages.delete(`${space} ${placement}`)
  }

  /** @returns after how long to call it again; `undefined`: when something is another */
  async tell(
    space: string,
    placement: KubeObject,
    { fallen: { count, names }, clusters }: { fallen: Fallen; clusters: number },
  ): Promise<number | undefined> {
    const { events, clock } = this.#deps
    const id = `${space} ${placement.metadata.name ?? ''}`
    const known = this.#outages.get(id)
    if (count === 0) {
      this.#outages.delete(id)
      const message = 'all clusters that it leads to are heard'
      if (known && known.told > 0 && clusters > 0)
        await events.tell(space, placement, { type: 'Normal', reason: 'ClustersHeard', message })
      return undefined
    }
    const outage = known ?? { sinceMs: clock.now(), told: 0 }
    this.#outages.set(id, outage)
    const waitMs = outage.sinceMs + SILENCE_MS - clock.now()
    if (waitMs > 0) return waitMs
    if (count <= outage.told) return undefined
    outage.told = count
    const more = count > names.length ? ` and ${count - names.length} more` : ''
    const message = `nothing is heard any more of ${count} of ${clusters} clusters: at ${names.join(', ')}${more}`
    await events.tell(space, placement, { reason: 'ClustersSilent', message, isNewest: true })
    return undefined
  }
}
