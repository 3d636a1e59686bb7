/**
 * Verifies ServiceAccount tokens: signature, time and audience. The account and the token's bound objects must exist in the token's space,
 * with the uids of then.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/service-accounts-admin/#bound-service-account-tokens
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import { EVERYTHING_ACTS, type Nature } from '../../placement/spaces/nature.ts'
import { CREDENTIAL_ANNOTATION, CREDENTIAL_PREFIX } from '../../placement/spaces/syncerCredential.ts'
import { unverifiedClaims, unverifiedHeader } from './jwtClaims.ts'
import type { IdentifiedRef, TokenForm, TokenIssuer } from './serviceAccountTokens.ts'
import type { Authentication, Authenticator, Credentials } from './types.ts'
import { authenticated, EXTRAS, serviceAccountGroups, serviceAccountUserName } from './users.ts'
import { refused, type SignedTokens, verifiedClaims } from './verifiedClaims.ts'

/** Reads one object of the store; `''` for the core group. */
export type ObjectReader = (
  space: string,
  group: string,
  resource: string,
  namespace: string,
  name: string,
) => Soon<KubeObject | undefined>

interface ServiceAccountAuthenticatorOptions {
  issuer: TokenIssuer
  getObject: ObjectReader
  /** Which accounts act. Default: all. */
  nature?: Pick<Nature, 'acts'>
  /** Milliseconds since the epoch. */
  clock: () => number
}

interface Identity {
  space: string
  namespace: string
  serviceAccount: IdentifiedRef
  bound: { resource: string; ref: IdentifiedRef }[]
  /** Name of the Secret that must hold the very token. */
  legacySecret?: string
  extra: Record<string, string[]>
}

const SERVICE_ACCOUNTS = { group: '', resource: 'serviceaccounts' }

/** How far another server's clock may be ahead. */
const NOT_BEFORE_LEEWAY_SECONDS = 60

/** A hash and some more for each; as many clusters may speak once a minute without a signature being worked out each time. */
const SIGNED_KEPT = 20_000

export class ServiceAccountAuthenticator implements Authenticator {
  readonly #options: Required<ServiceAccountAuthenticatorOptions>
  readonly #signed: SignedTokens = new BoundedCache(SIGNED_KEPT)

  constructor(options: ServiceAccountAuthenticatorOptions) {
    this.#options = { nature: EVERYTHING_ACTS, ...options }
  }

  /**
   * `undefined` for tokens of other issuers. A repeated token with a good signature is known at once.
   * @throws StatusError Unauthorized, whose cause says why
   */
  authenticate(credentials: Credentials): Soon<Authentication | undefined> {
    const { token } = credentials
    if (token === undefined) return undefined
    const { issuer } = this.#options
    const form = issuer.formOf(unverifiedClaims(token)?.iss, unverifiedHeader(token)?.kid)
    if (form === undefined) return undefined
    const accepted = credentials.audiences ?? issuer.audiences
    return whenKnown(verifiedClaims(token, issuer, this.#signed), claims =>
      this.#identify(claims, { form, accepted, token }),
    )
  }

  #identify(
    claims: Record<string, unknown>,
    { form, accepted, token }: { form: TokenForm; accepted: readonly string[]; token: string },
  ): Soon<Authentication> {
    const { issuer } = this.#options
    const audiences = this.#checkTimeAndAudience(claims, form, accepted)
    const identity = form === 'legacy' ? legacyIdentity(claims) : boundIdentity(claims)
    if (!issuer.mayIssueFor(identity.space, claims.iss)) throw refused("the token's issuer is another space")
    if (claims.sub !== serviceAccountUserName({ ...identity.serviceAccount, namespace: identity.namespace })) {
      throw refused('the token is for another subject')
    }
    const { space, namespace, serviceAccount } = identity
    const expiresMs = typeof claims.exp === 'number' ? claims.exp * 1000 : Infinity
    return whenKnown(this.#checkObjects(identity, token), endsMs => ({
      user: authenticated({
        name: serviceAccountUserName({ namespace, name: serviceAccount.name }),
        uid: serviceAccount.uid,
        groups: serviceAccountGroups(namespace),
        extra: { ...identity.extra, [EXTRAS.clusterName]: [space] },
      }),
      space,
      audiences,
      untilMs: Math.min(expiresMs, endsMs),
    }))
  }

  /** The accepted audiences that the token names. */
  #checkTimeAndAudience(claims: Record<string, unknown>, form: TokenForm, accepted: readonly string[]): string[] {
    const now = this.#options.clock() / 1000
    const { exp, nbf, aud } = claims
    // A legacy token is good for the API server and has no end.
    const legacy = form === 'legacy'
    if (!legacy && typeof exp !== 'number') throw refused('the token has no expiry')
    if (typeof exp === 'number' && now >= exp) throw refused('service account token has expired')
    if (typeof nbf === 'number' && now + NOT_BEFORE_LEEWAY_SECONDS < nbf) {
      throw refused('service account token is not valid yet')
    }
    const named = legacy ? this.#options.issuer.audiences : Array.isArray(aud) ? aud : [aud]
    const shared = accepted.filter(audience => named.includes(audience))
    if (shared.length > 0) return shared
    const list = (values: readonly unknown[]) => JSON.stringify(values.join(' '))
    throw refused(`token audiences ${list(named)} is invalid for the target audiences ${list(accepted)}`)
  }

  /** Until when what is there now lasts. */
  #checkObjects(identity: Identity, token: string): Soon<number> {
    const { space, namespace, serviceAccount } = identity
    return whenKnown(this.#require(identity, SERVICE_ACCOUNTS.resource, namespace, serviceAccount), account => {
      if (!this.#options.nature.acts(space, SERVICE_ACCOUNTS, account)) {
        throw refused(`serviceaccount ${JSON.stringify(serviceAccount.name)} is a description and nobody in this space`)
      }
      return whenKnown(this.#checkBound(identity, 0), boundMs =>
        whenKnown(this.#checkSecret(identity, token), () => Math.min(endMs(account), boundMs)),
      )
    })
  }

  /** Bound objects of the token, from one on. */
  #checkBound(identity: Identity, index: number): Soon<number> {
    const bound = identity.bound[index]
    if (bound === undefined) return Infinity
    const namespace = bound.resource === 'nodes' ? '' : identity.namespace
    return whenKnown(this.#require(identity, bound.resource, namespace, bound.ref), object =>
      whenKnown(this.#checkBound(identity, index + 1), othersMs => Math.min(endMs(object), othersMs)),
    )
  }

  #checkSecret(identity: Identity, token: string): Soon<void> {
    const { namespace, legacySecret } = identity
    if (legacySecret === undefined) return undefined
    return whenKnown(this.#require(identity, 'secrets', namespace, { name: legacySecret, uid: '' }), secret => {
      const data = isRecord(secret.data) ? secret.data.token : undefined
      if (typeof data !== 'string' || Buffer.from(data, 'base64').toString() !== token) {
        throw refused('service account token has been invalidated')
      }
    })
  }

  #require(identity: Identity, resource: string, namespace: string, ref: IdentifiedRef): Soon<KubeObject> {
    const found = this.#options.getObject(identity.space, '', resource, namespace, ref.name)
    return whenKnown(found, object => this.#mustBe(object, resource, ref))
  }

  #mustBe(object: KubeObject | undefined, resource: string, ref: IdentifiedRef): KubeObject {
    const name = `${groupResourceName({ group: '', resource })} ${JSON.stringify(ref.name)}`
    if (object === undefined) throw refused(`${name} not found`)
    if (ref.uid !== '' && object.metadata.uid !== ref.uid) throw refused(`${name} is not the one of the token`)
    // A Pod may use its token while it shuts down: its timestamp lies ahead by the grace period.
    if (endMs(object) <= this.#options.clock()) throw refused(`${name} has been deleted`)
    return object
  }
}

/** The moment from which an object counts as deleted. */
function endMs({ metadata: { deletionTimestamp } }: KubeObject): number {
  return deletionTimestamp === undefined ? Infinity : Date.parse(deletionTimestamp)
}

function boundIdentity(claims: Record<string, unknown>): Identity {
  const claim = isRecord(claims['kubernetes.io']) ? claims['kubernetes.io'] : {}
  const { namespace, clusterName } = claim
  const serviceAccount = identified(claim.serviceaccount)
  if (typeof namespace !== 'string' || typeof clusterName !== 'string' || serviceAccount === undefined) {
    throw refused('the token lacks Kubernetes claims')
  }
  const extra: Record<string, string[]> = {}
  if (typeof claims.jti === 'string') extra[EXTRAS.credentialId] = [`JTI=${claims.jti}`]
  const bound: Identity['bound'] = []
  const pod = identified(claim.pod)
  const node = identified(claim.node)
  const secret = identified(claim.secret)
  if (pod) {
    bound.push({ resource: 'pods', ref: pod })
    Object.assign(extra, { [EXTRAS.podName]: [pod.name], [EXTRAS.podUid]: [pod.uid] })
  }
  if (node) {
    // With a Pod, the node is informative; alone, the token is bound to it.
    if (!pod) bound.push({ resource: 'nodes', ref: node })
    Object.assign(extra, { [EXTRAS.nodeName]: [node.name], ...(node.uid && { [EXTRAS.nodeUid]: [node.uid] }) })
  }
  if (secret) bound.push({ resource: 'secrets', ref: secret })
  // a syncer's token of a session is bound to another Secret; this one is for looking
  if (secret?.name.startsWith(CREDENTIAL_PREFIX)) extra[CREDENTIAL_ANNOTATION] = [secret.name]
  return { space: clusterName, namespace, serviceAccount, bound, extra }
}

function legacyIdentity(claims: Record<string, unknown>): Identity {
  const part = (name: string): string => {
    const value = claims[`kubernetes.io/serviceaccount/${name}`]
    if (typeof value !== 'string' || value === '') throw refused(`the token lacks its claim ${name}`)
    return value
  }
  return {
    space: part('clusterName'),
    namespace: part('namespace'),
    serviceAccount: { name: part('service-account.name'), uid: part('service-account.uid') },
    bound: [],
    legacySecret: part('secret.name'),
    extra: {},
  }
}

function identified(value: unknown): IdentifiedRef | undefined {
  if (!isRecord(value) || typeof value.name !== 'string' || value.name === '') return undefined
  return { name: value.name, uid: typeof value.uid === 'string' ? value.uid : '' }
}
