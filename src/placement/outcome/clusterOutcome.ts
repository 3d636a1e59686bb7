/** One cluster as its syncer reports it. Pure. */

import type { OutcomeState } from './copyStates.ts'
import type { Offer } from './offer.ts'
import { type ClusterVersions, type Exception, isDone } from './outcome.ts'

export interface ClusterOutcome {
  /** Its syncer speaks. Else nothing is known of now. */
  readonly live: boolean
  /** Time of its last report, or of the end of its connection after it. */
  readonly reportedAtMs?: number
  /** Its syncer speaks, and does not reach the cluster. */
  readonly unreachable?: boolean
  /** Whether it has compared everything with the live cluster. */
  readonly compared: boolean
  readonly processed: number
  readonly exceptions: ReadonlyMap<string, Exception>
  /** Exceptions that it could not name, by state. */
  readonly unlisted: Readonly<Partial<Record<OutcomeState, number>>>
  /** Absent until reported. */
  readonly versions?: ClusterVersions | undefined
  /** Offer of the cluster: the same object until its content changes. Absent until reported. */
  readonly offer?: Offer | undefined
}

export const UNREPORTED: ClusterOutcome = {
  live: false,
  compared: false,
  processed: 0,
  exceptions: new Map(),
  unlisted: {},
}

/** Tells of what the syncer has looked at whether it could not make it so, or may be among what it could not name. */
export function isInDoubt({ exceptions, unlisted }: ClusterOutcome): (key: string) => boolean {
  return key => !isDone(exceptions.get(key)?.state ?? 'applied') || Object.keys(unlisted).length > 0
}
