/**
 * The head of a GET as it arrived on a connection. Clients say the same with each request but for its path, and the same bytes mean the
 * same: what Node's parser made of them once holds for every request that repeats them, and nobody has to parse them again.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

const SPACE = 0x20
/** `GET `, as a number. */
const GET = 0x47455420
const GET_BYTES = 4
const VERSION_BYTES = ' HTTP/1.1'.length
/** Longer URLs and heads are seldom, and would be kept for each connection. */
const URL_BYTES = 1024
const LINES_BYTES = 4096

/** What may stand in a URL that is read here: nothing that is escaped, and nothing that one parser may read otherwise than another. */
const IN_URL = new Uint8Array(256)
for (const letter of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~:*')
  IN_URL[letter.charCodeAt(0)] = 1

export class KnownHead {
  readonly headers: IncomingHttpHeaders
  /** What stands behind the URL, to the end of the head. */
  readonly #lines: Buffer

  private constructor(headers: IncomingHttpHeaders, lines: Buffer) {
    this.headers = headers
    this.#lines = lines
  }

  /** Of a request that was parsed from this piece, if there is nothing else in it. */
  static of(piece: Buffer, { url, headers }: Pick<IncomingMessage, 'url' | 'headers'>): KnownHead | undefined {
    const end = urlEnd(piece)
    if (end === 0 || piece.length - end > LINES_BYTES || piece.toString('latin1', GET_BYTES, end) !== url)
      return undefined
    if (piece.toString('latin1', end, end + VERSION_BYTES) !== ' HTTP/1.1') return undefined
    // In memory of its own: the piece may be a small part of what was read with it, and what is short is cut from a pool.
    const lines = Buffer.allocUnsafeSlow(piece.length - end)
    piece.copy(lines, 0, end)
    return new KnownHead(headers, lines)
  }

  /** The URL of the request that `arrived` begins with; `undefined` where its head is another, or not whole. */
  urlIn(arrived: Buffer): string | undefined {
    const lines = this.#lines
    const end = urlEnd(arrived)
    const whole = end + lines.length
    if (end === 0 || arrived.length < whole || arrived.compare(lines, 0, lines.length, end, whole) !== 0)
      return undefined
    return arrived.toString('latin1', GET_BYTES, end)
  }

  /** Bytes of the head of a request with that URL. */
  bytes(url: string): number {
    return GET_BYTES + url.length + this.#lines.length
  }
}

/** Where the URL of a GET ends; 0 for what is none, or has a URL that is not read here. */
function urlEnd(piece: Buffer): number {
  if (piece.length < GET_BYTES + 1 || piece.readUInt32BE(0) !== GET || piece[GET_BYTES] !== 0x2f) return 0
  const limit = Math.min(piece.length, GET_BYTES + URL_BYTES)
  let at = GET_BYTES
  while (at < limit && IN_URL[piece[at]!] === 1) at++
  return at < limit && piece[at] === SPACE ? at : 0
}
