/** The content of a mailbox's SyncerConfig `the-one`: what its syncer is to carry, in an order that never wavers. */
import type { GroupVersionResource, KubeObject } from '../../apimachinery/object.ts'
import { EDGE_API_VERSION, SYNCER_CONFIG_NAME } from '../../apimachinery/placement.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { reachOf } from './eligibility.ts'
import type { UpsyncSet } from './placementSpec.ts'

/** What the syncer is to carry down. */
export interface Carried {
  readonly resource: GroupVersionResource
  readonly namespace: string
  readonly name: string
}

interface ResourceHead {
  group: string
  resource: string
  /** Version alone. */
  apiVersion: string
}
export interface SyncerConfigSpec {
  namespaceScope: Record<string, never>
  namespacedObjects: (ResourceHead & { objectsByNamespace: { namespace: string; names: string[] }[] })[]
  clusterScope: (ResourceHead & { objects: string[] })[]
  upsync: UpsyncSet[]
}

/** Kinds that stop at the mailbox are left out. Equal upsync sets count once. */
export function syncerConfigSpec(facts: Iterable<Carried>, upsync: readonly UpsyncSet[]): SyncerConfigSpec {
  const byResource = new Map<string, { head: ResourceHead; byNamespace: Map<string, string[]> }>()
  for (const { resource, namespace, name } of facts) {
    if (reachOf(resource) !== 'cluster') continue
    const head = { group: resource.group, resource: resource.resource, apiVersion: resource.version }
    const id = `${head.group} ${head.resource} ${head.apiVersion}`
    const entry = byResource.get(id) ?? { head, byNamespace: new Map<string, string[]>() }
    byResource.set(id, entry)
    const names = entry.byNamespace.get(namespace)
    if (names) names.push(name)
    else entry.byNamespace.set(namespace, [name])
  }
  const spec: SyncerConfigSpec = {
    namespaceScope: {},
    namespacedObjects: [],
    clusterScope: [],
    upsync: distinct(upsync),
  }
  for (const [, { head, byNamespace }] of [...byResource].sort(byFirst)) {
    const objects = byNamespace.get('')
    byNamespace.delete('')
    if (objects) spec.clusterScope.push({ ...head, objects: objects.sort() })
    const objectsByNamespace = [...byNamespace]
      .sort(byFirst)
      .map(([namespace, names]) => ({ namespace, names: names.sort() }))
    if (objectsByNamespace.length > 0) spec.namespacedObjects.push({ ...head, objectsByNamespace })
  }
  return spec
}

export function createdSyncerConfig(spec: SyncerConfigSpec): KubeObject {
  return {
    apiVersion: EDGE_API_VERSION,
    kind: 'SyncerConfig',
    metadata: { name: SYNCER_CONFIG_NAME },
    spec,
  }
}

/** The body that brings it up to date, status untouched, or `undefined` when it says the same already. */
export function updatedSyncerConfig(spec: SyncerConfigSpec, current: KubeObject): KubeObject | undefined {
  return equalJson(current.spec, spec) ? undefined : { ...current, spec }
}

function distinct(sets: readonly UpsyncSet[]): UpsyncSet[] {
  const byText = new Map(
    sets.map(set => [JSON.stringify([set.apiGroup, set.resources, set.namespaces, set.names]), set]),
  )
  return [...byText].sort(byFirst).map(([, { apiGroup, resources, namespaces, names }]) => ({
    apiGroup,
    resources: [...resources],
    namespaces: [...namespaces],
    names: [...names],
  }))
}

function byFirst(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0
}
