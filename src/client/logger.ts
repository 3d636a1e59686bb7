/** Logger of client code and controllers; a pino logger fits as it is. */
import type { LogFields } from '../apimachinery/logFields.ts'

export interface Logger {
  debug(fields: LogFields, message: string): void
  info(fields: LogFields, message: string): void
  warn(fields: LogFields, message: string): void
  error(fields: LogFields, message: string): void
}

/** For callers that bring no logger (tests, one-shot commands that report errors themselves). */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
