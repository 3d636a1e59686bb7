/**
 * The words of a syncer's credentials, which center, syncer and command line share.
 *
 * An administrator hands out a renewal credential: a signed token whose only use is to obtain tokens of the syncer's ServiceAccount. It
 * stands for a Secret of its mailbox that holds its expiry, and each use extends that. Disuse or deletion of the Secret ends it. The result
 * is a token of a day, which stands for the syncer's session. A new session ends the one before it, with its tokens and streams. A dry run
 * gets a token that reads for ten minutes, stands for the credential itself and belongs to no session.
 */
import { at } from '../../apimachinery/fields.ts'

/** Issuer and audience of renewal credentials, by which they are known. */
export const RENEWAL_AUDIENCE = 'orrery-syncer-renewal'
/** So long a renewal credential may go unused, at most. */
export const RENEWAL_MAX_SECONDS = 90 * 24 * 3600
/** The life of a token that only reads, and begins no session. */
export const LOOKING_SECONDS = 600
/** The longest life of a token that does the work. */
export const WORKING_SECONDS = 24 * 3600

/** Secrets in a mailbox whose names begin so are the server's account of credentials and sessions. They hold no secret. */
export const CREDENTIAL_PREFIX = 'kubestellar-syncer-credential-'
export const SESSION_NAME = 'kubestellar-syncer-session'
export const CREDENTIAL_TYPE = 'edge.kubestellar.io/syncer-credential'
export const SESSION_TYPE = 'edge.kubestellar.io/syncer-session'

/** On the Secret of a credential, RFC 3339: until when it is good if nobody uses it, and when it was used last. */
export const EXPIRES_ANNOTATION = 'edge.kubestellar.io/expires'
export const USED_ANNOTATION = 'edge.kubestellar.io/last-used'
/** On the Secret of a credential, RFC 3339: when somebody last looked with it. */
export const LOOKED_ANNOTATION = 'edge.kubestellar.io/last-looked'
/** On the Secret of a credential: seconds that each use is good for. */
export const LIFETIME_ANNOTATION = 'edge.kubestellar.io/lifetime-seconds'
/** On the Secret of a credential: names of those that end when this one is used, comma-separated. On a request: that there are. */
export const REPLACES_ANNOTATION = 'edge.kubestellar.io/replaces'
/** On the Secret of the session: name of the credential that it was begun with. */
export const CREDENTIAL_ANNOTATION = 'edge.kubestellar.io/credential'
/** On a TokenRequest and its answer: the session that the token belongs to. Without it a new session begins. */
export const SESSION_ANNOTATION = 'edge.kubestellar.io/session'

/** Whether a token says that it is a renewal credential; nothing is verified. */
export function isRenewalCredential(token: string): boolean {
  return issuerOf(token) === RENEWAL_AUDIENCE
}

/** The issuer that a token names; nothing is verified. */
export function issuerOf(token: string): unknown {
  const [, payload, signature] = token.split('.')
  if (payload === undefined || signature === undefined) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return at(claims, 'iss')
  } catch {
    return undefined
  }
}
