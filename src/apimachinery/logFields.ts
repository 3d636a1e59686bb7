/**
 * Fields of a line of the log beside its text. An error that was caught goes under `err`, the one name that readers of logs look for.
 */
export interface LogFields {
  readonly err?: unknown
  readonly error?: never
  readonly cause?: never
  readonly [field: string]: unknown
}
