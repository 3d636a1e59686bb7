/**
 * Custom objects whose kind a mailbox does not serve: their definition is refused there, is yet to come, or is another one. They are
 * retried when the mailbox gets a definition. A clock retries them seldom, and quickly at first where the definition is there already, as
 * it is served a moment after it is stored.
 */
import type { GroupVersionResource } from '../../../apimachinery/object.ts'
import { definitionKey, parseObjectKey } from '../../../placement/words/names.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { CopyFact } from '../mailboxes/mailbox.ts'

export const KIND_NOT_SERVED = 'KindNotServed'
const FIRST_MS = 20
const MOST_MS = 300_000
/** About a second after the first. */
const REPORTED_ATTEMPT = 6

/** Error of a write into a mailbox that does not serve the kind, or not at that version. */
export class UnservedKindError extends Error {
  readonly resource: GroupVersionResource

  constructor(resource: GroupVersionResource, options?: ErrorOptions) {
    super(`${resource.resource}.${resource.version}.${resource.group} is not served`, options)
    this.name = 'UnservedKindError'
    this.resource = resource
  }
}

interface Unserved {
  /** Number of attempts in vain, this one included. */
  readonly attempt: number
  /** By key; what is in the mailbox. */
  readonly copies: ReadonlyMap<string, CopyFact>
  /** Ids of those who place the object there. */
  readonly spaces: readonly string[]
  /** Whether something placed by this key is on its way into the mailbox, which nothing keeps out. */
  readonly isComing: (key: string) => boolean
}

export function unservedKind(
  { resource }: UnservedKindError,
  { attempt, copies, spaces, isComing }: Unserved,
): { retryMs: number; why: Reason | undefined } {
  const key = definitionKey(resource)
  const definition = `CustomResourceDefinition "${parseObjectKey(key).name}"`
  const copy = copies.get(key)
  // its arrival wakes what waits for it
  if (!copy && isComing(key)) return { retryMs: MOST_MS, why: undefined }
  if (!copy) {
    const message = `the place where it would go does not know its kind: ${definition} is not placed there. If a line here says why, see there; else create it in this space; it needs a PlacementGrant with clusterScoped`
    return { retryMs: MOST_MS, why: { reason: KIND_NOT_SERVED, message } }
  }
  // by its id: the path is for those who may see the space
  const whose = copy.owner === '' || spaces.includes(copy.owner) ? '' : `, that of space ${copy.owner},`
  const message = `${definition}${whose} is placed where it would go, but does not serve version ${resource.version} there; see its status, or use a version that it serves`
  return {
    retryMs: Math.min(FIRST_MS * 2 ** (attempt - 1), MOST_MS),
    why: attempt < REPORTED_ATTEMPT ? undefined : { reason: KIND_NOT_SERVED, message },
  }
}
