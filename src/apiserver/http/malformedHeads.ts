/**
 * Heads that no server may take. These have another version than HTTP/1, two Host lines, none, or a malformed one (400), or a transfer
 * coding beside chunks (501). Each ends its connection, on every road that a request may go.
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-3.2
 * @see https://www.rfc-editor.org/rfc/rfc9112#section-6.1
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Answer } from './answer.ts'
import { answerBare, letRefusalBeRead } from './bareAnswer.ts'
import type { Request } from './request.ts'

/** The characters of a host and its port, as Go's servers allow them. */
const HOST = /^[\w!$%&'()*+,\-.:;=[\]~]*$/
const CODING = 'transfer-encoding'

/** The refusal's text, which begins with its status line; absent where the head may be taken. */
export function faultOfHead({
  httpVersionMajor,
  httpVersionMinor,
  rawHeaders,
}: Pick<IncomingMessage, 'httpVersionMajor' | 'httpVersionMinor' | 'rawHeaders'>): string | undefined {
  if (httpVersionMajor !== 1) return '400 Bad Request: unsupported protocol version'
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === CODING.length && name.toLowerCase() === CODING) {
      // a gateway that undoes the other codings would find another end of the body
      if (rawHeaders[i + 1]!.toLowerCase() !== 'chunked') return '501 Not Implemented: unsupported transfer encoding'
    } else if (name.length === 4 && name.toLowerCase() === 'host') {
      if (++hosts > 1) return '400 Bad Request: too many Host headers'
      if (!HOST.test(rawHeaders[i + 1]!)) return '400 Bad Request: malformed Host header'
    }
  }
  return hosts === 0 && httpVersionMinor > 0 ? '400 Bad Request: missing required Host header' : undefined
}

export function refuseHead(request: Request, answer: Answer, fault: string): void {
  if (!request.complete) letRefusalBeRead(request.socket)
  answer
    .writeHead(codeOf(fault), { Connection: 'close', 'Content-Type': 'text/plain', 'Content-Length': fault.length })
    .end(fault)
}

/** The same of a request that would become a WebSocket. */
export function refuseUpgrade(socket: Duplex, fault: string): void {
  answerBare(socket, codeOf(fault), { 'Content-Type': 'text/plain' }, fault)
}

function codeOf(fault: string): number {
  return Number(fault.slice(0, 3))
}
