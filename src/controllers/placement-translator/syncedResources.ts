/**
 * Of each kind that a cluster offers, whether copies can go there: its mailbox serves it at a version that goes into one that the
 * cluster serves. What the mailbox does not know nobody places there, yet.
 */

import { isOneShape } from '../../apimachinery/nearestVersion.ts'
import { groupResourceName } from '../../apimachinery/object.ts'
import type { OfferedResource } from '../../apimachinery/offer.ts'
import { VERSION_NOT_SERVED } from '../../apimachinery/outcome.ts'
import type { Client } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import type { ClusterOutcome } from './clusterOutcomes.ts'
import { definitionKey } from './definitions.ts'

/** As kcp's SyncTargets say it. */
export interface SyncedResource extends OfferedResource {
  readonly state: 'Pending' | 'Accepted' | 'Incompatible'
}

export interface OfferedMailbox {
  readonly space: string
  readonly copies: { has(key: string): boolean }
  /** Counts the changes of definitions in it. */
  readonly definitionChanges: number
}

/** How long what a mailbox serves is taken for known, unless a definition changes: definitions are served a moment later. */
const KNOWN_MS = 60_000

interface Answer {
  readonly of: readonly unknown[]
  readonly atMs: number
  readonly resources: readonly SyncedResource[]
}

export class SyncedResources {
  readonly #client: Client
  readonly #clock: Clock
  readonly #answers = new WeakMap<OfferedMailbox, Answer>()

  constructor(client: Client, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /**
   * `undefined` when nobody says what the cluster offers.
   * `isSettled` is false while a definition that was placed is not served in the mailbox: then it is to be asked again.
   */
  async of(
    mailbox: OfferedMailbox,
    { offer, exceptions }: Pick<ClusterOutcome, 'offer' | 'exceptions'>,
  ): Promise<{ resources: readonly SyncedResource[]; isSettled: boolean } | undefined> {
    if (offer === undefined) return undefined
    const unserved = new Set<string>()
    for (const one of exceptions.values()) if (one.reason === VERSION_NOT_SERVED) unserved.add(groupResourceName(one))
    const of = [offer, mailbox.definitionChanges, [...unserved].sort().join()]
    const nowMs = this.#clock.now()
    const known = this.#answers.get(mailbox)
    if (known?.of.every((part, i) => part === of[i]) && nowMs - known.atMs < KNOWN_MS)
      return { resources: known.resources, isSettled: true }
    const served = await this.#client.in(mailbox.space).discover()
    const versions = new Map(served.map(one => [groupResourceName(one), one.versions ?? [one.version]]))
    let isSettled = true
    const resources = offer.resources.map((offered): SyncedResource => {
      const name = groupResourceName(offered)
      const ours = versions.get(name)
      const isDefined = mailbox.copies.has(definitionKey(offered))
      if (ours === undefined) {
        if (isDefined) isSettled = false
        return { ...offered, state: 'Pending' }
      }
      // of what a space defines each version may be of a shape of its own
      const goesInto = isDefined ? (a: string, b: string) => a === b : isOneShape
      const isOffered = offered.versions.some(theirs => ours.some(version => goesInto(version, theirs)))
      return { ...offered, state: isOffered && !unserved.has(name) ? 'Accepted' : 'Incompatible' }
    })
    if (isSettled) this.#answers.set(mailbox, { of, atMs: nowMs, resources })
    return { resources, isSettled }
  }
}
