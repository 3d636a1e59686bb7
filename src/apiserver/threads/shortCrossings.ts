/**
 * The short way across: a request whose head is known, with its body, goes to the main thread as the bytes that arrived, and what comes
 * back goes to its client as it is. Nobody here parses either. For each client's connection there is one across for these, on which
 * requests go one by one as on the client's own; the other side tells where an answer ends.
 */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ShortRequest } from '../server/oneByOne.ts'
import type { Crossings } from './crossings.ts'
import type { PortSocket } from './portSocket.ts'
import type { UnderWay } from './underWay.ts'

export interface ShortCrossingsDeps {
  crossings: Pick<Crossings, 'open' | 'keep'>
  underWay: Pick<UnderWay, 'begins' | 'ends'>
}

export class ShortCrossings {
  readonly #deps: ShortCrossingsDeps
  /** By the connections of clients. */
  readonly #lines = new WeakMap<Socket, Line>()

  constructor(deps: ShortCrossingsDeps) {
    this.#deps = deps
  }

  /** Sends it across, and calls `left` once its answer has left or nobody waits for it any more. */
  send({ socket, arrived }: ShortRequest, left: () => void): void {
    const { underWay, crossings } = this.#deps
    let line = this.#lines.get(socket)
    if (line === undefined) {
      line = new Line(socket, crossings.open(socket as TLSSocket, true))
      this.#lines.set(socket, line)
    }
    underWay.begins(socket)
    line.ask(arrived, () => {
      crossings.keep(socket)
      underWay.ends(socket)
      left()
    })
  }
}

/** A client's connection, and its other half. */
class Line {
  readonly #client: Socket
  readonly #across: PortSocket
  /** What was asked last, until its answer has left. */
  #left: (() => void) | undefined
  /** Its answer is whole over there. */
  #isAnswered = false
  /** Pieces of it that were not handed over yet. */
  #leaving = 0
  #idleMs = 0

  constructor(client: Socket, across: PortSocket) {
    this.#client = client
    this.#across = across
    across.on('data', this.#comes)
    across.on('answered', () => {
      this.#isAnswered = true
      this.#look()
    })
    // ended there, it is ended here
    across.on('end', () => client.end())
    across.on('close', () => client.destroySoon())
    across.on('error', () => client.destroy())
    client.on('drain', () => across.resume())
    client.once('close', () => {
      across.destroy()
      this.#over()
    })
  }

  ask(bytes: Buffer, left: () => void): void {
    const client = this.#client
    // as long as something is asked on a connection it is not one on which nothing is
    this.#idleMs = client.timeout ?? 0
    client.setTimeout(0)
    this.#left = left
    this.#isAnswered = false
    this.#across.write(bytes)
  }

  readonly #comes = (piece: Buffer): void => {
    this.#leaving++
    if (!this.#client.write(piece, this.#gone)) this.#across.pause()
  }

  readonly #gone = (): void => {
    this.#leaving--
    this.#look()
  }

  #look(): void {
    if (!this.#isAnswered || this.#leaving > 0 || this.#across.readableLength > 0) return
    if (!this.#client.destroyed) this.#client.setTimeout(this.#idleMs)
    this.#over()
  }

  #over(): void {
    const left = this.#left
    this.#left = undefined
    left?.()
  }
}
