/**
 * TLS handshakes little by little: each takes the loop some half of a millisecond, before anybody has shown anything. Of each
 * address in turn, and of one that has many waiting the latest first: most of a crowd waits long whoever goes first, and so at
 * least whoever comes alone behind it does not. Who waits is a connection without a credential as any other, and has to go when
 * its time is over.
 */
import type { Socket } from 'node:net'
import { type Entry, type Line, LoopGate } from './loopGate.ts'
import { networkOf } from './strangers.ts'

/** What is used of an HTTPS server. */
export interface ShakingServer {
  listeners(event: 'connection'): unknown[]
  removeAllListeners(event: 'connection'): unknown
  on(event: 'connection', listener: (socket: Socket) => void): unknown
}

/** In a turn of the loop. */
const HANDSHAKES = 8

/** To be called once, before anybody else listens to connections. */
export function paceHandshakes(server: ShakingServer, atOnce = HANDSHAKES): void {
  const gate = new LoopGate({ most: atOnce, line: new LatestFirst() })
  const begin = server.listeners('connection') as ((this: ShakingServer, socket: Socket) => void)[]
  server.removeAllListeners('connection')
  server.on('connection', socket => {
    socket.on('error', endsItself)
    gate.enter([networkOf(socket.remoteAddress)], () => {
      socket.off('error', endsItself)
      if (!socket.destroyed) for (const each of begin) each.call(server, socket)
    })
  })
}

/** A connection that breaks while it waits is destroyed by that. */
function endsItself(): void {}

/** Turns go round among those whose paths begin alike; of these whoever came last goes first. */
export class LatestFirst implements Line {
  readonly #stacks = new Map<string, Entry[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get next(): Entry | undefined {
    const [stack] = this.#stacks.values()
    return stack?.at(-1)
  }

  add(entry: Entry): void {
    const [owner = ''] = entry.path
    const stack = this.#stacks.get(owner)
    if (stack === undefined) this.#stacks.set(owner, [entry])
    else stack.push(entry)
    this.#size++
  }

  /** Of those that are `next` only. */
  remove({ path: [owner = ''] }: Entry): void {
    const stack = this.#stacks.get(owner)!
    stack.pop()
    this.#size--
    this.#stacks.delete(owner)
    if (stack.length > 0) this.#stacks.set(owner, stack)
  }
}
