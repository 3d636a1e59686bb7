/**
 * Facts of all spaces about placing: one index of SyncTargets, Locations, mailboxes and consents for all controllers of placement. It keeps
 * facts, and its readers judge. Each change reaches the facts first, then the readers in the order in which they were added: where,
 * mailboxes, copies. So a slice never comes before the SyncTarget that it names.
 */
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Waiting } from '../../../client/setAside/intake.ts'
import type { StreamedRef } from '../../../client/streamSource.ts'
import { type Binding, ConsentIndex } from '../../consent/consentIndex.ts'
import type { ConsentObject, ConsentTaker } from '../../consent/takeConsent.ts'
import type { SpacePlaces } from '../../placedSource.ts'
import { Inventory, type LocationChange, type MailboxChange, type ObjectId, type TargetChange } from './inventory.ts'

/** One version of an object that is no fact here: an EdgePlacement, a slice, a Customizer, … */
export interface Streamed {
  /** Absent: it is gone. */
  readonly object: KubeObject | undefined
  /** The object is gone: its deletion was seen. */
  readonly byName: boolean
  readonly revision: number
}

export interface BindingChange {
  readonly space: string
  readonly name: string
  readonly before: Binding | undefined
  readonly after: Binding | undefined
  /** It is there and cannot be read: what it was before stands. */
  readonly isUnreadable: boolean
}

export interface TopologyReader {
  /** A snapshot begins, and is complete. */
  begin?(): void
  synced?(): void
  /** Objects for which the snapshot waits. */
  waits?(objects: readonly Waiting[]): void
  targetChanged?(change: TargetChange, object: KubeObject | undefined): void
  locationChanged?(change: LocationChange): void
  mailboxChanged?(change: MailboxChange): void
  /** Every mailbox that existed at the start is known. */
  mailboxesSynced?(): void
  bindingChanged?(change: BindingChange): void
  grantChanged?(inventory: string, isUnreadable: boolean): void
  /** The grants of an inventory for a space, or the space's use of it, may have changed. `undefined`: any inventory. */
  consentChanged?(space: string, inventory: string | undefined): void
  /** The verdict on an InventoryBinding may be another now. */
  bindingJudged?(space: string, name: string): void
  objectChanged?(ref: StreamedRef, now: Streamed): void
}

export class TopologyFacts implements ConsentTaker {
  readonly inventory: Inventory
  readonly consents: ConsentIndex
  readonly #readers: TopologyReader[] = []
  /** Errors of readers about the change that is being delivered. */
  #errors: unknown[] | undefined

  constructor(places: SpacePlaces) {
    this.inventory = new Inventory(places)
    this.consents = new ConsentIndex(places, {
      consent: (space, inventory) => this.send(reader => reader.consentChanged?.(space, inventory)),
      binding: (space, name) => this.send(reader => reader.bindingJudged?.(space, name)),
    })
  }

  read(reader: TopologyReader): void {
    this.#readers.push(reader)
  }

  /** Until the answer is called, follows which space is at which path. `failed` gets errors of readers: nobody else would. */
  follow(failed: (error: unknown) => void): () => void {
    return this.consents.follow(change => {
      try {
        this.#deliver(change)
      } catch (error) {
        failed(error)
      }
    })
  }

  /** @throws as all that delivers: what the first reader that failed threw, once all readers have all of the change */
  send(fact: (reader: TopologyReader) => void): void {
    this.#deliver(() => {
      for (const reader of this.#readers) {
        try {
          fact(reader)
        } catch (error) {
          this.#errors?.push(error)
        }
      }
    })
  }

  /** Delivers a change, which may be several facts. A reader that fails keeps nothing from the others, and no later fact. */
  #deliver(change: () => void): void {
    const outer = this.#errors
    const errors = outer ?? []
    this.#errors = errors
    try {
      change()
    } finally {
      this.#errors = outer
    }
    if (!outer && errors.length > 0) throw errors[0]
  }

  setTarget(id: ObjectId, object: KubeObject | undefined): void {
    this.#deliver(() => {
      for (const change of this.inventory.setTarget(id, object))
        this.send(reader => reader.targetChanged?.(change, change.after && object))
    })
  }

  setLocation(id: ObjectId, object: KubeObject | undefined): void {
    const change = this.inventory.setLocation(id, object)
    this.send(reader => reader.locationChanged?.(change))
  }

  /** A Workspace under the mailbox parent. */
  setMailbox(name: string, object: KubeObject | undefined): void {
    const change = this.inventory.setMailbox(name, object)
    if (change) this.send(reader => reader.mailboxChanged?.(change))
  }

  setBinding(space: string, name: string, object: ConsentObject): void {
    this.#deliver(() => {
      const before = this.consents.bindingOf(space, name)
      this.consents.setBinding(space, name, object)
      const after = this.consents.bindingOf(space, name)
      const change = { space, name, before, after, isUnreadable: object === 'unreadable' }
      this.send(reader => reader.bindingChanged?.(change))
    })
  }

  setGrant(inventory: string, name: string, object: ConsentObject): void {
    this.#deliver(() => {
      this.consents.setGrant(inventory, name, object)
      this.send(reader => reader.grantChanged?.(inventory, object === 'unreadable'))
    })
  }
}
