/**
 * Nobody hands out more than they have: the check before a role or a binding is written.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
 */
import { type StatusError, statusError } from '../../apimachinery/errors.ts'
import { joinedAsGo, quotedAsGo } from '../../apimachinery/go/goPrint.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { sameMeaning } from '../../apimachinery/values.ts'
import { hasAggregationRule } from './aggregation.ts'
import type { RbacAuthorizer } from './rbac.ts'
import { roleRefOf } from './rbacIndex.ts'
import { type PolicyRule, RBAC_GROUP, ruleCovers, rulesOf } from './rbacRules.ts'
import type { UserInfo } from './types.ts'
import { effectiveUser, GROUPS } from './users.ts'

export interface RbacWrite {
  user: UserInfo
  /** Logical-cluster id. */
  space: string
  /** `roles`, `clusterroles`, `rolebindings` or `clusterrolebindings`; others are let through. */
  resource: string
  object: KubeObject
  /** The object as it was; absent for a create. */
  old?: KubeObject
}

const EVERYTHING: PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
]

/**
 * Admits a write of a role or a binding: by system:masters, by who holds verb `escalate` (or `bind`) on the role, by who
 * holds every rule that it grants, and when an update changes nothing but owners and finalizers.
 * @throws StatusError Forbidden listing the rules that the user lacks; NotFound for a binding to a missing role
 */
export async function checkRbacWrite(write: RbacWrite, authorizer: RbacAuthorizer): Promise<void> {
  if (effectiveUser(write.user, write.space).groups.includes(GROUPS.masters)) return
  if (write.resource === 'roles' || write.resource === 'clusterroles') return checkRole(write, authorizer)
  if (write.resource === 'rolebindings' || write.resource === 'clusterrolebindings')
    return checkBinding(write, authorizer)
}

/** The single-verb, single-resource pieces of `rules` that no rule of `owned` covers, merged by verb and sorted. */
export function uncovered(owned: readonly PolicyRule[], rules: readonly PolicyRule[]): PolicyRule[] {
  const lacking = rules.flatMap(pieces).filter(piece => !owned.some(own => ruleCovers(own, piece)))
  const merged = new Map<string, PolicyRule>()
  for (const piece of lacking) {
    // Verbs of one resource are shown together; paths are shown one by one, as upstream does.
    const key = ruleText(piece.resources ? { ...piece, verbs: [] } : piece)
    const verbs = [...new Set([...(merged.get(key)?.verbs ?? []), ...piece.verbs])]
    merged.set(key, { ...piece, verbs })
  }
  return [...merged.values()].sort((a, b) => (ruleText(a) < ruleText(b) ? -1 : 1))
}

/** Whether `owned` allows all that `rules` allow. */
export function covers(owned: readonly PolicyRule[], rules: readonly PolicyRule[]): boolean {
  return uncovered(owned, rules).length === 0
}

async function checkRole(write: RbacWrite, authorizer: RbacAuthorizer): Promise<void> {
  const { object, old } = write
  if (changesLittle(object, old)) return
  const aggregates = hasAggregationRule(object) || hasAggregationRule(old)
  if (await mayDo(write, authorizer, 'escalate', { resource: write.resource, name: object.metadata.name ?? '' })) return
  const held = await heldRules(write, authorizer)
  const lacking = uncovered(held.rules, rulesOf(object))
  if (lacking.length > 0) throw attempt(write, lacking, held.errors)
  if (aggregates && !covers(held.rules, EVERYTHING)) {
    throw refusal(write, 'must have cluster-admin privileges to use the aggregationRule')
  }
}

async function checkBinding(write: RbacWrite, authorizer: RbacAuthorizer): Promise<void> {
  const { object, old } = write
  if (changesLittle(object, old)) return
  const ref = roleRefOf(object)
  const resource = ref.kind === 'ClusterRole' ? 'clusterroles' : 'roles'
  if (await mayDo(write, authorizer, 'bind', { resource, name: ref.name })) return
  const granted = await authorizer.roleRules(ref, write.space, object.metadata.namespace ?? '')
  const held = await heldRules(write, authorizer)
  const lacking = uncovered(held.rules, granted)
  if (lacking.length > 0) throw attempt(write, lacking, held.errors)
}

/**
 * Whether an update is of the sort that a garbage collector makes: it may touch any role. All else counts as if the role or
 * binding were made anew, labels too: they say which aggregated roles get its rules.
 */
function changesLittle(object: KubeObject, old: KubeObject | undefined): boolean {
  return old !== undefined && sameMeaning(substance(object), substance(old))
}

/** All but owners, finalizers and managed fields. */
function substance(object: KubeObject): unknown {
  return { ...object, metadata: { ...object.metadata, ownerReferences: [], finalizers: [], managedFields: [] } }
}

async function mayDo(
  write: RbacWrite,
  authorizer: RbacAuthorizer,
  verb: string,
  role: { resource: string; name: string },
): Promise<boolean> {
  const namespace = write.object.metadata.namespace ?? ''
  const resource = { group: RBAC_GROUP, version: 'v1', subresource: '', namespace, ...role }
  const decision = await authorizer.authorize({ user: write.user, space: write.space, verb, resource, path: '' })
  return decision.allowed
}

function heldRules(write: RbacWrite, authorizer: RbacAuthorizer): ReturnType<RbacAuthorizer['rulesFor']> {
  return authorizer.rulesFor(write.user, write.space, write.object.metadata.namespace ?? '')
}

function attempt(write: RbacWrite, lacking: readonly PolicyRule[], errors: readonly string[]): StatusError {
  const user = effectiveUser(write.user, write.space)
  const who = `user ${JSON.stringify(user.name)} (groups=${quotedAsGo(user.groups)})`
  const unresolved = errors.length === 0 ? '' : `; resolution errors: ${joinedAsGo(errors)}`
  const list = lacking.map(ruleText).join('\n')
  return refusal(write, `${who} is attempting to grant RBAC permissions not currently held:\n${list}${unresolved}`)
}

function refusal(write: RbacWrite, why: string): StatusError {
  return statusError.forbidden({ group: RBAC_GROUP, resource: write.resource }, write.object.metadata.name ?? '', why)
}

function pieces(rule: PolicyRule): PolicyRule[] {
  const found: PolicyRule[] = []
  const names = rule.resourceNames?.length ? rule.resourceNames.map(name => [name]) : [undefined]
  for (const verb of rule.verbs) {
    for (const group of rule.apiGroups ?? []) {
      for (const resource of rule.resources ?? []) {
        for (const resourceNames of names) {
          found.push({
            apiGroups: [group],
            resources: [resource],
            ...(resourceNames && { resourceNames }),
            verbs: [verb],
          })
        }
      }
    }
    for (const url of rule.nonResourceURLs ?? []) found.push({ nonResourceURLs: [url], verbs: [verb] })
  }
  return found
}

/** `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
function ruleText(rule: PolicyRule): string {
  const parts: [string, readonly string[] | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ]
  const shown = parts.filter(([, list]) => list !== undefined && list.length > 0)
  return `{${shown.map(([name, list]) => `${name}:${quotedAsGo(list!)}`).join(', ')}}`
}
