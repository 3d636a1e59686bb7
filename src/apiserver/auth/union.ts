/**
 * Asks authenticators in turn and remembers, for a few seconds, who a token is.
 *
 * The memory is bounded, holds hashes instead of tokens, and is short enough for a revoked token to stop working soon. A revocation in a
 * space may clear its tokens at once. A repeated object, as on a connection with the same credential, is known without a hash.
 */
import { hash } from 'node:crypto'
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { isStatusError, statusError } from '../../apimachinery/errors.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import type { Authentication, Authenticator, Credentials } from './types.ts'

export interface UnionOptions {
  /** In the order of asking. Those that know certificates must do their own remembering. */
  authenticators: readonly Authenticator[]
  /** Milliseconds on any clock that only goes forward: one that is set back would keep what was remembered. */
  clock: () => number
  /** How long a good token is remembered. Default 10 s. */
  ttlMs?: number
  /** How long a bad token is remembered. Default and limit 1 s. */
  failureTtlMs?: number
  /** Tokens remembered at most; the least recently used goes first. Default 4096. */
  maxEntries?: number
  /** Milliseconds since the epoch: nobody is remembered beyond the end of a credential. */
  now: () => number
  /** Called with each space whose tokens are forgotten; `undefined`: all are. */
  onForgotten?: (space: string | undefined) => void
}

interface Entry {
  outcome: Promise<Authentication | undefined>
  /** Once known. */
  found: Authentication | undefined
  expiresMs: number
  /** Number of earlier removals at the time of the question. */
  since: number
  /** The space of the credential, once known; `undefined` while it is not, `''` for none. */
  space: string | undefined
}

/** A good token, by default. */
export const REMEMBERED_MS = 10_000
/** Spaces whose last forgetting is kept apart; after that many every token is forgotten. */
const SPACES_APART = 16_384

export class UnionAuthenticator implements Authenticator {
  readonly #options: Required<UnionOptions>
  readonly #entries: BoundedCache<string, Entry>
  /** Entries by credential object: as long as that is held elsewhere. */
  #shown = new WeakMap<Credentials, Entry>()
  #forgettings = 0
  /** The number of the last forgetting of each space: a walk through all entries would be too much for each write of a Secret. */
  readonly #forgotten = new Map<string, number>()

  constructor(options: UnionOptions) {
    this.#options = {
      ttlMs: REMEMBERED_MS,
      maxEntries: 4096,
      onForgotten: () => {},
      ...options,
      failureTtlMs: Math.min(options.failureTtlMs ?? 1000, 1000),
    }
    this.#entries = new BoundedCache(this.#options.maxEntries)
  }

  /**
   * A certificate goes before a token. `undefined` without credentials.
   * @throws StatusError Unauthorized when there is a token that nobody knows
   */
  authenticate(credentials: Credentials): Soon<Authentication | undefined> {
    const { certificate, token } = credentials
    if (certificate === undefined) return token === undefined ? undefined : this.#byToken(credentials, token)
    return whenKnown(this.#ask(token === undefined ? credentials : { certificate }, 0), found =>
      found === undefined && token !== undefined ? this.#byToken(credentials, token) : found,
    )
  }

  /** Forgets every token. */
  clear(): void {
    this.#entries.clear()
    this.#shown = new WeakMap()
    this.#forgotten.clear()
    this.#options.onForgotten(undefined)
  }

  /** Forgets the tokens that belong to a space, and those whose space is still being found out. */
  forget(space: string): void {
    if (this.#forgotten.size >= SPACES_APART && !this.#forgotten.has(space)) this.clear()
    this.#forgotten.set(space, ++this.#forgettings)
    this.#options.onForgotten(space)
  }

  #byToken(credentials: Credentials, token: string): Soon<Authentication> {
    let entry = this.#shown.get(credentials)
    if (entry === undefined || !this.#isGood(entry)) {
      entry = this.#entryOf(token, credentials.audiences)
      this.#shown.set(credentials, entry)
    }
    return entry.found ?? entry.outcome.then(found => found ?? unknownToken())
  }

  #entryOf(token: string, audiences: readonly string[] | undefined): Entry {
    const digest = hash('sha256', token, 'base64')
    const key = audiences === undefined ? digest : [digest, ...audiences].join('\n')
    const known = this.#entries.get(key)
    return known !== undefined && this.#isGood(known) ? known : this.#begin(key, token, audiences)
  }

  #begin(key: string, token: string, audiences: readonly string[] | undefined): Entry {
    const since = this.#forgettings
    const attempt = this.#attempt({ token, ...(audiences && { audiences }) })
    const { clock, failureTtlMs } = this.#options
    if (attempt !== undefined && !(attempt instanceof Promise)) {
      const { space = '' } = attempt
      const entry = {
        outcome: Promise.resolve(attempt),
        found: attempt,
        expiresMs: clock() + this.#goodMs(attempt),
        since,
        space,
      }
      this.#entries.set(key, entry)
      return entry
    }
    const outcome = Promise.resolve(attempt)
    const entry: Entry = { outcome, found: undefined, expiresMs: Infinity, since, space: undefined }
    this.#entries.set(key, entry)
    const settle = (space: string, rememberedMs: number): void => {
      // The space of a refused token is unknown: any removal meanwhile may concern it.
      const isOutdated = space === '' && this.#isForgotten(entry)
      entry.expiresMs = isOutdated ? 0 : clock() + rememberedMs
      entry.space = space
    }
    entry.outcome.then(
      found => {
        entry.found = found
        settle(found?.space ?? '', found === undefined ? failureTtlMs : this.#goodMs(found))
      },
      // A refusal may be remembered; a failure to find out may not. The caller, who has the promise too, gets both.
      error => settle('', isStatusError(error, 'Unauthorized') ? failureTtlMs : 0),
    )
    return entry
  }

  #goodMs({ untilMs = Infinity }: Authentication): number {
    const { ttlMs, now } = this.#options
    return Math.min(ttlMs, untilMs - now())
  }

  #isGood(entry: Entry): boolean {
    return this.#options.clock() < entry.expiresMs && !this.#isForgotten(entry)
  }

  #isForgotten({ space, since }: Entry): boolean {
    return since < (space === undefined ? this.#forgettings : (this.#forgotten.get(space) ?? 0))
  }

  /** An error thrown at once becomes the promise's, too: it is remembered as a late one. */
  #attempt(credentials: Credentials): Soon<Authentication | undefined> {
    try {
      return this.#ask(credentials, 0)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** In turn, from one on. */
  #ask(credentials: Credentials, index: number): Soon<Authentication | undefined> {
    const authenticator = this.#options.authenticators[index]
    if (authenticator === undefined) return undefined
    return whenKnown(authenticator.authenticate(credentials), found => found ?? this.#ask(credentials, index + 1))
  }
}

function unknownToken(): never {
  throw statusError.unauthorized()
}
