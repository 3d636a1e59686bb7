/**
 * Failures of conversion webhooks with what was answered, for the log: those who asked are not told. One line a minute for each
 * kind, since everybody who reads its objects makes it fail.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { Logger } from '../request/logger.ts'

export interface UnheardFailure {
  /** Logical-cluster id. */
  space: string
  group: string
  kind: string
  why: string
}

const QUIET_MS = 60_000
/** Kinds whose last line is remembered. */
const MAX_KINDS = 1024

export class UnheardFailures {
  readonly #log: Pick<Logger, 'warn'>
  readonly #clock: () => number
  readonly #toldMs = new BoundedCache<string, number>(MAX_KINDS)

  /** `clock`: milliseconds on any clock that only goes forward. */
  constructor(log: Pick<Logger, 'warn'>, clock: () => number) {
    this.#log = log
    this.#clock = clock
  }

  note({ space, group, kind, why }: UnheardFailure): void {
    const id = JSON.stringify([space, group, kind])
    const now = this.#clock()
    if (now - (this.#toldMs.peek(id) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return
    this.#toldMs.set(id, now)
    this.#log.warn({ space, group, kind, why }, 'a conversion webhook failed')
  }
}
