/** A TCP relay that counts what passes, both ways, and how many connections are open: what a link costs as its network sees it. */
import { connect, createServer, type Server, type Socket } from 'node:net'

export class Relay {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  bytes = 0
  /** Ever. */
  connections = 0

  private constructor(port: number) {
    this.#server = createServer(near => {
      const far = connect(port, '127.0.0.1')
      this.connections++
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#open.add(from)
        from.on('data', data => {
          this.bytes += data.length
        })
        from.on('error', () => to.destroy())
        from.on('close', () => {
          this.#open.delete(from)
          to.destroy()
        })
        from.pipe(to)
      }
    })
  }

  /** To a port of this machine. */
  static async to(port: number): Promise<Relay> {
    const relay = new Relay(port)
    await new Promise<void>(resolve => relay.#server.listen(0, '127.0.0.1', resolve))
    return relay
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  /** Connections that are open now. */
  get open(): number {
    return this.#open.size / 2
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
  }
}
