/**
 * Makes ServiceAccount tokens: ES256 JWTs with Kubernetes' claims and the id of the space that the account lives in.
 *
 * Each space but the root is an issuer of its own. A system that trusts one by its name and keys, as Vault or a cloud does, never takes it
 * for another. Accounts of two spaces may well have the same name. All sign with the server's key.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#schema-for-service-account-private-claims
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, randomUUID } from 'node:crypto'
import { renewalUserName, type ServiceAccountRef, serviceAccountUserName } from './users.ts'

const ISSUER = 'https://kubernetes.default.svc'
/** Issuer of tokens that live in Secrets of type kubernetes.io/service-account-token and do not expire. */
const LEGACY_ISSUER = 'kubernetes/serviceaccount'
/** Between what an issuer begins with and the id of its space. */
const OF_SPACE = '/clusters/'

export interface IdentifiedRef {
  name: string
  uid: string
}

/** Claim `kubernetes.io`. */
interface KubernetesClaim {
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

interface TokenIssuerOptions {
  /** P-256, PKCS #8. */
  signingKeyPem: string
  /** Where clients reach the server, `https://HOST:PORT`; other spaces' issuers begin so. Default: the issuer. */
  url?: () => string
  /** Id of the space whose tokens bear the plain issuer. Default `root`. */
  rootSpace?: string
  /** Milliseconds since the epoch. */
  clock: () => number
  randomUuid?: () => string
}

/** A token of ours: one that ends, or one of a Secret. */
export type TokenForm = 'bound' | 'legacy'

export class TokenIssuer {
  readonly issuer = ISSUER
  /** Audiences of tokens without explicit ones. */
  readonly audiences: readonly string[] = [ISSUER]
  /** Public keys by key id. */
  readonly publicKeys: ReadonlyMap<string, KeyObject>
  readonly #signingKey: KeyObject
  readonly #keyId: string
  readonly #clock: () => number
  readonly #randomUuid: () => string
  readonly #url: () => string
  readonly #rootSpace: string

  constructor(options: TokenIssuerOptions) {
    this.#url = options.url ?? (() => this.issuer)
    this.#rootSpace = options.rootSpace ?? 'root'
    this.#clock = options.clock
    this.#randomUuid = options.randomUuid ?? randomUUID
    this.#signingKey = createPrivateKey(options.signingKeyPem)
    const key = createPublicKey(options.signingKeyPem)
    this.#keyId = keyIdOf(key)
    this.publicKeys = new Map([[this.#keyId, key]])
  }

  /** Claim `iss` of the tokens of a space. */
  issuerOf(space: string): string {
    return this.#of(space, this.issuer, this.#url())
  }

  /**
   * The form of a token with this `iss` and header `kid`; `undefined` when it is somebody else's. The server may have had
   * another URL, or given all spaces one issuer, when it was made.
   */
  formOf(iss: unknown, kid: unknown): TokenForm | undefined {
    if (iss === this.issuer) return 'bound'
    if (typeof iss !== 'string') return undefined
    if (iss === LEGACY_ISSUER || iss.startsWith(`${LEGACY_ISSUER}${OF_SPACE}`)) return 'legacy'
    // another server like this one may be the issuer of ID tokens
    return iss.includes(OF_SPACE) && typeof kid === 'string' && this.publicKeys.has(kid) ? 'bound' : undefined
  }

  /** Whether a token with this `iss` may be about an account of `space`. */
  mayIssueFor(space: string, iss: unknown): boolean {
    return iss === this.issuer || iss === LEGACY_ISSUER || (typeof iss === 'string' && iss.endsWith(OF_SPACE + space))
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
      iss: this.issuerOf(spec.space),
      jti: this.#randomUuid(),
      'kubernetes.io': claim,
      nbf: now,
      sub: serviceAccountUserName(spec.serviceAccount),
    })
  }

  /** A token without end for a Secret of type kubernetes.io/service-account-token; good while the Secret holds it. */
  issueForSecret(space: string, account: ServiceAccountRef & { uid: string }, secretName: string): Promise<string> {
    return this.#sign({
      iss: this.#of(space, LEGACY_ISSUER, LEGACY_ISSUER),
      'kubernetes.io/serviceaccount/namespace': account.namespace,
      'kubernetes.io/serviceaccount/secret.name': secretName,
      'kubernetes.io/serviceaccount/service-account.name': account.name,
      'kubernetes.io/serviceaccount/service-account.uid': account.uid,
      'kubernetes.io/serviceaccount/clusterName': space,
      sub: serviceAccountUserName(account),
    })
  }

  /**
   * A credential that is good for asking for tokens of the account, as long as the Secret says so. Its issuer is its audience, so
   * that whoever believes in tokens of accounts does not take it for one.
   */
  issueRenewal(spec: {
    audience: string
    space: string
    account: ServiceAccountRef & { uid: string }
    secret: IdentifiedRef
    /** Default: it has no end of its own. */
    expirationSeconds?: number
    /** Further claims. */
    more?: Readonly<Record<string, unknown>>
  }): Promise<string> {
    const { namespace, name, uid } = spec.account
    const claim: KubernetesClaim = {
      namespace,
      serviceaccount: { name, uid },
      secret: spec.secret,
      clusterName: spec.space,
    }
    const now = Math.floor(this.#clock() / 1000)
    return this.#sign({
      ...spec.more,
      aud: [spec.audience],
      ...(spec.expirationSeconds !== undefined && { exp: now + spec.expirationSeconds }),
      iat: now,
      iss: spec.audience,
      jti: this.#randomUuid(),
      'kubernetes.io': claim,
      sub: renewalUserName(spec.account),
    })
  }

  /** Body of `/openid/v1/jwks`. */
  jwks(): { keys: Record<string, unknown>[] } {
    const keys = [...this.publicKeys].map(([kid, key]) => {
      return { use: 'sig', kid, alg: 'ES256', ...key.export({ format: 'jwk' }) }
    })
    return { keys }
  }

  /** Body of `/.well-known/openid-configuration` of a space. */
  openidConfiguration(space: string): Record<string, unknown> {
    const url = this.#url()
    return {
      issuer: this.issuerOf(space),
      jwks_uri: `${this.#of(space, url, url)}/openid/v1/jwks`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    }
  }

  #of(space: string, plain: string, base: string): string {
    return space === this.#rootSpace ? plain : `${base}${OF_SPACE}${space}`
  }

  async #sign(claims: Record<string, unknown>): Promise<string> {
    const [{ CompactSign }] = await tokenLibrary()
    return new CompactSign(Buffer.from(JSON.stringify(claims)))
      .setProtectedHeader({ alg: 'ES256', kid: this.#keyId })
      .sign(this.#signingKey)
  }
}

/** Library that signs and verifies tokens: loaded on use, which takes some 20 ms. */
export function tokenLibrary() {
  return Promise.all([import('jose/jws/compact/sign'), import('jose/jws/compact/verify')])
}

/** As upstream: SHA-256 of the key's SubjectPublicKeyInfo. */
function keyIdOf(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
}
