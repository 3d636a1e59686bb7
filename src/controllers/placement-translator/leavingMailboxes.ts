/**
 * The mailboxes whose SyncTarget is being deleted, alone or with its whole inventory. They stay as they are until they go: what
 * becomes of the workload in the cluster is between its SyncTarget and its syncer, and a placement that leads there no more
 * takes nothing away.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import { MAILBOX_NAME } from '../../apimachinery/placement.ts'
import type { SpacePlaces } from '../placedSource.ts'
import { mailboxOf } from './topology.ts'

export class LeavingMailboxes {
  readonly #leaving = new Set<string>()
  /** The same by space and name of the SyncTarget: who is deleted is told without uid. */
  readonly #byTarget = new Map<string, string>()
  readonly #places: SpacePlaces
  readonly #isThere: (mailbox: string) => boolean

  /** @param isThere whether there is a mailbox of that name */
  constructor(places: SpacePlaces, isThere: (mailbox: string) => boolean) {
    this.#places = places
    this.#isThere = isThere
  }

  /** Of an inventory that goes nobody knows what vanishes first, nor when its mailboxes follow. */
  has(mailbox: string): boolean {
    const inventory = MAILBOX_NAME.exec(mailbox)?.[1] ?? ''
    return this.#leaving.has(mailbox) || this.#places.isDeleting(inventory) || this.#places.pathOf(inventory) === undefined
  }

  /** Takes in a SyncTarget. */
  set({ space, name }: { space: string; name: string }, object: KubeObject | undefined): void {
    const id = `${space}/${name}`
    if (object?.metadata.deletionTimestamp !== undefined) {
      const mailbox = mailboxOf({ space, object })
      this.#byTarget.set(id, mailbox)
      this.#leaving.add(mailbox)
      return
    }
    const before = this.#byTarget.get(id)
    this.#byTarget.delete(id)
    if (before !== undefined && !this.#isThere(before)) this.#leaving.delete(before)
  }

  /** The mailbox is gone. */
  forget(mailbox: string): void {
    this.#leaving.delete(mailbox)
  }
}
