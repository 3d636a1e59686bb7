/** Fate of a failed reconcile: its line in the log, and the time of the retry. */
import { isStatusError, SERVER_SHORT, type StatusError } from '../apimachinery/errors.ts'
import { backoffMs } from './backoff.ts'
import type { Runtime } from './runtime.ts'

/** Thrown by a reconcile that cannot succeed until its input changes: logged once, not retried. */
export class TerminalError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'TerminalError'
  }
}

/** A queue tells no more often that a server is short of room. */
const SHORTAGE_EVERY_MS = 60_000

interface ReconcileFailuresDeps extends Runtime {
  /** Retry delay bounds. */
  backoff: { baseMs: number; maxMs: number }
}

export class ReconcileFailures<K> {
  readonly #deps: ReconcileFailuresDeps
  #shortageLoggedMs = Number.NEGATIVE_INFINITY

  constructor(deps: ReconcileFailuresDeps) {
    this.#deps = deps
  }

  interrupted(key: K, error: unknown): void {
    this.#deps.logger.debug({ key, err: error }, 'reconcile interrupted by the stop')
  }

  terminal(key: K, error: TerminalError): void {
    this.#deps.logger.error({ key, err: error }, 'reconcile gave up until the object changes')
  }

  /** @param failures in a row, this one included; the answer is when to try again, from now */
  failed(key: K, failures: number, error: unknown): number {
    const { backoff, random, logger } = this.#deps
    const retryInMs = backoffMs(failures, backoff, random)
    // conflicts are the normal fate of optimistic writes; they are news only when they persist
    const level = isStatusError(error, 'Conflict') && failures < 5 ? 'debug' : 'warn'
    const fields = { key, failures, retryInMs: Math.round(retryInMs) }
    // what has no room is no fault of the reconcile: its stack says nothing
    if (isStatusError(error, 'InsufficientStorage')) error.stack = `${error.name}: ${error.message}`
    const isShared = isServerShort(error)
    if (isShared) this.#logShortage(error)
    logger[isShared ? 'debug' : level]({ ...fields, err: error }, 'reconcile failed')
    return retryInMs
  }

  /** All keys fail alike then, and a line of each would lengthen a log on a disk that may be what is short. */
  #logShortage({ message }: StatusError): void {
    const nowMs = this.#deps.clock.now()
    if (nowMs - this.#shortageLoggedMs < SHORTAGE_EVERY_MS) return
    this.#shortageLoggedMs = nowMs
    this.#deps.logger.warn({ why: message }, 'what grows is refused, and tried again until there is room')
  }
}

/** Whether the server has no room for anybody, and not a space that has used up its budget. */
function isServerShort(error: unknown): error is StatusError {
  return (
    isStatusError(error, 'InsufficientStorage') &&
    error.details?.causes?.some(({ reason }) => reason === SERVER_SHORT) === true
  )
}
