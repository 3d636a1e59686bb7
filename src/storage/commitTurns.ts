/**
 * How much of what is large goes into one commit: a short write waits for the commit that is on its way to the disk and for its own,
 * and megabytes in either, all of which are copied and synced, would be what it waits for. So large writes take turns, tenant by tenant
 * and space by space, before they are compared with what is there; each commit has room for some, and for one at least.
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
  /** By tenant and space, in the order of their turns. Never empty. */
  readonly #waiting = new Map<string, Map<string, Waiting[]>>()
  /** Of large writes that were let into the commit which gathers. */
  #bytes = 0

  /** Whether anybody waits for a turn. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /** `undefined`: it is its turn already. */
  enter(tenant: string, space: string, bytes: number): Promise<void> | undefined {
    if (!this.isWaiting && this.#hasRoom(bytes)) {
      this.#bytes += bytes
      return undefined
    }
    return new Promise(resolve => {
      const spaces = this.#waiting.get(tenant) ?? new Map<string, Waiting[]>()
      const same = spaces.get(space) ?? []
      same.push({ bytes, go: resolve })
      this.#waiting.set(tenant, spaces.set(space, same))
    })
  }

  /** Another commit gathers. */
  next(): void {
    this.#bytes = 0
    while (this.isWaiting && this.#letIn(bytes => this.#hasRoom(bytes)));
  }

  /** Nothing is written any more: whoever waits is to hear that. */
  end(): void {
    while (this.isWaiting) this.#letIn(() => true)
  }

  #hasRoom(bytes: number): boolean {
    return this.#bytes === 0 || this.#bytes + bytes <= ROOM_BYTES
  }

  /** Who is first, if they may; their tenant has its turn behind all others then, and in it their space. */
  #letIn(may: (bytes: number) => boolean): boolean {
    const [tenant, spaces] = this.#waiting.entries().next().value!
    const [space, same] = spaces.entries().next().value!
    if (!may(same[0]!.bytes)) return false
    const { bytes, go } = same.shift()!
    spaces.delete(space)
    if (same.length > 0) spaces.set(space, same)
    this.#waiting.delete(tenant)
    if (spaces.size > 0) this.#waiting.set(tenant, spaces)
    this.#bytes += bytes
    go()
    return true
  }
}
