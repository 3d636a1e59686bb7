/**
 * Certificates that name neither their owner nor who signed them, as Pepr makes them for its webhooks.
 *
 * OpenSSL looks for the signer by name. Where subject and issuer are both empty it takes the certificate for one that signed
 * itself, and never asks the authority of the empty name. So we ask that authority: this is the one link of a chain that
 * OpenSSL does not see. All else about the certificate (its dates, its names, its use, that the peer has its key) is OpenSSL's to
 * judge, on the connection itself.
 *
 * One link only, between plain certificates: what could restrict an authority in ways that are not looked at here is refused.
 * @see https://www.rfc-editor.org/rfc/rfc5280#section-6.1
 */
import 'reflect-metadata'
import { type KeyObject, X509Certificate } from 'node:crypto'
import { X509Certificate as ParsedCertificate } from '@peculiar/x509'

/** RSA, ECDSA with SHA-256, SHA-384, SHA-512, and Ed25519: OpenSSL does not look at the signature of what signed itself. */
const SIGNATURES: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.11',
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
  '1.3.101.112',
])
const CURVES: ReadonlySet<string> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])
const MIN_RSA_BITS = 2048
/** Bound on authorities without a name: beyond it they take turns. */
const MAX_AUTHORITIES = 16
/** Key identifiers, key usage, alternative names, basic constraints, extended key usage. No name constraints, no policies. */
const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set([
  '2.5.29.14',
  '2.5.29.15',
  '2.5.29.17',
  '2.5.29.19',
  '2.5.29.35',
  '2.5.29.37',
])
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'
const ANY_USE = '2.5.29.37.0'

/**
 * The nameless authority among `authoritiesPem` that signed the nameless `certificate`; `undefined` when there is none, and for
 * certificates with names. The certificate is then to be trusted as if OpenSSL had found its signer, and no further.
 */
export function namelessSigner(
  certificate: X509Certificate,
  authoritiesPem: string,
  now: Date,
): X509Certificate | undefined {
  // An authority of its own would be bound by limits of its signer, which nobody would look at.
  if (!isNameless(certificate) || certificate.ca || !certificate.subjectAltName) return undefined
  if (!SIGNATURES.has(certificate.signatureAlgorithmOid)) return undefined
  return namelessAuthoritiesIn(authoritiesPem).find(
    authority => maySign(authority, now) && signed(authority, certificate) && isPlain(authority),
  )
}

/** The name of an empty sequence is no text, not even an empty one. */
function isNameless({ subject, issuer }: X509Certificate): boolean {
  return !subject && !issuer
}

function maySign(authority: X509Certificate, now: Date): boolean {
  const { ca, validFromDate, validToDate, keyUsage: uses, publicKey } = authority
  const inTime = validFromDate <= now && now <= validToDate
  const forServers = uses === undefined || uses.includes(SERVER_AUTH) || uses.includes(ANY_USE)
  // `ca` holds for basic constraints that allow it, together with a key usage that does not forbid it.
  return ca && inTime && forServers && isStrong(publicKey)
}

/** By name, which has to be empty, and by key. */
function signed(authority: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
}

function isStrong({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject): boolean {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails
  if (asymmetricKeyType === 'rsa') return modulusLength >= MIN_RSA_BITS
  return asymmetricKeyType === 'ed25519' || (asymmetricKeyType === 'ec' && CURVES.has(namedCurve))
}

/** The first few without a subject: an author of a bundle would decide how many are tried, at each call. */
function namelessAuthoritiesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return blocks
    .flatMap(block => {
      try {
        return [new X509Certificate(block)]
      } catch {
        // An unreadable certificate vouches for no other; the report is that of a missing signer.
        return []
      }
    })
    .filter(({ subject }) => !subject)
    .slice(0, MAX_AUTHORITIES)
}

/** Whether it has no extensions that we do not know. */
function isPlain({ raw }: X509Certificate): boolean {
  try {
    return new ParsedCertificate(raw).extensions.every(({ type }) => KNOWN_EXTENSIONS.has(type))
  } catch {
    // Nor does what this library cannot read.
    return false
  }
}
