/**
 * The head of a request as it arrived on a connection. Clients say the same with each request but for its path and the length of its
 * body, and the same bytes mean the same: what Node's parser made of them once holds for every request that repeats them, and nobody
 * has to parse them again.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

const SPACE = 0x20
const SLASH = 0x2f
const ZERO = 0x30
const HEAD_END = '\r\n\r\n'
/** Longer URLs and heads are seldom, and would be kept for each connection. */
const URL_BYTES = 1024
const LINES_BYTES = 4096
/** Of the length of a body: longer ones take so long that nothing is gained. */
const LENGTH_DIGITS = 4

const HEAD_STARTS = {
  GET: Buffer.from('GET '),
  POST: Buffer.from('POST '),
  PUT: Buffer.from('PUT '),
  PATCH: Buffer.from('PATCH '),
} as const
export type HeadMethod = keyof typeof HEAD_STARTS

/** What may stand in a URL that is read here: nothing that is escaped, and nothing that one parser may read otherwise than another. */
const IN_PATH = allowed('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~:*')
/** What is read with a query is mostly a list or a watch. */
const IN_URL = allowed('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~:*?=&')

const LENGTH = /\r\ncontent-length:[ \t]*(\d+)(?=\r\n)/gi

/** A head that is another's but for what may differ. */
export interface RepeatedHead {
  readonly url: string
  readonly bytes: number
  /** Of the body behind it; 0 for none. */
  readonly bodyBytes: number
}

export class KnownHead {
  readonly method: HeadMethod
  /** Without the length of a body, which is each request's own. */
  readonly headers: IncomingHttpHeaders
  /** What stands behind the URL, to the end of the head, or up to the digits of the length. */
  readonly #lines: Buffer
  /** What stands behind those digits. */
  readonly #rest: Buffer | undefined

  private constructor(method: HeadMethod, headers: IncomingHttpHeaders, lines: Buffer, rest?: Buffer) {
    this.method = method
    this.headers = headers
    this.#lines = lines
    this.#rest = rest
  }

  /** Of a request that was parsed from this, if there is nothing else in it. */
  static of(head: Buffer, request: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): KnownHead | undefined {
    const method = request.method as HeadMethod
    if (!Object.hasOwn(HEAD_STARTS, method)) return undefined
    const end = urlEnd(head, method)
    if (end === 0 || head.length - end > LINES_BYTES) return undefined
    if (head.toString('latin1', HEAD_STARTS[method].length, end) !== request.url) return undefined
    const lines = head.toString('latin1', end)
    if (!lines.startsWith(' HTTP/1.1\r\n') || lines.indexOf(HEAD_END) !== lines.length - HEAD_END.length)
      return undefined
    const { 'content-length': length, ...headers } = request.headers
    if (length === undefined) return new KnownHead(method, headers, kept(lines))
    const [said, ...others] = lines.matchAll(LENGTH)
    if (said?.[1] !== length || others.length > 0) return undefined
    const from = said.index + said[0].length - length.length
    return new KnownHead(method, headers, kept(lines.slice(0, from)), kept(lines.slice(from + length.length)))
  }

  /** What `arrived` begins with; `undefined` where its head is another, or not whole. */
  read(arrived: Buffer): RepeatedHead | undefined {
    const end = urlEnd(arrived, this.method)
    if (end === 0) return undefined
    const lines = this.#lines
    let at = end + lines.length
    if (arrived.length < at || arrived.compare(lines, 0, lines.length, end, at) !== 0) return undefined
    let bodyBytes = 0
    const rest = this.#rest
    if (rest !== undefined) {
      const from = at
      for (let digit = digitAt(arrived, at); digit >= 0; digit = digitAt(arrived, ++at)) {
        if (at - from === LENGTH_DIGITS || (digit === 0 && at === from)) return undefined
        bodyBytes = bodyBytes * 10 + digit
      }
      if (at === from) return undefined
      const whole = at + rest.length
      if (arrived.length < whole || arrived.compare(rest, 0, rest.length, at, whole) !== 0) return undefined
      at = whole
    }
    const url = arrived.toString('latin1', HEAD_STARTS[this.method].length, end)
    return { url, bytes: at, bodyBytes }
  }
}

/** In memory of its own: what is short is cut from a pool. */
function kept(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(text.length)
  bytes.write(text, 'latin1')
  return bytes
}

function digitAt(bytes: Buffer, at: number): number {
  const digit = (bytes[at] ?? 0) - ZERO
  return digit >= 0 && digit <= 9 ? digit : -1
}

/** Where the URL of a request with this method ends; 0 for what is none, or has a URL that is not read here. */
function urlEnd(piece: Buffer, method: HeadMethod): number {
  const start = HEAD_STARTS[method]
  if (piece.length <= start.length || piece[start.length] !== SLASH) return 0
  for (let i = 0; i < start.length; i++) if (piece[i] !== start[i]) return 0
  const may = method === 'GET' ? IN_PATH : IN_URL
  const limit = Math.min(piece.length, start.length + URL_BYTES)
  let at = start.length
  while (at < limit && may[piece[at]!] === 1) at++
  return at < limit && piece[at] === SPACE ? at : 0
}

function allowed(letters: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const letter of letters) table[letter.charCodeAt(0)] = 1
  return table
}
