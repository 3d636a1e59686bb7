/**
 * Requests that a thread does not answer cross whole to the main thread, as HTTP over a connection of their own. There is one for each
 * connection of a client, with that client's address and certificate.
 */
import type { Agent, ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import type { Strangers } from '../connections/strangers.ts'
import type { Answer } from '../http/answer.ts'
import { answerBare, closeSoon, letRefusalBeRead } from '../http/bareAnswer.ts'
import type { Request } from '../http/request.ts'
import { type CrossingDeps, openCrossing } from './crossings.ts'

// Not imported, as in http/request.ts.
const http = process.getBuiltinModule('node:http')

interface ForwarderDeps extends CrossingDeps {
  strangers: Pick<Strangers, 'knows' | 'requestStarted' | 'requestEnded'>
}

/** They belong to the connection, not to the answer. */
const OF_CONNECTION = /^(connection|keep-alive|transfer-encoding)$/i
const KEPT_SECONDS = /timeout=(\d+)/
const KEEPS_CONNECTION = /^(connection|keep-alive)$/i

export class Forwarder {
  readonly #deps: ForwarderDeps
  readonly #agents = new WeakMap<TLSSocket, Agent>()
  /** Requests whose answers have not left. */
  #underWay = 0
  #idle: (() => void) | undefined

  constructor(deps: ForwarderDeps) {
    this.#deps = deps
  }

  /** @param answered called with the status, once it has come */
  forward(message: Request, answer: Answer, answered: (code: number) => void): void {
    const out = this.#send(message)
    if (out === undefined) {
      answer.writeHead(400, { Connection: 'close', 'Content-Length': '0' }).end()
      return
    }
    const fail = (): void => void answer.destroy()
    out.on('continue', () => {
      if (message.awaitsContinue) answer.writeContinue()
      message.awaitsContinue = false
    })
    out.on('response', incoming => {
      if ((incoming.statusCode === 413 || message.awaitsContinue) && !message.complete) letRefusalBeRead(message.socket)
      answered(incoming.statusCode!)
      answer.writeHead(incoming.statusCode!, incoming.statusMessage, headersFor(answer, incoming.rawHeaders))
      // a watch has nothing to say for a while
      answer.flushHeaders()
      // this thread's server sets its own first
      answer.once('finish', () => keep(message.socket, incoming))
      // broken off there, it is broken off here
      answer.writeAll(incoming).catch(fail)
    })
    out.on('error', fail)
    message.on('error', () => out.destroy())
    answer.on('close', () => {
      if (!answer.writableFinished) out.destroy()
    })
    message.pipe(out)
    this.#follow(message, answer)
  }

  upgrade(message: IncomingMessage, socket: Duplex, head: Buffer): void {
    const out = this.#send(message)
    if (out === undefined) {
      answerBare(socket, 400)
      return
    }
    out.on('upgrade', (incoming, other, first) => {
      socket.write(`${headOf(incoming, incoming.rawHeaders)}\r\n`)
      socket.write(first)
      other.write(head)
      socket.pipe(other).pipe(socket)
      other.on('error', () => socket.destroy())
      other.on('close', () => socket.end())
      socket.on('close', () => other.destroy())
    })
    out.on('response', incoming => {
      const kept = pairsOf(incoming.rawHeaders).filter(([name]) => !OF_CONNECTION.test(name))
      socket.write(`${headOf(incoming, ['Connection', 'close', ...kept.flat()])}\r\n`)
      incoming.on('error', () => socket.destroy())
      incoming.on('end', () => closeSoon(socket))
      incoming.pipe(socket)
    })
    out.on('error', () => socket.destroy())
    socket.on('error', () => out.destroy())
    this.#follow(message, socket)
    out.end()
  }

  /** Resolves when no request is under way. */
  async idle(): Promise<void> {
    if (this.#underWay > 0) await new Promise<void>(resolve => (this.#idle = resolve))
  }

  #follow(message: IncomingMessage, answer: { on(event: 'close', run: () => void): unknown }): void {
    const { strangers } = this.#deps
    this.#underWay++
    strangers.requestStarted(message.socket)
    // it has left, or nobody waits for it any more
    answer.on('close', () => {
      strangers.requestEnded(message.socket)
      if (--this.#underWay === 0) this.#idle?.()
    })
  }

  /** `undefined` for what Node's parser reads and its client does not write: it is refused here, and ends no thread. */
  #send(message: IncomingMessage): ClientRequest | undefined {
    const { method, url } = message
    const agent = this.#agentOf(message.socket as TLSSocket)
    try {
      return http.request({ agent, method, path: url, headers: crossingHeaders(message), setHost: false })
    } catch {
      return undefined
    }
  }

  #agentOf(socket: TLSSocket): Agent {
    const known = this.#agents.get(socket)
    if (known !== undefined) return known
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
    Object.assign(agent, { createConnection: () => openCrossing(socket, this.#deps) })
    this.#agents.set(socket, agent)
    socket.once('close', () => agent.destroy())
    return agent
  }
}

/** There it is HTTP/1.1, which has a host, and trailers behind chunks alone. */
function crossingHeaders({ headers, rawHeaders }: IncomingMessage): string[] {
  const isChunked = headers['transfer-encoding'] !== undefined
  const kept =
    headers.trailer === undefined || isChunked
      ? rawHeaders
      : pairsOf(rawHeaders)
          .filter(([name]) => name.toLowerCase() !== 'trailer')
          .flat()
  return headers.host === undefined ? [...kept, 'Host', ''] : kept
}

/** The answering side does not know that this connection is to end with it. */
function headersFor({ shouldKeepAlive }: ServerResponse, rawHeaders: string[]): string[] {
  if (shouldKeepAlive) return rawHeaders
  return pairsOf(rawHeaders)
    .filter(([name]) => !KEEPS_CONNECTION.test(name))
    .flat()
}

/** Keeps the connection for as long as the answer says, where that is longer than usual. */
function keep(socket: Socket, { headers }: IncomingMessage): void {
  const keptMs = 1000 * Number(KEPT_SECONDS.exec(String(headers['keep-alive']))?.[1] ?? 0)
  if (keptMs > (socket.timeout ?? 0) && !socket.destroyed) socket.setTimeout(keptMs)
}

function headOf({ statusCode, statusMessage }: IncomingMessage, rawHeaders: readonly string[]): string {
  const lines = pairsOf(rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('')}`
}

function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = []
  for (let i = 0; i < rawHeaders.length; i += 2) pairs.push([rawHeaders[i]!, rawHeaders[i + 1]!])
  return pairs
}
