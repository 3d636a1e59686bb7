/** Requests of a mailbox to its syncer: all its SyncerConfigs and EdgeSyncConfigs merged into look-ups. Pure. */
import { objects, str, strings } from '../../apimachinery/fields.ts'
import { isKubernetesService } from '../../apimachinery/kubernetesService.ts'
import {
  type GroupResource,
  type GroupVersionResource,
  groupResourceName,
  isRecord,
  type KubeObject,
} from '../../apimachinery/object.ts'
import { NAMESPACES } from '../../apimachinery/resources.ts'
import {
  resourceOfKind,
  setMatches,
  setsWantDefinition,
  type UpsyncSet,
  upsyncSets,
} from '../../placement/select/upsyncSets.ts'
import { CARRIES_ANNOTATION, CARRIES_PROJECTED, EDGE_GROUP } from '../../placement/words/placement.ts'

export { isNeverCarried, setCovers } from '../../placement/select/upsyncSets.ts'

const ALL = '*'

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

/** Content of the mailbox that goes down, where a config gives no lists. */
interface Projected {
  has(resource: GroupResource, namespace: string, name: string): boolean
  resources(): readonly GroupVersionResource[]
}

/** Whether a config wants down what was projected into the mailbox, without listing it. */
export function carriesProjected({ kind, metadata }: Readonly<KubeObject>): boolean {
  return kind === 'SyncerConfig' && metadata.annotations?.[CARRIES_ANNOTATION] === CARRIES_PROJECTED
}

const NOTHING: Projected = { has: () => false, resources: () => [] }

/** @param pluralOf the resource of a kind, as discovery knows it; EdgeSyncConfigs name kinds */
export function syncPlan(
  configs: Iterable<Readonly<KubeObject>>,
  pluralOf: (group: string, kind: string) => string | undefined = () => undefined,
  inMailbox: Projected = NOTHING,
): SyncPlan {
  let projected = NOTHING
  const down = new Map<string, { resource: GroupVersionResource; names: Names }>()
  const upsync: UpsyncSet[] = []
  const want = (resource: GroupVersionResource, namespace: string, name: string): void => {
    const key = groupResourceName(resource)
    const entry = down.get(key) ?? { resource, names: new Map() }
    down.set(key, entry)
    const names = entry.names.get(namespace) ?? new Set()
    entry.names.set(namespace, names.add(name))
  }
  const plural = (item: Record<string, unknown>): string => resourceOfKind(item, pluralOf)
  for (const config of configs) {
    const spec = isRecord(config.spec) ? config.spec : {}
    upsync.push(...upsyncSets(config, pluralOf))
    if (carriesProjected(config)) projected = inMailbox
    if (config.kind === 'SyncerConfig') {
      readSyncerConfig(spec, want)
    } else if (config.kind === 'EdgeSyncConfig') {
      for (const item of objects(spec.downSyncedResources)) {
        const resource = { group: str(item.group), version: str(item.version), resource: plural(item) }
        want(resource, str(item.namespace), str(item.name))
      }
    }
  }
  return {
    wantsDown(resource, namespace, name) {
      if (isKubernetesService(resource, namespace, name)) return false
      if (projected.has(resource, namespace, name)) return true
      const names = down.get(groupResourceName(resource))?.names
      if (names === undefined) return false
      const listed = (key: string): boolean => {
        const set = names.get(key)
        return set !== undefined && (set.has(name) || set.has(ALL))
      }
      return listed(namespace) || (namespace !== '' && listed(ALL))
    },
    downResources: [
      ...projected.resources().filter(resource => !down.has(groupResourceName(resource))),
      ...[...down.values()].map(entry => entry.resource),
    ],
    upsync,
    wantsUp: (resource, namespace, name) => upsync.some(set => setMatches(set, resource, namespace, name)),
  }
}

/** Whether the objects that a CRD of this name defines may have to be carried inward: then it goes first. */
export function wantsDefinition(plan: SyncPlan, name: string): boolean {
  return setsWantDefinition(plan.upsync, name)
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
