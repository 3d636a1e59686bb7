/**
 * The bearer token of a WebSocket client that cannot set headers: a sub-protocol of its own, beside the one that is spoken.
 * @see https://github.com/kubernetes/kubernetes/pull/47740
 */
import type { IncomingHttpHeaders } from 'node:http'
import { statusError } from '../../apimachinery/errors.ts'

/** The rest is the token in base64url without padding. */
export const BEARER_PROTOCOL = 'base64url.bearer.authorization.k8s.io.'

/**
 * `undefined` without such a sub-protocol. As upstream, the client must offer another one as well, because the server has
 * to name one that is no secret.
 * @throws StatusError Unauthorized when there are two tokens, when one cannot be read, or when there is no other sub-protocol
 */
export function bearerOfProtocols(headers: IncomingHttpHeaders): string | undefined {
  const offered = headers['sec-websocket-protocol']
  if (offered === undefined || !offered.includes(BEARER_PROTOCOL)) return undefined
  const protocols = offered.split(',').map(protocol => protocol.trim())
  const tokens = protocols.filter(protocol => protocol.startsWith(BEARER_PROTOCOL))
  if (tokens.length !== 1 || protocols.length === 1) throw statusError.unauthorized()
  const encoded = tokens[0]!.slice(BEARER_PROTOCOL.length)
  const token = Buffer.from(encoded, 'base64url').toString()
  if (token === '' || !/^[\w-]+$/.test(encoded)) throw statusError.unauthorized()
  return token
}
