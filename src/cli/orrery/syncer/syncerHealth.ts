/**
 * State of a syncer over plain HTTP, without authentication. `/healthz` (the process does its work), `/readyz` (it serves, or stands by),
 * `/metrics` (Prometheus) and `/status` (JSON). It listens on loopback by default.
 */
import type http from 'node:http'
import type { AddressInfo } from 'node:net'
import { messageOf } from '../../../apimachinery/messageOf.ts'
import type { Logger } from '../../../client/logger.ts'
import { metricsOf, type ProcessFigures, type SyncerStatus, unready } from '../../../syncer/tells/syncerStatus.ts'

const DEFAULT_HEALTH_ADDRESS = '127.0.0.1:8399'
/** Several syncers of a machine that were given no address listen at this one and at those that follow it. */
export const DEFAULT_PORTS = 16

/** Subject of the status. */
export interface SyncerAbout {
  /** Name of the SyncTarget; the context of the kubeconfig where no flag says it. */
  readonly syncTarget: string
  /** Addresses. */
  readonly centerServer: string
  readonly clusterServer: string
}

/** As an address: listens nowhere. */
const NOWHERE = 'none'
/** Nobody who asks for a number has more to say, or needs longer. */
const HEADERS_LIMIT_BYTES = 8192
const REQUEST_MS = 5000
const CONNECTIONS = 16

// An `import` would read every export of the module, and with that load undici.
const plain = process.getBuiltinModule('node:http')

export class SyncerHealth {
  readonly #server: http.Server

  private constructor(server: http.Server) {
    this.#server = server
  }

  /**
   * Without an address it is the default one, or the next free of {@link DEFAULT_PORTS} where other syncers of this machine listen.
   * @param status of the syncer that runs, and whose it is; none before the first one
   * @throws Error when an address was given that is none, or cannot be listened on
   */
  static async listen(
    address: string | undefined,
    status: () => (SyncerStatus & Partial<SyncerAbout>) | undefined,
    log: Logger,
  ): Promise<SyncerHealth | undefined> {
    if (address === NOWHERE) return undefined
    const at = healthAddress(address)
    const options = { maxHeaderSize: HEADERS_LIMIT_BYTES, requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }
    const server = plain.createServer(options, (request, response) => answer(request, response, status()))
    server.maxConnections = CONNECTIONS
    const ports = address === undefined ? DEFAULT_PORTS : 1
    for (let next = 0; !server.listening; next++) {
      try {
        await new Promise<void>((resolve, reject) => {
          server.once('error', reject)
          server.listen(at.port + next, at.host, resolve)
        })
      } catch (error) {
        if (address !== undefined)
          throw new Error(`--health-address ${address} cannot be listened on: ${messageOf(error)}`, { cause: error })
        if (next + 1 < ports) continue
        const taken = `${DEFAULT_HEALTH_ADDRESS} and the ${ports - 1} ports behind it are taken`
        log.info({}, `the syncer reports its state nowhere, as ${taken}; see --health-address`)
        return undefined
      }
    }
    const { port } = server.address() as AddressInfo
    log.info({}, `the syncer reports its state at http://${at.host.includes(':') ? `[${at.host}]` : at.host}:${port}`)
    return new SyncerHealth(server)
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

/** `:8399` is all addresses of the machine. @throws Error when it is no address */
export function healthAddress(address: string = DEFAULT_HEALTH_ADDRESS): { host: string; port: number } {
  const [, inBrackets, bare, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(address) ?? []
  if (port === undefined || Number(port) > 65_535)
    throw new Error(
      `--health-address: ${JSON.stringify(address)} is not host:port, such as ${DEFAULT_HEALTH_ADDRESS}, or none`,
    )
  return { host: inBrackets ?? (bare || '::'), port: Number(port) }
}

interface Answer {
  code: number
  type?: string
  text: string
}

function answer(request: http.IncomingMessage, response: http.ServerResponse, status: SyncerStatus | undefined): void {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const path = request.url?.split('?')[0] ?? ''
  const {
    code,
    type = 'text/plain; charset=utf-8',
    text,
  } = isRead ? answerTo(path, status) : { code: 405, text: 'only GET is answered\n' }
  response.writeHead(code, { 'content-type': type, 'cache-control': 'no-store' }).end(text)
}

function answerTo(path: string, status: SyncerStatus | undefined): Answer {
  const missing = status === undefined ? ['it is starting'] : unready(status)
  const ready = missing.length === 0
  switch (path) {
    case '/healthz':
    case '/livez':
      return { code: 200, text: 'ok\n' }
    case '/readyz':
      return ready ? { code: 200, text: 'ok\n' } : { code: 503, text: `${missing.join('\n')}\n` }
    case '/status':
      return { code: 200, type: 'application/json', text: `${JSON.stringify({ ready, ...status })}\n` }
    case '/metrics':
      if (status === undefined) return { code: 503, text: 'it is starting\n' }
      return { code: 200, type: 'text/plain; version=0.0.4; charset=utf-8', text: metricsOf(status, processFigures()) }
    default:
      return { code: 404, text: 'there is /healthz, /readyz, /metrics and /status\n' }
  }
}

function processFigures(): ProcessFigures {
  const { user, system } = process.cpuUsage()
  return { residentBytes: process.memoryUsage.rss(), cpuSeconds: (user + system) / 1e6 }
}
