/** The part of pino that the server uses, so tests can listen and other processes can bring their own. */
import type { LogFields } from '../../apimachinery/logFields.ts'

export interface Logger {
  info(fields: LogFields, text: string): void
  warn(fields: LogFields, text: string): void
  error(fields: LogFields, text: string): void
}
