/**
 * Makes ServiceAccount tokens: ES256 JWTs with Kubernetes' claims and the id of the space that the account lives in.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#schema-for-service-account-private-claims
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomUUID } from 'node:crypto'
import { type ServiceAccountRef, serviceAccountUserName } from './users.ts'

export const DEFAULT_ISSUER = 'https://kubernetes.default.svc'
/** Issuer of tokens that live in Secrets of type kubernetes.io/service-account-token and do not expire. */
export const LEGACY_ISSUER = 'kubernetes/serviceaccount'

export interface IdentifiedRef {
  name: string
  uid: string
}

/** Claim `kubernetes.io`. */
export interface KubernetesClaim {
  namespace: string
  serviceaccount: IdentifiedRef
  pod?: IdentifiedRef
  secret?: IdentifiedRef
  node?: IdentifiedRef
  /** Seconds since the epoch from which use of the token is remarkable. */
  warnafter?: number
  /** Logical-cluster id of the space. */
  clusterName: string
}

export interface TokenSpec {
  space: string
  serviceAccount: ServiceAccountRef & { uid: string }
  /** Default: the issuer's own audiences. */
  audiences?: readonly string[]
  expirationSeconds: number
  /** The token dies with this object. */
  bound?: { kind: 'Pod' | 'Secret' | 'Node' } & IdentifiedRef
  /** The node of the bound Pod. */
  node?: IdentifiedRef
  /** Claim `warnafter`, from now. */
  warnAfterSeconds?: number
}

export interface TokenIssuerOptions {
  /** P-256, PKCS #8. */
  signingKeyPem: string
  /** Further keys (private or public) whose tokens are still good. */
  retiredKeyPems?: readonly string[]
  issuer?: string
  /** What tokens are for when nobody says. Default: the issuer. */
  audiences?: readonly string[]
  /** Milliseconds since the epoch. */
  clock?: () => number
  randomUuid?: () => string
}

export class TokenIssuer {
  readonly issuer: string
  readonly audiences: readonly string[]
  /** Public keys by key id. */
  readonly publicKeys: ReadonlyMap<string, KeyObject>
  readonly #signingKey: KeyObject
  readonly #keyId: string
  readonly #clock: () => number
  readonly #randomUuid: () => string

  constructor(options: TokenIssuerOptions) {
    this.issuer = options.issuer ?? DEFAULT_ISSUER
    this.audiences = options.audiences ?? [this.issuer]
    this.#clock = options.clock ?? Date.now
    this.#randomUuid = options.randomUuid ?? randomUUID
    this.#signingKey = createPrivateKey(options.signingKeyPem)
    const keys = [options.signingKeyPem, ...(options.retiredKeyPems ?? [])].map(pem => createPublicKey(pem))
    this.publicKeys = new Map(keys.map(key => [keyIdOf(key), key]))
    this.#keyId = keyIdOf(keys[0]!)
  }

  /** A bound token: it expires, and dies with its account and the object that it is bound to. */
  issue(spec: TokenSpec): Promise<string> {
    const now = Math.floor(this.#clock() / 1000)
    const claim: KubernetesClaim = {
      namespace: spec.serviceAccount.namespace,
      serviceaccount: { name: spec.serviceAccount.name, uid: spec.serviceAccount.uid },
      ...(spec.node && { node: spec.node }),
      ...(spec.bound && { [spec.bound.kind.toLowerCase()]: { name: spec.bound.name, uid: spec.bound.uid } }),
      ...(spec.warnAfterSeconds && { warnafter: now + spec.warnAfterSeconds }),
      clusterName: spec.space,
    }
    return this.#sign({
      aud: spec.audiences ?? this.audiences,
      exp: now + spec.expirationSeconds,
      iat: now,
      iss: this.issuer,
      jti: this.#randomUuid(),
      'kubernetes.io': claim,
      nbf: now,
      sub: serviceAccountUserName(spec.serviceAccount),
    })
  }

  /** A token without end for a Secret of type kubernetes.io/service-account-token; good while the Secret holds it. */
  issueForSecret(space: string, account: ServiceAccountRef & { uid: string }, secretName: string): Promise<string> {
    return this.#sign({
      iss: LEGACY_ISSUER,
      'kubernetes.io/serviceaccount/namespace': account.namespace,
      'kubernetes.io/serviceaccount/secret.name': secretName,
      'kubernetes.io/serviceaccount/service-account.name': account.name,
      'kubernetes.io/serviceaccount/service-account.uid': account.uid,
      'kubernetes.io/serviceaccount/clusterName': space,
      sub: serviceAccountUserName(account),
    })
  }

  /** Body of `/openid/v1/jwks`. */
  jwks(): { keys: Record<string, unknown>[] } {
    const keys = [...this.publicKeys].map(([kid, key]) => {
      return { use: 'sig', kid, alg: 'ES256', ...key.export({ format: 'jwk' }) }
    })
    return { keys }
  }

  /** Body of `/.well-known/openid-configuration`; `base` is `https://HOST:PORT`. */
  openidConfiguration(base: string): Record<string, unknown> {
    return {
      issuer: this.issuer,
      jwks_uri: `${base}/openid/v1/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    }
  }

  async #sign(claims: Record<string, unknown>): Promise<string> {
    const { CompactSign } = await import('jose')
    return new CompactSign(Buffer.from(JSON.stringify(claims)))
      .setProtectedHeader({ alg: 'ES256', kid: this.#keyId })
      .sign(this.#signingKey)
  }
}

/** As upstream: SHA-256 of the key's SubjectPublicKeyInfo. */
function keyIdOf(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
}
