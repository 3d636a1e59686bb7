/**
 * Which requests are recorded, and how much of them: the first rule that matches decides, and without one nothing is recorded.
 * @see https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
 */
import { isRecord } from '../../apimachinery/object.ts'
import type { UserInfo } from '../auth/types.ts'
import type { RequestInfo } from '../server/requestInfo.ts'
import { AUDIT_LEVELS, AUDIT_STAGES, type AuditLevel, type AuditStage } from './auditEvent.ts'

export interface AuditDecision {
  level: AuditLevel
  omitStages: ReadonlySet<AuditStage>
  omitManagedFields: boolean
}

export interface AuditPolicy {
  /** `user` is absent for a request that could not be authenticated. */
  decide(info: RequestInfo, user: UserInfo | undefined): AuditDecision
}

interface Rule extends AuditDecision {
  users: readonly string[]
  userGroups: readonly string[]
  verbs: readonly string[]
  resources: readonly { group: string; resources: readonly string[]; resourceNames: readonly string[] }[]
  namespaces: readonly string[]
  nonResourceURLs: readonly string[]
}

const NOTHING: AuditDecision = { level: 'None', omitStages: new Set(), omitManagedFields: false }
const POLICY_FIELDS = ['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields']
const RULE_FIELDS = [
  'level',
  'users',
  'userGroups',
  'verbs',
  'resources',
  'namespaces',
  'nonResourceURLs',
  'omitStages',
  'omitManagedFields',
]

/** `document` is a parsed `audit.k8s.io/v1` Policy. @throws Error naming the field that is wrong */
export function auditPolicy(document: unknown): AuditPolicy {
  const policy = record(document, 'the audit policy')
  if (policy.apiVersion !== 'audit.k8s.io/v1' || policy.kind !== 'Policy') {
    throw new Error('the audit policy must be of kind Policy and apiVersion audit.k8s.io/v1')
  }
  onlyFields(policy, POLICY_FIELDS, 'the audit policy')
  const common = {
    omitStages: stages(policy.omitStages, 'omitStages'),
    omitManagedFields: flag(policy.omitManagedFields, 'omitManagedFields') ?? false,
  }
  if (!Array.isArray(policy.rules) || policy.rules.length === 0) throw new Error('the audit policy has no rules')
  const rules = policy.rules.map((rule: unknown, i) => ruleOf(rule, `rules[${i}]`, common))
  return { decide: (info, user) => rules.find(rule => matches(rule, info, user)) ?? NOTHING }
}

function ruleOf(raw: unknown, path: string, common: Pick<AuditDecision, 'omitStages' | 'omitManagedFields'>): Rule {
  const rule = record(raw, path)
  onlyFields(rule, RULE_FIELDS, path)
  const { level } = rule
  if (!AUDIT_LEVELS.includes(level as AuditLevel)) {
    throw new Error(`${path}.level: ${JSON.stringify(level)} is not one of ${AUDIT_LEVELS.join(', ')}`)
  }
  const nonResourceURLs = strings(rule.nonResourceURLs, `${path}.nonResourceURLs`)
  const namespaces = strings(rule.namespaces, `${path}.namespaces`)
  const resources = list(rule.resources, `${path}.resources`).map((item, i) => {
    const at = `${path}.resources[${i}]`
    const { group = '', ...names } = record(item, at)
    if (typeof group !== 'string') throw new Error(`${at}.group must be a text`)
    onlyFields(names, ['resources', 'resourceNames'], at)
    const resourceNames = strings(names.resourceNames, `${at}.resourceNames`)
    const of = strings(names.resources, `${at}.resources`)
    if (resourceNames.length > 0 && of.length === 0) throw new Error(`${at}.resourceNames needs resources`)
    return { group, resources: of, resourceNames }
  })
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    throw new Error(`${path}: a rule cannot be about both resources and nonResourceURLs`)
  }
  for (const url of nonResourceURLs) {
    const star = url.indexOf('*')
    if (url !== '*' && (!url.startsWith('/') || (star >= 0 && star !== url.length - 1))) {
      throw new Error(`${path}.nonResourceURLs: ${JSON.stringify(url)} must start with / and may have one * at its end`)
    }
  }
  return {
    level: level as AuditLevel,
    omitStages: new Set([...common.omitStages, ...stages(rule.omitStages, `${path}.omitStages`)]),
    omitManagedFields: flag(rule.omitManagedFields, `${path}.omitManagedFields`) ?? common.omitManagedFields,
    users: strings(rule.users, `${path}.users`),
    userGroups: strings(rule.userGroups, `${path}.userGroups`),
    verbs: strings(rule.verbs, `${path}.verbs`),
    resources,
    namespaces,
    nonResourceURLs,
  }
}

function matches(rule: Rule, { verb, resource, path }: RequestInfo, user: UserInfo | undefined): boolean {
  if (rule.users.length > 0 && !rule.users.includes(user?.name ?? '')) return false
  if (rule.userGroups.length > 0 && !user?.groups.some(group => rule.userGroups.includes(group))) return false
  if (rule.verbs.length > 0 && !rule.verbs.includes(verb)) return false
  if (rule.nonResourceURLs.length > 0) {
    return resource === undefined && rule.nonResourceURLs.some(url => urlMatches(url, path))
  }
  if (rule.namespaces.length === 0 && rule.resources.length === 0) return true
  if (resource === undefined) return false
  if (rule.namespaces.length > 0 && !rule.namespaces.includes(resource.namespace)) return false
  return rule.resources.length === 0 || rule.resources.some(wanted => resourceMatches(wanted, resource))
}

function resourceMatches(
  wanted: Rule['resources'][number],
  { group, resource, subresource, name }: NonNullable<RequestInfo['resource']>,
): boolean {
  if (wanted.group !== group) return false
  if (wanted.resources.length === 0) return true
  if (wanted.resourceNames.length > 0 && !wanted.resourceNames.includes(name)) return false
  const combined = subresource === '' ? resource : `${resource}/${subresource}`
  return wanted.resources.some(
    pattern =>
      pattern === '*' ||
      pattern === combined ||
      (subresource !== '' && pattern === `*/${subresource}`) ||
      pattern === `${resource}/*`,
  )
}

function urlMatches(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path
}

function record(value: unknown, path: string): Record<string, unknown> {
  if (isRecord(value)) return value
  throw new Error(`${path} must be a mapping`)
}

function onlyFields(object: Record<string, unknown>, known: readonly string[], path: string): void {
  const odd = Object.keys(object).find(field => !known.includes(field))
  if (odd !== undefined) throw new Error(`${path}: unknown field ${JSON.stringify(odd)}`)
}

function list(value: unknown, path: string): unknown[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value
  throw new Error(`${path} must be a list`)
}

function strings(value: unknown, path: string): string[] {
  const items = list(value, path)
  if (items.every(item => typeof item === 'string')) return items
  throw new Error(`${path} must be a list of texts`)
}

function stages(value: unknown, path: string): Set<AuditStage> {
  for (const stage of strings(value, path)) {
    if (!AUDIT_STAGES.includes(stage as AuditStage)) {
      throw new Error(`${path}: ${JSON.stringify(stage)} is not one of ${AUDIT_STAGES.join(', ')}`)
    }
  }
  return new Set(strings(value, path) as AuditStage[])
}

function flag(value: unknown, path: string): boolean | undefined {
  if (value === undefined || value === null || typeof value === 'boolean') return value ?? undefined
  throw new Error(`${path} must be true or false`)
}
