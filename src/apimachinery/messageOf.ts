/** Message of a thrown value of any type. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** An error whose users read other words than the operator of the server. */
export interface Discreet extends Error {
  readonly publicMessage: string
}

/** Longer chains of causes are not made by anybody. */
const CAUSES = 10

/**
 * Message of a thrown value for users of the server. Where its files are, and what is wrong with them, is not theirs to know: it is in the
 * log.
 */
export function publicMessageOf(thrown: unknown): string {
  let error = thrown
  for (let depth = 0; error instanceof Error && depth < CAUSES; depth++) {
    if (isDiscreet(error)) return error.publicMessage
    if (isAboutFiles(error)) return 'the server cannot use one of its files; its log says why'
    error = error.cause
  }
  return messageOf(thrown)
}

function isDiscreet(error: Error): error is Discreet {
  return 'publicMessage' in error && typeof error.publicMessage === 'string'
}

/** Node's errors of files name them, and the database's do so in their text. */
function isAboutFiles(error: Error): boolean {
  return ('syscall' in error && 'path' in error) || ('code' in error && String(error.code).startsWith('LEVEL_'))
}
