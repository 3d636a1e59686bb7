/**
 * Several sockets that listen on one address. The loop takes one connection of each in a turn; with one socket, and many
 * requests under way, a turn takes some 10 ms, and a crowd of newcomers, or a single address that only connects, would let
 * everybody who comes behind it wait for seconds: in the kernel, which knows only who came first. The kernel divides newcomers
 * among the sockets. A turn in which each of them lets somebody in has a crowd before it, so there are four times as many then:
 * who comes next mostly comes to one without a line, and the rest gets to where turns are fair. They stay, as the kernel ends
 * what waits at a socket that closes. Sockets to which nobody comes cost nothing but memory.
 *
 * A port that is shared like that could be shared by another server, too. So whether it is free is asked without sharing it.
 */
import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'
import { descriptorLimit } from '../http/descriptors.ts'

// Not imported, as in httpServer.ts.
const { createServer } = process.getBuiltinModule('node:net')

/** Sockets that listen from the start: some 50 µs of it for each. */
export const SOCKETS = 32
/** And once there were crowds: some 40 µs for each that lets somebody in, so 5 ms of a turn. */
export const MOST_SOCKETS = 128
/** Of the descriptors that the process may have. */
const SHARE_OF_DESCRIPTORS = 1 / 32
const BACKLOG = 1024

export interface ListenOptions {
  host: string
  /** 0: any. */
  port: number
  backlog: number
  /** Only where there are to be several. */
  reusePort?: boolean
}

/** Where connections go. */
export interface WideServer {
  readonly server: { emit(event: 'connection', socket: Socket): boolean; address(): AddressInfo | string | null }
  listen(options: ListenOptions): Promise<unknown>
}

/** Resolves to what ends the listening beside that of the server itself. @throws Error of the system, as `listen` does */
export async function listenWide(
  wide: WideServer,
  host: string,
  port: number,
  most = mostSockets(),
): Promise<() => void> {
  const asked = { host, port, backlog: BACKLOG }
  // elsewhere the kernel gives them all to one
  if (process.platform !== 'linux') {
    await wide.listen(asked)
    return () => {}
  }
  await wide.listen({ ...asked, port: await freePort(host, port), reusePort: true })
  const own = wide.server.address() as AddressInfo
  const others = new Others(socket => void wide.server.emit('connection', socket), {
    at: { host: own.address, port: own.port, backlog: BACKLOG, reusePort: true },
    most: most - 1,
  })
  try {
    await others.widen(Math.min(SOCKETS, most) - 1)
  } catch (error) {
    others.stop()
    throw error
  }
  return () => others.stop()
}

/** The same beside another server of this process that listens there already. */
export async function joinWide(
  wide: WideServer,
  host: string,
  port: number,
  most = mostSockets(),
): Promise<() => void> {
  const at = { host, port, backlog: BACKLOG, reusePort: true }
  await wide.listen(at)
  const others = new Others(socket => void wide.server.emit('connection', socket), { at, most: most - 1 })
  await others.widen(Math.min(SOCKETS, most) - 1)
  return () => others.stop()
}

const mostSockets = (): number => Math.min(MOST_SOCKETS, Math.floor(descriptorLimit() * SHARE_OF_DESCRIPTORS))

/** The sockets beside the server's own. */
class Others {
  readonly #take: (socket: Socket) => void
  readonly #at: ListenOptions
  readonly #servers: Server[] = []
  #most: number
  #isStopped = false
  /** Connections that they let in since the turn of the loop began. */
  #inTurn = 0

  constructor(take: (socket: Socket) => void, { at, most }: { at: ListenOptions; most: number }) {
    this.#take = take
    this.#at = at
    this.#most = most
  }

  /** @throws Error of the system */
  async widen(to: number): Promise<void> {
    while (this.#servers.length < to && !this.#isStopped) {
      // as Node's HTTP servers do: an answer in several pieces would wait 40 ms for a client that acknowledges late
      const server = createServer({ noDelay: true }, this.#arrived)
      await listening(server, this.#at)
      if (this.#isStopped) server.close()
      else this.#servers.push(server)
    }
  }

  stop(): void {
    this.#isStopped = true
    for (const server of this.#servers.splice(0)) server.close()
  }

  readonly #arrived = (socket: Socket): void => {
    if (this.#inTurn++ === 0) setImmediate(this.#turnEnds)
    this.#take(socket)
  }

  readonly #turnEnds = (): void => {
    const isCrowd = this.#inTurn >= this.#servers.length
    this.#inTurn = 0
    if (!isCrowd || this.#servers.length >= this.#most) return
    const to = Math.min(this.#most, 4 * this.#servers.length)
    // The next crowd waits for these; where the system has none left, those that are there do.
    const most = this.#most
    this.#most = 0
    this.widen(to).then(
      () => {
        this.#most = most
      },
      () => {},
    )
  }
}

async function freePort(host: string, port: number): Promise<number> {
  const probe = createServer()
  await listening(probe, { host, port, backlog: 1 })
  const free = (probe.address() as AddressInfo).port
  probe.close()
  await once(probe, 'close')
  return free
}

async function listening(server: Server, options: ListenOptions): Promise<void> {
  server.listen(options)
  await once(server, 'listening')
}
