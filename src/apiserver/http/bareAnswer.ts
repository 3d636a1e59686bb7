/** The last answer of a connection that has no request to answer: what cannot be read, and a WebSocket that is refused. */
import type { Duplex } from 'node:stream'

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
    socket.destroy()
    return
  }
  const all = { Connection: 'close', ...headers, 'Content-Length': `${Buffer.byteLength(body)}` }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${code} ${STATUS_CODES[code] ?? 'Error'}\r\n${lines.join('')}\r\n${body}`)
  closeSoon(socket)
}

/** Nothing reads from it any more, so that its other end would hold it for as long as it likes. */
export function closeSoon(socket: Duplex): void {
  const held = setTimeout(() => socket.destroy(), HELD_MS)
  socket.once('close', () => clearTimeout(held))
}
