/**
 * Bearer tokens of a host's users, by TokenReview, for clients that come past its front proxy. A good token is remembered for ten seconds,
 * by its hash. A host that gives no answer allows nothing.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#webhook-token-authentication
 */
import type { GroupVersionResource } from '../../apimachinery/object.ts'
import { type Soon, whenKnown } from '../../apimachinery/soon.ts'
import { steadyMs } from '../../client/clock.ts'
import { type HostIdentity, unproven } from '../access/forwarded.ts'
import type { Authentication, Authenticator, Credentials, UserInfo } from '../auth/types.ts'
import { UnionAuthenticator } from '../auth/union.ts'
import type { Logger } from '../request/logger.ts'
import { type HostReviewDeps, hostReview, unanswered } from './hostReview.ts'
import { HostUsers } from './hostUsers.ts'

const REVIEWS: GroupVersionResource = { group: 'authentication.k8s.io', version: 'v1', resource: 'tokenreviews' }

/** Reviews under way at most. Strangers make them, and most connections to the host are for reviews of those whom it knows. */
export const REVIEWS_AT_ONCE = 16

export interface HostTokensDeps extends HostReviewDeps {
  userPrefix: string
  log: Pick<Logger, 'warn'>
}

export class HostTokens {
  readonly #known: UnionAuthenticator
  readonly #users: HostUsers

  constructor(deps: HostTokensDeps) {
    const { userPrefix, clock } = deps
    this.#users = new HostUsers(userPrefix)
    this.#known = new UnionAuthenticator({
      authenticators: [new HostReviews(deps)],
      clock: () => steadyMs(clock),
      now: () => clock.now(),
    })
  }

  /** @throws StatusError Unauthorized; ServiceUnavailable where the host gives no answer */
  identify(token: string): Soon<HostIdentity> {
    return whenKnown(this.#known.authenticate({ token }), found => {
      if (found === undefined) throw unproven()
      return this.#users.of(found.user)
    })
  }
}

/** Asks the host each time. */
class HostReviews implements Authenticator {
  readonly #deps: HostTokensDeps
  #underWay = 0
  /** Why the latest review failed; `undefined`: it did not. */
  #failure: string | undefined

  constructor(deps: HostTokensDeps) {
    this.#deps = deps
  }

  async authenticate({ token = '' }: Credentials): Promise<Authentication> {
    if (this.#underWay >= REVIEWS_AT_ONCE)
      throw unanswered('too many tokens wait for the host cluster, so no token counts')
    this.#underWay++
    try {
      const user = userIn(await this.#ask(token))
      if (user === undefined) throw unproven()
      return { user }
    } finally {
      this.#underWay--
    }
  }

  async #ask(token: string): Promise<Readonly<Record<string, unknown>>> {
    const status = await hostReview(this.#deps, REVIEWS, { kind: 'TokenReview', spec: { token } }, (why, error) => {
      this.#note(why)
      // strangers read this: it names nothing of the host
      return unanswered('the host cluster answers no TokenReview, so no token counts', error)
    })
    this.#failure = undefined
    return status
  }

  #note(why: string): void {
    if (this.#failure === why) return
    this.#failure = why
    this.#deps.log.warn({ err: why }, 'the host answers no TokenReview: bearer tokens at the port for it are refused')
  }
}

/** `undefined`: the host knows nobody by the token. */
function userIn({ authenticated, user }: Readonly<Record<string, unknown>>): UserInfo | undefined {
  const { username, uid, groups, extra } = (user ?? {}) as Record<string, unknown>
  if (authenticated !== true || typeof username !== 'string' || username === '') return undefined
  const more = Object.entries((extra ?? {}) as object).map(([key, values]) => [key, texts(values)] as const)
  return {
    name: username,
    ...(typeof uid === 'string' && uid !== '' && { uid }),
    groups: texts(groups),
    ...(more.length > 0 && { extra: Object.fromEntries(more) }),
  }
}

function texts(values: unknown): string[] {
  return Array.isArray(values) ? values.filter(value => typeof value === 'string') : []
}
