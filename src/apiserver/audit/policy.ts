/**
 * Which requests are recorded, and how much of them: the first rule that matches decides, and without one nothing is recorded.
 * @see https://kubernetes.io/docs/reference/config-api/apiserver-audit.v1/
 */
import { checkerOf } from '../../apimachinery/ownDocuments.ts'
import type { UserInfo } from '../auth/types.ts'
import type { RequestInfo } from '../request/requestInfo.ts'
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
  resources: readonly Required<ResourceRule>[]
  namespaces: readonly string[]
  nonResourceURLs: readonly string[]
}

interface ResourceRule {
  group?: string
  resources?: readonly string[]
  resourceNames?: readonly string[]
}

type PolicyRule = Partial<Omit<Rule, 'level' | 'omitStages' | 'resources'>> & {
  level: AuditLevel
  omitStages?: readonly AuditStage[]
  resources?: readonly ResourceRule[]
}

interface PolicyDocument {
  omitStages?: readonly AuditStage[]
  omitManagedFields?: boolean
  rules: readonly PolicyRule[]
}

const NOTHING: AuditDecision = { level: 'None', omitStages: new Set(), omitManagedFields: false }

const TEXTS = { type: 'array', items: { type: 'string' } }
const COMMON = { omitStages: { type: 'array', items: { enum: AUDIT_STAGES } }, omitManagedFields: { type: 'boolean' } }
const URL_PATTERN = {
  type: 'string',
  pattern: '^(\\*|/[^*]*\\*?)$',
  $comment: 'must start with / and may have one * at its end',
}
const RESOURCE_RULE = {
  type: 'object',
  properties: { group: { type: 'string' }, resources: TEXTS, resourceNames: TEXTS },
  additionalProperties: false,
}
const RULE = {
  type: 'object',
  properties: {
    level: { enum: AUDIT_LEVELS },
    users: TEXTS,
    userGroups: TEXTS,
    verbs: TEXTS,
    resources: { type: 'array', items: RESOURCE_RULE },
    namespaces: TEXTS,
    nonResourceURLs: { type: 'array', items: URL_PATTERN },
    ...COMMON,
  },
  required: ['level'],
  additionalProperties: false,
}
const POLICY = {
  type: 'object',
  properties: {
    apiVersion: { const: 'audit.k8s.io/v1' },
    kind: { const: 'Policy' },
    metadata: { type: 'object' },
    rules: { type: 'array', items: RULE, minItems: 1 },
    ...COMMON,
  },
  required: ['apiVersion', 'kind', 'rules'],
  additionalProperties: false,
}
const checked = checkerOf<PolicyDocument>(POLICY, 'the audit policy')

/** `document` is a parsed `audit.k8s.io/v1` Policy. @throws Error naming the field that is wrong */
export function auditPolicy(document: unknown): AuditPolicy {
  const { rules, omitStages = [], omitManagedFields = false } = checked(document)
  const found = rules.map((rule, i) =>
    ruleOf(rule, `rules[${i}]`, { omitStages: new Set(omitStages), omitManagedFields }),
  )
  return { decide: (info, user) => found.find(rule => matches(rule, info, user)) ?? NOTHING }
}

function ruleOf(rule: PolicyRule, path: string, common: Pick<AuditDecision, 'omitStages' | 'omitManagedFields'>): Rule {
  const { resources = [], namespaces = [], nonResourceURLs = [] } = rule
  for (const [i, { resources: of = [], resourceNames = [] }] of resources.entries()) {
    if (resourceNames.length > 0 && of.length === 0)
      throw new Error(`${path}.resources[${i}].resourceNames needs resources`)
  }
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0)) {
    throw new Error(`${path}: a rule cannot be about both resources and nonResourceURLs`)
  }
  return {
    level: rule.level,
    omitStages: new Set([...common.omitStages, ...(rule.omitStages ?? [])]),
    omitManagedFields: rule.omitManagedFields ?? common.omitManagedFields,
    users: rule.users ?? [],
    userGroups: rule.userGroups ?? [],
    verbs: rule.verbs ?? [],
    resources: resources.map(each => ({ group: '', resources: [], resourceNames: [], ...each })),
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
