/** The mailboxes that the administrator of the inventory empties: the time in `spec.evictAfter` of the SyncTarget has come. */
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Clock } from '../../../client/clock.ts'
import { mailboxOf } from '../../../placement/words/topology.ts'
import { schedulingOf } from '../../where-resolver/scheduling.ts'

export class Evictions {
  readonly #clock: Clock
  /** By mailbox, for those that have such a time. */
  readonly #atMs = new Map<string, number>()
  /** By space and name of the SyncTarget: who is deleted is told without uid. */
  readonly #byTarget = new Map<string, string>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  has(mailbox: string): boolean {
    return (this.#atMs.get(mailbox) ?? Number.POSITIVE_INFINITY) <= this.#clock.now()
  }

  /** Takes in a SyncTarget; its mailbox, if that has such a time. */
  set({ space, name }: { space: string; name: string }, object: KubeObject | undefined): string | undefined {
    const id = `${space}/${name}`
    const before = this.#byTarget.get(id)
    if (before !== undefined) this.#atMs.delete(before)
    const atMs = object ? schedulingOf(object).evictAtMs : Number.POSITIVE_INFINITY
    if (!object || !Number.isFinite(atMs)) {
      this.#byTarget.delete(id)
      return undefined
    }
    const mailbox = mailboxOf({ space, object })
    this.#byTarget.set(id, mailbox)
    this.#atMs.set(mailbox, atMs)
    return mailbox
  }
}
