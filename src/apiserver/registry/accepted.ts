/** Refusals of the store, in the words of the API. */
import { StatusError, statusError } from '../../apimachinery/errors.ts'
import type { Refusal, Stored, UpdateResult } from '../../storage/store.ts'

/** Room is shared out as by a quota: an exhausted share reads as an exceeded quota, and an exhausted server as one without room. */
export function refusal({ reason, message, key, causes }: Refusal): StatusError {
  const { group, resource, name } = key
  const { message: text, details } = statusError.forbidden({ group, resource }, name, message)
  if (reason === 'Budget') return new StatusError('Forbidden', text, { ...details, causes: [...causes] })
  return new StatusError('InsufficientStorage', message, { ...details, causes: [...causes] })
}

/** Result of an update. @throws StatusError Forbidden or InsufficientStorage when the store refused it */
export function accepted(result: UpdateResult): Stored | undefined {
  if (!result.ok) throw refusal(result.refused)
  return result.stored
}
