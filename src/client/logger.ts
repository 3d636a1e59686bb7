/** What client code and controllers need of a logger; a pino logger fits as it is. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** For callers that bring no logger (tests, one-shot commands that report errors themselves). */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
