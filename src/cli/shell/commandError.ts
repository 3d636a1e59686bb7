/** An error that the user caused or can mend: its message is shown without a stack, and the process ends with its code. */
export class CommandError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode = 1, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}
