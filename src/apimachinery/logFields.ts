/**
 * What a line of the log carries beside its text. What was caught goes under `err`: there alone the log writes out an error.
 * Under another name it would print `{}`, and nobody would learn what happened.
 */
export interface LogFields {
  readonly err?: unknown
  readonly error?: never
  readonly cause?: never
  readonly [field: string]: unknown
}
