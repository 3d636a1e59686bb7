/** The part of pino that the server uses, so tests can listen and other processes can bring their own. */
export interface Logger {
  info(fields: object, text: string): void
  warn(fields: object, text: string): void
  error(fields: object, text: string): void
}
