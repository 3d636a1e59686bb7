/** Reviews that a host answers, each within a time. */
import { StatusError } from '../../apimachinery/errors.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import { apiVersionOf, type GroupVersionResource, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { SpaceClient } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'

export interface HostReviewDeps {
  host: Pick<SpaceClient, 'create'>
  clock: Clock
}

/** The host's answer is waited for so long, its turn among others included. */
export const REVIEW_LIMIT_MS = 10_000

/** The status of the answer. @throws the error that `failed` makes of its reason */
export async function hostReview(
  { host, clock }: HostReviewDeps,
  reviews: GroupVersionResource,
  { kind, spec }: { readonly kind: string; readonly spec: object },
  failed: (why: string, cause: unknown) => StatusError,
): Promise<Readonly<Record<string, unknown>>> {
  const review = { apiVersion: apiVersionOf(reviews), kind, metadata: {}, spec }
  const late = new AbortController()
  const cancel = clock.after(REVIEW_LIMIT_MS, () => late.abort())
  try {
    const { status } = await host.create(reviews, review as unknown as KubeObject, { signal: late.signal })
    return isRecord(status) ? status : {}
  } catch (error) {
    throw failed(late.signal.aborted ? `no answer within ${REVIEW_LIMIT_MS / 1000} s` : messageOf(error), error)
  } finally {
    cancel()
  }
}

/** The refusal where the host gives no answer. */
export function unanswered(message: string, cause?: unknown): StatusError {
  return new StatusError('ServiceUnavailable', message, { retryAfterSeconds: 1 }, { cause })
}
