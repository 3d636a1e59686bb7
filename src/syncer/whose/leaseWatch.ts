/**
 * The Lease of a cluster as its holder sees it between renewals: who stands by for it, and who changed it. A standby marks the Lease again
 * and again. The watch only saves renewals: without it there are as many as with somebody who stands by.
 */
import { str } from '../../apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import type { SpaceClient } from '../../client/client.ts'
import { steadyMs } from '../../client/clock.ts'
import { Informer } from '../../client/informer.ts'
import { silentLogger } from '../../client/logger.ts'
import type { Runtime } from '../../client/runtime.ts'
import { CLUSTER_RECORD, STANDBY_ANNOTATION } from '../../placement/words/placement.ts'

export const LEASES: GroupVersionResource = { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' }

/** A standby repeats its mark after so many durations, and counts as gone after twice as many without one. */
export const STANDBY_DURATIONS = 4

/** Content of the Lease. */
export interface Held {
  holder: string
  /** Changes with every renewal. */
  renewed: string
  /** Last standby, and the time of its mark; `''` for none. */
  standby: string
  object: KubeObject
}

export function heldIn(object: KubeObject): Held {
  return {
    object,
    holder: str(object, 'spec', 'holderIdentity'),
    renewed: str(object, 'spec', 'renewTime'),
    standby: object.metadata.annotations?.[STANDBY_ANNOTATION] ?? '',
  }
}

interface LeaseWatchOptions extends Pick<Runtime, 'clock' | 'random'> {
  cluster: SpaceClient
  /** Watcher and holder of the Lease. */
  holder: string
  durationMs: number
  /** A standby came, or the Lease is another's or gone. */
  onNews(): void
}

export class LeaseWatch {
  readonly #options: LeaseWatchOptions
  /** Last word of a standby, and when it was noticed. */
  #standby = { holder: '', atMs: Number.NEGATIVE_INFINITY }
  #isOpen = false
  /** The newest renewal that the watch has shown; none where the Lease is not the holder's. */
  #shown: string | undefined

  constructor(options: LeaseWatchOptions) {
    this.#options = options
  }

  /** Whether nobody needs a renewal after `renewed`: the watch shows that one, and nobody stands by. */
  isQuiet(renewed: string | undefined): boolean {
    // not by each event: those of the holder's own renewals may come late
    return this.#isOpen && renewed !== undefined && this.#shown === renewed && !this.#hasStandby()
  }

  /** The Lease, as the watch or an answer shows it. Whether somebody new stands by. */
  noticed({ standby }: Held): boolean {
    if (standby === '' || standby === this.#standby.holder) return false
    const before = this.#hasStandby()
    this.#standby = { holder: standby, atMs: steadyMs(this.#options.clock) }
    return !before
  }

  async run(signal: AbortSignal): Promise<void> {
    const { cluster, holder, onNews } = this.#options
    const { namespace, name } = CLUSTER_RECORD
    const informer = new Informer({
      ...this.#options,
      client: cluster,
      resource: LEASES,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      logger: silentLogger,
    })
    informer.subscribe(({ type, object }) => {
      const held = heldIn(object)
      const isOurs = type === 'apply' && held.holder === holder
      this.#shown = isOurs ? held.renewed : undefined
      const isNews = isOurs && this.noticed(held)
      // A Lease that this process deleted is not recreated.
      if (!signal.aborted && (!isOurs || isNews)) onNews()
    })
    void informer.synced.then(() => {
      this.#isOpen = true
    })
    await informer.run(signal)
  }

  #hasStandby(): boolean {
    const { clock, durationMs } = this.#options
    return steadyMs(clock) - this.#standby.atMs < durationMs * STANDBY_DURATIONS * 2
  }
}
