/** Refusals that name the space: the server's words do not, and most readers stand in the wrong one. */
import { isStatusError, StatusError } from '../../../apimachinery/errors.ts'
import type { SpaceClient } from '../../../client/client.ts'
import type { ClosableClient } from '../../../client/http/httpClient.ts'

export function namingSpaces(client: ClosableClient): ClosableClient {
  return { ...client, in: space => namingSpace(client.in(space), space) }
}

function namingSpace(client: SpaceClient, space: string): SpaceClient {
  return new Proxy(client, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => {
        const answer: unknown = member.apply(target, args)
        return answer instanceof Promise
          ? answer.catch((error: unknown) => Promise.reject(named(error, space)))
          : answer
      }
    },
  })
}

function named(error: unknown, space: string): unknown {
  if (!isStatusError(error, 'Forbidden')) return error
  return new StatusError(error.reason, `${error.message} (in space ${space})`, error.details, { cause: error })
}
