/**
 * Requests that hold no seat and yet some of the server's memory: they wait for a webhook, or for a client that does not take its
 * answer. How many and how much is bounded for each space and, by half of that, for each user in it, and for the server.
 */

export interface HeldLimits {
  requests: number
  bytes: number
}

export interface HeldBounds {
  readonly space: HeldLimits
  readonly server: HeldLimits
}

export const DEFAULT_HELD: HeldBounds = {
  space: { requests: 200, bytes: 64 * 1024 * 1024 },
  server: { requests: 2000, bytes: 512 * 1024 * 1024 },
}

/** What is held of a space, of a user in it, or of all. */
interface Held {
  requests: number
  bytes: number
}

export class HeldRequests {
  readonly #bounds: HeldBounds
  readonly #all: Held = { requests: 0, bytes: 0 }
  /** By space, and by space and user. No entries for nothing. */
  readonly #held = new Map<string, Held>()

  constructor(bounds: HeldBounds = DEFAULT_HELD) {
    this.#bounds = bounds
  }

  get total(): Readonly<Held> {
    return this.#all
  }

  of(space: string): Readonly<Held> {
    return this.#held.get(space) ?? NOTHING
  }

  /** Whether one more could be held. */
  hasRoom(space: string, user: string): boolean {
    if (this.#all.requests === 0) return true
    const { space: most, server } = this.#bounds
    const { requests, bytes } = this.of(space)
    const own = this.of(ownerOf(space, user))
    return (
      this.#all.requests < server.requests &&
      this.#all.bytes < server.bytes &&
      requests < most.requests &&
      bytes < most.bytes &&
      own.requests < most.requests / 2 &&
      own.bytes < most.bytes / 2
    )
  }

  /** Whether what is held is within its bytes. */
  fits(space: string): boolean {
    const { space: most, server } = this.#bounds
    return this.#all.bytes <= server.bytes && this.of(space).bytes <= most.bytes
  }

  /** Counts one, whether or not there is room, until `release` with the same arguments. */
  hold(space: string, user: string, bytes: number): void {
    add(this.#all, 1, bytes)
    for (const owner of [space, ownerOf(space, user)]) {
      let held = this.#held.get(owner)
      if (held === undefined) {
        held = { requests: 0, bytes: 0 }
        this.#held.set(owner, held)
      }
      add(held, 1, bytes)
    }
  }

  release(space: string, user: string, bytes: number): void {
    add(this.#all, -1, -bytes)
    for (const owner of [space, ownerOf(space, user)]) {
      const held = this.#held.get(owner)
      if (held === undefined) continue
      add(held, -1, -bytes)
      if (held.requests === 0) this.#held.delete(owner)
    }
  }
}

const NOTHING: Held = { requests: 0, bytes: 0 }

const ownerOf = (space: string, user: string): string => `${space}\0${user}`

function add(held: Held, requests: number, bytes: number): void {
  held.requests += requests
  held.bytes += bytes
}
