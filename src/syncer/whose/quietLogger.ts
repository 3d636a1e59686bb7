/**
 * A logger that says each cause once, however often it is retried: many objects and loops meet the same trouble. A repeated cause is logged
 * again only after it was away for a while. Causes name objects, and there may be too many to remember or read. In that while, a bounded
 * number of lines of one trouble is logged.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { isStatusError, StatusError } from '../../apimachinery/errors.ts'
import type { LogFields } from '../../apimachinery/logFields.ts'
import { type Clock, steadyMs } from '../../client/clock.ts'
import type { Logger } from '../../client/logger.ts'

interface QuietLoggerOptions {
  logger: Logger
  /** Errors that somebody else has put into words already. */
  isReported: (error: unknown) => boolean
  clock: Clock
}

/** Longer than any retry delay, so that a retry never looks like news. */
const FORGET_MS = 10 * 60_000
const CAUSES_LIMIT = 500
const LINES_LIMIT = 100

export function quietLogger({ logger, isReported, clock }: QuietLoggerOptions): Logger {
  /** When each cause was last met. */
  const causes = new BoundedCache<string, number>(CAUSES_LIMIT)
  const isNews = (cause: string): boolean => {
    const now = steadyMs(clock)
    const last = causes.peek(cause)
    causes.set(cause, now)
    return last === undefined || now - last > FORGET_MS
  }
  /**
   * Lines about errors, by their message. Those are a few sentences of the syncer's; servers' messages are without bound.
   */
  const logged = new BoundedCache<string, { sinceMs: number; lines: number }>(CAUSES_LIMIT)
  /** How many it makes with this one. */
  const countLine = (message: string): number => {
    const now = steadyMs(clock)
    const before = logged.peek(message)
    const current = before === undefined || now - before.sinceMs > FORGET_MS ? { sinceMs: now, lines: 0 } : before
    logged.set(message, current)
    return ++current.lines
  }
  const log = (level: 'warn' | 'error', fields: LogFields, message: string): void => {
    const error = 'err' in fields ? fields.err : undefined
    const text = error instanceof Error ? error.message : ''
    const isLogged = !isReported(error) && isNews(`${message}|${text}`)
    const lines = isLogged && text !== '' ? countLine(message) : 0
    if (!isLogged || lines > LINES_LIMIT) logger.debug(fields, message)
    else logger[level](plain(fields), text === '' ? message : `${message}: ${text}`)
    if (lines === LINES_LIMIT) logger[level]({}, `${message}: so often that further lines are left out for a while`)
  }
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => log('warn', fields, message),
    error: (fields, message) => log('error', fields, message),
  }
}

/** A server's answer is logged by its reason; only an error of the program needs its stack. */
function plain(fields: LogFields): LogFields {
  if (!('err' in fields) || !(fields.err instanceof StatusError)) return fields
  const { err, failures: _failures, retryInMs: _retry, ...rest } = fields
  return isStatusError(err) ? { ...rest, reason: err.reason } : rest
}
