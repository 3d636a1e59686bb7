/** Which spaces have to give way in which mailboxes: what the administrators of inventories write on their SyncTargets. */
import type { KubeObject } from '../../../apimachinery/object.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import { mailboxOf } from '../../../placement/words/topology.ts'
import { releasesOn } from './ownership.ts'

export class Releases {
  /** Ids and paths of the spaces that give way in a mailbox, for mailboxes that have such. */
  readonly #releases = new Map<string, readonly string[]>()
  /** Mailboxes of the SyncTargets that say so, by space and name: who is deleted is told without uid. */
  readonly #releasing = new Map<string, string>()

  /** Ids and paths of the spaces that give way in a mailbox. */
  of(mailbox: string): readonly string[] {
    return this.#releases.get(mailbox) ?? []
  }

  /** The mailbox in which spaces have to give way that did not before. */
  set(at: { space: string; name: string }, object: KubeObject | undefined): string | undefined {
    const id = `${at.space}/${at.name}`
    const references = object ? releasesOn(object) : []
    const before = this.#releasing.get(id)
    const mailbox = references.length > 0 ? mailboxOf({ space: at.space, object: object! }) : undefined
    if (before !== undefined && before !== mailbox) this.#releases.delete(before)
    if (mailbox === undefined) {
      this.#releasing.delete(id)
      return undefined
    }
    if (before === mailbox && equalJson(this.#releases.get(mailbox), references)) return undefined
    this.#releasing.set(id, mailbox)
    this.#releases.set(mailbox, references)
    return mailbox
  }
}
