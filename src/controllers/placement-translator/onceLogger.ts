/**
 * A logger for the work queue: a failure that repeats itself for the same key is a warning once and a debug line afterwards.
 * Remembers a bounded number of failures; the oldest may be told again.
 */
import { isRecord } from '../../apimachinery/object.ts'
import type { Logger } from '../../client/logger.ts'

const REMEMBERED = 5000

export function onceLogger(logger: Logger): Logger {
  const told = new Set<string>()
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    error: (fields, message) => logger.error(fields, message),
    warn(fields, message) {
      const { key, err } = fields as { key?: unknown; err?: unknown }
      const cause = `${JSON.stringify(key)} ${isRecord(err) ? String(err.message) : String(err)}`
      if (told.has(cause)) return logger.debug(fields, message)
      told.add(cause)
      if (told.size > REMEMBERED) told.delete(told.values().next().value!)
      logger.warn(fields, message)
    },
  }
}
