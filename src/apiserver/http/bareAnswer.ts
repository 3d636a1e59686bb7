/**
 * The last answer of a connection: to malformed input, to a refused WebSocket, and to a request whose body is not read. Its client reads it
 * before the connection closes.
 */
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Clock, idleClock } from '../../client/clock.ts'

// Not imported, as in request.ts.
const { STATUS_CODES } = process.getBuiltinModule('node:http')

/** From the answer to the end of its connection: time to read it. */
const HELD_MS = 2000

export function answerBare(
  socket: Duplex,
  code: number,
  headers: Readonly<Record<string, string>> = {},
  body = '',
): void {
  if (!socket.writable) {
    // the parser finds the fault of what was refused again in the next piece
    if (!socket.writableEnded) socket.destroy()
    return
  }
  const all = { Connection: 'close', ...headers, 'Content-Length': `${Buffer.byteLength(body)}` }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${code} ${STATUS_CODES[code] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`)
  closeSoon(socket)
}

/** Nothing reads from it any more, so that its other end would hold it for as long as it likes. */
export function closeSoon(
  socket: Pick<Duplex, 'destroy' | 'once'>,
  delayMs = HELD_MS,
  after: Clock['after'] = idleClock.after,
): void {
  socket.once(
    'close',
    after(delayMs, () => void socket.destroy()),
  )
}

/** As Go's servers wait. */
const WAIT_MS = 500

/**
 * The end of a connection whose request is refused before its body is read. A closed socket answers more bytes with a reset, which takes the
 * refusal from a client that still sends. So the server ends its side, reads nothing, and closes a moment later.
 */
export function letRefusalBeRead(
  socket: Pick<Socket, 'end' | 'destroy' | 'destroySoon' | 'pause' | 'resume' | 'once'>,
  after?: Clock['after'],
): void {
  socket.destroySoon = () => {
    socket.pause()
    // The reader of a request's body wants to read on, to be rid of the rest: megabytes, deciphered for nothing.
    socket.resume = () => socket as Socket
    socket.end()
    closeSoon(socket, WAIT_MS, after)
  }
}
