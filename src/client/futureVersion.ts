/**
 * Errors that say our resource version lies in the server's future: it was restored from a backup, or is another server.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#unavailable-resource-versions
 */
import { StatusError } from '../apimachinery/errors.ts'

/** Older servers say it in words only. */
const WORDS = 'Too large resource version'

/** Waiting does not help where versions were lost: the client has to start over. */
export function isFutureVersion(error: unknown): boolean {
  if (!(error instanceof StatusError)) return false
  const named = error.details?.causes?.some(cause => cause.reason === 'ResourceVersionTooLarge')
  return named === true || ((error.code === 504 || error.code === 400) && error.message.includes(WORDS))
}
