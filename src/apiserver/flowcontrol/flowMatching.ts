/**
 * Which FlowSchema a request belongs to. The schemas are those of the root space, and so are the names in them. Identities of one space
 * only (ServiceAccounts, certificates and impersonations of its administrator) have names of that administrator's choice. Here each is just
 * an authenticated user, or a ServiceAccount.
 */
import type { UserInfo } from '../auth/types.ts'
import { EXTRAS, GROUPS, serviceAccountUserName } from '../auth/users.ts'
import type { RequestInfo } from '../request/requestInfo.ts'
import type { FlowRule, FlowSchemaSpec, ResourceRule, Subject, UrlRule } from './flowConfiguration.ts'

/** The group of syncers, as schemas name it. Nobody brings it along: the server itself says who is one. */
export const SYNCERS = 'system:orrery:syncers'
/** The aggregation layer of a host cluster, whose requests for discovery wait for no seat. */
export const HOST_PROBES = 'system:orrery:host-probes'

/** Groups that say how somebody came in, and nothing about what an administrator of a space thinks of them. */
const ANYWHERE: ReadonlySet<string> = new Set([GROUPS.authenticated, GROUPS.unauthenticated, GROUPS.serviceAccounts])

interface Identity {
  readonly name: string
  readonly groups: readonly string[]
}

/** Identity of a user in the schemas of `root`. */
export function identityOf({ name, groups, extra }: UserInfo, root: string, isSyncer: boolean): Identity {
  const homes = extra?.[EXTRAS.clusterName]
  const confined = extra?.[EXTRAS.scopes] !== undefined || homes?.some(home => home !== root) === true
  const counting = groups.filter(group => group !== SYNCERS && (!confined || ANYWHERE.has(group)))
  return { name: confined ? '' : name, groups: isSyncer ? [...counting, SYNCERS] : counting }
}

/** In the order in which schemas are tried. */
export function inOrder<T extends Pick<FlowSchemaSpec, 'name' | 'precedence'>>(schemas: readonly T[]): T[] {
  return [...schemas].sort((a, b) => a.precedence - b.precedence || (a.name < b.name ? -1 : 1))
}

/** The rules of a schema that are about somebody. */
export function rulesFor({ rules }: FlowSchemaSpec, identity: Identity): FlowRule[] {
  return rules.filter(rule => rule.subjects.some(subject => isSubject(subject, identity)))
}

function isSubject(subject: Subject, { name, groups }: Identity): boolean {
  if (subject.kind !== 'ServiceAccount') {
    if (subject.kind === 'Group') return subject.name === '*' || groups.includes(subject.name)
    return name !== '' && (subject.name === '*' || subject.name === name)
  }
  if (subject.name === '*') return name.startsWith(serviceAccountUserName({ ...subject, name: '' }))
  return name === serviceAccountUserName(subject)
}

/** Whether one of the rules covers a request. Runs for each: it reads, and makes nothing but the name of a sub-resource. */
export function covers(rules: readonly FlowRule[], info: RequestInfo): boolean {
  for (const { resourceRules, urlRules } of rules) {
    if (info.stream || info.resource !== undefined) {
      for (const rule of resourceRules) if (coversResource(rule, info)) return true
    } else for (const rule of urlRules) if (coversUrl(rule, info)) return true
  }
  return false
}

function coversResource(rule: ResourceRule, { verb, resource, stream }: RequestInfo): boolean {
  // A space stream is a watch of everything.
  if (stream || resource === undefined) {
    return has(rule.verbs, 'watch') && has(rule.groups, '*') && has(rule.resources, '*') && rule.clusterScope
  }
  if (!has(rule.verbs, verb) || !has(rule.groups, resource.group)) return false
  if (!(resource.namespace === '' ? rule.clusterScope : has(rule.namespaces, resource.namespace))) return false
  if (rule.resources.includes('*')) return true
  const { resource: kind, subresource } = resource
  return rule.resources.includes(subresource === '' ? kind : `${kind}/${subresource}`)
}

function coversUrl({ verbs, urls }: UrlRule, { verb, path }: RequestInfo): boolean {
  if (!has(verbs, verb)) return false
  return urls.some(url => url === '*' || url === path || (url.endsWith('/*') && path.startsWith(url.slice(0, -1))))
}

const has = (list: readonly string[], value: string): boolean => list.includes('*') || list.includes(value)
