/**
 * What a mailbox asks of its syncer: all SyncerConfigs and EdgeSyncConfigs of the mailbox merged into questions that are
 * answered by look-up. Pure.
 */
import { objects, str, strings } from '../apimachinery/fields.ts'
import { isKubernetesService } from '../apimachinery/kubernetesService.ts'
import {
  type GroupResource,
  type GroupVersionResource,
  groupResourceName,
  isRecord,
  type KubeObject,
} from '../apimachinery/object.ts'
import { EDGE_GROUP } from '../apimachinery/placement.ts'
import { NAMESPACES } from '../apimachinery/resources.ts'

const ALL = '*'

/** Whether a resource is never carried, in either direction: what makes and steers spaces acts where it stands. */
export function isNeverCarried(resource: GroupResource): boolean {
  return resource.group.endsWith('.kcp.io') || NEVER_CARRIED.has(groupResourceName(resource))
}

/** Of each server's own life, and too lively to mirror. */
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

export interface UpsyncSet {
  group: string
  resources: readonly string[]
  namespaces: readonly string[]
  names: readonly string[]
}

export interface SyncPlan {
  /** Whether an object of the mailbox belongs into the cluster. */
  wantsDown(resource: GroupResource, namespace: string, name: string): boolean
  /** Resources that `wantsDown` can say yes to; `version` is the center's wish, `''` when it has none. */
  readonly downResources: readonly GroupVersionResource[]
  /** Empty lists match nothing. */
  readonly upsync: readonly UpsyncSet[]
  /** Whether an object of the cluster belongs into the mailbox. `namespace` is `''` for cluster-scoped objects. */
  wantsUp(resource: GroupResource, namespace: string, name: string): boolean
}

/** `namespace -> names`; `''` for cluster-scoped objects; `*` stands for all, on either level. */
type Names = Map<string, Set<string>>

export function isSyncConfig(resource: GroupResource): boolean {
  return (
    resource.group === EDGE_GROUP && (resource.resource === 'syncerconfigs' || resource.resource === 'edgesyncconfigs')
  )
}

/** @param pluralOf the resource of a kind, as discovery knows it; EdgeSyncConfigs name kinds */
export function syncPlan(
  configs: Iterable<Readonly<KubeObject>>,
  pluralOf: (group: string, kind: string) => string | undefined = () => undefined,
): SyncPlan {
  const down = new Map<string, { resource: GroupVersionResource; names: Names }>()
  const upsync: UpsyncSet[] = []
  const want = (resource: GroupVersionResource, namespace: string, name: string): void => {
    const key = groupResourceName(resource)
    const entry = down.get(key) ?? { resource, names: new Map() }
    down.set(key, entry)
    const names = entry.names.get(namespace) ?? new Set()
    entry.names.set(namespace, names.add(name))
  }
  const plural = (item: Record<string, unknown>): string =>
    pluralOf(str(item.group), str(item.kind)) ?? usualPlural(str(item.kind))
  for (const config of configs) {
    const spec = isRecord(config.spec) ? config.spec : {}
    if (config.kind === 'SyncerConfig') {
      readSyncerConfig(spec, want)
      for (const item of objects(spec.upsync)) {
        const { apiGroup } = item
        upsync.push({
          group: typeof apiGroup === 'string' ? apiGroup : '',
          resources: strings(item.resources),
          namespaces: strings(item.namespaces),
          names: strings(item.names),
        })
      }
    } else if (config.kind === 'EdgeSyncConfig') {
      for (const item of objects(spec.downSyncedResources)) {
        const resource = { group: str(item.group), version: str(item.version), resource: plural(item) }
        want(resource, str(item.namespace), str(item.name))
      }
      for (const item of objects(spec.upSyncedResources)) {
        upsync.push({
          group: str(item.group),
          resources: [plural(item)],
          namespaces: [str(item.namespace)],
          names: [str(item.name)],
        })
      }
    }
  }
  return {
    wantsDown(resource, namespace, name) {
      if (isKubernetesService(resource, namespace, name)) return false
      const names = down.get(groupResourceName(resource))?.names
      if (names === undefined) return false
      const listed = (key: string): boolean => {
        const set = names.get(key)
        return set !== undefined && (set.has(name) || set.has(ALL))
      }
      return listed(namespace) || (namespace !== '' && listed(ALL))
    },
    downResources: [...down.values()].map(entry => entry.resource),
    upsync,
    wantsUp: (resource, namespace, name) => upsync.some(set => setMatches(set, resource, namespace, name)),
  }
}

/** Whether the objects that a CRD of this name defines may have to be carried inward: then it goes first. */
export function wantsDefinition(plan: SyncPlan, name: string): boolean {
  const [resource = '', ...group] = name.split('.')
  return plan.upsync.some(set => setCovers(set, { group: group.join('.'), resource }))
}

/** Whether a set reaches into a resource at all: its watch is then worth having. */
export function setCovers(set: UpsyncSet, resource: GroupResource): boolean {
  if (isNeverCarried(resource)) return false
  return set.group === resource.group && set.names.length > 0 && includes(set.resources, resource.resource)
}

function setMatches(set: UpsyncSet, resource: GroupResource, namespace: string, name: string): boolean {
  if (isKubernetesService(resource, namespace, name)) return false
  if (!setCovers(set, resource) || !includes(set.names, name)) return false
  return namespace === '' || includes(set.namespaces, namespace)
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes(value) || list.includes(ALL)
}

function readSyncerConfig(
  spec: Record<string, unknown>,
  want: (r: GroupVersionResource, namespace: string, name: string) => void,
): void {
  const scope = isRecord(spec.namespaceScope) ? spec.namespaceScope : {}
  for (const namespace of strings(scope.namespaces)) {
    want(NAMESPACES, '', namespace)
    for (const resource of objects(scope.resources)) want(resourceOf(resource), namespace, ALL)
  }
  for (const item of objects(spec.namespacedObjects)) {
    for (const group of objects(item.objectsByNamespace)) {
      const names = strings(group.names)
      if (names.length > 0) want(NAMESPACES, '', str(group.namespace))
      for (const name of names) want(resourceOf(item), str(group.namespace), name)
    }
  }
  for (const item of objects(spec.clusterScope))
    for (const name of strings(item.objects)) want(resourceOf(item), '', name)
}

function resourceOf(item: Record<string, unknown>): GroupVersionResource {
  return { group: str(item.group), version: str(item.apiVersion), resource: str(item.resource) }
}

/** For kinds that nobody serves yet. */
function usualPlural(kind: string): string {
  const lower = kind.toLowerCase()
  if (lower === ALL || lower === '' || lower === 'endpoints') return lower
  if (/(s|x|z|ch|sh)$/.test(lower)) return `${lower}es`
  return /[^aeiou]y$/.test(lower) ? `${lower.slice(0, -1)}ies` : `${lower}s`
}
