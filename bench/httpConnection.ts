/**
 * A bare HTTP/1.1 keep-alive connection over TLS: one request at a time, no pipelining, bodies counted and thrown away.
 * It does as little as possible, so that a measure shows the server and not the client.
 */
import { once } from 'node:events'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'

const HEADER_END = '\r\n\r\n'

export class HttpConnection {
  readonly #options: ConnectionOptions
  #socket: TLSSocket
  /** The server has announced the last answer of its connection. */
  #isLast = false
  #pending: PromiseWithResolvers<number> | undefined
  /** Received bytes that cannot be read yet: part of a header, or of a chunk's size. */
  #rest: Buffer = Buffer.alloc(0)
  /** Bytes of body that are still to come; `-1` while the header is awaited. */
  #left = -1
  #chunked = false
  #status = 0

  private constructor(options: ConnectionOptions, socket: TLSSocket) {
    this.#options = options
    this.#socket = socket
    this.#follow(socket)
  }

  static async open(options: ConnectionOptions): Promise<HttpConnection> {
    return new HttpConnection(options, await connected(options))
  }

  /**
   * Sends a whole request; resolves to the status code when the whole answer has arrived. Where the one before it was the last of its
   * connection, over another one.
   */
  send(request: Buffer): Promise<number> {
    if (this.#isLast) return this.#again(request)
    this.#pending = Promise.withResolvers()
    this.#socket.write(request)
    return this.#pending.promise
  }

  close(): void {
    this.#socket.destroy()
  }

  #follow(socket: TLSSocket): void {
    socket.on('data', (data: Buffer) => this.#read(data))
    const fail = (error?: Error): void => {
      if (socket === this.#socket) this.#pending?.reject(error ?? new Error('the server closed the connection'))
    }
    socket.on('error', fail)
    socket.on('close', () => fail())
  }

  async #again(request: Buffer): Promise<number> {
    const socket = await connected(this.#options)
    this.#socket.destroy()
    this.#socket = socket
    this.#isLast = false
    this.#follow(socket)
    return this.send(request)
  }

  #read(data: Buffer): void {
    let at = 0
    let bytes = data
    if (this.#rest.length > 0) {
      bytes = Buffer.concat([this.#rest, data])
      this.#rest = Buffer.alloc(0)
    }
    while (at < bytes.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length - at)
        at += taken
        this.#left -= taken
        if (this.#left === 0 && !this.#chunked) this.#done()
        continue
      }
      const line = this.#left === -1 ? HEADER_END : '\r\n'
      const end = bytes.indexOf(line, at, 'latin1')
      if (end < 0) {
        this.#rest = Buffer.from(bytes.subarray(at))
        return
      }
      const text = bytes.toString('latin1', at, end)
      at = end + line.length
      if (this.#left === -1) this.#header(text)
      else this.#chunk(text)
    }
  }

  #header(text: string): void {
    this.#status = Number(text.slice(9, 12))
    const length = /\r\ncontent-length: *(\d+)/i.exec(text)
    this.#isLast = /\r\nconnection: *close/i.test(text)
    this.#chunked = length === null
    this.#left = length === null ? 0 : Number(length[1])
    if (!this.#chunked && this.#left === 0) this.#done()
  }

  /** The size line of a chunk; the CRLF behind the chunk and the one behind the last chunk count as body. */
  #chunk(text: string): void {
    const size = Number.parseInt(text, 16)
    if (size > 0) this.#left = size + 2
    else if (text === '') this.#done()
  }

  #done(): void {
    this.#left = -1
    this.#pending?.resolve(this.#status)
    this.#pending = undefined
  }
}

async function connected(options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect(options)
  await once(socket, 'secureConnect')
  socket.setNoDelay(true)
  return socket
}
