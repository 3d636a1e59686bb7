/**
 * The host's say about forwarded requests, by SubjectAccessReview: remembered for ten seconds, allowed or not. A host that gives
 * no answer allows nothing.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/webhook/
 */
import { hash } from 'node:crypto'
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { StatusError } from '../../apimachinery/errors.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import type { SpaceClient } from '../../client/client.ts'
import { type Clock, steadyMs } from '../../client/clock.ts'
import type { Forwarded, HostRules } from '../access/forwarded.ts'
import type { Decision } from '../auth/types.ts'
import { nameAware } from '../request/requestInfo.ts'

const REVIEWS: GroupVersionResource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'subjectaccessreviews',
}
const ALLOWED: Decision = { allowed: true, reason: '' }

/** As upstream's delegating servers remember an answer. */
export const REMEMBERED_MS = 10_000
/** Answers remembered at most; the least recently used goes first. */
export const REMEMBERED_REVIEWS = 4096
/** The host's answer is waited for so long, its turn among others included. */
export const REVIEW_LIMIT_MS = 10_000

export interface HostAuthorizerDeps {
  host: Pick<SpaceClient, 'create'>
  clock: Clock
}

interface Entry {
  answer: Soon<Decision>
  expiresMs: number
}

export class HostAuthorizer implements Pick<HostRules, 'decide'> {
  readonly #deps: HostAuthorizerDeps
  readonly #entries = new BoundedCache<string, Entry>(REMEMBERED_REVIEWS)

  constructor(deps: HostAuthorizerDeps) {
    this.#deps = deps
  }

  decide(forwarded: Forwarded): Soon<Decision> {
    // no secret of a space, and the host's own probes must not depend on the host
    if (forwarded.target === 'documents') return ALLOWED
    const { clock } = this.#deps
    const spec = specOf(forwarded)
    const key = hash('sha256', JSON.stringify(spec), 'base64')
    const known = this.#entries.get(key)
    if (known !== undefined && steadyMs(clock) < known.expiresMs) return known.answer
    const asking = this.#ask(spec)
    // those who come meanwhile share the question
    const entry: Entry = { answer: asking, expiresMs: Infinity }
    this.#entries.set(key, entry)
    asking.then(
      decision => {
        entry.answer = decision
        entry.expiresMs = steadyMs(clock) + REMEMBERED_MS
      },
      () => {
        entry.expiresMs = 0
      },
    )
    return asking
  }

  async #ask(spec: object): Promise<Decision> {
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec }
    const { host, clock } = this.#deps
    const late = new AbortController()
    const cancel = clock.after(REVIEW_LIMIT_MS, () => late.abort())
    try {
      const { status } = await host.create(REVIEWS, review as unknown as KubeObject, { signal: late.signal })
      const { allowed, denied, reason } = (status ?? {}) as { allowed?: unknown; denied?: unknown; reason?: unknown }
      return { allowed: allowed === true && denied !== true, reason: typeof reason === 'string' ? reason : '' }
    } catch (error) {
      const why = late.signal.aborted ? `no answer within ${REVIEW_LIMIT_MS / 1000} s` : messageOf(error)
      throw new StatusError(
        'ServiceUnavailable',
        `the host cluster answers no SubjectAccessReview, so nothing is allowed: ${why}`,
        { retryAfterSeconds: 1 },
        { cause: error },
      )
    } finally {
      cancel()
    }
  }
}

function specOf({ hostUser: { name, uid, groups, extra }, requested }: Forwarded): object {
  const { verb, resource, path } = requested
  const user = { user: name, ...(uid !== undefined && { uid }), groups, ...(extra && { extra }) }
  if (resource === undefined) return { ...user, nonResourceAttributes: { path, verb } }
  return { ...user, resourceAttributes: { verb, ...nameAware(requested, resource) } }
}
