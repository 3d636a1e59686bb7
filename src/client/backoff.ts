/** Exponential backoff with jitter: callers that failed together do not come back together. */
interface BackoffOptions {
  /** Delay bound after the first failure. */
  baseMs: number
  /** Delay bound after many failures. */
  maxMs: number
}

/** A number in [0, 1). */
export type Random = () => number

/** Delay after the `failures`-th failure in a row (from 1): between half the bound and the bound, which doubles each time. */
export function backoffMs(failures: number, options: BackoffOptions, random: Random): number {
  const bound = Math.min(options.maxMs, options.baseMs * 2 ** Math.min(failures - 1, 40))
  return bound * (0.5 + 0.5 * random())
}
