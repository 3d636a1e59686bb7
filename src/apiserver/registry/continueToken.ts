/**
 * Continue tokens: where the next page of a list begins, and of which revision it is.
 * @see https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
 */
import { StatusError } from '../../apimachinery/errors.ts'
import type { Key, Revision } from '../../storage/store.ts'

export interface ContinueToken {
  /** Absent: the newest; a list goes on so once its own revision is forgotten. */
  at: Revision | undefined
  after: Key
  /** Where several objects of a list share a key: behind which of them. */
  within?: string | undefined
}

const CONTINUE_TOO_OLD =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the ' +
  'continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with ' +
  'the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the ' +
  'first chunk was returned and now may show up in the list.'

/** 410 of a page whose snapshot is gone; carries the token that goes on without consistency. */
export class ExpiredContinueError extends StatusError {
  readonly continueToken: string
  constructor(continueToken: string) {
    super('Expired', CONTINUE_TOO_OLD)
    this.continueToken = continueToken
  }
  override toStatus() {
    return { ...super.toStatus(), metadata: { continue: this.continueToken } }
  }
}

export function encodeContinue({ at, after, within }: ContinueToken): string {
  return Buffer.from(
    JSON.stringify({
      v: 1,
      rv: at ?? -1,
      s: after.space,
      ns: after.namespace,
      n: after.name,
      g: after.group,
      r: after.resource,
      ...(within !== undefined && { w: within }),
    }),
  ).toString('base64url')
}

/** @throws StatusError BadRequest */
export function decodeContinue(token: string): ContinueToken {
  try {
    const t = JSON.parse(Buffer.from(token, 'base64url').toString()) as Record<string, unknown>
    if (t.v !== 1 || typeof t.rv !== 'number')
      throw new Error(`server does not recognize this encoded version ${JSON.stringify(String(t.v ?? ''))}`)
    if (!Number.isSafeInteger(t.rv) || t.rv === 0) throw new Error('it names no revision')
    const after: Key = {
      space: String(t.s),
      group: String(t.g),
      resource: String(t.r),
      namespace: String(t.ns),
      name: String(t.n),
    }
    return { at: t.rv < 0 ? undefined : t.rv, after, ...(typeof t.w === 'string' && { within: t.w }) }
  } catch (cause) {
    throw new StatusError(
      'BadRequest',
      `invalid continue token: continue key is not valid: ${cause instanceof Error ? cause.message : cause}`,
      undefined,
      { cause },
    )
  }
}
