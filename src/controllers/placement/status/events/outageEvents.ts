/**
 * Events on an EdgePlacement when its clusters fall silent, one for all at a time. One more comes when all of these are back. An outage
 * shorter than the SyncTarget's grace period is not reported: syncers restart and connections break. A cluster that has not connected to
 * this server yet is not reported either: after a start most have not.
 */
import type { KubeObject } from '../../../../apimachinery/object.ts'
import { type Clock, steadyMs } from '../../../../client/clock.ts'
import type { EventRecorder, RecordedEvent } from '../../../eventRecorder.ts'
import { SILENCE_MS } from '../../../mailbox/syncerConnections.ts'

/** Clusters of a placement that reported earlier and are silent now: their Locations, as messages name them, by mailbox. */
export type Fallen = ReadonlyMap<string, string>

export interface OutageEventsDeps {
  events: Pick<EventRecorder, 'record'>
  clock: Clock
}

/** Outage of a placement: mailboxes, each in one of both. */
interface Outage {
  /** Start of each unreported silence, the earliest first. */
  readonly sinceMs: Map<string, number>
  /** Silent clusters with a report, until all of them are back. */
  reported: ReadonlySet<string>
}

const MAX_NAMES = 5

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
  async report(
    space: string,
    placement: KubeObject,
    { fallen, clusters }: { fallen: Fallen; clusters: number },
  ): Promise<number | undefined> {
    const { events, clock } = this.#deps
    const id = `${space} ${placement.metadata.name ?? ''}`
    const known = this.#outages.get(id)
    if (!known && fallen.size === 0) return undefined
    const outage: Outage = known ?? { sinceMs: new Map(), reported: new Set() }
    this.#outages.set(id, outage)
    const { sinceMs, reported } = outage
    const nowMs = steadyMs(clock)
    for (const one of sinceMs.keys()) if (!fallen.has(one)) sinceMs.delete(one)
    for (const one of fallen.keys()) if (!reported.has(one) && !sinceMs.has(one)) sinceMs.set(one, nowMs)
    const due = [...sinceMs.keys()].filter(one => nowMs - sinceMs.get(one)! >= SILENCE_MS)
    const silent = new Set([...due, ...[...reported].filter(one => fallen.has(one))])
    const isNews = due.length > 0 || (reported.size > 0 && silent.size === 0 && clusters > 0)
    // as it was until it is written: nobody else would tell it
    if (isNews && !(await events.record(space, placement, eventOf(silent, fallen, clusters)))) return SILENCE_MS
    outage.reported = silent
    for (const one of due) sinceMs.delete(one)
    if (sinceMs.size + silent.size === 0) this.#outages.delete(id)
    const [firstMs] = sinceMs.values()
    return firstMs === undefined ? undefined : firstMs + SILENCE_MS - nowMs
  }
}

function eventOf(silent: ReadonlySet<string>, fallen: Fallen, clusters: number): RecordedEvent {
  if (silent.size === 0) return { type: 'Normal', reason: 'ClustersHeard', message: 'all of its clusters report again' }
  const names = [...silent].slice(0, MAX_NAMES).map(one => fallen.get(one))
  const more = silent.size > names.length ? ` and ${silent.size - names.length} more` : ''
  const message = `${silent.size} of ${clusters} clusters are silent: ${names.join(', ')}${more}`
  return { reason: 'ClustersSilent', message, isNewest: true }
}
