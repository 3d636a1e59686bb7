/**
 * One RBAC rule: what it allows, and whether it covers another.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/
 */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { Attributes } from './types.ts'

export const RBAC_GROUP = 'rbac.authorization.k8s.io'

export interface PolicyRule {
  verbs: readonly string[]
  apiGroups?: readonly string[]
  resources?: readonly string[]
  resourceNames?: readonly string[]
  nonResourceURLs?: readonly string[]
}

/** The rules of a Role or ClusterRole; members that are not lists of strings count as absent. */
export function rulesOf(role: KubeObject): PolicyRule[] {
  return Array.isArray(role.rules) ? role.rules.filter(isRecord).map(toRule) : []
}

export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  return ruleConcerns(rule, attributes) && (!isForNames(rule, attributes) || hasName(rule, attributes))
}

/** Whether it allows that for some name. */
export function ruleConcerns(rule: PolicyRule, { verb, resource, path }: Attributes): boolean {
  if (!hasOrAll(rule.verbs, verb)) return false
  if (resource === undefined) return (rule.nonResourceURLs ?? []).some(url => urlMatches(url, path))
  return (
    hasOrAll(rule.apiGroups, resource.group) && resourceMatches(rule.resources, resource.resource, resource.subresource)
  )
}

/** Whether what it allows depends on the name of the object. */
export function isForNames({ resourceNames }: PolicyRule, { resource }: Attributes): boolean {
  return resource !== undefined && resourceNames !== undefined && resourceNames.length > 0
}

function hasName({ resourceNames }: PolicyRule, { resource }: Attributes): boolean {
  return resource !== undefined && resourceNames?.includes(resource.name) === true
}

/** Whether everything that `rule` allows, `owner` allows too. Exact for a rule with one group, resource and verb. */
export function ruleCovers(owner: PolicyRule, rule: PolicyRule): boolean {
  const names = rule.resourceNames ?? []
  return (
    rule.verbs.every(verb => hasOrAll(owner.verbs, verb)) &&
    (rule.apiGroups ?? []).every(group => hasOrAll(owner.apiGroups, group)) &&
    (rule.resources ?? []).every(path => resourceCovers(owner.resources, path)) &&
    (rule.nonResourceURLs ?? []).every(url => (owner.nonResourceURLs ?? []).some(own => urlMatches(own, url))) &&
    (!owner.resourceNames?.length ||
      (names.length > 0 && names.every(name => owner.resourceNames?.includes(name) === true)))
  )
}

function toRule(raw: Record<string, unknown>): PolicyRule {
  const rule: { -readonly [Field in keyof PolicyRule]: PolicyRule[Field] } = { verbs: strings(raw.verbs) ?? [] }
  for (const field of ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const) {
    const values = strings(raw[field])
    if (values !== undefined) rule[field] = values
  }
  return rule
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every(v => typeof v === 'string') ? value : undefined
}

function hasOrAll(list: readonly string[] | undefined, value: string): boolean {
  return list !== undefined && (list.includes(value) || list.includes('*'))
}

function resourceMatches(list: readonly string[] | undefined, resource: string, subresource: string): boolean {
  if (list === undefined) return false
  if (subresource === '') return hasOrAll(list, resource)
  return hasOrAll(list, `${resource}/${subresource}`) || list.includes(`*/${subresource}`)
}

function resourceCovers(list: readonly string[] | undefined, path: string): boolean {
  const slash = path.indexOf('/')
  return hasOrAll(list, path) || (slash >= 0 && list?.includes(`*${path.slice(slash)}`) === true)
}

/** Also tells whether `pattern` covers another pattern, given as `path`. */
function urlMatches(pattern: string, path: string): boolean {
  if (pattern === '*' || pattern === path) return true
  return pattern.endsWith('*') && path.startsWith(withoutStars(pattern))
}

/** Without those at its end. No regular expression: where stars end within, it would look at them again from each. */
function withoutStars(pattern: string): string {
  let end = pattern.length
  while (end > 0 && pattern[end - 1] === '*') end--
  return pattern.slice(0, end)
}
