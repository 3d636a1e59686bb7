/**
 * The host's say about forwarded requests, by SubjectAccessReview: remembered for ten seconds, allowed or not. A host that gives
 * no answer allows nothing.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/webhook/
 */
import { hash } from 'node:crypto'
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import type { GroupVersionResource } from '../../apimachinery/object.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import { steadyMs } from '../../client/clock.ts'
import type { Forwarded, HostRules } from '../access/forwarded.ts'
import type { Decision } from '../auth/types.ts'
import { nameAware } from '../request/requestInfo.ts'
import { type HostReviewDeps, hostReview, unanswered } from './hostReview.ts'

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

interface Entry {
  answer: Soon<Decision>
  expiresMs: number
}

export class HostAuthorizer implements Pick<HostRules, 'decide'> {
  readonly #deps: HostReviewDeps
  readonly #entries = new BoundedCache<string, Entry>(REMEMBERED_REVIEWS)

  constructor(deps: HostReviewDeps) {
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
    const status = await hostReview(this.#deps, REVIEWS, { kind: 'SubjectAccessReview', spec }, (why, error) =>
      unanswered(`the host cluster answers no SubjectAccessReview, so nothing is allowed: ${why}`, error),
    )
    const { allowed, denied, reason } = status
    return { allowed: allowed === true && denied !== true, reason: typeof reason === 'string' ? reason : '' }
  }
}

function specOf({ hostUser: { name, uid, groups, extra }, requested }: Forwarded): object {
  const { verb, resource, path } = requested
  const user = { user: name, ...(uid !== undefined && { uid }), groups, ...(extra && { extra }) }
  if (resource === undefined) return { ...user, nonResourceAttributes: { path, verb } }
  return { ...user, resourceAttributes: { verb, ...nameAware(requested, resource) } }
}
