/**
 * TLS handshakes little by little: each takes the loop some half of a millisecond, before anybody has shown anything. Of each
 * address in turn, and of one that has many waiting the latest first: most of a crowd waits long whoever goes first, and so at
 * least whoever comes alone behind it does not. Who waits is a connection without a credential as any other, and has to go when
 * its time is over.
 */
import type { Socket } from 'node:net'
import { LoopGate } from '../flowcontrol/loopGate.ts'
import { WaitingLine } from '../flowcontrol/waitingLine.ts'
import type { CertificateNetworks } from './certificateNetworks.ts'
import { networkOf } from './strangers.ts'

/** What is used of an HTTPS server. */
export interface ShakingServer {
  /** Whether connections that it begins with are asked for a certificate. */
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
