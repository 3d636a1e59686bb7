/** The number of API threads that `orrery start` begins with. */

/** More of them only wait for each other and for the main thread. */
const MOST_API_THREADS = 32
/** Bound on the default number. */
const MOST_BY_CORES = 4

export interface ApiThreadFacts {
  /** As `--api-threads` says. */
  count: number | undefined
  /** Each request crosses to the main thread then: without a number no API thread begins. */
  isAudited: boolean
  cores: number
  platform: NodeJS.Platform
}

/** @throws Error naming the flag */
export function apiThreadCount({ count, isAudited, cores, platform }: ApiThreadFacts): number {
  const isPossible = platform === 'linux'
  if (count === undefined) return isPossible && !isAudited && cores > 2 ? Math.min(MOST_BY_CORES, cores - 1) : 0
  if (count > MOST_API_THREADS) throw new Error(`--api-threads: ${count} is more than ${MOST_API_THREADS}`)
  if (count > 0 && !isPossible)
    throw new Error('--api-threads needs Linux, which shares a port between threads; leave it out')
  return count
}
