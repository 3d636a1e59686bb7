/**
 * ID tokens of an OpenID Connect issuer: who the claims name, once the issuer's key, the audience and the time are checked.
 *
 * Only tokens that say they are the issuer's are looked at, so an issuer that is slow or away costs nobody else anything.
 * Names that begin with `system:` are the program's own. Upstream leaves it to a prefix to keep an issuer from them; here no
 * token ever bears one: such a user is refused, such a group is left out.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#openid-connect-tokens
 */
import type { CompactVerifyGetKey } from 'jose'
import { StatusError } from '../../apimachinery/errors.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { isRecord } from '../../apimachinery/object.ts'
import { fetchJson } from './fetchJson.ts'
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
  /** What tokens are good for when a TokenReview asks: the API server's own audiences. */
  audiences?: readonly string[]
  /** Milliseconds since the epoch. */
  clock?: () => number
}

export const SIGNING_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512']

const RESERVED = 'system:'

/** How long an issuer that did not answer is left alone. */
const RETRY_MS = 5000
const TIMEOUT_MS = 5000
/** A key that is not known is looked for at most this often. */
const KEYS_COOLDOWN_MS = 10_000
const KEYS_MAX_AGE_MS = 10 * 60_000
/** How long known keys go on counting when the issuer does not answer. */
const KEYS_GRACE_MS = 60 * 60_000
/** As upstream's library: how far `nbf` may lie ahead. */
const NOT_BEFORE_LEEWAY_SECONDS = 300

export class OidcAuthenticator implements Authenticator {
  readonly #options: OidcOptions
  readonly #clock: () => number
  #keys: { found: Promise<CompactVerifyGetKey>; untilMs: number } | undefined

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
    this.#clock = options.clock ?? Date.now
  }

  /** @throws StatusError Unauthorized, whose cause says why, for a token of the issuer that is no good or cannot be checked */
  async authenticate(credentials: Credentials): Promise<Authentication | undefined> {
    const { token } = credentials
    const { issuerUrl } = this.#options
    if (token === undefined || unverifiedClaims(token)?.iss !== issuerUrl) return undefined
    const audiences = credentials.audiences?.filter(audience => this.#options.audiences?.includes(audience))
    if (audiences?.length === 0) return undefined
    try {
      const user = this.#userOf(await this.#verify(token))
      return { user: authenticated(user), ...(audiences && { audiences }) }
    } catch (error) {
      const why = messageOf(error)
      throw new StatusError('Unauthorized', 'Unauthorized', undefined, { cause: new Error(`oidc: ${why}`) })
    }
  }

  async #verify(token: string): Promise<Record<string, unknown>> {
    const { compactVerify } = await import('jose')
    const { clientId, signingAlgorithms = ['RS256'] } = this.#options
    const keys = await this.#issuerKeys()
    const { payload } = await compactVerify(token, keys, { algorithms: [...signingAlgorithms] })
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

  /** Discovery is asked once for all who wait; its failure is remembered for a moment. */
  #issuerKeys(): Promise<CompactVerifyGetKey> {
    const now = this.#clock()
    if (this.#keys !== undefined && now < this.#keys.untilMs) return this.#keys.found
    const entry = { found: this.#discover(), untilMs: Number.POSITIVE_INFINITY }
    this.#keys = entry
    entry.found.catch(() => {
      entry.untilMs = this.#clock() + RETRY_MS
    })
    return entry.found
  }

  async #discover(): Promise<CompactVerifyGetKey> {
    const { createRemoteJWKSet, customFetch } = await import('jose')
    const { issuerUrl, caPem } = this.#options
    const get = (url: string): Promise<unknown> =>
      fetchJson(url, { timeoutMs: TIMEOUT_MS, ...(caPem !== undefined && { caPem }) })
    const document = await get(`${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration`)
    const { issuer, jwks_uri: keysUrl } = isRecord(document) ? document : {}
    if (issuer !== issuerUrl) throw new Error(`issuer did not match: expected ${issuerUrl}, got ${String(issuer)}`)
    if (typeof keysUrl !== 'string' || !keysUrl.startsWith('https://')) throw new Error('the issuer names no jwks_uri')
    let last: { keys: unknown; atMs: number } | undefined
    const latest = async (): Promise<unknown> => {
      try {
        last = { keys: await get(keysUrl), atMs: this.#clock() }
      } catch (error) {
        if (last === undefined || this.#clock() - last.atMs > KEYS_GRACE_MS) throw error
      }
      return last.keys
    }
    return createRemoteJWKSet(new URL(keysUrl), {
      cooldownDuration: KEYS_COOLDOWN_MS,
      cacheMaxAge: KEYS_MAX_AGE_MS,
      timeoutDuration: TIMEOUT_MS,
      [customFetch]: async () => Response.json(await latest()),
    })
  }
}

function groupsOf(value: unknown, claim: string): string[] {
  if (value === undefined || value === null) return []
  const groups = Array.isArray(value) ? value : [value]
  if (groups.every(group => typeof group === 'string')) return groups
  throw new Error(`the claim ${JSON.stringify(claim)} holds something that is no group name`)
}
