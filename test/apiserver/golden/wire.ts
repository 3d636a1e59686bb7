/** One connection that sends bytes as they are written here, and its answers as they came. */
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { connect, type SecureContext, type TLSSocket } from 'node:tls'

const HEAD_END = Buffer.from('\r\n\r\n')
const LINE_END = Buffer.from('\r\n')
const PROBE = 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n'
const LIMIT_MS = 30_000
const SWITCHING = 101

export interface Peer {
  readonly port: number
  /** With a certificate, or without. */
  readonly shown: SecureContext
  /** Whether the server's end of the connection from that port is where it is to be. */
  isRight(port: number): boolean
}

export interface Answer {
  /** Status line and headers, in their order. */
  readonly head: readonly string[]
  /** Without the framing of chunks. */
  readonly body: Buffer
}

export class Wire {
  readonly #socket: TLSSocket
  #heard: Buffer = Buffer.alloc(0)
  #isOver = false

  private constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('data', (part: Buffer) => {
      this.#heard = this.#heard.length === 0 ? part : Buffer.concat([this.#heard, part])
    })
    const over = (): void => {
      this.#isOver = true
      socket.emit('data', Buffer.alloc(0))
    }
    socket.once('end', over).once('close', over).on('error', over)
  }

  /** `undefined`: it came to the wrong thread. */
  static async open({ port, shown, isRight }: Peer): Promise<Wire | undefined> {
    const tcp = connectTcp({ host: '127.0.0.1', port })
    await once(tcp, 'connect')
    const { localPort } = tcp
    // by then this thread has taken up its own
    await setImmediate()
    if (!isRight(localPort!)) return void tcp.destroy()
    const socket = connect({ socket: tcp, rejectUnauthorized: false, secureContext: shown })
    socket.setNoDelay()
    socket.setTimeout(LIMIT_MS, () => socket.destroy())
    const wire = new Wire(socket)
    await once(socket, 'secureConnect')
    if (isRight(localPort!)) return wire
    return void wire.close()
  }

  send(bytes: string): void {
    if (!this.#socket.destroyed) this.#socket.write(bytes, 'latin1')
  }

  /** `lines`: reads so many of a stream, and no further. `undefined` where the connection ended before. */
  async answer(method: string, lines?: number): Promise<Answer | undefined> {
    const head = await this.#upTo(HEAD_END)
    if (head === undefined) return undefined
    const names = head.toString('latin1').split('\r\n')
    const code = Number(names[0]!.slice(9, 12))
    if (code === SWITCHING) return { head: names, body: await this.#frames(lines ?? 0) }
    const isBare = method === 'HEAD' || code < 200 || code === 204 || code === 304
    return { head: names, body: isBare ? Buffer.alloc(0) : await this.#body(names, lines) }
  }

  /** Whether the connection takes another request. */
  async isKept(): Promise<boolean> {
    this.send(PROBE)
    const answer = await this.answer('GET')
    return answer?.head[0] === 'HTTP/1.1 200 OK'
  }

  close(): void {
    this.#socket.destroy()
  }

  async #body(head: readonly string[], lines: number | undefined): Promise<Buffer> {
    const field = (name: string): string | undefined =>
      head.find(line => line.toLowerCase().startsWith(`${name}: `))?.slice(name.length + 2)
    const length = field('content-length')
    if (length !== undefined) return (await this.#next(Number(length))) ?? this.#all()
    if (field('transfer-encoding') === 'chunked') return await this.#chunks(lines)
    while (!this.#isOver) await this.#more()
    return this.#all()
  }

  async #chunks(lines: number | undefined): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let found = 0; lines === undefined || found < lines; ) {
      const size = await this.#upTo(LINE_END)
      if (size === undefined) return Buffer.concat([...parts, Buffer.from('<broken off>')])
      const bytes = Number.parseInt(size.toString('latin1'), 16)
      const chunk = await this.#next(bytes + LINE_END.length)
      if (chunk === undefined || bytes === 0) break
      parts.push(chunk.subarray(0, bytes))
      for (const byte of chunk.subarray(0, bytes)) if (byte === 10) found++
    }
    return Buffer.concat(parts)
  }

  /** Messages of a WebSocket, without their heads. */
  async #frames(count: number): Promise<Buffer> {
    const messages: Buffer[] = []
    while (messages.length < count) {
      const head = await this.#next(2)
      if (head === undefined) break
      const isLong = head[1] === 126
      const length = isLong ? (await this.#next(2))?.readUInt16BE() : head[1]
      const message = await this.#next(length ?? 0)
      if (message === undefined) break
      messages.push(Buffer.from(`<${head[0]!.toString(16)}>`), message)
    }
    return Buffer.concat(messages)
  }

  /** Bytes before `end`, which is taken, too. */
  async #upTo(end: Buffer): Promise<Buffer | undefined> {
    for (;;) {
      const at = this.#heard.indexOf(end)
      if (at >= 0) return (await this.#next(at + end.length))!.subarray(0, at)
      if (this.#isOver) return undefined
      await this.#more()
    }
  }

  async #next(bytes: number): Promise<Buffer | undefined> {
    while (this.#heard.length < bytes) {
      if (this.#isOver) return undefined
      await this.#more()
    }
    const next = this.#heard.subarray(0, bytes)
    this.#heard = this.#heard.subarray(bytes)
    return next
  }

  #all(): Buffer {
    const all = this.#heard
    this.#heard = Buffer.alloc(0)
    return all
  }

  async #more(): Promise<void> {
    await new Promise(resolve => this.#socket.once('data', resolve))
  }
}
