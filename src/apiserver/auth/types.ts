/** Users, requests and decisions: the contracts between access control, authenticators and authorizers. */
import type { X509Certificate } from 'node:crypto'
import type { Soon } from '../../apimachinery/soon.ts'

export interface UserInfo {
  name: string
  uid?: string
  groups: readonly string[]
  extra?: Readonly<Record<string, readonly string[]>>
}

export interface Credentials {
  /** The client's certificate, already verified against our client CA. */
  certificate?: X509Certificate
  /** The bearer token, without `Bearer `. */
  token?: string
  /** Audiences of which the token must name one. Default: the API server's own. */
  audiences?: readonly string[]
}

export interface Authentication {
  user: UserInfo
  /** The space that the credential belongs to, when it implies one (ServiceAccount tokens). */
  space?: string
  audiences?: readonly string[]
  /** The moment from which the credential is refused for its age, in milliseconds since the epoch. Absent: none is known. */
  untilMs?: number
}

/** The reason why something stays open, which can be judged again while it is. */
export interface Permission {
  /** Logical-cluster id of what is read, or `*`. */
  readonly space: string
  /** As it was when it was last judged. */
  readonly identity: Authentication
  /**
   * Judges again whether the request would still be let in; `anew`: also the credential.
   * @throws StatusError Unauthorized, Forbidden
   */
  judge(anew: boolean): Soon<void>
}

export interface Authenticator {
  /** `undefined`: no credential that this authenticator knows. @throws StatusError Unauthorized for a bad one */
  authenticate(credentials: Credentials): Soon<Authentication | undefined>
}

/** One question to an authorizer. @see https://kubernetes.io/docs/reference/access-authn-authz/authorization/ */
export interface Attributes {
  user: UserInfo
  /** Logical-cluster id, or `*`. */
  space: string
  verb: string
  /** Resource requests only; `undefined` for non-resource paths. */
  resource?: { group: string; version: string; resource: string; subresource: string; namespace: string; name: string }
  /** Path without the space prefix; for non-resource requests. */
  path: string
  /** Public rights on the root's Workspaces do not count: see workspaceSight.ts. */
  ownOnly?: true
}

export interface Decision {
  allowed: boolean
  /** Why; shown to the user when denied, logged when allowed. */
  reason: string
}

/** Rules of the server itself, evaluated before the roles of a space. */
export interface BuiltinRules {
  /**
   * A verdict that no role changes; `undefined`: the roles decide. The user is as the space sees it. Any right implies the right to enter.
   */
  decide(attributes: Attributes): Soon<Decision | undefined>
}

export interface Authorizer {
  authorize(attributes: Attributes): Soon<Decision>
}
