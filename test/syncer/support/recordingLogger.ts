/** A logger whose lines a test can read. */
import type { Logger } from '../../../src/client/logger.ts'

export interface RecordedLine {
  level: 'info' | 'warn' | 'error'
  fields: object
  message: string
}

export function recordingLogger(): { logger: Logger; lines: RecordedLine[] } {
  const lines: RecordedLine[] = []
  const at = (level: RecordedLine['level']) => (fields: object, message: string) => {
    lines.push({ level, fields, message })
  }
  return { lines, logger: { debug() {}, info: at('info'), warn: at('warn'), error: at('error') } }
}
