/** Logs go to stderr as JSON lines; stdout belongs to what scripts read. */
import pino, { type Logger } from 'pino'

export function createLog(component: string): Logger {
  const level = process.env.ORRERY_LOG_LEVEL ?? 'info'
  return pino(
    { name: component, level, redact: ['token', 'authorization', 'headers.authorization'] },
    pino.destination({ fd: 2, sync: true }),
  )
}
