/** The credentials of requests: the bearer token of each, the certificate of its connection; of pages of other sites the token alone. */
import type { IncomingHttpHeaders } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { StatusError } from '../../apimachinery/errors.ts'
import type { Credentials } from '../auth/types.ts'
import type { Forwarded, HostToken, UNPROVEN } from './forwarded.ts'
import { bearerOfProtocols } from './webSocketToken.ts'

/** As far as it is looked at here. */
export interface RawRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Repeated headers apart (impersonated groups). */
  readonly headersDistinct: NodeJS.Dict<string[]>
  readonly socket: TLSSocket
  /** The user of a request to the address for a host's front proxy, once known: no credential of this server counts there. */
  forwarded?: Forwarded | typeof UNPROVEN | undefined
  readonly hostToken?: HostToken | undefined
}

/** The headers that a credential may stand in, and what is made of them. */
interface Shown {
  authorization: string | undefined
  protocols: string | undefined
  credentials: Credentials
}

const BEARER = /^bearer /i
const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

export class RequestCredentials {
  /** One object for each connection, so that what it means is worked out once. */
  readonly #certificates = new WeakMap<TLSSocket, ReturnType<TLSSocket['getPeerX509Certificate']> | null>()
  /** The latest of each connection: who it is goes with the object. */
  readonly #shown = new WeakMap<TLSSocket, Shown>()

  /** @throws StatusError Forbidden where a browser shows a certificate for a page that may not use it */
  of(request: RawRequest): Credentials {
    if (isOfForeignPage(request)) return this.#ofPage(request)
    const { headers, socket } = request
    const { authorization, 'sec-websocket-protocol': protocols } = headers
    const latest = this.#shown.get(socket)
    if (latest !== undefined && latest.authorization === authorization && latest.protocols === protocols)
      return latest.credentials
    const token = tokenIn(headers)
    const certificate = this.#certificateOf(socket)
    const credentials: Credentials = { ...(certificate && { certificate }), ...(token && { token }) }
    this.#shown.set(socket, { authorization, protocols, credentials })
    return credentials
  }

  /** Credentials that the page itself has brought. */
  #ofPage({ headers, socket }: RawRequest): Credentials {
    const token = tokenIn(headers)
    if (token !== undefined) return { token }
    if (this.#certificateOf(socket) === undefined) return {}
    const page = headers.origin ?? 'another site'
    throw new StatusError(
      'Forbidden',
      `forbidden: a page of ${page} may write or open a WebSocket only with a bearer token`,
    )
  }

  #certificateOf(socket: TLSSocket): NonNullable<ReturnType<TLSSocket['getPeerX509Certificate']>> | undefined {
    let certificate = this.#certificates.get(socket)
    if (certificate === undefined) {
      certificate = (socket.authorized && socket.getPeerX509Certificate?.()) || null
      this.#certificates.set(socket, certificate)
    }
    return certificate ?? undefined
  }
}

function tokenIn(headers: IncomingHttpHeaders): string | undefined {
  return headers.authorization === undefined ? bearerOfProtocols(headers) : bearerIn(headers)
}

export function bearerIn({ authorization = '' }: IncomingHttpHeaders): string | undefined {
  return BEARER.test(authorization) ? authorization.slice(7).trim() : undefined
}

/**
 * Whether a page of another site asks for what the same-origin policy does not hold back: writes that need no preflight, and WebSockets.
 * A browser shows a client certificate on behalf of any page. Those that do not say where the page is from (Sec-Fetch-Site) name it.
 * @see https://www.w3.org/TR/fetch-metadata/
 */
function isOfForeignPage({ method, headers }: RawRequest): boolean {
  const { origin, host, upgrade, 'sec-fetch-site': site } = headers
  if (origin === undefined && site === undefined) return false
  if (READS.has(method) && upgrade?.toLowerCase() !== 'websocket') return false
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return !URL.canParse(origin!) || new URL(origin!).host !== host
}
