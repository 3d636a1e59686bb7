/**
 * Refuses requests whose head no server may take: of another version than HTTP/1, with two Host lines, none, or a malformed one. They get
 * 400 and the end of their connection, on every road that a request may go.
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-3.2
 */
import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { letRefusalBeRead } from '../http/letRefusalBeRead.ts'

/** The characters of a host and its port, as Go's servers allow them. */
const HOST = /^[\w!$%&'()*+,\-.:;=[\]~]*$/

/** Called with what an event brings: an answer, or a connection and the first bytes on it. */
type Listener = (message: IncomingMessage, to: ServerResponse | Duplex, ...more: unknown[]) => void
type Refuse = (why: string, message: IncomingMessage, to: ServerResponse | Duplex) => void

/** Stands before all who listen for requests by now. */
export function refuseMalformedHeads(server: Pick<EventEmitter, 'on' | 'listeners' | 'removeAllListeners'>): void {
  const guard = (event: string, refuse: Refuse): void => {
    const own = server.listeners(event) as Listener[]
    // a listener alone would change how Node answers
    if (own.length === 0) return
    server.removeAllListeners(event)
    server.on(event, (message: IncomingMessage, to: ServerResponse | Duplex, ...more: unknown[]) => {
      const fault = faultOf(message)
      if (fault !== undefined) refuse(fault, message, to)
      else for (const listener of own) listener.call(server, message, to, ...more)
    })
  }
  const refuseRequest: Refuse = (why, message, answer) => {
    if (!message.complete) letRefusalBeRead(message.socket)
    const headers = { Connection: 'close', 'Content-Type': 'text/plain', 'Content-Length': why.length }
    ;(answer as ServerResponse).writeHead(400, headers).end(why)
  }
  guard('request', refuseRequest)
  guard('checkExpectation', refuseRequest)
  guard('upgrade', (why, _message, socket) => {
    const headers = `Connection: close\r\nContent-Type: text/plain\r\nContent-Length: ${why.length}`
    socket.end(`HTTP/1.1 400 Bad Request\r\n${headers}\r\n\r\n${why}`)
  })
}

function faultOf({ httpVersionMajor, httpVersionMinor, rawHeaders }: IncomingMessage): string | undefined {
  if (httpVersionMajor !== 1) return '400 Bad Request: unsupported protocol version'
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length !== 4 || name.toLowerCase() !== 'host') continue
    if (++hosts > 1) return '400 Bad Request: too many Host headers'
    if (!HOST.test(rawHeaders[i + 1]!)) return '400 Bad Request: malformed Host header'
  }
  return hosts === 0 && httpVersionMinor > 0 ? '400 Bad Request: missing required Host header' : undefined
}
