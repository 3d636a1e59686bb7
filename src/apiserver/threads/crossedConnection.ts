/**
 * A client's connection as the main thread has it, whose requests cross from an API thread. The thread has verified the client: no header
 * of a request changes that.
 */
import { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import type { Crossing } from './crossings.ts'
import { PortSocket } from './portSocket.ts'

/** The part of a TLS connection that names its client. */
type ClientNames = Pick<TLSSocket, 'remoteAddress' | 'remotePort' | 'authorized' | 'getPeerX509Certificate'>

export class CrossedConnection extends PortSocket implements ClientNames {
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
  readonly #certificate: Uint8Array | undefined

  constructor({ port, remoteAddress, remotePort, certificate }: Crossing) {
    super(port)
    this.remoteAddress = remoteAddress
    this.remotePort = remotePort
    this.#certificate = certificate
  }

  get authorized(): boolean {
    return this.#certificate !== undefined
  }

  /** Asks the client itself, whose connection the thread has. */
  override setKeepAlive(probes = false, afterMs = 0): this {
    this.sendProbes(probes, afterMs)
    return this
  }

  getPeerX509Certificate(): X509Certificate | undefined {
    return this.#certificate && new X509Certificate(this.#certificate)
  }
}
