/**
 * Well-known users, groups and extras, and what a user is worth in a space.
 *
 * An identity may belong to one space (ServiceAccounts) or be confined to some (impersonated by a space's administrator).
 * Elsewhere it is a stranger: only its groups below count there.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/
 */
import type { UserInfo } from './types.ts'

export const ANONYMOUS = 'system:anonymous'
export const GROUPS = {
  masters: 'system:masters',
  authenticated: 'system:authenticated',
  unauthenticated: 'system:unauthenticated',
  serviceAccounts: 'system:serviceaccounts',
} as const
export const EXTRAS = {
  credentialId: 'authentication.kubernetes.io/credential-id',
  podName: 'authentication.kubernetes.io/pod-name',
  podUid: 'authentication.kubernetes.io/pod-uid',
  nodeName: 'authentication.kubernetes.io/node-name',
  nodeUid: 'authentication.kubernetes.io/node-uid',
  /** The space of a ServiceAccount. */
  clusterName: 'authentication.kubernetes.io/cluster-name',
  /** Where the identity counts: every value must allow the space; a value is a comma-separated list of `cluster:<id>`. */
  scopes: 'authentication.kcp.io/scopes',
} as const

export interface ServiceAccountRef {
  namespace: string
  name: string
}

const SERVICE_ACCOUNT_PREFIX = 'system:serviceaccount:'
const RENEWAL_PREFIX = 'system:renewal:'
const BOOTSTRAP_PREFIX = 'system:bootstrap:'
const FOREIGN_PREFIX = 'system:cluster:'

export function serviceAccountUserName(ref: ServiceAccountRef): string {
  return `${SERVICE_ACCOUNT_PREFIX}${ref.namespace}:${ref.name}`
}

/** The reverse of {@link serviceAccountUserName}; `undefined` for other users. */
export function parseServiceAccountUserName(userName: string): ServiceAccountRef | undefined {
  if (!userName.startsWith(SERVICE_ACCOUNT_PREFIX)) return undefined
  const [namespace, name, ...rest] = userName.slice(SERVICE_ACCOUNT_PREFIX.length).split(':')
  return namespace && name && rest.length === 0 ? { namespace, name } : undefined
}

/** User of a credential whose only use is to request tokens of a ServiceAccount. */
export function renewalUserName(ref: ServiceAccountRef): string {
  return `${RENEWAL_PREFIX}${ref.namespace}:${ref.name}`
}

export function isRenewal({ name }: UserInfo): boolean {
  return name.startsWith(RENEWAL_PREFIX)
}

/** The holder of a credential that is good for claiming a syncer's, and for nothing else. */
export function bootstrapUserName(credential: string): string {
  return `${BOOTSTRAP_PREFIX}${credential}`
}

export function isBootstrap({ name }: UserInfo): boolean {
  return name.startsWith(BOOTSTRAP_PREFIX)
}

/** The account whose tokens the holder of a renewal credential may ask for. */
export function renews({ name }: UserInfo): ServiceAccountRef | undefined {
  return parseServiceAccountUserName(name.replace(RENEWAL_PREFIX, SERVICE_ACCOUNT_PREFIX))
}

/** The space that an {@link effectiveUser} is a ServiceAccount of, where that is another one. */
export function foreignHome({ groups }: UserInfo): string | undefined {
  return groups.find(group => group.startsWith(FOREIGN_PREFIX))?.slice(FOREIGN_PREFIX.length)
}

/** Groups of every token of a ServiceAccount, `system:authenticated` excluded. */
export function serviceAccountGroups(namespace: string): string[] {
  return [GROUPS.serviceAccounts, `${GROUPS.serviceAccounts}:${namespace}`]
}

/** Copy of the user with `system:authenticated` among its groups. */
export function authenticated(user: UserInfo): UserInfo {
  if (user.groups.includes(GROUPS.authenticated)) return user
  return { ...user, groups: [...user.groups, GROUPS.authenticated] }
}

/** User of a request without credentials, where those are allowed. */
export function anonymousUser(): UserInfo {
  return { name: ANONYMOUS, groups: [GROUPS.unauthenticated] }
}

/** Whether somebody has shown no credential. */
export function isStranger({ groups }: UserInfo): boolean {
  return groups.includes(GROUPS.unauthenticated)
}

/** Whether a path is open to requests without credentials: liveness and the version, as a fresh cluster has it. */
export function allowsAnonymous(path: string): boolean {
  return /^\/(livez|readyz|healthz|version\/?)$/.test(path)
}

/** The user as `space` (an id, or `*`) sees it: itself, or a stranger when its identity does not count there. */
export function effectiveUser(user: UserInfo, space: string): UserInfo {
  if (user.extra === undefined) return user
  const homes = user.extra[EXTRAS.clusterName]
  const foreign = homes?.find(home => home !== space)
  if (foreign !== undefined && (user.name.startsWith(SERVICE_ACCOUNT_PREFIX) || isRenewal(user))) {
    const groups = [GROUPS.authenticated, `${FOREIGN_PREFIX}${foreign}`]
    return { name: ANONYMOUS, groups }
  }
  if (!inScope(user.extra[EXTRAS.scopes], space)) return { name: ANONYMOUS, groups: [GROUPS.authenticated] }
  return user
}

/** Groups that the program itself gives a meaning outside of a space's own RBAC: none that a space may hand out. */
export function crossesSpaces(group: string): boolean {
  return group === GROUPS.masters || group.startsWith('system:kcp:') || group.startsWith(FOREIGN_PREFIX)
}

/** The value of {@link EXTRAS.scopes} that confines an identity to one space. */
export function scopeOf(space: string): string {
  return `cluster:${space}`
}

/** A ServiceAccount, judged by an {@link effectiveUser}: then it is one of the space in question. */
export function isServiceAccount(user: UserInfo): boolean {
  return user.groups.includes(GROUPS.serviceAccounts) && parseServiceAccountUserName(user.name) !== undefined
}

function inScope(scopes: readonly string[] | undefined, space: string): boolean {
  return scopes === undefined || scopes.every(scope => scope.split(',').includes(scopeOf(space)))
}
