/** Agents of HTTP/1.1, and the connections that they keep. */
import type http from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'
import type { Clock } from '../clock.ts'
import type { HttpClientOptions } from './options.ts'

// An `import` would read every export of the module, and with that load undici: 13 MB and 20 ms.
export const plain = process.getBuiltinModule('node:http')

/** Connections that stay without requests. */
export const FREE_SOCKETS = 2
/** Quiet time after which more of them are too many: between two requests of a swarm none is, for a new one costs more. */
const QUIET_MS = 1000

type Callback = Parameters<https.Agent['createConnection']>[1]

/** A proxy that refuses a tunnel may keep the connection, which Node leaves open then: one for each try. */
class TunnelAgent extends https.Agent {
  override createConnection(options: https.RequestOptions, callback?: Callback): Duplex | null | undefined {
    return super.createConnection(options, (error, socket) => {
      if (error) (socket as Duplex | undefined)?.destroy()
      callback?.(error, socket)
    })
  }
}

export function agentFor(
  base: URL,
  options: HttpClientOptions,
  maxSockets: number,
  maxFreeSockets: number,
): http.Agent {
  const { proxyUrl } = options
  const proxyEnv = proxyUrl === undefined ? process.env : { HTTP_PROXY: proxyUrl, HTTPS_PROXY: proxyUrl }
  const common = { keepAlive: true, maxSockets, maxFreeSockets, proxyEnv }
  if (base.protocol === 'http:') return new plain.Agent(common)
  return new TunnelAgent({
    ...common,
    ...(options.tlsServerName !== undefined && { servername: options.tlsServerName }),
    rejectUnauthorized: options.insecure !== true,
  })
}

/** Connections of an agent that are free after a crowd of requests. */
export class FreeSockets {
  readonly #agent: http.Agent
  readonly #clock: Clock
  /** Ends the wait for quiet. */
  #awaitingQuiet: (() => void) | undefined
  #usedMs = 0

  constructor(agent: http.Agent, clock: Clock) {
    this.#agent = agent
    this.#clock = clock
  }

  /** A request was sent. */
  used(): void {
    this.#usedMs = this.#clock.now()
    if (this.#awaitingQuiet || countIn(this.#agent.sockets) <= FREE_SOCKETS) return
    this.#awaitingQuiet = this.#clock.after(QUIET_MS, () => this.#isQuiet())
  }

  /** Lets go of connections that nobody needs, unless there were requests meanwhile: then it looks again. */
  #isQuiet(): void {
    this.#awaitingQuiet = undefined
    const leftMs = this.#usedMs + QUIET_MS - this.#clock.now()
    const { sockets, freeSockets } = this.#agent
    // what is under way now will be free
    if (leftMs > 0 || countIn(sockets) > 0) {
      this.#awaitingQuiet = this.#clock.after(leftMs > 0 ? leftMs : QUIET_MS, () => this.#isQuiet())
      return
    }
    for (const free of Object.values(freeSockets))
      for (const socket of free?.slice(0, Math.max(0, free.length - FREE_SOCKETS)) ?? []) socket.destroy()
  }

  close(): void {
    this.#awaitingQuiet?.()
  }
}

function countIn(sockets: http.Agent['sockets']): number {
  return Object.values(sockets).reduce((sum, some) => sum + (some?.length ?? 0), 0)
}
