/**
 * The port for a host's front proxy, from the start of the process to its end, and what follows the host for it. While the store is read,
 * `recovery.ts` answers there; then the server does, and the former listener ends with what it has begun.
 */
import type { SpaceClient } from '../../client/client.ts'
import { systemClock } from '../../client/clock.ts'
import { freePort, SOCKETS } from '../connections/sharedPort.ts'
import type { Logger } from '../request/logger.ts'
import { FrontProxyFollower } from './frontProxyFollower.ts'
import type { FrontProxyListener } from './frontProxyListener.ts'
import type { FrontProxy } from './requestHeaders.ts'

export interface HostAddressOptions {
  bindAddress: string
  /** 0 takes a free one. */
  port: number
  host: SpaceClient
  log: Logger
}

export class HostAddress {
  readonly #options: HostAddressOptions
  readonly #follower: FrontProxyFollower
  #proxy: FrontProxy | undefined
  #listener: FrontProxyListener | undefined
  #port: number | undefined

  constructor(options: HostAddressOptions) {
    this.#options = options
    const { host, log } = options
    this.#follower = new FrontProxyFollower({
      host,
      use: proxy => {
        this.#proxy = proxy
        this.#listener?.use(proxy)
      },
      clock: systemClock,
      random: Math.random,
      log,
    })
  }

  /** Once somebody answers. */
  get port(): number | undefined {
    return this.#port
  }

  /** New connections go to this listener from now on. @throws Error naming the flag */
  async answerBy(listener: FrontProxyListener): Promise<void> {
    const { bindAddress, port } = this.#options
    const former = this.#listener
    const isShared = SOCKETS > 1
    if (!isShared) former?.stopListening()
    try {
      // one that may be shared could be shared by another server, too
      const at = this.#port ?? (await freePort(bindAddress, port))
      await listener.listen(bindAddress, at, isShared)
      this.#port = at
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      throw new Error(`--aggregated-port ${port}: ${why}; stop what listens there, or give another port`, {
        cause: error,
      })
    }
    // at once: no connection has come yet, and no other description of the front proxy either
    listener.use(this.#proxy)
    this.#listener = listener
    former?.stopListening()
    if (former === undefined) this.#follower.start()
  }

  async stop(): Promise<void> {
    this.#listener?.stopListening()
    await this.#follower.stop()
  }
}
