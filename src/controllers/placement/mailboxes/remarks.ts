/**
 * Remarks: reasons of the center why the object of a space is not in a mailbox as it should be. An object has one remark at most for each
 * space and mailbox, the newest. Most copies have none.
 */
import type { Reason } from '../../../placement/words/reason.ts'
import type { Signals } from '../signals/signals.ts'

export class Remarks {
  /** By mailbox, space and key. */
  readonly #byMailbox = new Map<string, Map<string, Map<string, Reason>>>()
  readonly #copyChanged: Signals['copyChanged']

  constructor(copyChanged: Signals['copyChanged']) {
    this.#copyChanged = copyChanged
  }

  of(mailbox: string, space: string, key: string): Reason | undefined {
    return this.#byMailbox.get(mailbox)?.get(space)?.get(key)
  }

  /** All remarks on objects of a space in a mailbox, by key. */
  in(mailbox: string, space: string): ReadonlyMap<string, Reason> {
    return this.#byMailbox.get(mailbox)?.get(space) ?? NONE
  }

  /** Whether any space has a remark on an object. */
  has(mailbox: string, key: string): boolean {
    for (const byKey of this.#byMailbox.get(mailbox)?.values() ?? []) if (byKey.has(key)) return true
    return false
  }

  set(mailbox: string, space: string, key: string, remark: Reason): void {
    const before = this.of(mailbox, space, key)
    if (before?.reason === remark.reason && before.message === remark.message) return
    const bySpace = this.#byMailbox.get(mailbox) ?? new Map<string, Map<string, Reason>>()
    const byKey = bySpace.get(space) ?? new Map<string, Reason>()
    this.#byMailbox.set(mailbox, bySpace.set(space, byKey.set(key, remark)))
    this.#copyChanged.send(mailbox, key, 'remark')
  }

  /** Ends a remark that has one of these reasons. */
  end(mailbox: string, space: string, key: string, ...reasons: readonly string[]): void {
    if (reasons.includes(this.of(mailbox, space, key)?.reason ?? '')) this.#delete(mailbox, space, key)
  }

  /** Ends the remarks of all spaces on an object that have one of these reasons. */
  endAll(mailbox: string, key: string, ...reasons: readonly string[]): void {
    for (const space of [...(this.#byMailbox.get(mailbox)?.keys() ?? [])]) this.end(mailbox, space, key, ...reasons)
  }

  /** Ends all remarks in a mailbox that have this reason. */
  endIn(mailbox: string, reason: string): void {
    for (const [space, byKey] of [...(this.#byMailbox.get(mailbox) ?? [])])
      for (const key of [...byKey.keys()]) this.end(mailbox, space, key, reason)
  }

  /** Ends the remarks of spaces that do not claim an object any more. */
  endUnclaimed(mailbox: string, key: string, claims: readonly { readonly space: string }[]): void {
    for (const space of [...(this.#byMailbox.get(mailbox)?.keys() ?? [])])
      if (this.of(mailbox, space, key) && !claims.some(claim => claim.space === space))
        this.#delete(mailbox, space, key)
  }

  /** The mailbox is closed. */
  forget(mailbox: string): void {
    const bySpace = this.#byMailbox.get(mailbox)
    this.#byMailbox.delete(mailbox)
    for (const byKey of bySpace?.values() ?? [])
      for (const key of byKey.keys()) this.#copyChanged.send(mailbox, key, 'remark')
  }

  #delete(mailbox: string, space: string, key: string): void {
    const bySpace = this.#byMailbox.get(mailbox)!
    const byKey = bySpace.get(space)!
    byKey.delete(key)
    if (byKey.size === 0) bySpace.delete(space)
    if (bySpace.size === 0) this.#byMailbox.delete(mailbox)
    this.#copyChanged.send(mailbox, key, 'remark')
  }
}

const NONE: ReadonlyMap<string, Reason> = new Map()
