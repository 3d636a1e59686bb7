/**
 * The ends of connections little by little: what an end takes (the request on it is broken off, its watch ends, its seat goes back,
 * TLS says farewell) is some fifth of a millisecond, and a client that leaves with thousands of connections ends all of them in
 * one turn of the loop. Nobody waits for the end of a connection that is gone; whoever has one that goes on would wait for all.
 *
 * Only that it ended is told later, and in order. What is sent on it meanwhile goes nowhere, as always.
 */
import type { Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { LoopGate } from '../flowcontrol/loopGate.ts'
import { networkOf } from '../http/strangers.ts'

/** What is used of an HTTPS server. */
export type EndingServer = Pick<HttpsServer, 'on'>

/** How long ends are looked after in one turn of the loop. */
const ENDS_MS = 1

/** To be called once, before the server listens. */
export function paceEnds(
  server: EndingServer,
  gate: Pick<LoopGate, 'enter'> = new LoopGate({ limitMs: ENDS_MS }),
): void {
  server.on('secureConnection', (socket: Socket) => {
    const emit: (event: string | symbol, ...told: unknown[]) => boolean = socket.emit
    // it would answer the end of the other side at once, without being told of it
    socket.allowHalfOpen = true
    // an address is not known any more once its connection has ended
    const path = [networkOf(socket.remoteAddress)]
    const later = (event: string | symbol, told: readonly unknown[]): boolean => {
      gate.enter(path, () => {
        emit.call(socket, event, ...told)
        // whoever heard it may have ended it already; of one that is being upgraded nobody hears it
        if (event === 'end' && socket.writable) socket.end()
      })
      return true
    }
    // each piece that arrives comes this way: nothing is kept of what is told at once
    socket.emit = (event: string | symbol, ...told: unknown[]): boolean =>
      event === 'end' || event === 'close' ? later(event, told) : emit.call(socket, event, ...told)
  })
}
