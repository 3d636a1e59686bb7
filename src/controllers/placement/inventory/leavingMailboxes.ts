/**
 * The mailboxes whose SyncTarget is being deleted or gone, alone or with its whole inventory. They stay as they are until they
 * go: what becomes of the workload in the cluster is between its SyncTarget and its syncer, and a placement that leads there no
 * more takes nothing away.
 */
import type { KubeObject } from '../../../apimachinery/object.ts'
import { MAILBOX_NAME } from '../../../placement/words/placement.ts'
import { mailboxOf } from '../../../placement/words/topology.ts'
import type { SpacePlaces } from '../../placedSource.ts'

interface Moved {
  readonly stays?: string | undefined
  readonly leaves?: string | undefined
}

export class LeavingMailboxes {
  readonly #places: SpacePlaces
  /** Mailboxes that have a SyncTarget which nobody deletes, and its name. */
  readonly #staying = new Map<string, string>()
  /** The same by space and name of the SyncTarget: who is deleted is told without uid. */
  readonly #byTarget = new Map<string, string>()

  constructor(places: SpacePlaces) {
    this.#places = places
  }

  /** To be asked once all SyncTargets are known. Of an inventory that goes nobody knows what vanishes first. */
  has(mailbox: string): boolean {
    const inventory = MAILBOX_NAME.exec(mailbox)?.[1] ?? ''
    const isGoing = this.#places.isDeleting(inventory) || this.#places.pathOf(inventory) === undefined
    return isGoing || !this.#staying.has(mailbox)
  }

  /** What people call the cluster of a mailbox. */
  targetOf(mailbox: string): string {
    return this.#staying.get(mailbox) ?? mailbox
  }

  /** Takes in a SyncTarget; the mailbox that has one from now on and had none before, and the one that has none any more. */
  set({ space, name }: { space: string; name: string }, object: KubeObject | undefined): Moved {
    const id = `${space}/${name}`
    const before = this.#byTarget.get(id)
    const stays = object !== undefined && object.metadata.deletionTimestamp === undefined
    const mailbox = stays ? mailboxOf({ space, object }) : undefined
    if (mailbox === before) return {}
    if (before !== undefined) this.#staying.delete(before)
    if (mailbox === undefined) this.#byTarget.delete(id)
    else {
      this.#byTarget.set(id, mailbox)
      this.#staying.set(mailbox, name)
    }
    return { stays: mailbox, leaves: before }
  }
}
