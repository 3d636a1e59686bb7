/** Connections between an API thread and the main thread, each for a client's: there it is that client's. */
import type { TLSSocket } from 'node:tls'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Strangers } from '../connections/strangers.ts'
import { PortSocket } from './portSocket.ts'

/** A client's connection, in its form for the main thread. */
export interface Crossing {
  readonly port: MessagePort
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
  /** DER, of a client whose certificate was verified. */
  readonly certificate: Uint8Array | undefined
}

export interface CrossingDeps {
  cross(crossing: Crossing): void
  strangers: Pick<Strangers, 'knows'>
}

/** A new one for what a client asks. */
export function openCrossing(socket: TLSSocket, { cross, strangers }: CrossingDeps): PortSocket {
  const { port1, port2 } = new MessageChannel()
  const { remoteAddress, remotePort } = socket
  const certificate = socket.authorized ? socket.getPeerX509Certificate()?.raw : undefined
  const crossed = new PortSocket(port1)
  crossed.on('known', () => strangers.knows(socket))
  crossed.on('probes', (probes: boolean, afterMs: number) => socket.setKeepAlive(probes, afterMs))
  const copy = certificate && new Uint8Array(certificate)
  cross({ port: port2, remoteAddress, remotePort, certificate: copy })
  return crossed
}
