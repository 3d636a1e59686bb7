/**
 * Requests that hold no seat and yet some of the server's memory. They wait for a webhook, or for a client that does not take its answer.
 * Their number and bytes are bounded for each space (with those below it) and for the server. Each user in a space has half of its bound. A
 * little is kept for holders of next to nothing, whatever the others do.
 */

export interface HeldLimits {
  requests: number
  bytes: number
}

export interface HeldBounds {
  readonly space: HeldLimits
  readonly server: HeldLimits
  /** Bound of {@link HeldRequests.fits} for one user in a space. Default: that of the space. */
  readonly userBytes?: number
}

export const DEFAULT_HELD: HeldBounds = {
  space: { requests: 200, bytes: 64 * 1024 * 1024 },
  server: { requests: 2000, bytes: 512 * 1024 * 1024 },
}

/** Bounds of one of several serving threads: a share of the bytes. */
export function shareOf({ space, server, userBytes }: HeldBounds, threads: number): HeldBounds {
  const part = ({ requests, bytes }: HeldLimits): HeldLimits => ({ requests, bytes: bytes / threads })
  return {
    space: part(space),
    server: part(server),
    ...(userBytes !== undefined && { userBytes: userBytes / threads }),
  }
}

/** Their space and user. */
export interface Holder {
  /** The own space, behind those above it. */
  readonly spaces: readonly string[]
  readonly user: string
}

/** Share of the server's bound for a space and those below it. */
export const SUBTREE = 1 / 4
/** Share of the server's bound that a tenant may have although the server is full. */
const RESERVED = 1 / 64

/** Held requests of a space, of a user in it, or of all. */
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

  /** Held requests of a space, and of those below it. */
  of(space: string): Readonly<Held> {
    return this.#held.get(space) ?? NOTHING
  }

  /** Whether one more could be held. */
  hasRoom({ spaces, user }: Holder): boolean {
    if (this.#all.requests === 0) return true
    const { space: most, server } = this.#bounds
    const own = this.#held.get(ownerOf(spaces, user)) ?? NOTHING
    if (own.requests >= most.requests / 2 || own.bytes >= most.bytes / 2) return false
    for (let i = 0; i < spaces.length; i++) {
      const { requests, bytes } = this.of(spaces[i]!)
      const bound = this.#boundAt(spaces, i)
      if (requests >= bound.requests || bytes >= bound.bytes) return false
    }
    if (this.#all.requests < server.requests && this.#all.bytes < server.bytes) return true
    const { requests, bytes } = this.of(spaces[0]!)
    return requests < Math.trunc(server.requests * RESERVED) && bytes < server.bytes * RESERVED
  }

  /** Whether what is held is within its bytes. */
  fits({ spaces, user }: Holder): boolean {
    const { server, userBytes = Infinity } = this.#bounds
    if ((this.#held.get(ownerOf(spaces, user))?.bytes ?? 0) > userBytes) return false
    for (let i = 0; i < spaces.length; i++) {
      if (this.of(spaces[i]!).bytes > this.#boundAt(spaces, i).bytes) return false
    }
    return this.#all.bytes <= server.bytes || this.of(spaces[0]!).bytes <= server.bytes * RESERVED
  }

  /** Counts one, whether or not there is room, until `release` with the same arguments. */
  hold({ spaces, user }: Holder, bytes: number): void {
    add(this.#all, 1, bytes)
    for (const space of spaces) this.#hold(space, bytes)
    this.#hold(ownerOf(spaces, user), bytes)
  }

  release({ spaces, user }: Holder, bytes: number): void {
    add(this.#all, -1, -bytes)
    for (const space of spaces) this.#release(space, bytes)
    this.#release(ownerOf(spaces, user), bytes)
  }

  #boundAt(spaces: readonly string[], index: number): HeldLimits {
    const { space, server } = this.#bounds
    if (index === spaces.length - 1) return space
    return {
      requests: Math.max(space.requests, server.requests * SUBTREE),
      bytes: Math.max(space.bytes, server.bytes * SUBTREE),
    }
  }

  #hold(owner: string, bytes: number): void {
    let held = this.#held.get(owner)
    if (held === undefined) {
      held = { requests: 0, bytes: 0 }
      this.#held.set(owner, held)
    }
    add(held, 1, bytes)
  }

  #release(owner: string, bytes: number): void {
    const held = this.#held.get(owner)
    if (held === undefined) return
    add(held, -1, -bytes)
    if (held.requests === 0) this.#held.delete(owner)
  }
}

const NOTHING: Held = { requests: 0, bytes: 0 }

const ownerOf = (spaces: readonly string[], user: string): string => `${spaces.at(-1)}\0${user}`

function add(held: Held, requests: number, bytes: number): void {
  held.requests += requests
  held.bytes += bytes
}
