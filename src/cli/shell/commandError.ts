/** Errors that the user caused or can mend, and the exit codes by which scripts tell failures apart. */

/** The name of a path is not one: `root` in the middle. */
export const BAD_PATH = 2
/** The path leads above the root. */
export const ABOVE_ROOT = 3
/** The space of `--espw` has no mailboxes. */
export const NOT_THE_CORE_SPACE = 2
export const NOT_MADE = 3
/** A workload space that could not be made or entered. */
export const NOT_ENTERED = 3
export const NOT_LABELED = 4
export const NO_MAILBOX = 5
export const NOT_LEFT = 6

/** An error whose message is shown without a stack; the process ends with its code. */
export class CommandError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode = 1, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}
