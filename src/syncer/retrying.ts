/** Tries until it works or the signal aborts, with jittered backoff. */
import { backoffMs, type Random } from '../client/backoff.ts'
import { type Clock, pause, systemClock } from '../client/clock.ts'
import type { Logger } from '../client/logger.ts'

export interface RetryingOptions {
  /** For the log: `<what> failed, trying again`. */
  what: string
  signal: AbortSignal
  logger: Logger
  clock?: Clock
  random?: Random
}

const RETRY = { baseMs: 500, maxMs: 30_000 }

/** The answer of the first attempt that succeeds; `undefined` when the signal came first. */
export async function retrying<T>(options: RetryingOptions, attempt: () => Promise<T>): Promise<T | undefined> {
  const { what, signal, logger, clock = systemClock, random = Math.random } = options
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return await attempt()
    } catch (error) {
      if (!signal.aborted) logger.warn({ err: error }, `${what} failed, trying again`)
      await pause(clock, backoffMs(failures, RETRY, random), signal)
    }
  }
  return undefined
}
