/**
 * The requests of each connection in line: one at a time, and started in turns with those of all other connections. Node makes a
 * request of each that was read, thousands of one piece, and answers go in their order anyway.
 */
import type { Socket } from 'node:net'
import { UNPROVEN } from '../access/forwarded.ts'
import {
  admittedPath,
  forwardedPath,
  newcomerPath,
  type RequestGate,
  strangerPath,
} from '../connections/requestTurns.ts'
import { LoopGate } from '../flowcontrol/loopGate.ts'
import type { Answer } from './answer.ts'
import type { Request } from './request.ts'

/** Requests of a connection without an answer; one more ends it. Clients of Kubernetes send the next behind the answer. */
export const OPEN_REQUESTS = 16
/** Bytes that are read behind a request without an answer: enough to notice that the client has gone, as long as it sends little. */
export const READ_AHEAD_BYTES = 16 * 1024

interface Line {
  open: number
  /** It is not read before its turn: see {@link RequestLines.enter}. */
  isHeld: boolean
  latest: Request | undefined
  /** The answer to the request that was started last. */
  answer: Answer | undefined
  /** A refusal of what cannot be read waits behind the requests. */
  isUnreadable: boolean
  /** Bytes that had come when the latest request was started. */
  bytesRead: number
  /** In the order in which they came, without the first. */
  readonly waiting: Waiting[]
  /** The latest request that was admitted: its credential, its flow, and whose turn the next with that credential takes. */
  credential: string | undefined
  flow: readonly string[] | undefined
  path: readonly string[]
  /** The latest request was refused before its user was known. */
  wasRefused: boolean
}

interface Waiting {
  /** Absent for what is no request. */
  readonly request?: Request
  /** Absent, too, for a request that is to become a WebSocket. */
  readonly answer?: Answer
  readonly start: () => void
}

export class RequestLines {
  readonly #gate: RequestGate
  /** Lines of open connections. */
  readonly #lines = new Map<Socket, Line>()
  /** One connection is read in a turn, of those that are held. */
  readonly #reads = new LoopGate({ most: 1, clock: () => 0 })

  constructor(gate: RequestGate) {
    this.#gate = gate
  }

  /** Connections with requests before them, without those that became WebSockets. */
  get size(): number {
    return this.#lines.size
  }

  /**
   * Runs `start` in its turn; never, where the connection ends before. {@link leave} is called once the answer is over.
   *
   * A connection that brings one request too many ends, and connections like it are held: each is read in a turn of its own. Node makes
   * requests of all that it reads, so that a crowd that brings thousands at once would hold the loop for seconds.
   */
  enter(answer: Answer, start: () => void): void {
    const { req: request } = answer
    const { socket } = request
    // Nothing behind an answer that ends the connection is carried out: its client may send it again.
    if (isOver(socket)) return
    const line = this.#lineOf(socket)
    line.latest = request
    if (line.open === 0) line.bytesRead = socket.bytesRead
    if (++line.open > OPEN_REQUESTS) {
      endFull(socket)
      this.#holdLike(line)
    } else if (line.open === 1) this.#schedule(line, { request, answer, start })
    else {
      line.waiting.push({ request, answer, start })
      pauseAhead(line, socket)
    }
  }

  /** Its answer has left, or its client: the next request is started. */
  leave({ req: { socket } }: Answer): void {
    const line = this.#lines.get(socket)
    if (line === undefined) return
    line.open--
    const next = line.waiting.shift()
    if (next === undefined || isOver(socket)) return
    if (line.waiting.length === 0 && !line.isHeld) socket.resume()
    line.bytesRead = socket.bytesRead
    this.#schedule(line, next)
  }

  /**
   * Runs `refuse` for malformed input, or input that comes too slowly. It runs behind the answers to all earlier requests, or at once for
   * the body of the only request. No refusal breaks into an answer that has started: its connection ends.
   */
  unreadable(socket: Socket, refuse: () => void): void {
    const line = this.#lines.get(socket)
    if (line === undefined || line.open === 0) {
      refuse()
      return
    }
    const { answer, latest, open, waiting } = line
    if (latest?.complete || (open === 1 && answer?.writableEnded)) {
      // the parser finds the fault again in each piece that follows
      if (!line.isUnreadable) waiting.push({ start: refuse })
      line.isUnreadable = true
      pauseAhead(line, socket)
    } else if (open > 1 || answer?.headersSent) socket.destroy()
    else refuse()
  }

  /** Runs `start` for a request that becomes a WebSocket, in its turn: behind the answers to the requests before it. */
  upgrade(request: Request, start: () => void): void {
    const { socket } = request
    if (isOver(socket)) return
    const line = this.#lineOf(socket)
    const last = {
      request,
      start: () => {
        this.#lines.delete(socket)
        start()
      },
    }
    if (line.open === 0) this.#schedule(line, last)
    else line.waiting.push(last)
  }

  /** The request was admitted. `flow`: whose turns it takes. */
  admitted(request: Request, flow: readonly string[]): void {
    const line = this.#lines.get(request.socket)
    if (line === undefined) return
    line.credential = credentialOf(request)
    line.wasRefused = false
    if (line.flow === flow) return
    line.flow = flow
    line.path = admittedPath(flow)
  }

  /** A request on it was refused before its user was known: newcomers go before. */
  refused(socket: Socket): void {
    const line = this.#lines.get(socket)
    if (line === undefined) return
    line.wasRefused = true
    line.flow = undefined
  }

  /** Holds what is the same tenant's, and what is nobody's yet. */
  #holdLike({ flow }: Line): void {
    for (const [socket, line] of this.#lines) {
      const isLike = line.flow === undefined || (flow?.[0] === line.flow[0] && flow?.[1] === line.flow[1])
      if (!isLike || line.isHeld || isOver(socket)) continue
      line.isHeld = true
      socket.pause()
      this.#reads.enter(line.flow === undefined ? newcomerPath(socket) : line.path, () => {
        line.isHeld = false
        if (line.waiting.length === 0 && !isOver(socket)) socket.resume()
      })
    }
  }

  #schedule(line: Line, { request, answer, start }: Waiting): void {
    line.answer = answer
    if (request === undefined) start()
    else
      this.#gate.enter(pathOf(line, request), () => {
        if (!isOver(request.socket)) start()
      })
  }

  #lineOf(socket: Socket): Line {
    let line = this.#lines.get(socket)
    if (line === undefined) {
      line = {
        open: 0,
        isHeld: false,
        latest: undefined,
        answer: undefined,
        isUnreadable: false,
        bytesRead: 0,
        waiting: [],
        credential: undefined,
        flow: undefined,
        path: [],
        wasRefused: false,
      }
      this.#lines.set(socket, line)
      socket.once('close', () => this.#lines.delete(socket))
    }
    return line
  }
}

/** Node resumes the connection when a request is whole: a pause holds from the next step on. */
function pauseAhead(line: Line, socket: Socket): void {
  if (socket.bytesRead - line.bytesRead <= READ_AHEAD_BYTES) return
  process.nextTick(() => {
    if (line.waiting.length > 0) socket.pause()
  })
}

/**
 * Ends a connection that brought thousands of requests. Node makes two errors for each of them, whose stack traces would be most of the cost:
 * no code looks at these.
 */
function endFull(socket: Socket): void {
  const { stackTraceLimit } = Error
  socket.prependOnceListener('close', () => {
    Error.stackTraceLimit = 0
  })
  socket.once('close', () => {
    Error.stackTraceLimit = stackTraceLimit
  })
  socket.destroy()
}

function isOver(socket: Socket): boolean {
  return socket.destroyed || socket.writableEnded
}

function pathOf({ flow, path, credential, wasRefused }: Line, request: Request): readonly string[] {
  const shown = credentialOf(request)
  if (flow !== undefined && credential === shown) return path
  const { forwarded } = request
  // one host is no single stranger: each of its users has turns of their own
  if (forwarded !== undefined && forwarded !== UNPROVEN) return forwardedPath(forwarded.user.name)
  return strangerPath(request.socket, wasRefused ? 'refused' : 'new', shown)
}

/** By which two requests of a connection are known to be one user's. */
function credentialOf({ forwarded, headers }: Request): string | undefined {
  return forwarded === undefined || forwarded === UNPROVEN ? headers.authorization : forwarded.user.name
}
