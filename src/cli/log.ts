/** Logs go to stderr as JSON lines; stdout belongs to what scripts read. */
import pino from 'pino'
import type { LogFields } from '../apimachinery/logFields.ts'
import type { Logger } from '../client/logger.ts'
import { logLevel } from './logLevel.ts'

/** `about` stands in every line. @throws Error when ORRERY_LOG_LEVEL is no level */
export function createLog(component: string, about: LogFields = {}): Logger {
  const level = logLevel()
  return pino(
    { name: component, level, redact: ['token', 'authorization', 'headers.authorization'] },
    pino.destination({ fd: 2, sync: true }),
  ).child(about)
}
