/**
 * Connections without a credential so far: few, for each address and altogether, and for a short time. They so never keep out a client with
 * one.
 *
 * At a bound the newest gets in and the oldest ends, at the address that has most. A client with a credential shows it with the first
 * request; a lingering one is the oldest. A crowd behind one address, which may be a balancer before all clients, so takes turns instead of
 * being refused. One address alone never ends the connections of another.
 *
 * Once a request has passed authentication its connection is no stranger any more, for as long as it lives.
 */
import type { Socket } from 'node:net'
import { isIP } from 'node:net'
import type { Server as TlsServer } from 'node:tls'
import { idleClock } from '../../client/clock.ts'
import type { StrangerLimits } from './strangerLimits.ts'

/** Used part of an HTTPS server. */
export type ConnectionServer = Pick<TlsServer, 'on' | 'prependListener'>

interface StrangersDeps {
  limits: StrangerLimits
  /** Calls `run` once, `delayMs` from now; the answer cancels that. Default: a timer that keeps no process alive. */
  after?: ((delayMs: number, run: () => void) => () => void) | undefined
  /** Milliseconds on any clock that only goes forward. */
  clock: () => number
}

interface Stranger {
  /** Socket of the server's requests; before the handshake is done, the one below it. */
  socket: Socket
  readonly address: string
  deadlineMs: number
  /** Its request runs; there is one at a time. */
  isAsking: boolean
  /** By this: it counts no more, though its end takes a moment. */
  ended: boolean
}

/** Why connections were ended; for the metric of that name. */
export const END_REASONS = ['total', 'perAddress', 'connections', 'patience'] as const
type EndReason = (typeof END_REASONS)[number]

export class Strangers {
  readonly #limits: StrangerLimits
  readonly #after: NonNullable<StrangersDeps['after']>
  readonly #clock: () => number
  /** In the order of their deadlines. */
  readonly #all = new Map<Socket, Stranger>()
  readonly #byAddress = new Map<string, Set<Stranger>>()
  /** Connections in their handshake, by both ends. */
  readonly #shaking = new Map<string, Stranger>()
  readonly #refusals = new WeakMap<Socket, number>()
  readonly #ended: Record<EndReason, number> = { total: 0, perAddress: 0, connections: 0, patience: 0 }
  #connections = 0
  /** Connections that others may have, of those that the limits allow. */
  #elsewhere = 0
  #closeIdle: () => void = () => {}
  #cancel: (() => void) | undefined

  constructor({ limits, after = idleClock.after, clock }: StrangersDeps) {
    this.#limits = limits
    this.#after = after
    this.#clock = clock
  }

  /** How many there are. */
  get size(): number {
    return this.#all.size
  }

  /** Connections, strangers' and others'. */
  get connections(): number {
    return this.#connections
  }

  get limits(): StrangerLimits {
    return this.#limits
  }

  /** Others have so many of the connections from now on. */
  leaveTo(connections: number): void {
    this.#elsewhere = connections
  }

  /** How many were ended so far. */
  ended(reason: EndReason): number {
    return this.#ended[reason]
  }

  /** Begins to watch a server's connections. To be called once for each. `closeIdle` ends those without a request. */
  follow(server: ConnectionServer, closeIdle: () => void): void {
    const closeOthers = this.#closeIdle
    this.#closeIdle = () => {
      closeOthers()
      closeIdle()
    }
    // Before the handshake begins, which is what costs most.
    server.prependListener('connection', (socket: Socket) => this.#arrived(socket))
    server.on('secureConnection', (socket: Socket) => this.#secured(socket))
  }

  /** Somebody with a credential sent a request on it. */
  knows(socket: Socket): void {
    const stranger = this.#all.get(socket)
    if (stranger !== undefined) this.#forget(stranger)
  }

  /** A request came on it, whole headers. */
  requestStarted(socket: Socket): void {
    const stranger = this.#all.get(socket)
    if (stranger !== undefined) stranger.isAsking = true
  }

  /** Its answer is over. */
  requestEnded(socket: Socket): void {
    const stranger = this.#all.get(socket)
    if (stranger === undefined) return
    stranger.isAsking = false
    this.#waitFor(stranger)
  }

  /** A request on it was refused before it was known whose it is. True when that was once too often: the answer is to be the last. */
  refused(socket: Socket): boolean {
    const count = (this.#refusals.get(socket) ?? 0) + 1
    this.#refusals.set(socket, count)
    return count >= this.#limits.refusals
  }

  /** The server closes: who asks nothing has nothing to wait for. */
  close(): void {
    this.#stop()
    for (const { isAsking, socket } of this.#all.values()) if (!isAsking) socket.destroy()
  }

  #stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  get #room(): number {
    const { connections } = this.#limits
    return Number.isFinite(connections) ? connections - this.#elsewhere : connections
  }

  #arrived(socket: Socket): void {
    this.#connections++
    const ends = endsOf(socket)
    const stranger: Stranger = {
      socket,
      address: networkOf(socket.remoteAddress),
      deadlineMs: 0,
      isAsking: false,
      ended: false,
    }
    socket.once('close', () => {
      if (!stranger.ended) this.#connections--
      if (this.#shaking.get(ends) === stranger) this.#shaking.delete(ends)
      this.#forget(stranger)
    })
    this.#shaking.set(ends, stranger)
    this.#waitFor(stranger)
    const same = this.#byAddress.get(stranger.address) ?? new Set()
    this.#byAddress.set(stranger.address, same.add(stranger))
    if (same.size > this.#limits.perAddress) this.#end(oldestOf(same), 'perAddress')
    else if (this.#all.size > this.#limits.total) this.#end(this.#oldestOfMost(), 'total')
    if (this.#connections > this.#room) this.#makeRoom(stranger)
  }

  #secured(socket: Socket): void {
    const ends = endsOf(socket)
    const stranger = this.#shaking.get(ends)
    this.#shaking.delete(ends)
    if (stranger === undefined || !this.#all.delete(stranger.socket)) return
    stranger.socket = socket
    this.#waitFor(stranger)
  }

  /** For a newcomer: strangers go first, then who has nothing to do, and at last the newcomer itself. */
  #makeRoom(newcomer: Stranger): void {
    const oldest = this.#oldestOfMost()
    if (oldest !== newcomer) {
      this.#end(oldest, 'connections')
      return
    }
    this.#closeIdle()
    this.#after(0, () => {
      if (this.#connections > this.#room) this.#end(newcomer, 'connections')
    })
  }

  #oldestOfMost(): Stranger {
    let most: Set<Stranger> | undefined
    for (const same of this.#byAddress.values()) if (same.size > (most?.size ?? 0)) most = same
    return oldestOf(most!)
  }

  #end(stranger: Stranger, reason: EndReason): void {
    if (this.#all.get(stranger.socket) !== stranger) return
    this.#ended[reason]++
    this.#connections--
    stranger.ended = true
    this.#forget(stranger)
    stranger.socket.destroy()
  }

  #forget(stranger: Stranger): void {
    if (this.#all.get(stranger.socket) !== stranger) return
    this.#all.delete(stranger.socket)
    const same = this.#byAddress.get(stranger.address)
    same?.delete(stranger)
    if (same?.size === 0) this.#byAddress.delete(stranger.address)
    if (this.#all.size === 0) this.#stop()
  }

  /** From now on it has its time again. */
  #waitFor(stranger: Stranger): void {
    stranger.deadlineMs = this.#clock() + this.#limits.patienceMs
    this.#all.delete(stranger.socket)
    this.#all.set(stranger.socket, stranger)
    this.#cancel ??= this.#after(this.#limits.patienceMs, () => this.#sweep())
  }

  /** Ends whose time is over; whoever is being answered gets more of it. */
  #sweep(): void {
    this.#cancel = undefined
    const now = this.#clock()
    for (const stranger of this.#all.values()) {
      if (stranger.deadlineMs > now) {
        this.#cancel = this.#after(stranger.deadlineMs - now, () => this.#sweep())
        return
      }
      if (stranger.isAsking) this.#waitFor(stranger)
      else this.#end(stranger, 'patience')
    }
  }
}

function oldestOf(strangers: ReadonlySet<Stranger>): Stranger {
  const [oldest] = strangers
  return oldest!
}

/** Identity of a connection among all open ones. */
function endsOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}

/** Whom an address counts for. An owner of an IPv6 address has a /64 of them. */
export function networkOf(address = ''): string {
  const ipv4 = address.startsWith('::ffff:') ? address.slice(7) : address
  if (isIP(ipv4) !== 6) return ipv4
  const [head = '', tail] = (ipv4.split('%')[0] ?? '').split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
  return `${groups.slice(0, 4).join(':')}::/64`
}
