/**
 * Scope of a PlacementGrant: spaces, Locations, objects that go down and objects that go up. Grants add up, and each is judged alone: what
 * one allows in part and another in part is not allowed.
 */

import { objects, record, str, strings } from '../../apimachinery/fields.ts'
import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import type { LabelSelector } from '../../apimachinery/selectors.ts'
import { matchesPattern } from '../../apimachinery/starPattern.ts'
import { compileSelector } from '../select/selectors.ts'
import { RBAC_KINDS, STEERING_KINDS } from '../words/kindGroups.ts'

type Labels = Readonly<Record<string, string>>

interface GrantedSpace {
  readonly path?: string
  /** Id; counts before the path once it is known. */
  readonly cluster?: string
}

interface KindRule {
  /** `*` for any. */
  readonly apiGroup: string
  readonly resources: readonly string[]
  /** The same, to look up: there may be any number, and every object is held against them. */
  readonly named: ReadonlySet<string>
}

export interface UpsyncRule extends KindRule {
  readonly namespaces: readonly string[] | undefined
  readonly names: readonly string[] | undefined
}

export interface Grant {
  /** Name of the PlacementGrant. */
  readonly name: string
  readonly spaces: readonly GrantedSpace[]
  /** `undefined`: every Location. A selector that cannot be read selects none. */
  readonly locations: LabelSelector | undefined | 'none'
  /** Patterns with `*`; `undefined`: all. */
  readonly namespaces: readonly string[] | undefined
  readonly allow: readonly KindRule[] | undefined
  readonly deny: readonly KindRule[]
  readonly clusterScoped: boolean
  readonly grantingKinds: boolean
  /** Whether what is placed takes over what clusters held before under its name. */
  readonly adoptExisting: boolean
  readonly upsync: readonly UpsyncRule[]
  /** Kinds of associated objects that may be carried up: patterns of `resource.group`. */
  readonly associated: readonly string[]
}

/** An object that is to be placed. `namespace` is `''` for a cluster-scoped one. */
export interface Placed extends GroupResource {
  readonly namespace: string
  readonly name: string
}

/** Why an object may not be placed, in words that name the remedy. */
export interface Refusal {
  readonly reason:
    | 'KindNotGranted'
    | 'NamespaceNotGranted'
    | 'ClusterScopedNotGranted'
    | 'GrantingKindNotGranted'
    | 'NotGranted'
  readonly message: string
}

/** Kinds that grant rights or steer a cluster, by `resource.group`. */
const GRANTING_KINDS: ReadonlySet<string> = new Set([...RBAC_KINDS, ...STEERING_KINDS])

export function compileGrant(object: KubeObject): Grant {
  const spec = record(object, 'spec')
  return {
    name: object.metadata.name ?? '',
    spaces: objects(spec.spaces).map(({ path, cluster }) => ({
      ...(typeof path === 'string' && { path }),
      ...(typeof cluster === 'string' && { cluster }),
    })),
    locations:
      spec.locations === undefined ? undefined : (compileSelector(spec.locations, 'spec').selectors[0] ?? 'none'),
    namespaces: spec.namespaces === undefined ? undefined : strings(spec.namespaces),
    allow: spec.allow === undefined ? undefined : objects(spec.allow).map(kindRule),
    deny: objects(spec.deny).map(kindRule),
    clusterScoped: spec.clusterScoped === true,
    grantingKinds: spec.grantingKinds === true,
    adoptExisting: spec.adoptExisting === true,
    upsync: objects(spec.upsync).map(rule => ({
      ...kindRule(rule),
      namespaces: rule.namespaces === undefined ? undefined : strings(rule.namespaces),
      names: rule.names === undefined ? undefined : strings(rule.names),
    })),
    associated: strings(spec.associated),
  }
}

/** Whether a grant is for a Location and a SyncTarget behind it. */
export function coversLocation({ locations }: Grant, location: Labels, target: Labels): boolean {
  if (locations === undefined) return true
  return locations !== 'none' && locations.matches(location) && locations.matches(target)
}

/** Why none of the grants lets the object be placed; `undefined` when one does. */
export function refusalOf(grants: readonly Grant[], object: Placed): Refusal | undefined {
  let nearest: Refusal | undefined
  for (const grant of grants) {
    const refusal = refusedBy(grant, object)
    if (refusal === undefined) return undefined
    nearest ??= refusal
  }
  return nearest ?? { reason: 'NotGranted', message: 'no PlacementGrant of the inventory is for this space' }
}

/** Secrets are carried up only where a rule says so in as many words. */
export function namesSecrets({ apiGroup, resources }: KindRule): boolean {
  return apiGroup === '' && resources.includes('secrets')
}

function refusedBy(grant: Grant, object: Placed): Refusal | undefined {
  const kind = groupResourceName(object)
  const ask = `ask who administers the inventory to extend PlacementGrant "${grant.name}"`
  if (
    grant.deny.some(rule => namesKind(rule, object)) ||
    (grant.allow && !grant.allow.some(rule => namesKind(rule, object)))
  ) {
    return { reason: 'KindNotGranted', message: `${kind} may not be placed there; ${ask} (spec.allow, spec.deny)` }
  }
  if (GRANTING_KINDS.has(kind) && !grant.grantingKinds) {
    const message = `${kind} grants rights or steers the cluster, which is not granted; ${ask} (spec.grantingKinds)`
    return { reason: 'GrantingKindNotGranted', message }
  }
  const isNamespace = object.group === '' && object.resource === 'namespaces'
  const namespace = isNamespace ? object.name : object.namespace
  if (namespace === '' && !grant.clusterScoped) {
    return { reason: 'ClusterScopedNotGranted', message: `${kind} is cluster-scoped; ${ask} (spec.clusterScoped)` }
  }
  if (namespace !== '' && grant.namespaces && !grant.namespaces.some(pattern => matchesPattern(pattern, namespace))) {
    return {
      reason: 'NamespaceNotGranted',
      message: `namespace "${namespace}" is not granted; ${ask} (spec.namespaces)`,
    }
  }
  return undefined
}

function namesKind({ apiGroup, named }: KindRule, { group, resource }: GroupResource): boolean {
  return (apiGroup === '*' || apiGroup === group) && (named.has('*') || named.has(resource))
}

function kindRule(rule: Record<string, unknown>): KindRule {
  const resources = strings(rule.resources)
  return { apiGroup: str(rule.apiGroup), resources, named: new Set(resources) }
}
