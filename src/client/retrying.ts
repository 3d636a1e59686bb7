/** Tries until it works or the signal aborts, with jittered backoff. */
import { backoffMs } from './backoff.ts'
import { pause } from './clock.ts'
import { TerminalError } from './reconcileFailures.ts'
import type { Runtime } from './runtime.ts'

interface RetryingOptions extends Runtime {
  /** For the log: `<what> failed, trying again`. */
  what: string
  signal: AbortSignal
}

const RETRY = { baseMs: 500, maxMs: 30_000 }

/**
 * The answer of the first attempt that succeeds; `undefined` when the signal came first.
 * @throws TerminalError that an attempt threw: no further one would mend it
 */
export async function retrying<T>(options: RetryingOptions, attempt: () => Promise<T>): Promise<T | undefined> {
  const { what, signal, logger, clock, random } = options
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof TerminalError) throw error
      if (!signal.aborted) logger.warn({ err: error }, `${what} failed, trying again`)
      await pause(clock, backoffMs(failures, RETRY, random), signal)
    }
  }
  return undefined
}
