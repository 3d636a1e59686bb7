/** Why there is no result of a thread, in the words of the API. */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import { JobError } from '../../program/threadPool.ts'

const RETRY_AFTER_SECONDS = 1

/** Error of `ThreadPool.run`, for the client. `tooMuch` words that the work takes too long or too much memory. */
export function jobRefused(error: unknown, tooMuch?: (why: string) => StatusError): unknown {
  if (!(error instanceof JobError)) return error
  switch (error.why) {
    case 'time':
    case 'memory':
      return tooMuch === undefined ? error : tooMuch(error.message)
    case 'crowded':
      return new StatusError('TooManyRequests', `${error.message}; try again later`, {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    case 'aborted':
      return statusError.badRequest('the request ended before it was answered')
    case 'closed':
      return new StatusError('ServiceUnavailable', error.message, { retryAfterSeconds: RETRY_AFTER_SECONDS })
    case 'failed':
      return error
  }
}
