/**
 * The first bytes of each connection, in the turn of its address and little by little. Node parses a read as a whole, and makes a request of
 * each head in it: a read of 64 KiB holds two thousand. Most of a crowd brings its bytes with the handshake.
 */
import type { TLSSocket } from 'node:tls'
import { newcomerPath, type RequestGate } from './requestLines.ts'

/** Bytes that are parsed at once: one or two heads of a client of Kubernetes. */
const PIECE_BYTES = 2048
/** Bytes that wait for a turn; no more is read behind them. */
const HELD_BYTES = 16 * 1024
/** Each record of TLS is a buffer of its own: so many are joined, because one byte costs as much memory as some hundred. */
const HELD_PIECES = 64

/** A part of an HTTPS server. */
export interface SecureServer {
  listeners(event: 'secureConnection'): unknown[]
  removeAllListeners(event: 'secureConnection'): unknown
  on(event: 'secureConnection', listener: (socket: TLSSocket) => void): unknown
}

/** Call it once, before other listeners for secure connections. */
export function paceFirstReads(server: SecureServer, gate: RequestGate): void {
  const begin = server.listeners('secureConnection') as ((this: SecureServer, socket: TLSSocket) => void)[]
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', socket => {
    socket.on('error', endsItself)
    hold(socket, release => {
      // not before all of the read is there: the parser takes what comes behind it from the connection itself
      setImmediate(() =>
        gate.enter(newcomerPath(socket), () => {
          socket.off('error', endsItself)
          if (socket.destroyed) return
          for (const each of begin) each.call(server, socket)
          release()
        }),
      )
    })
  })
}

/** Holds what the connection brings. `arrived` is called with the first of it; `release` gives it to the connection's readers. */
function hold(socket: TLSSocket, arrived: (release: () => void) => void): void {
  let pieces: Buffer[] = []
  let bytes = 0
  let hasArrived = false
  let hasEnded = false
  const release = (): void => {
    Reflect.deleteProperty(socket, 'push')
    const all = Buffer.concat(pieces)
    for (let at = 0; at < all.length && !socket.destroyed; at += PIECE_BYTES)
      socket.push(all.subarray(at, at + PIECE_BYTES))
    if (hasEnded && !socket.destroyed) socket.push(null)
  }
  // Node calls it with what it has read, and reads on where the answer is true.
  socket.push = (piece: Buffer | null): boolean => {
    if (!hasArrived) arrived(release)
    hasArrived = true
    if (piece === null) hasEnded = true
    else {
      bytes += piece.length
      pieces.push(piece)
      if (pieces.length === HELD_PIECES) pieces = [Buffer.concat(pieces)]
    }
    return bytes < HELD_BYTES
  }
}

/** A connection that breaks while it waits is destroyed by that. */
function endsItself(): void {}
