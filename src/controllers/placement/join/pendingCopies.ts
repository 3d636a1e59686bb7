/**
 * Copies that a change of a space may touch, before their tasks are queued: objects × mailboxes. One turn of the loop groups them by
 * the lists of mailboxes that objects share, so that one mailbox gets its tasks in a row. Nothing is queued until the space is known
 * whole. All of them count as pending meanwhile.
 */
export interface PendingCopiesDeps {
  /** Whether all of the space is known. */
  isKnown(space: string): boolean
  /** What may have to change of a space's is not all named; until what it answers is called. */
  open(space: string): () => void
  /** Has it queued: each of the objects in each of the mailboxes. `isNews`: the space was known when it was named. */
  name(space: string, what: { keys: readonly string[]; mailboxes: readonly string[]; isNews: boolean }): void
  /** Calls back in this turn of the loop, behind what calls now. */
  soon(call: () => void): void
}

interface Named {
  readonly keys: Map<readonly string[], Set<string>>
  readonly close: () => void
  isComing: boolean
}

export class PendingCopies {
  readonly #deps: PendingCopiesDeps
  readonly #spaces = new Map<string, Named>()

  constructor(deps: PendingCopiesDeps) {
    this.#deps = deps
  }

  /** Whether anything is about to be queued. */
  get isIdle(): boolean {
    for (const { isComing } of this.#spaces.values()) if (isComing) return false
    return true
  }

  add(space: string, keys: readonly string[], mailboxes: readonly string[]): void {
    if (mailboxes.length === 0 || keys.length === 0) return
    const named = this.#spaces.get(space) ?? { keys: new Map(), close: this.#deps.open(space), isComing: false }
    this.#spaces.set(space, named)
    const there = named.keys.get(mailboxes) ?? new Set<string>()
    named.keys.set(mailboxes, there)
    for (const key of keys) there.add(key)
    if (named.isComing || !this.#deps.isKnown(space)) return
    named.isComing = true
    this.#deps.soon(() => this.#release(space, named))
  }

  /** What is queued for the space from now on comes behind what it has named. */
  settle(space: string): void {
    if (this.#spaces.get(space)?.isComing) this.release(space)
  }

  /** The space is known, or followed no more. */
  release(space: string): void {
    const named = this.#spaces.get(space)
    if (named) this.#release(space, named)
  }

  #release(space: string, named: Named): void {
    if (this.#spaces.get(space) !== named) return
    this.#spaces.delete(space)
    for (const [mailboxes, keys] of named.keys)
      this.#deps.name(space, { keys: [...keys], mailboxes, isNews: named.isComing })
    named.close()
  }
}
