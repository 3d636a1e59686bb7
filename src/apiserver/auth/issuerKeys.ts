/**
 * The keys of an OpenID Connect issuer. They are found by its discovery document, remembered for a while, and looked for again when a token
 * names an unknown one.
 *
 * A clock that only goes forward measures the time. By the time of day, setting the clock back would keep keys that the issuer has taken
 * back, for as long as the jump.
 * @see https://openid.net/specs/openid-connect-discovery-1_0.html
 */
import type { CompactVerifyGetKey, createLocalJWKSet, JSONWebKeySet } from 'jose'
import { isRecord } from '../../apimachinery/object.ts'
import { fetchJson } from './fetchJson.ts'

export interface IssuerKeysOptions {
  issuerUrl: string
  /** Authorities that vouch for the issuer, PEM. Default: the system's. */
  caPem?: string | undefined
  /** Milliseconds on any clock that only goes forward. */
  clock: () => number
}

/** How long an issuer that did not answer is left alone. */
export const RETRY_MS = 5000
export const TIMEOUT_MS = 5000
/** A key that is not known is looked for at most this often. */
export const COOLDOWN_MS = 10_000
export const MAX_AGE_MS = 10 * 60_000
/** How long known keys go on counting when the issuer does not answer. */
const GRACE_MS = 60 * 60_000

type LocalKeys = ReturnType<typeof createLocalJWKSet>

interface Known {
  keys: LocalKeys
  /** Time of the issuer's last answer. */
  answeredMs: number
  /** Time of the last request to it. */
  requestedMs: number
}

export class IssuerKeys {
  readonly #options: IssuerKeysOptions
  readonly #clock: () => number
  #url: Promise<string> | undefined
  #known: Known | undefined
  #asking: Promise<Known> | undefined
  /** Why there are no keys, for as long as it is left alone. */
  #failure: { error: unknown; untilMs: number } | undefined

  constructor(options: IssuerKeysOptions) {
    this.#options = options
    this.#clock = options.clock
  }

  /** For `compactVerify` of jose. @throws Error when the issuer does not answer, or has no such key */
  readonly find: CompactVerifyGetKey = async (header, token) => {
    let known = this.#known
    if (known === undefined || this.#clock() - known.requestedMs >= MAX_AGE_MS) known = await this.#ask()
    try {
      return await known.keys(header, token)
    } catch (error) {
      const unknown = error instanceof Error && 'code' in error && error.code === 'ERR_JWKS_NO_MATCHING_KEY'
      if (!unknown || this.#clock() - known.requestedMs < COOLDOWN_MS) throw error
      return (await this.#ask()).keys(header, token)
    }
  }

  /** All who wait share one request to the issuer. */
  async #ask(): Promise<Known> {
    if (this.#failure && this.#clock() < this.#failure.untilMs) throw this.#failure.error
    this.#asking ??= this.#latest().finally(() => {
      this.#asking = undefined
    })
    return await this.#asking
  }

  async #latest(): Promise<Known> {
    const last = this.#known
    try {
      const url = await this.#keysUrl()
      const { createLocalJWKSet } = await import('jose/jwks/local')
      // It says itself what is no set of keys.
      const keys = createLocalJWKSet((await this.#get(url)) as JSONWebKeySet)
      const now = this.#clock()
      this.#known = { keys, answeredMs: now, requestedMs: now }
      this.#failure = undefined
    } catch (error) {
      const now = this.#clock()
      if (last === undefined || now - last.answeredMs > GRACE_MS) {
        this.#failure = { error, untilMs: now + RETRY_MS }
        throw error
      }
      this.#known = { ...last, requestedMs: now }
    }
    return this.#known
  }

  /** Discovery runs once, until it fails. */
  #keysUrl(): Promise<string> {
    const found = this.#url ?? this.#discover()
    this.#url = found
    found.catch(() => {
      this.#url = undefined
    })
    return found
  }

  async #discover(): Promise<string> {
    const { issuerUrl } = this.#options
    const document = await this.#get(`${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration`)
    const { issuer, jwks_uri: keysUrl } = isRecord(document) ? document : {}
    if (issuer !== issuerUrl) throw new Error(`issuer did not match: expected ${issuerUrl}, got ${String(issuer)}`)
    if (typeof keysUrl !== 'string' || !keysUrl.startsWith('https://')) throw new Error('the issuer names no jwks_uri')
    return keysUrl
  }

  #get(url: string): Promise<unknown> {
    const { caPem } = this.#options
    return fetchJson(url, { timeoutMs: TIMEOUT_MS, ...(caPem !== undefined && { caPem }) })
  }
}
