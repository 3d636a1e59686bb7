/**
 * Share of large writes in one commit. A short write waits for the commit that is on its way to the disk and for its own. Megabytes in
 * either, all of them copied and synced, would lengthen that wait. Large writes therefore take turns, tenant by tenant and space by space,
 * before their comparison with the present version. Each commit has room for some, and for one at least.
 */

import { TurnLine } from '../program/turnLine.ts'

/** A shorter write never waits for a turn. */
export const TURN_BYTES = 64 * 1024
/** Bound on large writes in one commit, unless it is a single one. */
export const ROOM_BYTES = 1024 * 1024

interface Waiting {
  readonly bytes: number
  go(): void
}

export class CommitTurns {
  readonly #waiting = new TurnLine<Waiting>()
  /** Bytes of large writes in the commit which gathers. */
  #bytes = 0

  /** Whether anybody waits for a turn. */
  get isWaiting(): boolean {
    return !this.#waiting.isEmpty
  }

  /** `undefined`: it is its turn already. */
  enter(tenant: string, space: string, bytes: number): Promise<void> | undefined {
    if (!this.isWaiting && this.#hasRoom(bytes)) {
      this.#bytes += bytes
      return undefined
    }
    return new Promise(go => this.#waiting.add(tenant, space, { bytes, go }))
  }

  /** Another commit gathers. */
  next(): void {
    this.#bytes = 0
    while (this.isWaiting && this.#hasRoom(this.#waiting.first!.bytes)) this.#letIn()
  }

  /** The store takes no more writes: all waiting ones fail. */
  end(): void {
    while (this.isWaiting) this.#letIn()
  }

  #hasRoom(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= ROOM_BYTES
  }

  #letIn(): void {
    const { bytes, go } = this.#waiting.shift()!
    this.#bytes += bytes
    go()
  }
}
