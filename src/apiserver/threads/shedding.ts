/**
 * What a thread that has too much to do lets go, while another one has little: the kernel deals out connections without looking who is
 * busy. Clients that are let go connect anew, and mostly come to another thread.
 */
import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { OpenWatches } from '../endpoints/openWatches.ts'
import type { ShortWays } from '../server/shortWays.ts'
import { PortSocket } from './portSocket.ts'

/** Of connections and of watches, each time. */
const PART = 1 / 8
/** Which part of the time a loop works that has too much to do, and one that has room. */
export const BUSY = 0.85
export const ROOM = 0.6
/** Looks after which somebody has too much to do. */
export const LOOKS = 3

export interface SheddingDeps {
  watches: Pick<OpenWatches, 'size' | 'endOldest'>
  /** How many there are. */
  connections(): number
}

export class Shedding {
  readonly #deps: SheddingDeps
  /** Answers that are to be the last of their connections. */
  #left = 0

  constructor(deps: SheddingDeps) {
    this.#deps = deps
  }

  /** To be called once, after all others who stand before requests. */
  follow(server: EventEmitter, shortWays?: Pick<ShortWays, 'unless'>): void {
    shortWays?.unless(() => this.#left > 0)
    server.prependListener('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
      // what crossed is a connection of another thread
      if (this.#left === 0 || (socket as unknown) instanceof PortSocket) return
      this.#left--
      answer.shouldKeepAlive = false
    })
  }

  /** Ends the oldest watches; of as many connections beside theirs as is their part, the next answer is the last. */
  shed(): void {
    const { watches, connections } = this.#deps
    this.#left = Math.ceil(Math.max(0, connections() - watches.size) * PART)
    watches.endOldest(Math.ceil(watches.size * PART))
  }
}

/** Who of several loops has too much to do while another one has room. */
export class Balance<T> {
  /** In how many looks on end. */
  #busy = new Map<T, number>()

  /** @param loads which part of the time since the last look each has worked */
  look(loads: ReadonlyMap<T, number>): readonly T[] {
    const hasRoom = Math.min(...loads.values()) <= ROOM
    const busy = new Map<T, number>()
    for (const [loop, load] of loads) if (hasRoom && load >= BUSY) busy.set(loop, (this.#busy.get(loop) ?? 0) + 1)
    this.#busy = busy
    return [...busy].filter(([, looks]) => looks >= LOOKS).map(([loop]) => loop)
  }
}
