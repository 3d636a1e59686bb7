/**
 * The first bytes of each connection, in the turn of its address and little by little. Node parses a read as a whole, and makes a request of
 * each head in it: a read of 64 KiB holds two thousand. Most of a crowd brings its bytes with the handshake.
 */
import type { TLSSocket } from 'node:tls'
import { newcomerPath, type RequestGate } from './requestLines.ts'

/** Bytes that are parsed at once: one or two heads of a client of Kubernetes. */
const PIECE_BYTES = 2048

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
    const parse = (): void => {
      socket.off('error', endsItself)
      if (socket.destroyed) return
      if (socket.readableEnded) return void socket.destroySoon()
      for (const each of begin) each.call(server, socket)
      socket.resume()
      parsePieces(socket)
    }
    socket.on('error', endsItself)
    // not before all of the read is there: the parser takes what comes behind it from the connection itself
    socket.once('readable', () => setImmediate(() => gate.enter(newcomerPath(socket), parse)))
  })
}

/** The rest is read as ever where the parser pauses, and by its WebSocket where the connection becomes one. */
function parsePieces(socket: TLSSocket): void {
  const isParsed = (): boolean => !socket.isPaused() && socket.listenerCount('data') > 0
  while (isParsed() && socket.readableLength > 0) {
    // each piece is emitted at once
    socket.read(Math.min(PIECE_BYTES, socket.readableLength))
    // nothing reads the rest of a connection that has ended
    if (socket.destroyed) socket.removeAllListeners('data')
  }
}

/** A connection that breaks while it waits is destroyed by that. */
function endsItself(): void {}
