/**
 * The upsync sets of a mailbox: which objects of its cluster belong inward. The syncer carries what they name, the center
 * takes nothing else from it. Pure.
 */
import { objects, str, strings } from '../../apimachinery/fields.ts'
import { isKubernetesService } from '../../apimachinery/kubernetesService.ts'
import { type GroupResource, groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { EDGE_GROUP } from '../words/placement.ts'

export interface UpsyncSet {
  group: string
  resources: readonly string[]
  namespaces: readonly string[]
  names: readonly string[]
}

/** The resource of a kind, as discovery knows it; EdgeSyncConfigs name kinds. */
type PluralOf = (group: string, kind: string) => string | undefined

const ALL = '*'
const SECRETS = 'secrets'

/** Resources of each server's own life, too lively to mirror. */
const NEVER_CARRIED: ReadonlySet<string> = new Set([
  'bindings',
  'componentstatuses',
  'controllerrevisions.apps',
  'endpoints',
  'endpointslices.discovery.k8s.io',
  'events',
  'events.events.k8s.io',
  'leases.coordination.k8s.io',
  'nodes',
])

/** Whether a resource is never carried, in either direction: what makes and steers spaces acts where it stands. */
export function isNeverCarried(resource: GroupResource): boolean {
  return resource.group.endsWith('.kcp.io') || NEVER_CARRIED.has(groupResourceName(resource))
}

const POWERFUL_GROUPS: ReadonlySet<string> = new Set([
  EDGE_GROUP,
  'admissionregistration.k8s.io',
  'apiregistration.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'certificates.k8s.io',
  'flowcontrol.apiserver.k8s.io',
  'rbac.authorization.k8s.io',
])

/**
 * Whether a kind grants rights or steers: RBAC, admission, API services, certificates, spaces, placement, identities. It is never
 * a report of a cluster, so it is not carried inward, whatever the sets name.
 */
export function isPowerful(resource: GroupResource): boolean {
  const { group } = resource
  return POWERFUL_GROUPS.has(group) || group.endsWith('.kcp.io') || groupResourceName(resource) === 'serviceaccounts'
}

/** Sets of a SyncerConfig or an EdgeSyncConfig. Empty lists match nothing. */
export function upsyncSets({ kind, spec }: Readonly<KubeObject>, pluralOf: PluralOf): UpsyncSet[] {
  if (!isRecord(spec)) return []
  if (kind === 'SyncerConfig')
    return objects(spec.upsync).map(item => ({
      group: str(item.apiGroup),
      resources: strings(item.resources),
      namespaces: strings(item.namespaces),
      names: strings(item.names),
    }))
  if (kind !== 'EdgeSyncConfig') return []
  return objects(spec.upSyncedResources).map(item => ({
    group: str(item.group),
    resources: [resourceOfKind(item, pluralOf)],
    namespaces: [str(item.namespace)],
    names: [str(item.name)],
  }))
}

export function resourceOfKind(item: Record<string, unknown>, pluralOf: PluralOf): string {
  return pluralOf(str(item.group), str(item.kind)) ?? usualPlural(str(item.kind))
}

/** Whether a set reaches into a resource at all: its watch is then worth having. Secrets have to be named. */
export function setCovers(set: UpsyncSet, resource: GroupResource): boolean {
  if (isNeverCarried(resource) || isPowerful(resource)) return false
  if (groupResourceName(resource) === SECRETS)
    return set.group === '' && set.resources.includes(SECRETS) && set.names.some(name => name !== ALL)
  return set.group === resource.group && set.names.length > 0 && includes(set.resources, resource.resource)
}

/** `namespace` is `''` for cluster-scoped objects. */
export function setMatches(set: UpsyncSet, resource: GroupResource, namespace: string, name: string): boolean {
  if (isKubernetesService(resource, namespace, name)) return false
  if (!setCovers(set, resource) || !includes(set.names, name)) return false
  if (groupResourceName(resource) === SECRETS && !set.names.includes(name)) return false
  return namespace === '' || includes(set.namespaces, namespace)
}

/** Whether the objects that a CRD of this name defines may have to be carried inward: then it goes first. */
export function setsWantDefinition(sets: readonly UpsyncSet[], name: string): boolean {
  const [resource = '', ...group] = name.split('.')
  return sets.some(set => setCovers(set, { group: group.join('.'), resource }))
}

/** Whether objects of a namespace may have to be carried inward: then the namespace goes first. */
export function setsWantNamespace(sets: readonly UpsyncSet[], name: string): boolean {
  const carries = (set: UpsyncSet): boolean =>
    set.resources.some(resource => setCovers(set, { group: set.group, resource }))
  return sets.some(set => includes(set.namespaces, name) && carries(set))
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes(value) || list.includes(ALL)
}

/** For kinds that nobody serves yet. */
function usualPlural(kind: string): string {
  const lower = kind.toLowerCase()
  if (lower === ALL || lower === '' || lower === 'endpoints') return lower
  if (/(s|x|z|ch|sh)$/.test(lower)) return `${lower}es`
  return /[^aeiou]y$/.test(lower) ? `${lower.slice(0, -1)}ies` : `${lower}s`
}
