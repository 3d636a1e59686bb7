/**
 * The content of a syncer's downsync, as lists in the spec of a SyncerConfig: by resource, namespace and name, in a stable order. Pure.
 */

import type { GroupVersionResource } from '../../apimachinery/object.ts'
import { compareFirsts } from '../../apimachinery/values.ts'

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
interface CarriedLists {
  namespacedObjects: (ResourceHead & { objectsByNamespace: { namespace: string; names: string[] }[] })[]
  clusterScope: (ResourceHead & { objects: string[] })[]
}

export function carriedLists(all: Iterable<Carried>): CarriedLists {
  const byResource = new Map<string, { head: ResourceHead; byNamespace: Map<string, string[]> }>()
  for (const { resource, namespace, name } of all) {
    const head = { group: resource.group, resource: resource.resource, apiVersion: resource.version }
    const id = `${head.group} ${head.resource} ${head.apiVersion}`
    const entry = byResource.get(id) ?? { head, byNamespace: new Map<string, string[]>() }
    byResource.set(id, entry)
    const names = entry.byNamespace.get(namespace)
    if (names) names.push(name)
    else entry.byNamespace.set(namespace, [name])
  }
  const lists: CarriedLists = { namespacedObjects: [], clusterScope: [] }
  for (const [, { head, byNamespace }] of [...byResource].sort(compareFirsts)) {
    const objects = byNamespace.get('')
    byNamespace.delete('')
    if (objects) lists.clusterScope.push({ ...head, objects: objects.sort() })
    const objectsByNamespace = [...byNamespace]
      .sort(compareFirsts)
      .map(([namespace, names]) => ({ namespace, names: names.sort() }))
    if (objectsByNamespace.length > 0) lists.namespacedObjects.push({ ...head, objectsByNamespace })
  }
  return lists
}
