/** A way to a server that can be cut (connections break, new ones too) or go silent (they stay, and nothing arrives). */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

export class Link {
  readonly #server: Server
  readonly #open = new Set<Socket>()
  #state: 'whole' | 'cut' | 'silent' = 'whole'

  private constructor(port: number) {
    this.#server = createServer(near => {
      if (this.#state === 'cut') {
        near.destroy()
        return
      }
      const far = connect({ host: '127.0.0.1', port })
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#open.add(one)
        one.on('error', () => other.destroy())
        one.on('close', () => {
          this.#open.delete(one)
          other.destroy()
        })
        one.pipe(other)
      }
      if (this.#state === 'silent') this.#hush()
    })
  }

  static async to(port: number): Promise<Link> {
    const link = new Link(port)
    await new Promise<void>(resolve => link.#server.listen(0, '127.0.0.1', resolve))
    return link
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  cut(): void {
    this.#state = 'cut'
    for (const end of this.#open) end.destroy()
  }

  silence(): void {
    this.#state = 'silent'
    this.#hush()
  }

  /** A silent connection goes on where it was. */
  heal(): void {
    this.#state = 'whole'
    for (const end of this.#open) end.resume()
  }

  close(): void {
    this.cut()
    this.#server.close()
  }

  #hush(): void {
    for (const end of this.#open) end.pause()
  }
}
