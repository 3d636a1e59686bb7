/**
 * TLS handshakes little by little: each takes the loop some half of a millisecond, before anybody has shown anything. Addresses take turns,
 * and an address with many waiting has its latest first. Most of a crowd waits long in any order, and this order at least spares a lone
 * client behind it. A waiting connection has no credential, as any other, and has to go when its time is over.
 */
import type { Socket } from 'node:net'
import { LoopGate } from '../flowcontrol/loopGate.ts'
import { WaitingLine } from '../flowcontrol/waitingLine.ts'
import type { CertificateNetworks } from './certificateNetworks.ts'
import { networkOf } from './strangers.ts'

/** Used part of an HTTPS server. */
export interface ShakingServer {
  /** Whether the first connections get a request for a certificate. */
  requestCert: boolean
  listeners(event: 'connection'): unknown[]
  removeAllListeners(event: 'connection'): unknown
  on(event: 'connection', listener: (socket: Socket) => void): unknown
}

/** In a turn of the loop: so many, and none more once they took so long. */
const HANDSHAKES = 8
const HANDSHAKES_MS = 1

/** To be called once, before anybody else listens to connections. */
export function paceHandshakes(server: ShakingServer, certificates: CertificateNetworks): void {
  const gate = new LoopGate({
    most: HANDSHAKES,
    limitMs: HANDSHAKES_MS,
    line: new WaitingLine(() => true),
    clock: () => performance.now(),
  })
  const listeners = server.listeners('connection') as ((this: ShakingServer, socket: Socket) => void)[]
  server.removeAllListeners('connection')
  server.on('connection', socket => {
    socket.on('error', endsItself)
    gate.enter([networkOf(socket.remoteAddress)], () => {
      socket.off('error', endsItself)
      if (socket.destroyed) return
      server.requestCert = certificates.asks(socket.remoteAddress)
      for (const each of listeners) each.call(server, socket)
    })
  })
}

/** A connection that breaks while it waits is destroyed by that. */
function endsItself(): void {}
