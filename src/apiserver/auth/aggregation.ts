/**
 * Aggregated ClusterRoles: their rules are the union of the rules of the ClusterRoles that their selectors match.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { type LabelSelector, type LabelSelectorObject, labelSelectorFromObject } from '../../apimachinery/selectors.ts'
import { type PolicyRule, rulesOf } from './rbacRules.ts'

export function hasAggregationRule(role: KubeObject | undefined): boolean {
  return selectorObjects(role).length > 0
}

/**
 * The rules of `role` among all ClusterRoles of its space: its own for a plain role; for an aggregated one those of all plain
 * roles that it reaches, each rule once, roles by name. Cycles are harmless.
 */
export function aggregatedRules(role: KubeObject, all: Iterable<KubeObject>): PolicyRule[] {
  if (!hasAggregationRule(role)) return rulesOf(role)
  const others = [...all].sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  const seen = new Set([role.metadata.name])
  const rules = new Map<string, PolicyRule>()
  const gather = (from: KubeObject): void => {
    const selectors = selectorsOf(from)
    for (const other of others) {
      if (seen.has(other.metadata.name) || !selectors.some(s => s.matches(other.metadata.labels))) continue
      seen.add(other.metadata.name)
      if (hasAggregationRule(other)) gather(other)
      else for (const rule of rulesOf(other)) rules.set(JSON.stringify(rule), rule)
    }
  }
  gather(role)
  return [...rules.values()]
}

function selectorObjects(role: KubeObject | undefined): LabelSelectorObject[] {
  const aggregation = role?.aggregationRule
  const selectors = isRecord(aggregation) ? aggregation.clusterRoleSelectors : undefined
  return Array.isArray(selectors) ? selectors.filter(isRecord) : []
}

/** A malformed selector selects nothing: one bad role must not take the space's other roles down with it. */
function selectorsOf(role: KubeObject): LabelSelector[] {
  return selectorObjects(role).map(selector => {
    try {
      return labelSelectorFromObject(selector)
    } catch (error) {
      if (isStatusError(error)) return labelSelectorFromObject(undefined)
      throw error
    }
  })
}
