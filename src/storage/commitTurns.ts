/**
 * How much of what is large goes into one commit: a short write waits for the commit that is on its way to the disk and for its own,
 * and megabytes in either, all of which are copied and synced, would be what it waits for. So large writes take turns, owner by owner,
 * before they are compared with what is there; each commit has room for some, and for one at least.
 */

/** What is shorter never waits for a turn. */
export const TURN_BYTES = 64 * 1024
/** Of large writes in one commit, unless it is a single one. */
const ROOM_BYTES = 1024 * 1024

interface Waiting {
  readonly bytes: number
  go(): void
}

export class CommitTurns {
  /** By owner, in the order of their turns. Never empty lists. */
  readonly #waiting = new Map<string, Waiting[]>()
  /** Of large writes that were let into the commit which gathers. */
  #bytes = 0

  /** Whether anybody waits for a turn. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /** `undefined`: it is its turn already. */
  enter(owner: string, bytes: number): Promise<void> | undefined {
    if (!this.isWaiting && this.#hasRoom(bytes)) {
      this.#bytes += bytes
      return undefined
    }
    return new Promise(resolve => {
      const same = this.#waiting.get(owner) ?? []
      same.push({ bytes, go: resolve })
      this.#waiting.set(owner, same)
    })
  }

  /** Another commit gathers. */
  next(): void {
    this.#bytes = 0
    for (const [owner, same] of this.#waiting) {
      const [first] = same
      if (!this.#hasRoom(first!.bytes)) return
      this.#letIn(owner, same)
    }
  }

  /** Nothing is written any more: whoever waits is to hear that. */
  end(): void {
    while (this.isWaiting) for (const [owner, same] of this.#waiting) this.#letIn(owner, same)
  }

  #hasRoom(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= ROOM_BYTES
  }

  /** The owner's next one has its turn behind all others'. */
  #letIn(owner: string, same: Waiting[]): void {
    const { bytes, go } = same.shift()!
    this.#waiting.delete(owner)
    if (same.length > 0) this.#waiting.set(owner, same)
    this.#bytes += bytes
    go()
  }
}
