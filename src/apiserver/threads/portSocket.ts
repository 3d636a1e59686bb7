/**
 * A connection between two threads, over a port. Bytes come in order, the ends of both directions are apart, and no more is under way than
 * the other side has room for. Enough of a socket for HTTP to run on it.
 */
import { Duplex } from 'node:stream'
import type { MessagePort } from 'node:worker_threads'

type Message =
  | { bytes: Uint8Array<ArrayBuffer> }
  | { received: number }
  | { end: true }
  | { known: true }
  | { probes: boolean; afterMs: number }

/** Bytes that may be under way. */
const WINDOW_BYTES = 256 * 1024
/** So many are acknowledged together: what is short needs no word of it. */
const ACKNOWLEDGED_BYTES = WINDOW_BYTES / 4

export class PortSocket extends Duplex {
  readonly #port: MessagePort
  /** Sent, and not acknowledged yet. */
  #underWay = 0
  #waiting: (() => void) | undefined
  /** Handed to the reader's buffer, and not acknowledged yet. */
  #unacknowledged = 0
  #hasEnded = false
  #isKnown = false
  /** As of a connection. */
  bytesRead = 0

  constructor(port: MessagePort) {
    super({ allowHalfOpen: true })
    this.#port = port
    port.on('message', (message: Message) => this.#received(message))
    // what came before is read first
    port.on('close', () => {
      this.#end()
      if (this.readableEnded) this.destroy()
      else this.once('end', () => this.destroy())
    })
  }

  /** Tells the other side, once, that somebody with a credential sent a request on it. It emits `known` there. */
  sendKnown(): void {
    if (this.#isKnown) return
    this.#isKnown = true
    this.#post({ known: true })
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    // in memory of its own: the whole of what a view is of would cross
    this.#send(new Uint8Array(chunk), done)
  }

  /** Writes of one step, as a head and a body mostly are, are one message: each wakes the other side. */
  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    const bytes = new Uint8Array(chunks.reduce((sum, { chunk }) => sum + chunk.length, 0))
    let at = 0
    for (const { chunk } of chunks) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    this.#send(bytes, done)
  }

  #send(bytes: Uint8Array<ArrayBuffer>, done: () => void): void {
    this.#underWay += bytes.length
    this.#port.postMessage({ bytes } satisfies Message, [bytes.buffer])
    if (this.#underWay <= WINDOW_BYTES) done()
    else this.#waiting = done
  }

  override _final(done: () => void): void {
    this.#post({ end: true })
    done()
  }

  override _read(): void {
    if (this.#unacknowledged < ACKNOWLEDGED_BYTES) return
    this.#post({ received: this.#unacknowledged })
    this.#unacknowledged = 0
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#port.close()
    done(error)
  }

  #received(message: Message): void {
    if ('bytes' in message) {
      const { buffer, byteOffset, length } = message.bytes
      this.#unacknowledged += length
      this.bytesRead += length
      if (!this.#hasEnded && this.push(Buffer.from(buffer, byteOffset, length))) this._read()
    } else if ('received' in message) this.#acknowledge(message.received)
    else if ('known' in message) this.emit('known')
    else if ('probes' in message) this.emit('probes', message.probes, message.afterMs)
    else this.#end()
  }

  #acknowledge(bytes: number): void {
    this.#underWay -= bytes
    if (this.#underWay > WINDOW_BYTES) return
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.()
  }

  #end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.push(null)
  }

  #post(message: Message): void {
    this.#port.postMessage(message)
  }

  // Further methods of a socket that HTTP needs.

  /** The other side has the client, and decides how long that may be silent. */
  setTimeout(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  /** The other side, which has the client, emits `probes`. */
  sendProbes(probes: boolean, afterMs: number): void {
    if (!this.destroyed) this.#post({ probes, afterMs })
  }

  /** An agent asks for probes of each connection that is free: here the other side is a thread. */
  setKeepAlive(_probes?: boolean, _afterMs?: number): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}
