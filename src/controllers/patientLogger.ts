/**
 * A logger for work queues. Controllers race with users and with each other, and the next try mends most lost races. A failed key is a
 * warning once it has failed several times in a row, and then once for each cause. Everything stays visible at debug. Remembers a bounded
 * number of causes; the oldest may be logged again.
 */
import { BoundedCache } from '../apimachinery/boundedCache.ts'
import { isRecord } from '../apimachinery/object.ts'
import type { Logger } from '../client/logger.ts'

/** Tries before a failure is news: with the queue's backoff, about a fifth of a second. */
const PATIENCE = 5
const REMEMBERED = 5000

export function patientLogger(logger: Logger): Logger {
  const logged = new BoundedCache<string, true>(REMEMBERED)
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    error: (fields, message) => logger.error(fields, message),
    warn(fields, message) {
      const { key, err, failures } = fields as { key?: unknown; err?: unknown; failures?: unknown }
      if (key === undefined || typeof failures !== 'number') return logger.warn(fields, message)
      if (failures < PATIENCE) return logger.debug(fields, message)
      const cause = `${JSON.stringify(key)} ${isRecord(err) ? String(err.message) : String(err)}`
      if (logged.has(cause)) return logger.debug(fields, message)
      logged.set(cause, true)
      logger.warn(fields, message)
    },
  }
}
