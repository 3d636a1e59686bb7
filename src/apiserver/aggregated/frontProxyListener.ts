/**
 * A second address of the server, for the front proxy of a host cluster and for tokens of that cluster. The front proxy proves itself by the
 * certificate of its connection; each request names its own user. Requests then go the road of all others.
 *
 * The address has a TLS server of its own: a session that began on the ordinary address, with its certificates, resumes nothing here.
 */
import type { EventEmitter } from 'node:events'
import { once } from 'node:events'
import type { ServerOptions } from 'node:http'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { equalJson } from '../../apimachinery/values.ts'
import { UNPROVEN } from '../access/forwarded.ts'
import { bearerIn } from '../access/requestCredentials.ts'
import { secureContext, type TlsKeys } from '../connections/tls.ts'
import { HANDSHAKE_TIMEOUT_MS, HEADERS_TIMEOUT_MS, REQUEST_TIMEOUT_MS } from '../http/httpServer.ts'
import { passEvents } from '../http/passEvents.ts'
import type { Request } from '../http/request.ts'
import type { Logger } from '../request/logger.ts'
import { hostRequest } from './hostPaths.ts'
import type { HostUsers } from './hostUsers.ts'
import { type FrontProxy, userIn } from './requestHeaders.ts'

// Not imported, as in http/request.ts.
const { createServer } = process.getBuiltinModule('node:https')

export interface FrontProxyListenerDeps {
  /** Its listeners answer. */
  front: EventEmitter
  /** How requests are parsed. */
  parsing: ServerOptions & { shouldUpgradeCallback(request: Request): boolean }
  /** Bounds and paces connections. */
  pace(server: Server): void
  tls: TlsKeys
  users: HostUsers
  /** Path of the configured space. */
  space: string
  /** Milliseconds since the epoch. */
  clock: () => number
  log: Logger
}

interface Proof {
  readonly fromMs: number
  readonly toMs: number
}

export class FrontProxyListener {
  readonly #deps: FrontProxyListenerDeps
  readonly #server: Server
  /** Below TLS: a handshake that is under way goes on with the authority that it began with. */
  readonly #open = new Set<Socket>()
  /** When the certificate of the front proxy is valid, for each connection; `undefined`: its client shows none. */
  #proofs = new WeakMap<TLSSocket, Proof | undefined>()
  #tls: TlsKeys
  #proxy: FrontProxy | undefined
  #isDroppingLogged = false

  constructor(deps: FrontProxyListenerDeps) {
    this.#deps = deps
    this.#tls = deps.tls
    const { parsing } = deps
    this.#server = createServer({
      ...parsing,
      // comes before the request does
      shouldUpgradeCallback: (request: Request) => {
        this.#identify(request)
        return isOfSpace(request) && parsing.shouldUpgradeCallback(request)
      },
      ...this.#context(),
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
    } as unknown as ServerOptions)
    deps.pace(this.#server)
    this.#server.on('connection', (socket: Socket) => {
      this.#open.add(socket)
      socket.once('close', () => this.#open.delete(socket))
    })
    passEvents(this.#server, deps.front, request => this.#identify(request as Request))
  }

  /** @throws Error of the system */
  async listen(host: string, port: number, isShared: boolean): Promise<void> {
    this.#server.listen({ host, port, reusePort: isShared })
    await once(this.#server, 'listening')
  }

  /** Keys of new connections. */
  show(keys: TlsKeys): void {
    this.#tls = keys
    this.#server.setSecureContext(this.#context())
  }

  /** The front proxy of the host from now on; `undefined`: none is known. Connections end that another one vouched for. */
  use(proxy: FrontProxy | undefined): void {
    const before = this.#proxy
    this.#proxy = proxy
    this.#proofs = new WeakMap()
    const isSameAuthority = before?.caPem === proxy?.caPem
    if (isSameAuthority && equalJson(before?.allowedNames, proxy?.allowedNames)) return
    if (!isSameAuthority) this.#server.setSecureContext(this.#context())
    for (const socket of this.#open) socket.destroy()
  }

  /** No new connections. */
  stopListening(): void {
    this.#server.close()
    this.#server.closeIdleConnections()
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
  }

  #context() {
    const { cert, key } = this.#tls
    // without an authority Node would take the system's: a list of none vouches for nobody
    return secureContext({ cert, key, ca: this.#proxy?.caPem ?? ([] as unknown as string) })
  }

  #identify(request: Request): void {
    if (request.forwarded !== undefined) return
    request.stripAuthority()
    request.forwarded = UNPROVEN
    const proxy = this.#proxy
    const proof = proxy && this.#proofOf(request.socket, proxy)
    if (proxy === undefined || proof === undefined) {
      this.#noteDropped(request)
      this.#takeToken(request)
      return
    }
    const named = userIn(request.headersDistinct, proxy)
    if (named === undefined) {
      this.#takeToken(request)
      return
    }
    const { user, hostUser } = this.#deps.users.of(named)
    const { requested, target, url } = hostRequest(request.method, request.url, this.#deps.space)
    request.url = url
    request.forwarded = { user, hostUser, requested, target, provenUntilMs: proof.toMs }
  }

  /** Access control asks the host for its user. */
  #takeToken(request: Request): void {
    const token = bearerIn(request.headers)
    if (!token) return
    const { requested, target, url } = hostRequest(request.method, request.url, this.#deps.space)
    request.url = url
    request.hostToken = { token, requested, target }
  }

  #proofOf(socket: TLSSocket, { allowedNames }: FrontProxy): Proof | undefined {
    if (!this.#proofs.has(socket)) this.#proofs.set(socket, proofOf(socket, allowedNames))
    const proof = this.#proofs.get(socket)
    const now = this.#deps.clock()
    return proof && proof.fromMs <= now && now <= proof.toMs ? proof : undefined
  }

  /** Once: a stranger could fill the log. */
  #noteDropped({ headers, socket }: Request): void {
    if (this.#isDroppingLogged || !Object.keys(headers).some(name => name.startsWith('x-remote-'))) return
    this.#isDroppingLogged = true
    this.#deps.log.warn(
      { address: socket.remoteAddress },
      this.#proxy === undefined
        ? 'a request names its user by X-Remote headers, and the front proxy of the host is not known yet: it is refused'
        : 'a request names its user by X-Remote headers without the certificate of the front proxy: it is refused, and so are further ones',
    )
  }
}

/** Rights in a space are looked at there alone: nothing else becomes a WebSocket. */
function isOfSpace({ forwarded, hostToken }: Request): boolean {
  const fromHost = hostToken ?? forwarded
  return typeof fromHost === 'object' && fromHost.target === 'space'
}

function proofOf(socket: TLSSocket, allowed: readonly string[]): Proof | undefined {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined
  if (certificate === undefined) return undefined
  const { CN = [] }: { CN?: string | string[] } = { ...certificate.toLegacyObject().subject }
  const [name = ''] = [CN].flat()
  if (allowed.length > 0 && !allowed.includes(name)) return undefined
  return { fromMs: certificate.validFromDate.getTime(), toMs: certificate.validToDate.getTime() }
}
