/**
 * Nobody hands out more than they have: the check before a role or a binding is written.
 * @see https://kubernetes.io/docs/reference/access-authn-authz/rbac/#privilege-escalation-prevention-and-bootstrapping
 */
import { StatusError, statusError, TEXT_CHARACTERS } from '../../apimachinery/errors.ts'
import { joinedAsGo, quotedAsGo } from '../../apimachinery/go/goPrint.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { sameMeaning } from '../../apimachinery/values.ts'
import { READ, WorkBudget } from '../../apimachinery/workBudget.ts'
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

/** A role of 500 combinations against a user who holds 10,000 verbs, groups and resources costs half of it. */
export const MOST_WORK = 1_000_000
const TOO_MUCH =
  'the verbs, groups, resources and names of its rules have more combinations than can be compared with what you hold: ' +
  'write them into several smaller roles'

const EVERYTHING: PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
]

/**
 * Admits a write of a role or a binding by system:masters, and by holders of the verb `escalate` (or `bind`) or of every granted rule. Also
 * when an update changes nothing but owners and finalizers.
 * @throws StatusError Forbidden listing the rules that the user lacks; NotFound for a binding to a missing role
 */
export async function checkRbacWrite(write: RbacWrite, authorizer: RbacAuthorizer): Promise<void> {
  if (holdsAll(write.user, write.space)) return
  if (write.resource === 'roles' || write.resource === 'clusterroles') return checkRole(write, authorizer)
  if (write.resource === 'rolebindings' || write.resource === 'clusterrolebindings')
    return checkBinding(write, authorizer)
}

/** Whether a user may hand out everything in a space. */
export function holdsAll(user: UserInfo, space: string): boolean {
  return effectiveUser(user, space).groups.includes(GROUPS.masters)
}

/**
 * The single-verb, single-resource pieces of `rules` that no rule of `owned` covers, merged by verb and sorted.
 * @throws StatusError Forbidden when that is more to compare than one request may cost
 */
export function uncovered(owned: readonly PolicyRule[], rules: readonly PolicyRule[]): PolicyRule[] {
  const budget = new WorkBudget(MOST_WORK, () => new StatusError('Forbidden', TOO_MUCH))
  const price = 1 + READ * owned.reduce((sum, rule) => sum + sizeOf(rule), 0)
  const lacking: PolicyRule[] = []
  for (const rule of rules) {
    // what is compared is every combination of what it lists, so that is paid for before any is made
    budget.spend(countPieces(rule) * price)
    for (const piece of pieces(rule)) if (!owned.some(own => ruleCovers(own, piece))) lacking.push(piece)
  }
  const merged = new Map<string, { piece: PolicyRule; verbs: Set<string> }>()
  for (const piece of lacking) {
    // Verbs of one resource are shown together; paths are shown one by one, as upstream does.
    const key = ruleText(piece.resources ? { ...piece, verbs: [] } : piece)
    const known = merged.get(key)
    if (known === undefined) merged.set(key, { piece, verbs: new Set(piece.verbs) })
    else for (const verb of piece.verbs) known.verbs.add(verb)
  }
  return [...merged.values()]
    .map(({ piece, verbs }) => ({ ...piece, verbs: [...verbs] }))
    .map(rule => ({ rule, text: ruleText(rule) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ rule }) => rule)
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
  const lacking = lackingOf(write, held.rules, rulesOf(object))
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
  const lacking = lackingOf(write, held.rules, granted)
  if (lacking.length > 0) throw attempt(write, lacking, held.errors)
}

function lackingOf(write: RbacWrite, owned: readonly PolicyRule[], rules: readonly PolicyRule[]): PolicyRule[] {
  try {
    return uncovered(owned, rules)
  } catch (error) {
    throw error instanceof StatusError ? refusal(write, error.message) : error
  }
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
  const list = textOf(lacking)
  return refusal(write, `${who} is attempting to grant RBAC permissions not currently held:\n${list}${unresolved}`)
}

/** One to a line; of very many the first. */
function textOf(rules: readonly PolicyRule[]): string {
  const texts: string[] = []
  let characters = 0
  for (const rule of rules) {
    if (characters >= TEXT_CHARACTERS) return [...texts, `and ${rules.length - texts.length} more`].join('\n')
    const text = ruleText(rule)
    characters += text.length
    texts.push(text)
  }
  return texts.join('\n')
}

function refusal(write: RbacWrite, why: string): StatusError {
  return statusError.forbidden({ group: RBAC_GROUP, resource: write.resource }, write.object.metadata.name ?? '', why)
}

function countPieces(rule: PolicyRule): number {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule
  return (
    verbs.length * (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length)
  )
}

/** Number of its entries. */
function sizeOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number {
  return [verbs, apiGroups, resources, resourceNames, nonResourceURLs].reduce(
    (sum, list) => sum + (list?.length ?? 0),
    1,
  )
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
