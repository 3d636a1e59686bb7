/**
 * Asks authenticators in turn and remembers, for a few seconds, who a token is.
 *
 * The memory is bounded, holds hashes instead of tokens, and is short enough for a revoked token to stop working soon. What
 * revokes tokens of a space may have them forgotten at once.
 */
import { hash } from 'node:crypto'
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { isStatusError, statusError } from '../../apimachinery/errors.ts'
import type { Authentication, Authenticator, Credentials } from './types.ts'

export interface UnionOptions {
  /** In the order of asking. Those that know certificates must do their own remembering. */
  authenticators: readonly Authenticator[]
  /** Milliseconds on any clock that only goes forward: one that is set back would keep what was remembered. */
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
  /** How often something had been forgotten when it was asked. */
  since: number
  /** The space of the credential, once known; `undefined` while it is not, `''` for none. */
  space: string | undefined
}

/** Spaces whose last forgetting is kept apart; after that many every token is forgotten. */
const SPACES_APART = 16_384

export class UnionAuthenticator implements Authenticator {
  readonly #options: Required<UnionOptions>
  readonly #entries: BoundedCache<string, Entry>
  #forgettings = 0
  /** The number of the last forgetting of each space: a walk through all entries would be too much for each write of a Secret. */
  readonly #forgotten = new Map<string, number>()

  constructor(options: UnionOptions) {
    this.#options = {
      clock: () => performance.now(),
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
    this.#forgotten.clear()
  }

  /** Forgets the tokens that belong to a space, and those whose space is still being found out. */
  forget(space: string): void {
    if (this.#forgotten.size >= SPACES_APART && !this.#forgotten.has(space)) this.clear()
    this.#forgotten.set(space, ++this.#forgettings)
  }

  #remembered(token: string, audiences: readonly string[] | undefined): Promise<Authentication | undefined> {
    const digest = hash('sha256', token, 'base64')
    const key = audiences === undefined ? digest : [digest, ...audiences].join('\n')
    const known = this.#entries.get(key)
    if (known !== undefined && this.#options.clock() < known.expiresMs && !this.#isForgotten(known))
      return known.outcome
    const outcome = this.#ask({ token, ...(audiences && { audiences }) })
    const entry: Entry = { outcome, expiresMs: Infinity, since: this.#forgettings, space: undefined }
    this.#entries.set(key, entry)
    const { clock, ttlMs, failureTtlMs } = this.#options
    const settle = (space: string, rememberedMs: number): void => {
      // Whose a refused token would have been is not known: what was forgotten meanwhile may concern it.
      const isOutdated = space === '' && this.#isForgotten(entry)
      entry.expiresMs = isOutdated ? 0 : clock() + rememberedMs
      entry.space = space
    }
    entry.outcome.then(
      found => settle(found?.space ?? '', found === undefined ? failureTtlMs : ttlMs),
      // A refusal may be remembered; a failure to find out may not. The caller, who has the promise too, hears of both.
      error => settle('', isStatusError(error, 'Unauthorized') ? failureTtlMs : 0),
    )
    return entry.outcome
  }

  #isForgotten({ space, since }: Entry): boolean {
    return since < (space === undefined ? this.#forgettings : (this.#forgotten.get(space) ?? 0))
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
