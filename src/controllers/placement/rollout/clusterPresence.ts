/** Which clusters a rollout passes over. Shortly after the start one without a report may be about to report, and is waited for. */
import { type Clock, steadyMs } from '../../../client/clock.ts'
import { OUTCOME_SILENCE_MS } from '../../../placement/outcome/outcome.ts'
import type { ClusterContent } from './clusterContent.ts'

export interface ClusterPresenceDeps {
  clock: Clock
  /** A cluster that is away; `undefined`: it is there. */
  away: (mailbox: string) => ClusterContent | undefined
  /** Whether a cluster was silent already when the server started. */
  isSilent: (mailbox: string) => boolean
}

export class ClusterPresence {
  readonly #deps: ClusterPresenceDeps
  /** Clusters without a report are silent from then on. */
  readonly #silentAtMs: number

  constructor(deps: ClusterPresenceDeps) {
    this.#deps = deps
    this.#silentAtMs = steadyMs(deps.clock) + OUTCOME_SILENCE_MS
  }

  /** Whether a cluster would be passed over. */
  isAway(mailbox: string): boolean {
    return this.#deps.away(mailbox) !== undefined && !this.isAwaited(mailbox)
  }

  /** Whether it is not known yet that a cluster is away. */
  isAwaited(mailbox: string): boolean {
    const { away, isSilent } = this.#deps
    return this.leftMs > 0 && away(mailbox)?.isUnreported === true && !isSilent(mailbox)
  }

  /** For how long clusters are waited for. */
  get leftMs(): number {
    return Math.max(0, this.#silentAtMs - steadyMs(this.#deps.clock))
  }
}
