/**
 * ID tokens of an OpenID Connect issuer: who the claims name, once the issuer's key, the audience and the time are checked.
 *
 * Only tokens that say they are the issuer's are looked at, so an issuer that is slow or away costs nobody else anything. Names that begin
 * with `system:` are the program's own. Upstream leaves it to a prefix to keep an issuer from them. Here no token ever bears one: such a
 * user is refused, such a group is left out.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#openid-connect-tokens
 */
import { StatusError } from '../../apimachinery/errors.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { IssuerKeys } from './issuerKeys.ts'
import { unverifiedClaims } from './jwtClaims.ts'
import type { Authentication, Authenticator, Credentials } from './types.ts'
import { authenticated, EXTRAS } from './users.ts'

export interface OidcOptions {
  /** `https://…`, exactly as in the claim `iss`. */
  issuerUrl: string
  /** The audience that tokens must name. */
  clientId: string
  /** Default `sub`. */
  usernameClaim?: string
  /** `-` for none. Default: none for the claim `email`, else the issuer's URL and `#`. */
  usernamePrefix?: string
  /** A claim with one group or a list of them. Default: no groups. */
  groupsClaim?: string
  groupsPrefix?: string
  /** Claims that must have exactly these values. */
  requiredClaims?: Readonly<Record<string, string>>
  /** Authorities that vouch for the issuer, PEM. Default: the system's. */
  caPem?: string
  /** Default `RS256`. */
  signingAlgorithms?: readonly string[]
  /** Audiences of tokens in a TokenReview: the API server's own. */
  audiences?: readonly string[]
  /** Milliseconds since the epoch: whether tokens are valid now. */
  clock: () => number
  /** Milliseconds on any clock that only goes forward: how long the issuer's keys are remembered. */
  elapsed: () => number
}

const SIGNING_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']

const RESERVED = 'system:'

/** As upstream's library: how far `nbf` may lie ahead. */
const NOT_BEFORE_LEEWAY_SECONDS = 300

export class OidcAuthenticator implements Authenticator {
  readonly #options: OidcOptions
  readonly #clock: () => number
  readonly #keys: IssuerKeys

  /** @throws Error naming the setting that is wrong */
  constructor(options: OidcOptions) {
    if (!URL.canParse(options.issuerUrl) || new URL(options.issuerUrl).protocol !== 'https:') {
      throw new Error(`--oidc-issuer-url: ${JSON.stringify(options.issuerUrl)} is not an https URL`)
    }
    if (options.clientId === '') throw new Error('--oidc-client-id is required with --oidc-issuer-url')
    for (const algorithm of options.signingAlgorithms ?? []) {
      if (!SIGNING_ALGORITHMS.includes(algorithm)) {
        throw new Error(
          `--oidc-signing-algs: ${JSON.stringify(algorithm)} is not one of ${SIGNING_ALGORITHMS.join(', ')}`,
        )
      }
    }
    for (const [flag, prefix] of [
      ['--oidc-username-prefix', options.usernamePrefix],
      ['--oidc-groups-prefix', options.groupsPrefix],
    ] as const) {
      if (prefix?.startsWith(RESERVED)) {
        throw new Error(`${flag}: names that begin with ${JSON.stringify(RESERVED)} are not an issuer's`)
      }
    }
    this.#options = options
    this.#clock = options.clock
    this.#keys = new IssuerKeys({ issuerUrl: options.issuerUrl, caPem: options.caPem, clock: options.elapsed })
  }

  /** @throws StatusError Unauthorized, whose cause says why, for a token of the issuer that is no good or cannot be checked */
  async authenticate(credentials: Credentials): Promise<Authentication | undefined> {
    const { token } = credentials
    const { issuerUrl } = this.#options
    if (token === undefined || unverifiedClaims(token)?.iss !== issuerUrl) return undefined
    const audiences = credentials.audiences?.filter(audience => this.#options.audiences?.includes(audience))
    if (audiences?.length === 0) return undefined
    try {
      const claims = await this.#verify(token)
      const untilMs = Number(claims.exp) * 1000
      return { user: authenticated(this.#userOf(claims)), untilMs, ...(audiences && { audiences }) }
    } catch (error) {
      const why = messageOf(error)
      throw new StatusError('Unauthorized', 'Unauthorized', undefined, { cause: new Error(`oidc: ${why}`) })
    }
  }

  async #verify(token: string): Promise<Record<string, unknown>> {
    const { compactVerify } = await import('jose/jws/compact/verify')
    const { clientId, signingAlgorithms = ['RS256'] } = this.#options
    const { payload } = await compactVerify(token, this.#keys.find, { algorithms: [...signingAlgorithms] })
    const claims: unknown = JSON.parse(Buffer.from(payload).toString())
    if (!isRecord(claims)) throw new Error('the token holds no claims')
    const { aud, exp, nbf } = claims
    if (!(Array.isArray(aud) ? aud : [aud]).includes(clientId)) {
      throw new Error(`expected audience ${JSON.stringify(clientId)}, got ${JSON.stringify(aud)}`)
    }
    const now = this.#clock() / 1000
    if (typeof exp !== 'number' || exp <= now) throw new Error('token is expired')
    if (typeof nbf === 'number' && now + NOT_BEFORE_LEEWAY_SECONDS < nbf) throw new Error('token is not valid yet')
    return claims
  }

  #userOf(claims: Record<string, unknown>): Authentication['user'] {
    const { usernameClaim = 'sub', groupsClaim, groupsPrefix = '', requiredClaims = {} } = this.#options
    const claim = claims[usernameClaim]
    if (typeof claim !== 'string' || claim === '') {
      throw new Error(`could not get claim ${JSON.stringify(usernameClaim)}`)
    }
    if (usernameClaim === 'email' && claims.email_verified !== undefined && claims.email_verified !== true) {
      throw new Error(`email not verified: ${JSON.stringify(claim)}`)
    }
    const name = this.#usernamePrefix() + claim
    if (name.startsWith(RESERVED)) {
      throw new Error(`the user name ${JSON.stringify(name)} begins with ${JSON.stringify(RESERVED)}`)
    }
    for (const [claim, wanted] of Object.entries(requiredClaims)) {
      if (claims[claim] !== wanted) {
        throw new Error(
          `required claim ${claim} value does not match. Got = ${String(claims[claim])}, want = ${wanted}`,
        )
      }
    }
    const groups = groupsClaim === undefined ? [] : groupsOf(claims[groupsClaim], groupsClaim)
    return {
      name,
      groups: groups.map(group => groupsPrefix + group).filter(group => !group.startsWith(RESERVED)),
      ...(typeof claims.jti === 'string' && { extra: { [EXTRAS.credentialId]: [`JTI=${claims.jti}`] } }),
    }
  }

  #usernamePrefix(): string {
    const { usernamePrefix, usernameClaim, issuerUrl } = this.#options
    if (usernamePrefix === '-') return ''
    if (usernamePrefix !== undefined && usernamePrefix !== '') return usernamePrefix
    return usernameClaim === 'email' ? '' : `${issuerUrl}#`
  }
}

function groupsOf(value: unknown, claim: string): string[] {
  if (value === undefined || value === null) return []
  const groups = Array.isArray(value) ? value : [value]
  if (groups.every(group => typeof group === 'string')) return groups
  throw new Error(`the claim ${JSON.stringify(claim)} holds something that is no group name`)
}
