/** A request of a user of a host cluster, and the request as the host saw it. Its front proxy names the user, or a token of the host. */

import { StatusError } from '../../apimachinery/errors.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import type { Decision, UserInfo } from '../auth/types.ts'
import type { RequestInfo } from '../request/requestInfo.ts'

export interface HostIdentity {
  /** In this server. The same object for the same user, as long as somebody remembers it. */
  readonly user: UserInfo
  /** In the host. */
  readonly hostUser: UserInfo
}

export interface Forwarded extends HostIdentity {
  /** As the host judges it. */
  readonly requested: RequestInfo
  /** The certificate of the front proxy, or a token, is good until then, in milliseconds since the epoch. */
  readonly provenUntilMs: number
  /**
   * `documents`: discovery, OpenAPI and probes, which are no secret of a space.
   * `spaces`: the list of spaces, which shows each user their own.
   * `space`: everything else, in a space with rights of its own.
   */
  readonly target: 'documents' | 'spaces' | 'space'
}

/** A request without a front proxy that names its user by a token. */
export interface HostToken extends Pick<Forwarded, 'requested' | 'target'> {
  readonly token: string
}

/** The proof of a front proxy is missing, on an address where nobody else is answered; a token may be there. */
export const UNPROVEN = 'unproven'

export function unproven(): StatusError {
  return new StatusError(
    'Unauthorized',
    'this address answers the front proxy and tokens of the host cluster alone: use the address of the host, or the ordinary one here',
  )
}

/** The host's say about forwarded requests. */
export interface HostRules {
  /** @throws StatusError Unauthorized; ServiceUnavailable, where the host gives no answer */
  identify(token: string): Soon<HostIdentity>
  /** @throws StatusError ServiceUnavailable, where the host gives no answer */
  decide(forwarded: Forwarded): Soon<Decision>
}
