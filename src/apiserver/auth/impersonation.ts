/**
 * Acting as somebody else: `Impersonate-User`, `-Group`, `-Uid` and `-Extra-<key>` headers, each part of which the real user
 * must be allowed to take on.
 *
 * Administration ends at the border of a space. Users outside of system:masters may therefore not take on groups that mean something across
 * spaces, and the resulting identity counts in this space only.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
 */
import { statusError } from '../../apimachinery/errors.ts'
import type { Soon } from '../../apimachinery/soon.ts'
import { forbidden } from './forbidden.ts'
import { utf8 } from './headerText.ts'
import type { Attributes, Decision, UserInfo } from './types.ts'
import {
  ANONYMOUS,
  crossesSpaces,
  EXTRAS,
  effectiveUser,
  GROUPS,
  parseServiceAccountUserName,
  serviceAccountGroups,
} from './users.ts'

/** Lower-case names; give repeated headers as arrays (`IncomingMessage.headersDistinct`), for group names may hold commas. */
type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

interface ImpersonationContext {
  /** Logical-cluster id, or `*`. */
  space: string
  authorize(attributes: Attributes): Soon<Decision>
}

interface Wanted {
  name: string
  uid: string | undefined
  groups: string[]
  extra: Record<string, string[]>
}

const PREFIX = 'impersonate-'
const EXTRA_PREFIX = 'impersonate-extra-'

/**
 * The user to act as; `undefined` when the request does not ask for impersonation.
 * @throws StatusError Forbidden naming the first part that `user` may not take on. BadRequest for parts without a user name (upstream
 *   answers 500, although the mistake is the client's).
 */
export async function impersonate(
  user: UserInfo,
  headers: RequestHeaders,
  context: ImpersonationContext,
): Promise<UserInfo | undefined> {
  const wanted = readHeaders(headers)
  if (wanted === undefined) return undefined
  const isMaster = effectiveUser(user, context.space).groups.includes(GROUPS.masters)
  for (const resource of partsOf(wanted)) {
    const attributes: Attributes = { user, space: context.space, verb: 'impersonate', resource, path: '' }
    if (
      !isMaster &&
      resource.resource === 'groups' &&
      crossesSpaces(resource.name) &&
      !user.groups.includes(resource.name)
    ) {
      throw forbidden(attributes, 'the group reaches beyond this space')
    }
    const decision = await context.authorize(attributes)
    if (!decision.allowed) throw forbidden(attributes, decision.reason)
  }
  const unconfined = isMaster && user.extra?.[EXTRAS.scopes] === undefined
  const extra = unconfined ? wanted.extra : confined(user, wanted.extra, context.space)
  return {
    name: wanted.name,
    ...(wanted.uid !== undefined && { uid: wanted.uid }),
    groups: effectiveGroups(wanted),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}

function readHeaders(headers: RequestHeaders): Wanted | undefined {
  const values = (name: string): string[] => {
    const value = headers[name]
    return [value ?? []].flat().map(utf8)
  }
  const extra: Record<string, string[]> = {}
  for (const name of Object.keys(headers)) {
    if (name.startsWith(EXTRA_PREFIX)) extra[decodeKey(name.slice(EXTRA_PREFIX.length))] = values(name)
  }
  const name = values(`${PREFIX}user`)[0] ?? ''
  const wanted = { name, uid: values(`${PREFIX}uid`)[0], groups: values(`${PREFIX}group`), extra }
  if (name !== '') return wanted
  const parts = partsOf(wanted).map(part => `${part.resource} ${JSON.stringify(part.name)}`)
  if (parts.length === 0) return undefined
  throw statusError.badRequest(`requested [${parts.join(', ')}] without impersonating a user`)
}

function partsOf(wanted: Wanted): NonNullable<Attributes['resource']>[] {
  const part = (group: string, resource: string, name: string, subresource = '') => ({
    group,
    version: 'v1',
    resource,
    subresource,
    namespace: '',
    name,
  })
  const serviceAccount = parseServiceAccountUserName(wanted.name)
  const parts = []
  if (serviceAccount) {
    parts.push({ ...part('', 'serviceaccounts', serviceAccount.name), namespace: serviceAccount.namespace })
  } else if (wanted.name !== '') parts.push(part('', 'users', wanted.name))
  for (const group of wanted.groups) parts.push(part('', 'groups', group))
  for (const [key, values] of Object.entries(wanted.extra)) {
    for (const value of values) parts.push(part('authentication.k8s.io', 'userextras', value, key))
  }
  if (wanted.uid !== undefined) parts.push(part('authentication.k8s.io', 'uids', wanted.uid))
  return parts
}

function effectiveGroups(wanted: Wanted): string[] {
  const { name, groups } = wanted
  if (name === ANONYMOUS) {
    return groups.includes(GROUPS.unauthenticated) ? groups : [...groups, GROUPS.unauthenticated]
  }
  const serviceAccount = parseServiceAccountUserName(name)
  const all = groups.length === 0 && serviceAccount ? serviceAccountGroups(serviceAccount.namespace) : [...groups]
  if (!all.includes(GROUPS.authenticated) && !all.includes(GROUPS.unauthenticated)) all.push(GROUPS.authenticated)
  return all
}

function confined(user: UserInfo, extra: Record<string, string[]>, space: string): Record<string, string[]> {
  const scopes = [...(user.extra?.[EXTRAS.scopes] ?? []), ...(extra[EXTRAS.scopes] ?? []), `cluster:${space}`]
  return { ...extra, [EXTRAS.scopes]: [...new Set(scopes)] }
}

/** Extra keys are percent-encoded, because header names cannot hold `/`. */
function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key).toLowerCase()
  } catch {
    return key
  }
}
