/**
 * For each kind that a cluster offers, whether copies can go there. Its mailbox must serve it at a version that converts into one that the
 * cluster serves. A kind that the mailbox does not know has no placements, yet.
 */

import { isOneShape } from '../../../../apimachinery/nearestVersion.ts'
import { groupResourceName } from '../../../../apimachinery/object.ts'
import type { Client } from '../../../../client/client.ts'
import type { ClusterOutcome } from '../../../../placement/outcome/clusterOutcome.ts'
import type { Offer, OfferedResource } from '../../../../placement/outcome/offer.ts'
import { VERSION_NOT_SERVED } from '../../../../placement/outcome/outcome.ts'
import { definitionKey } from '../../../../placement/words/names.ts'

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

interface Answer {
  readonly of: readonly unknown[]
  readonly resources: readonly SyncedResource[]
}

export class SyncedResources {
  readonly #client: Client
  readonly #answers = new WeakMap<OfferedMailbox, Answer>()
  /** Last answer for clusters with the same offer: mostly the next one's answer is no other. */
  readonly #last = new WeakMap<Offer, readonly SyncedResource[]>()

  constructor(client: Client) {
    this.#client = client
  }

  /** `undefined` when nobody says what the cluster offers. */
  async of(
    mailbox: OfferedMailbox,
    { offer, exceptions }: Pick<ClusterOutcome, 'offer' | 'exceptions'>,
  ): Promise<readonly SyncedResource[] | undefined> {
    if (offer === undefined) return undefined
    const unserved = new Set<string>()
    for (const one of exceptions.values()) if (one.reason === VERSION_NOT_SERVED) unserved.add(groupResourceName(one))
    const of = [offer, mailbox.definitionChanges, [...unserved].sort().join()]
    const known = this.#answers.get(mailbox)
    if (known?.of.every((part, i) => part === of[i])) return known.resources
    // what is defined there is served before the mailbox tells of it
    const served = await this.#client.in(mailbox.space).discover()
    const versions = new Map(served.map(one => [groupResourceName(one), one.versions ?? [one.version]]))
    const found = offer.resources.map((offered): SyncedResource => {
      const name = groupResourceName(offered)
      const ours = versions.get(name)
      if (ours === undefined) return { ...offered, state: 'Pending' }
      // of what a space defines each version may be of a shape of its own
      const goesInto = mailbox.copies.has(definitionKey(offered)) ? (a: string, b: string) => a === b : isOneShape
      const isOffered = offered.versions.some(theirs => ours.some(version => goesInto(version, theirs)))
      return { ...offered, state: isOffered && !unserved.has(name) ? 'Accepted' : 'Incompatible' }
    })
    const last = this.#last.get(offer)
    const resources = last?.every(({ state }, i) => state === found[i]?.state) ? last : found
    this.#last.set(offer, resources)
    this.#answers.set(mailbox, { of, resources })
    return resources
  }
}
