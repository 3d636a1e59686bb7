/** Logs go to stderr, as JSON lines or, on a terminal, for people; stdout belongs to what scripts read. */
import pino from 'pino'
import type { LogFields } from '../../../apimachinery/logFields.ts'
import type { Logger } from '../../../client/logger.ts'
import { createLightLog, withObjectName } from './lightLog.ts'
import { type LogChoice, logLevel } from './logLevel.ts'

const BACKLOG_BYTES = 1024 * 1024

interface LogOptions {
  /** Stands in every line. */
  about?: LogFields
  /** Default: JSON, from the level of ORRERY_LOG_LEVEL on. */
  choice?: LogChoice
  /** Default: stderr, which may be full for a while. */
  write?: ((lines: string) => void) | undefined
}

/** @throws Error when ORRERY_LOG_LEVEL is no level */
export function createLog(component: string, { about = {}, choice, write }: LogOptions = {}): Logger {
  const { level, format } = choice ?? { level: logLevel(), format: 'json' }
  if (format === 'text' || write !== undefined) return createLightLog({ component, about, level, format, write })
  // What a full disk does not take is kept up to here, and written when there is room; the process goes on.
  const stderr = pino.destination({ fd: 2, sync: true, maxLength: BACKLOG_BYTES })
  stderr.on('error', () => {})
  return pino(
    {
      name: component,
      level,
      redact: ['token', 'authorization', 'headers.authorization'],
      formatters: { log: fields => withObjectName(fields) as Record<string, unknown> },
    },
    stderr,
  ).child(about)
}
