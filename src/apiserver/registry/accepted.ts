/** What the store refuses, in the words of the API. */
import { StatusError } from '../../apimachinery/errors.ts'
import type { Refusal, Stored, UpdateResult } from '../../storage/store.ts'

/** Room is shared out as by a quota, so a lack of it reads like an exceeded quota. */
export function refusal({ message }: Refusal): StatusError {
  return new StatusError('Forbidden', message)
}

/** What an update left behind. @throws StatusError Forbidden when the store refused it */
export function accepted(result: UpdateResult): Stored | undefined {
  if (!result.ok) throw refusal(result.refused)
  return result.stored
}
