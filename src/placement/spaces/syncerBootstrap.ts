/**
 * The words by which a cluster joins: bootstrap credentials and claims, which center, syncer and command line share.
 *
 * A bootstrap credential is a signed token of the core space for one inventory. It ends at its time, or with its Secret, and is good for
 * one request: a claim of the renewal credential of a SyncTarget. A claim is known by the hash of a key that the claimant made. A client
 * without that key gets nothing by the claim. An administrator approves it on its Secret in the mailbox; a bootstrap credential may say
 * that the first claim of each SyncTarget needs nobody.
 */
import { hash } from 'node:crypto'
import { issuerOf } from './syncerCredential.ts'

/** Issuer and audience of bootstrap credentials, by which they are known. */
export const BOOTSTRAP_AUDIENCE = 'orrery-syncer-bootstrap'
export const BOOTSTRAP_MAX_SECONDS = 90 * 24 * 3600
/** Secrets in the core space whose names begin so are the server's account of bootstrap credentials. They hold no secret. */
export const BOOTSTRAP_PREFIX = 'kubestellar-syncer-bootstrap-'
export const BOOTSTRAP_TYPE = 'edge.kubestellar.io/syncer-bootstrap'
/** The account of the core space whose tokens they are requested as. */
export const BOOTSTRAP_ACCOUNT = { namespace: 'default', name: 'default' } as const

/** On a request for a bootstrap credential: path or id of the inventory space; on its Secret: the id. */
export const INVENTORY_ANNOTATION = 'edge.kubestellar.io/inventory'
/** On both, too: {@link APPROVES_LISTED} where no administrator approves the first claim of a SyncTarget. */
export const APPROVES_ANNOTATION = 'edge.kubestellar.io/approves'
export const APPROVES_LISTED = 'listed'

/** On the request of a claim: name of the SyncTarget, and the claimant's key. */
export const SYNC_TARGET_ANNOTATION = 'edge.kubestellar.io/sync-target'
export const CLAIM_KEY_ANNOTATION = 'edge.kubestellar.io/claim-key'
/** 32 bytes in base64url. */
export const CLAIM_KEY = /^[A-Za-z0-9_-]{43}$/
/** On the answer: id of the mailbox space. */
export const MAILBOX_SPACE_ANNOTATION = 'edge.kubestellar.io/mailbox-space'

/** Secrets in a mailbox whose names begin so are claims. They hold no secret. */
export const CLAIM_PREFIX = 'kubestellar-syncer-claim-'
export const CLAIM_TYPE = 'edge.kubestellar.io/syncer-claim'
/** On a claim, and on the credential that was issued for it: the hash of the key. On an answer: the name of the claim. */
export const CLAIM_ANNOTATION = 'edge.kubestellar.io/claim'
/** On a claim: name of the bootstrap credential that it came by. */
export const BOOTSTRAP_ANNOTATION = 'edge.kubestellar.io/bootstrap'
/** On a claim, RFC 3339: when it was approved; when its credential was issued. */
export const APPROVED_ANNOTATION = 'edge.kubestellar.io/approved'
export const ISSUED_ANNOTATION = 'edge.kubestellar.io/issued'
/** On a claim: the reason why it gets nothing. */
export const REFUSED_ANNOTATION = 'edge.kubestellar.io/refused'
/** Claims of one SyncTarget. */
export const CLAIMS_LIMIT = 4
const SHORT = 16

/** Whether a token says that it is a bootstrap credential; nothing is verified. */
export function isBootstrapCredential(token: string): boolean {
  return issuerOf(token) === BOOTSTRAP_AUDIENCE
}

export function claimHash(key: string): string {
  return hash('sha256', key)
}

/** By which a person compares what the syncer says with what the center shows. */
export function claimName(hashed: string): string {
  return hashed.slice(0, SHORT)
}
