/**
 * The first bytes of each connection, in the turn of its address and little by little. Node parses a read as a whole, and makes a request of
 * each head in it: a read of 64 KiB holds two thousand. Most of a crowd brings its bytes with the handshake.
 *
 * The ends of connections wait for turns of their addresses, too. An end takes 0.15 ms (its watch ends, its seat is released, TLS closes).
 * A client that leaves with thousands of connections ends all of them at once.
 */
import type { TLSSocket } from 'node:tls'
import { LoopGate } from '../flowcontrol/loopGate.ts'
import { newcomerPath, type RequestGate } from './requestTurns.ts'

/** Bytes that are parsed at once: one or two heads of a client of Kubernetes. */
const PIECE_BYTES = 2048
/** Bytes that wait for a turn; no more is read behind them. */
const HELD_BYTES = 16 * 1024
/** Each record of TLS is a buffer of its own: so many are joined, because one byte costs as much memory as some hundred. */
const HELD_PIECES = 64

/** Ends in a turn of the loop: some three milliseconds with all that follows from them. 20,000 watches that leave at once end in seconds. */
const ENDS = 24

/** A part of an HTTPS server. */
interface SecureServer {
  listeners(event: 'secureConnection'): unknown[]
  removeAllListeners(event: 'secureConnection'): unknown
  on(event: 'secureConnection', listener: (socket: TLSSocket) => void): unknown
}

/** Call it once, before other listeners for secure connections. */
export function paceFirstReads(server: SecureServer, gate: RequestGate): void {
  const ends = new LoopGate({ most: ENDS, clock: () => 0 })
  const listeners = server.listeners('secureConnection') as ((this: SecureServer, socket: TLSSocket) => void)[]
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', socket => {
    socket.on('error', endsItself)
    hold(socket, ends, held => {
      const parse = (): void => {
        socket.off('error', endsItself)
        if (socket.destroyed) return
        for (const each of listeners) each.call(server, socket)
        held.release()
      }
      // not before all of the read is there: the parser takes what comes behind it from the connection itself
      setImmediate(() => {
        // the turn of its request is enough for one
        if (held.bytes <= PIECE_BYTES) parse()
        else gate.enter(newcomerPath(socket), parse)
      })
    })
  })
}

interface Held {
  readonly bytes: number
  /** Gives them to those who read the connection. */
  release(): void
}

/** Holds what the connection brings. `arrived` is called with the first of it. */
function hold(socket: TLSSocket, ends: RequestGate, arrived: (held: Held) => void): void {
  let pieces: Buffer[] = []
  let hasEnded = false
  let hasArrived = false
  let isEnding = false
  const push = socket.push.bind(socket)
  const end = (): void => {
    if (socket.destroyed) return
    push(null)
    // as Node does behind each read: a connection that nobody reads would not tell of its end
    socket.read(0)
  }
  const held = {
    bytes: 0,
    release(): void {
      // Node's parser reads the connection without it, to its end
      socket.push = (piece: Buffer | null): boolean => {
        if (piece !== null) return push(piece)
        // TLS and TCP both end
        if (!isEnding) ends.enter(newcomerPath(socket), end)
        isEnding = true
        return false
      }
      const all = Buffer.concat(pieces)
      pieces = []
      for (let at = 0; at < all.length && !socket.destroyed; at += PIECE_BYTES) push(all.subarray(at, at + PIECE_BYTES))
      if (hasEnded && !socket.destroyed) socket.push(null)
    },
  }
  // Node calls it with what it has read, and reads on where the answer is true.
  socket.push = (piece: Buffer | null): boolean => {
    if (!hasArrived) arrived(held)
    hasArrived = true
    if (piece === null) hasEnded = true
    else {
      held.bytes += piece.length
      pieces.push(piece)
      if (pieces.length === HELD_PIECES) pieces = [Buffer.concat(pieces)]
    }
    return held.bytes < HELD_BYTES
  }
}

/** A connection that breaks while it waits is destroyed by that. */
function endsItself(): void {}
