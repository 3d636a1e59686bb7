/** The log as the server uses it: tests listen to it, and other processes bring their own. */
import type { LogFields } from '../../apimachinery/logFields.ts'

export interface Logger {
  info(fields: LogFields, text: string): void
  warn(fields: LogFields, text: string): void
  error(fields: LogFields, text: string): void
}
