/** What is said to who asks while the server ends. */
import { StatusError } from '../../apimachinery/errors.ts'

export function shuttingDown(): StatusError {
  return new StatusError('ServiceUnavailable', 'the server is shutting down', { retryAfterSeconds: 1 })
}
