/** The address of a server for a host's front proxy, and who answers there, as parts with their needs. */
import { messageOf } from '../apimachinery/messageOf.ts'
import type { Part } from '../client/lifecycle.ts'
import type { WorkTurns } from '../program/workTurns.ts'
import { FrontProxyListener, type FrontProxyListenerDeps } from './aggregated/frontProxyListener.ts'
import { HostAddress } from './aggregated/hostAddress.ts'
import { HostUsers } from './aggregated/hostUsers.ts'
import { recovery } from './aggregated/recovery.ts'
import type { AggregatedOptions, ApiServerOptions } from './apiServerOptions.ts'
import type { TlsKeys } from './connections/tls.ts'
import type { HttpServer } from './http/httpServer.ts'

export interface AggregatedParts {
  readonly parts: readonly Part[]
  /** Once it listens. */
  readonly port: number | undefined
  show(keys: TlsKeys): void
}

type Front = Pick<HttpServer, 'app' | 'parsing' | 'pace'>

/** The port of a server behind a host, which is there before the server is. */
export class AggregatedPort {
  readonly #options: ApiServerOptions
  readonly #aggregated: AggregatedOptions
  readonly #address: HostAddress
  #recovering: HttpServer | undefined

  constructor(options: ApiServerOptions, aggregated: AggregatedOptions) {
    const { bindAddress, log } = options
    const { host, port } = aggregated
    this.#options = options
    this.#aggregated = aggregated
    this.#address = new HostAddress({ bindAddress, port, host, log })
  }

  /** Answers documents while the store is read. A port that is taken is reported again, and ends the start, when the server needs it. */
  async recover(tls: TlsKeys, work: WorkTurns): Promise<void> {
    const { externalHostnames, bindAddress, log } = this.#options
    const address = (): string => `${externalHostnames[0] ?? bindAddress}:${this.#address.port}`
    const front = recovery({ ...this.#options, namespaced: this.#aggregated.namespaced, tls, work, address })
    this.#recovering = front
    await front.app.ready()
    try {
      await this.#address.answerBy(this.#listener(front, tls))
    } catch (error) {
      log.warn({ err: messageOf(error) }, 'the host gets no discovery while the store is read')
    }
  }

  /** The server answers, once its part starts. */
  parts(front: Front, tls: TlsKeys): AggregatedParts {
    const address = this.#address
    const listener = this.#listener(front, tls)
    return {
      get port() {
        return address.port
      },
      show: keys => listener.show(keys),
      parts: [
        // open already, where the store was there before
        { name: 'port for the host', stop: () => this.close() },
        {
          name: 'front proxy',
          needs: ['port for the host', 'requests'],
          start: async () => {
            await address.answerBy(listener)
            await this.#recovered()
          },
          stop: () => this.close(),
        },
      ],
    }
  }

  /** Nothing more begins there. Again does nothing. */
  async close(): Promise<void> {
    await this.#address.stop()
    await this.#recovered()
  }

  async #recovered(): Promise<void> {
    const recovering = this.#recovering
    this.#recovering = undefined
    await recovering?.app.close()
  }

  #listener({ app, parsing, pace }: Front, tls: TlsKeys): FrontProxyListener {
    const { space, userPrefix } = this.#aggregated
    const listener = new FrontProxyListener({
      front: app.server,
      parsing: parsing as FrontProxyListenerDeps['parsing'],
      pace,
      tls,
      users: new HostUsers(userPrefix),
      space,
      clock: Date.now,
      log: this.#options.log,
    })
    app.addHook('onClose', () => listener.close())
    return listener
  }
}
