/**
 * Asks authenticators in turn and remembers, for a few seconds, who a token is.
 *
 * The memory is bounded, holds hashes instead of tokens, and is short enough for a revoked token to stop working soon. What
 * revokes tokens of a space may have them forgotten at once.
 */
import { createHash } from 'node:crypto'
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { isStatusError, statusError } from '../../apimachinery/errors.ts'
import type { Authentication, Authenticator, Credentials } from './types.ts'

export interface UnionOptions {
  /** In the order of asking. Those that know certificates must do their own remembering. */
  authenticators: readonly Authenticator[]
  /** Milliseconds since the epoch. */
  clock?: () => number
  /** How long a good token is remembered. Default 10 s. */
  ttlMs?: number
  /** How long a bad token is remembered. Default and limit 1 s. */
  failureTtlMs?: number
  /** Tokens remembered at most; the least recently used goes first. Default 4096. */
  maxEntries?: number
}

interface Entry {
  outcome: Promise<Authentication | undefined>
  expiresMs: number
  /** The space of the credential, once known; `undefined` while it is not, `''` for none. */
  space: string | undefined
}

export class UnionAuthenticator implements Authenticator {
  readonly #options: Required<UnionOptions>
  readonly #entries: BoundedCache<string, Entry>

  constructor(options: UnionOptions) {
    this.#options = {
      clock: Date.now,
      ttlMs: 10_000,
      maxEntries: 4096,
      ...options,
      failureTtlMs: Math.min(options.failureTtlMs ?? 1000, 1000),
    }
    this.#entries = new BoundedCache(this.#options.maxEntries)
  }

  /**
   * A certificate goes before a token. `undefined` without credentials.
   * @throws StatusError Unauthorized when there is a token that nobody knows
   */
  async authenticate(credentials: Credentials): Promise<Authentication | undefined> {
    if (credentials.certificate !== undefined) {
      const found = await this.#ask({ certificate: credentials.certificate })
      if (found !== undefined) return found
    }
    const { token, audiences } = credentials
    if (token === undefined) return undefined
    return (await this.#remembered(token, audiences)) ?? unknownToken()
  }

  /** Forgets every token. */
  clear(): void {
    this.#entries.clear()
  }

  /** Forgets the tokens that belong to a space, and those whose space is still being found out. */
  forget(space: string): void {
    for (const [key, entry] of this.#entries) {
      if (entry.space === undefined || entry.space === space) this.#entries.delete(key)
    }
  }

  #remembered(token: string, audiences: readonly string[] | undefined): Promise<Authentication | undefined> {
    const key = [createHash('sha256').update(token).digest('base64'), ...(audiences ?? [])].join('\n')
    const known = this.#entries.get(key)
    if (known !== undefined && this.#options.clock() < known.expiresMs) return known.outcome
    const outcome = this.#ask({ token, ...(audiences && { audiences }) })
    const entry: Entry = { outcome, expiresMs: Infinity, space: undefined }
    this.#entries.set(key, entry)
    const { clock, ttlMs, failureTtlMs } = this.#options
    entry.outcome.then(
      found => {
        entry.expiresMs = clock() + (found === undefined ? failureTtlMs : ttlMs)
        entry.space = found?.space ?? ''
      },
      error => {
        // A refusal may be remembered; a failure to find out may not. The caller, who has the promise too, hears of both.
        entry.expiresMs = isStatusError(error, 'Unauthorized') ? clock() + failureTtlMs : 0
        entry.space = ''
      },
    )
    return entry.outcome
  }

  async #ask(credentials: Credentials): Promise<Authentication | undefined> {
    for (const authenticator of this.#options.authenticators) {
      const found = await authenticator.authenticate(credentials)
      if (found !== undefined) return found
    }
    return undefined
  }
}

function unknownToken(): never {
  throw statusError.unauthorized()
}
