/**
 * The mailboxes whose SyncTarget is unschedulable: no object gets there that is not there yet, and whoever places it is told.
 * What is there stays and is kept up to date. A mailbox that is made again meanwhile is filled again: its cluster holds all that.
 */
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import type { Told } from '../../../placement/consent/allowance.ts'
import { mailboxOf } from '../../../placement/words/topology.ts'
import type { Source } from '../join/placementProduct.ts'
import type { Mailbox } from './mailbox.ts'

export interface ClosedMailboxesDeps {
  /** Id of the space that the mailbox is now; `undefined` when there is none. */
  spaceOf: (mailbox: string) => string | undefined
  tell: (source: Source, told: Told) => void
  /** What was told for this reason is so no more. */
  withdraw: (source: Source, reason: string) => void
}

const UNSCHEDULABLE: Told = {
  reason: 'Unschedulable',
  message:
    'the SyncTarget is unschedulable, so that it gets no new objects; choose another place, or ask who administers the inventory to set spec.unschedulable of the SyncTarget to false',
}

interface Closed {
  /** The mailbox's space when that began. */
  space: string | undefined
  /** Whom something was told, by space and key. */
  readonly told: Map<string, Source>
}

export class ClosedMailboxes {
  readonly #deps: ClosedMailboxesDeps
  readonly #closed = new Map<string, Closed>()
  /** By space and name of the SyncTarget: who is deleted is told without uid. */
  readonly #byTarget = new Map<string, string>()

  constructor(deps: ClosedMailboxesDeps) {
    this.#deps = deps
  }

  /** Takes in a SyncTarget; the mailbox that takes new objects again. */
  set({ space, name }: { space: string; name: string }, object: KubeObject | undefined): string | undefined {
    const id = `${space}/${name}`
    const before = this.#byTarget.get(id)
    const isClosed = object !== undefined && isRecord(object.spec) && object.spec.unschedulable === true
    const mailbox = isClosed ? mailboxOf({ space, object }) : undefined
    if (mailbox === before) return undefined
    if (mailbox === undefined) this.#byTarget.delete(id)
    else {
      this.#byTarget.set(id, mailbox)
      this.#closed.set(mailbox, { space: this.#deps.spaceOf(mailbox), told: new Map() })
    }
    if (before === undefined) return undefined
    for (const source of this.#closed.get(before)?.told.values() ?? [])
      this.#deps.withdraw(source, UNSCHEDULABLE.reason)
    this.#closed.delete(before)
    return before
  }

  /** Whether an object is not to come into the mailbox. Those who place it are told. */
  keepsOut(mailbox: Mailbox, key: string, claims: readonly Source[]): boolean {
    const closed = this.#closedTo(mailbox, key)
    if (closed === undefined) return false
    closed.space ??= mailbox.space
    for (const source of claims) {
      closed.told.set(`${source.space} ${key}`, source)
      this.#deps.tell(source, UNSCHEDULABLE)
    }
    return true
  }

  /** Why an object would not come into the mailbox; `undefined`: nothing is in the way. Nobody is told. */
  wouldKeepOut(mailbox: Mailbox, key: string): Told | undefined {
    return this.#closedTo(mailbox, key) && UNSCHEDULABLE
  }

  #closedTo(mailbox: Mailbox, key: string): Closed | undefined {
    const closed = this.#closed.get(mailbox.name)
    // what hands took out of it is there still
    if (closed === undefined || mailbox.copies.has(key) || mailbox.lostOwners.has(key)) return undefined
    return (closed.space ?? mailbox.space) === mailbox.space ? closed : undefined
  }
}
