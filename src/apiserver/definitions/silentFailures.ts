/**
 * Failures of conversion webhooks with their answers, for the log: clients do not read them. One line a minute for each kind, since all
 * who read its objects make it fail.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { Logger } from '../request/logger.ts'

export interface SilentFailure {
  /** Logical-cluster id. */
  space: string
  group: string
  kind: string
  why: string
}

const QUIET_MS = 60_000
/** Kinds whose last line is remembered. */
const MAX_KINDS = 1024

export class SilentFailures {
  readonly #log: Pick<Logger, 'warn'>
  readonly #clock: () => number
  readonly #loggedMs = new BoundedCache<string, number>(MAX_KINDS)

  /** `clock`: milliseconds on any clock that only goes forward. */
  constructor(log: Pick<Logger, 'warn'>, clock: () => number) {
    this.#log = log
    this.#clock = clock
  }

  note({ space, group, kind, why }: SilentFailure): void {
    const id = JSON.stringify([space, group, kind])
    const now = this.#clock()
    if (now - (this.#loggedMs.peek(id) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return
    this.#loggedMs.set(id, now)
    this.#log.warn({ space, group, kind, why }, 'a conversion webhook failed')
  }
}
