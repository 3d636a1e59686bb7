/**
 * Aggregated ClusterRoles: their rules are the union of the rules of the ClusterRoles that their selectors match.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/#aggregated-clusterroles
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import { hasRoleSelectors, roleSelectors } from '../../apimachinery/roleSelectors.ts'
import type { LabelSelector } from '../../apimachinery/selectors.ts'
import type { Steps } from '../../apimachinery/steps.ts'
import { READ, WorkBudget } from '../../apimachinery/workBudget.ts'
import { type PolicyRule, rulesOf } from './rbacRules.ts'

export function hasAggregationRule(role: KubeObject | undefined): boolean {
  return hasRoleSelectors(role)
}

/**
 * Selectors held against roles, and rules gathered, for all aggregated roles of a space: those of 10,000 roles are gathered
 * several times over.
 */
export const MOST_WORK = 2_000_000

/** Budget for gathering the rules of one space's roles. */
export function aggregationBudget(): WorkBudget {
  return new WorkBudget(MOST_WORK, () => new Error('too many rules are to be gathered'))
}

/**
 * The rules of `role` among all ClusterRoles of its space. A plain role has its own; an aggregated one has those of all plain roles that it
 * reaches, each rule once, roles by name. Cycles are harmless. Where the budget ends, so does what is gathered: a role never grants more
 * than its parts. Yields where others may have their turn.
 */
export function* aggregatedRules(
  role: KubeObject,
  all: Iterable<KubeObject>,
  budget: WorkBudget = aggregationBudget(),
): Steps<PolicyRule[]> {
  if (!hasAggregationRule(role)) return rulesOf(role)
  const others = [...all].sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  const seen = new Set([role.metadata.name])
  const rules = new Map<string, PolicyRule>()
  const gather = function* (from: KubeObject): Steps<void> {
    const selectors = roleSelectors(from)
    for (const other of others) {
      budget.spend()
      yield
      if (seen.has(other.metadata.name) || !selectors.some(selector => looks(selector, other))) continue
      seen.add(other.metadata.name)
      if (hasAggregationRule(other)) yield* gather(other)
      else {
        for (const rule of rulesOf(other)) {
          const text = JSON.stringify(rule)
          budget.spend(text.length * READ)
          rules.set(text, rule)
        }
      }
    }
  }
  const looks = (selector: LabelSelector, other: KubeObject): boolean => {
    budget.spend()
    return selector.matches(other.metadata.labels)
  }
  try {
    yield* gather(role)
  } catch (error) {
    if (error !== budget.refusal) throw error
  }
  return [...rules.values()]
}
