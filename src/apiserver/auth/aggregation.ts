/**
 * Aggregated ClusterRoles: their rules are the union of the rules of the ClusterRoles that their selectors match.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import { roleSelectors } from '../../apimachinery/roleSelectors.ts'
import { type PolicyRule, rulesOf } from './rbacRules.ts'

export function hasAggregationRule(role: KubeObject | undefined): boolean {
  return roleSelectors(role).length > 0
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
    const selectors = roleSelectors(from)
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
