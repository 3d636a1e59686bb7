/**
 * Client certificates: the common name is the user, each organization a group. One that was issued on request of a space
 * carries its mark and counts there only.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#x509-client-certificates
 */
import type { X509Certificate } from 'node:crypto'
import { statusError } from '../../apimachinery/errors.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { markedSpace } from '../pki/spaceMark.ts'
import type { Authentication, Authenticator, Credentials } from './types.ts'
import { authenticated, crossesSpaces, EXTRAS, scopeOf } from './users.ts'

const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2'
const ANY_USAGE = '2.5.29.37.0'

interface Known {
  authentication: Authentication | undefined
  notBeforeMs: number
  notAfterMs: number
}

/**
 * Reads a certificate object once and remembers the answer for as long as the object lives. All requests of a connection should pass the
 * same object. The TLS layer has already verified the chain.
 */
export class X509Authenticator implements Authenticator {
  readonly #known = new WeakMap<X509Certificate, Known>()
  readonly #clock: () => number

  /** `clock`: milliseconds since the epoch. */
  constructor(options: { clock: () => number }) {
    this.#clock = options.clock
  }

  /** @throws StatusError Unauthorized for a certificate that is not valid now, although it was when the connection began */
  authenticate(credentials: Credentials): Authentication | undefined {
    const { certificate } = credentials
    if (certificate === undefined) return undefined
    const known = getOrInsert(this.#known, certificate, () => read(certificate))
    if (known.authentication === undefined) return undefined
    const now = this.#clock()
    if (now < known.notBeforeMs || now > known.notAfterMs) throw statusError.unauthorized()
    return known.authentication
  }
}

function read(certificate: X509Certificate): Known {
  const identity = identityOf(certificate)
  const notAfterMs = certificate.validToDate.getTime()
  return {
    authentication: identity && { ...identity, untilMs: notAfterMs + 1 },
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs,
  }
}

/** Whom the server takes the holder of a certificate for, whatever the time; `undefined` for nobody. */
export function identityOf(certificate: X509Certificate): Authentication | undefined {
  // The legacy form gives decoded attribute values; the text form would have to be unescaped.
  const subject: { CN?: string | string[]; O?: string | string[] } = { ...certificate.toLegacyObject().subject }
  const name = valuesOf(subject.CN)[0]
  const usages = certificate.keyUsage as string[] | undefined
  const forClients = usages === undefined || usages.includes(CLIENT_AUTH) || usages.includes(ANY_USAGE)
  const mark = markedSpace(certificate.subjectAltName)
  if (!name || !forClients || mark === 'unreadable') return undefined
  const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase()
  const extra = { [EXTRAS.credentialId]: [`X509SHA256=${fingerprint}`] }
  const groups = valuesOf(subject.O)
  if (mark === undefined) return { user: authenticated({ name, groups, extra }) }
  const user = {
    name,
    // The signer refuses them already; here it is what keeps administration inside the space.
    groups: groups.filter(group => !crossesSpaces(group)),
    extra: { ...extra, [EXTRAS.scopes]: [scopeOf(mark.space)] },
  }
  return { user: authenticated(user), space: mark.space }
}

function valuesOf(attribute: string | string[] | undefined): string[] {
  if (attribute === undefined) return []
  return Array.isArray(attribute) ? attribute : [attribute]
}
