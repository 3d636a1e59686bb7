/**
 * The requests of a connection one by one: what a client sends behind a request is not looked at before that has its answer.
 * Node would make a request of each at once, thousands of one piece that was read, and begin them all; whoever came first with
 * short ones held up everybody else. Answers go in the order of the requests anyway, and who waits for them feels no difference.
 *
 * So Node's parser is given what arrives in pieces that hold one request: up to the end of its headers, then its body. How a body
 * in chunks ends is the parser's to know; of these it gets little at a time. Nothing behind a possible end of chunks goes along. A request that has the same head as one that it read
 * already may be answered without it ({@link ShortWay}), once its body is there.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Server as HttpsServer } from 'node:https'
import { Socket } from 'node:net'
import { type Entry, LoopGate } from '../flowcontrol/loopGate.ts'
import { WaitingLine } from '../flowcontrol/waitingLine.ts'
import { networkOf } from '../http/strangers.ts'
import { type HeadMethod, KnownHead } from './knownHead.ts'
import { refuseMalformedHeads } from './malformedHeads.ts'

/** What is used of an HTTPS server. */
export type FedServer = Pick<HttpsServer, 'on' | 'prependListener' | 'listeners' | 'removeAllListeners'>

/** What may wait unread here; the rest waits at the client. Enough to hear that the client has gone, as long as it sends little. */
export const WAITING_BYTES = 16 * 1024
/** Of a body of which nobody knows the end: some hundred requests could be behind it. */
const CHUNKED_BYTES = 4096
/** Pieces in one go, so that many small ones leave turns to others. */
const PIECES = 16

const HEADERS_END = Buffer.from('\r\n\r\n')
const CR = 13
const LF = 10
const NO_BODY = Buffer.alloc(0)
/** Most requests have fewer bytes of headers. */
const CREDENTIAL_WITHIN = 4096
const AUTHORIZATION = /\r\nauthorization:[ \t]*([^\r]*)/i

/** How long requests are begun in one turn of the loop. */
const BEGIN_MS = 3
const STRANGER = 'stranger'

/**
 * What requests are begun through. Of strangers behind one address that show the same, or nothing, the latest goes first: see
 * {@link WaitingLine}.
 */
export function requestGate(clock: () => number): LoopGate {
  const line = new WaitingLine<Entry>(([first]) => first === STRANGER)
  return new LoopGate({ limitMs: BEGIN_MS, line, clock })
}

/** A request that was not parsed: its head is known. */
export interface ShortRequest {
  readonly socket: Socket
  readonly method: HeadMethod
  readonly url: string
  /** Without `content-length`. */
  readonly headers: IncomingHttpHeaders
  /** Empty where there is none. */
  readonly body: Buffer
  /** Head and body. */
  readonly arrived: Buffer
}

/** Answers what needs nothing of what a parser makes of a request but its headers. */
export interface ShortWay {
  /** Whether others with the same headers may go this way. */
  suits(request: IncomingMessage): boolean
  /**
   * Answers, and calls `left` once the answer has left or nobody waits for it any more. Says whose turn the next request on the
   * connection is to be. `undefined`: nothing was done, and the request is to go the long way.
   */
  answer(request: ShortRequest, left: () => void): readonly string[] | undefined
}

export class OneByOne {
  readonly #gate: Pick<LoopGate, 'enter'>
  readonly #shortWay: ShortWay | undefined
  /** Of connections that are open. */
  readonly #feeds = new Map<Socket, Feed>()

  constructor(gate: Pick<LoopGate, 'enter'>, shortWay?: ShortWay) {
    this.#gate = gate
    this.#shortWay = shortWay
  }

  /**
   * To be called once, before the server listens, and after all who stand before requests: it has to hear of each, whoever answers it.
   * Of an upgrade above all: the parser that is left behind by it becomes another connection's.
   */
  serve(server: FedServer): void {
    server.on('secureConnection', (socket: Socket) => {
      const feed = Feed.before(socket, this.#gate, this.#shortWay)
      if (feed === undefined) return
      this.#feeds.set(socket, feed)
      socket.once('close', () => this.#feeds.delete(socket))
    })
    refuseMalformedHeads(server)
    for (const event of ['request', 'checkExpectation'] as const) {
      if (server.listeners(event).length === 0) continue
      server.prependListener(event, (request: IncomingMessage, response: ServerResponse) =>
        this.#feeds.get(request.socket)?.begins(request, response),
      )
    }
    server.prependListener('upgrade', (request: IncomingMessage) => this.#feeds.get(request.socket)?.upgrades(request))
  }

  /** `path`: whose turn the next request on it is to be. */
  belongs(socket: Socket, path: readonly string[]): void {
    this.#feeds.get(socket)?.belongs(path)
  }

  /** A request on it was refused before it was known whose it is: those that were not go before. */
  refused(socket: Socket): void {
    const feed = this.#feeds.get(socket)
    feed?.refused()
  }

  /**
   * Ends connections on which nothing is asked. Node knows of no request, nor of its answer, that went the short way. Those between
   * threads hold no descriptor.
   */
  closeIdle(): void {
    for (const [socket, feed] of this.#feeds) if (feed.isIdle && socket instanceof Socket) socket.destroy()
  }
}

/** Stands between a connection and its parser. */
class Feed {
  readonly #socket: Socket
  readonly #parse: (piece: Buffer) => void
  readonly #gate: Pick<LoopGate, 'enter'>
  readonly #shortWay: ShortWay | undefined
  /** Of the latest requests that suit the short way, one for each method. */
  readonly #heads: KnownHead[] = []
  /** Of the request that is being parsed, where nothing else came with it but of its body. */
  #newHead: Buffer | undefined
  /** Whether the rest of a body may still come in this turn of the loop, behind its head that is known. */
  #patience: 'fresh' | 'waits' | 'gone' = 'fresh'
  /** Of the latest request that was let in, and where it stands by that. */
  #owner: readonly string[] | undefined
  #known: readonly string[] | undefined
  #wasRefused = false
  /** What has arrived and was not parsed. */
  readonly #waiting: Buffer[] = []
  #waitingBytes = 0
  /** The latest request, until its body is whole. */
  #request: IncomingMessage | undefined
  /** Requests without an answer: what the parser was given with the end of a body in chunks may hold some more. */
  #open = 0
  /** What is to come of its body; `undefined`: nobody knows. */
  #bodyLeft: number | undefined
  /** Bytes behind headers that are parsed with them. */
  #behind = 0
  /** So many bytes of the end of headers were the last to be parsed; `undefined`: the parser alone knows. */
  #matched: number | undefined = 0
  /** As many bytes of what ends chunks were the last of a body in chunks. */
  #matchedChunk = 0
  /** Whether headers that end in what is being parsed end where it ends, but for `#behind`. */
  #isCut = false
  /** The parser has nothing of a request that is not whole. */
  #isBetween = true
  /** What the connection is handed over with. */
  #upgrade: IncomingMessage | undefined
  #isFeeding = false
  #isInLine = false
  #hasPaused = false

  /** `undefined` where Node does not listen to what arrives. */
  static before(socket: Socket, gate: Pick<LoopGate, 'enter'>, shortWay: ShortWay | undefined): Feed | undefined {
    const [parse] = socket.listeners('data') as ((piece: Buffer) => void)[]
    return parse && new Feed(socket, parse, gate, shortWay)
  }

  constructor(
    socket: Socket,
    parse: (piece: Buffer) => void,
    gate: Pick<LoopGate, 'enter'>,
    shortWay: ShortWay | undefined,
  ) {
    this.#socket = socket
    this.#parse = parse
    this.#gate = gate
    this.#shortWay = shortWay
    // A listener besides makes Node hand out what it reads, instead of parsing it out of sight.
    socket.on('data', this.#arrives)
    socket.off('data', parse)
  }

  /** Nothing that is asked on it is unanswered, or has begun to arrive. */
  get isIdle(): boolean {
    const isBetween = this.#isBetween || this.#matched === undefined
    return isBetween && this.#open === 0 && this.#waitingBytes === 0 && this.#upgrade === undefined
  }

  begins(request: IncomingMessage, response: ServerResponse): void {
    const { 'content-length': length } = request.headers
    this.#request = request
    this.#open++
    // of one that came in behind the end of chunks the parser has some of the body already
    this.#bodyLeft = length === undefined || !this.#isCut ? undefined : Number(length)
    response.on('close', this.#answered)
  }

  belongs(owner: readonly string[]): void {
    if (owner === this.#owner) return
    this.#owner = owner
    this.#known = ['known', ...owner]
  }

  refused(): void {
    this.#wasRefused = true
    this.#owner = undefined
    this.#known = undefined
  }

  upgrades(request: IncomingMessage): void {
    this.#upgrade = request
  }

  readonly #arrives = (piece: Buffer): void => {
    this.#waiting.push(piece)
    this.#waitingBytes += piece.length
    this.#feed()
    // Nothing is fed before its turn has come, and in a crowd that may be seconds.
    if (this.#isInLine) this.#hold()
  }

  readonly #answered = (): void => {
    this.#open--
    if (this.#open === 0 && this.#waitingBytes > 0) this.#feed()
  }

  #feed(): void {
    // The parser is not to be entered again from what it tells.
    if (this.#isFeeding || this.#isInLine) return
    this.#isInLine = true
    this.#gate.enter(this.#path(), this.#feedNow)
  }

  /**
   * Those that were let in have one half of all turns, strangers the other: address by address, and behind one address by the
   * credential that they are about to show. Whoever makes up many stands where all do that show the same.
   */
  #path(): readonly string[] {
    if (this.#known !== undefined) return this.#known
    const shown = this.#request === undefined && this.#waiting[0] ? credentialOf(this.#waiting[0]) : ''
    return [STRANGER, networkOf(this.#socket.remoteAddress), this.#wasRefused ? 'refused' : 'new', shown]
  }

  readonly #feedNow = (): void => {
    this.#isInLine = false
    this.#isFeeding = true
    try {
      this.#feedPieces()
    } finally {
      this.#isFeeding = false
    }
  }

  #feedPieces(): void {
    const waiting = this.#waiting
    // behind an answer that ends the connection nothing is carried out: its client may send it again
    const isOver = (): boolean => this.#socket.destroyed || this.#socket.writableEnded
    for (let pieces = 0; waiting.length > 0 && !isOver(); pieces++) {
      const short = this.#takeShort()
      if (short === 'taken') continue
      if (short === 'waits') return
      const size = this.#sizeOfNext(waiting[0]!)
      if (size === 0) {
        this.#hold()
        return
      }
      if (pieces === PIECES) {
        setImmediate(() => this.#feed())
        return
      }
      this.#feedPiece(this.#take(size))
      if (this.#upgrade?.complete) {
        this.#handOver()
        return
      }
    }
    if (!this.#hasPaused) return
    this.#hasPaused = false
    this.#socket.resume()
  }

  /** The short way, if it is one for what has arrived. What comes behind it waits for its answer as for any other. */
  #takeShort(): 'taken' | 'waits' | undefined {
    if (this.#open > 0 || !this.#isBetween || this.#upgrade !== undefined) return undefined
    for (const head of this.#heads) {
      const read = head.read(this.#waiting[0]!)
      if (read === undefined) continue
      const { url, bytes, bodyBytes } = read
      const whole = bytes + bodyBytes
      if (this.#waitingBytes < whole) return this.#waitForBody()
      const arrived = this.#joined(whole).subarray(0, whole)
      const { method, headers } = head
      const body = bodyBytes === 0 ? NO_BODY : arrived.subarray(bytes)
      const request = { socket: this.#socket, method, url, headers, body, arrived }
      const owner = this.#shortWay!.answer(request, this.#answered)
      if (owner === undefined) return undefined
      this.#patience = 'fresh'
      this.#open++
      this.belongs(owner)
      this.#take(whole)
      return 'taken'
    }
    return undefined
  }

  /** Who sends a body apart from its head mostly sends both at once, and then they are read in one turn. */
  #waitForBody(): 'waits' | undefined {
    if (this.#patience === 'gone') return undefined
    if (this.#patience === 'fresh') {
      this.#patience = 'waits'
      setImmediate(() => {
        if (this.#patience !== 'waits') return
        this.#patience = 'gone'
        this.#feed()
      })
    }
    return 'waits'
  }

  /** The first piece, with so many bytes. */
  #joined(bytes: number): Buffer {
    const waiting = this.#waiting
    if (waiting[0]!.length < bytes) waiting.unshift(Buffer.concat(waiting.splice(0)))
    return waiting[0]!
  }

  /** How much of what has arrived may be parsed now. */
  #sizeOfNext(arrived: Buffer): number {
    if (this.#request !== undefined) {
      if (this.#bodyLeft !== undefined) return Math.min(arrived.length, this.#bodyLeft)
      return Math.min(headersEnd(arrived, this.#matchedChunk) ?? arrived.length, CHUNKED_BYTES)
    }
    if (this.#open > 0) return 0
    const end = headersEnd(arrived, this.#matched ?? 0)
    if (end === undefined || end === arrived.length) return arrived.length
    // Without an end of a line no second request becomes whole in it: to parse it with the headers is cheaper.
    if (arrived.indexOf(CR, end) >= 0) return end
    this.#behind = arrived.length - end
    return arrived.length
  }

  #take(size: number): Buffer {
    const [first] = this.#waiting
    this.#waitingBytes -= size
    if (first!.length === size) return this.#waiting.shift()!
    this.#waiting[0] = first!.subarray(size)
    return first!.subarray(0, size)
  }

  #feedPiece(piece: Buffer): void {
    const isHead = this.#request === undefined
    const behind = isHead ? this.#behind : 0
    const startsAnew = this.#isBetween
    this.#isCut = isHead && (this.#matched !== undefined || !isLineEnd(piece[0]))
    if (isHead) this.#matched = this.#matchedBehind(piece)
    else if (this.#bodyLeft !== undefined) this.#bodyLeft -= piece.length
    this.#matchedChunk = isHead ? 0 : matchedBy(piece, this.#matchedChunk)
    this.#behind = 0
    this.#isBetween = false
    this.#patience = 'fresh'
    this.#parse(piece)
    if (this.#request === undefined) return
    if (isHead) this.#newHead = startsAnew ? piece.subarray(0, piece.length - behind) : undefined
    if (this.#bodyLeft !== undefined) this.#bodyLeft -= behind
    if (!this.#request.complete) return
    // The parser may have the beginning of the next, too.
    this.#isBetween = this.#bodyLeft === undefined ? this.#isCut && behind === 0 : this.#bodyLeft === 0
    if (this.#isBetween) this.#remember(this.#request)
    this.#newHead = undefined
    this.#request = undefined
    this.#matched = this.#isBetween ? 0 : undefined
  }

  #matchedBehind(piece: Buffer): number | undefined {
    return this.#isCut || piece.length >= HEADERS_END.length ? matchedBy(piece, this.#matched ?? 0) : undefined
  }

  #remember(request: IncomingMessage): void {
    const piece = this.#newHead
    if (piece === undefined || !this.#shortWay?.suits(request)) return
    const at = this.#heads.findIndex(({ method }) => method === request.method)
    if (at >= 0 && this.#heads[at]!.read(piece) !== undefined) return
    const head = KnownHead.of(piece, request)
    if (head !== undefined) this.#heads.splice(at < 0 ? this.#heads.length : at, 1, head)
  }

  #hold(): void {
    if (this.#hasPaused || this.#waitingBytes < WAITING_BYTES) return
    this.#hasPaused = true
    this.#socket.pause()
  }

  /** From now on the connection is somebody else's. */
  #handOver(): void {
    this.#socket.off('data', this.#arrives)
    for (const piece of this.#waiting.splice(0).reverse()) this.#socket.unshift(piece)
  }
}

/** As far as it stands in the beginning of a request; not looked at, only told from others. */
function credentialOf(arrived: Buffer): string {
  const head = arrived.toString('latin1', 0, CREDENTIAL_WITHIN)
  return AUTHORIZATION.exec(head)?.[1] ?? ''
}

/** Where headers end, if they do, of which so many bytes of the end came before. */
function headersEnd(arrived: Buffer, matched: number): number | undefined {
  const rest = HEADERS_END.subarray(matched)
  if (matched > 0 && arrived.length >= rest.length && rest.equals(arrived.subarray(0, rest.length))) return rest.length
  const at = arrived.indexOf(HEADERS_END)
  return at < 0 ? undefined : at + HEADERS_END.length
}

/** How many bytes of the end of headers a piece ends with, behind one that ended with so many. */
function matchedBy(piece: Buffer, before: number): number {
  const tail = piece.subarray(-HEADERS_END.length + 1)
  let matched = tail.length === piece.length ? before : 0
  for (const byte of tail) matched = byte === HEADERS_END[matched] ? matched + 1 : byte === CR ? 1 : 0
  return matched % HEADERS_END.length
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === CR || byte === LF
}
