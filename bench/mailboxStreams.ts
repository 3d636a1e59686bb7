/** The streams of many mailboxes at a time, as syncers hold them, with as little work of our own as counting allows. */
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import type { Endpoint } from './servers.ts'

/** Enough of a line for its header. */
const HEADER_BYTES = 400
const NEW_LINE = 10

/** Reports of one mailbox about its copies so far. */
interface Received {
  /** Revisions by name. */
  readonly copies: Map<string, number>
  synced: boolean
}

/** Follows the objects of one kind in mailboxes whose names begin with `prefix`. */
export class MailboxStreams {
  readonly #endpoint: Endpoint
  readonly #prefix: string
  readonly #resources: string
  readonly #agent: Agent
  readonly #stop = new AbortController()
  readonly #received = new Map<string, Received>()
  readonly #waiting = new Set<() => void>()
  /** Copies in all of them. */
  copies = 0
  /** Events of copies since the streams were opened. */
  events = 0
  #failure: Error | undefined

  constructor(endpoint: Endpoint, prefix: string, { group, resource }: { group: string; resource: string }) {
    this.#resources = group === '' ? resource : `${resource}.${group}`
    this.#endpoint = endpoint
    this.#prefix = prefix
    this.#agent = new Agent({ cert: endpoint.cert, key: endpoint.key, rejectUnauthorized: false })
  }

  /** Resolves when each of them has delivered its snapshot. */
  async open(spaces: readonly string[]): Promise<void> {
    for (const space of spaces) void this.#follow(space).catch((error: Error) => this.#fail(error))
    await this.until(
      () => this.#received.size === spaces.length && [...this.#received.values()].every(({ synced }) => synced),
    )
  }

  /** The sum of the revisions of all copies: the same again means that none was written. */
  get revisions(): number {
    let sum = 0
    for (const { copies } of this.#received.values()) for (const revision of copies.values()) sum += revision
    return sum
  }

  async until(reached: () => boolean): Promise<void> {
    while (!reached()) {
      if (this.#failure) throw this.#failure
      await new Promise<void>(resolve => this.#waiting.add(resolve))
    }
  }

  close(): void {
    this.#stop.abort()
    this.#agent.destroy()
  }

  #changed(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const wake of waiting) wake()
  }

  #fail(error: Error): void {
    if (this.#stop.signal.aborted) return
    this.#failure = error
    this.#changed()
  }

  async #follow(space: string): Promise<void> {
    const { host, port } = this.#endpoint
    const path = `/services/stream/clusters/${space}?resources=${this.#resources}&brief=true`
    const sent = request({ host, port, path, agent: this.#agent, signal: this.#stop.signal })
    sent.end()
    const [answer] = await once(sent, 'response')
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`)
    const received: Received = { copies: new Map(), synced: false }
    this.#received.set(space, received)
    let rest: Buffer = Buffer.alloc(0)
    for await (const piece of answer as AsyncIterable<Buffer>) {
      const data = rest.length > 0 ? Buffer.concat([rest, piece]) : piece
      let start = 0
      for (let end = data.indexOf(NEW_LINE); end !== -1; end = data.indexOf(NEW_LINE, start)) {
        this.#line(received, data.toString('latin1', start, Math.min(end, start + HEADER_BYTES)))
        start = end + 1
      }
      rest = data.subarray(start)
      this.#changed()
    }
    throw new Error(`${path} ended`)
  }

  #line(received: Received, line: string): void {
    const cut = line.indexOf(',"object":')
    const header: { type: string; name?: string; revision: number; synced?: boolean } = JSON.parse(
      cut < 0 ? line : `${line.slice(0, cut)}}`,
    )
    if (header.type === 'ERROR') throw new Error(line)
    if (header.synced) received.synced = true
    const { name } = header
    if (name === undefined || !name.startsWith(this.#prefix)) return
    this.events++
    if (header.type === 'DELETED') {
      if (received.copies.delete(name)) this.copies--
      return
    }
    if (!received.copies.has(name)) this.copies++
    received.copies.set(name, header.revision)
  }
}
