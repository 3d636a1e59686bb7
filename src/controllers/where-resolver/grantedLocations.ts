/**
 * GrantedLocations: what a workload space's users see of the Locations that they may place on. Their labels and how many clusters
 * take workload, nothing else of the inventory.
 */
import type { KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { Client } from '../../client/client.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { EDGE_API_VERSION, GRANTED_LOCATIONS } from '../../placement/words/placement.ts'
import type { ObjectId } from '../placement/inventory/inventory.ts'
import type { GrantedRow, WhereIndex } from './whereIndex.ts'

interface GrantedLocationDeps {
  client: Client
  index: WhereIndex
  fieldManager: string
}

export async function reconcileGranted(deps: GrantedLocationDeps, { space, name }: ObjectId): Promise<void> {
  const { client, index, fieldManager } = deps
  const api = client.in(space)
  const found = await unlessGone(api.get(GRANTED_LOCATIONS, { name }))
  const row = index.rowOf({ space, name })
  if (row === undefined) {
    if (!found || index.keepRow({ space, name })) return
    const { uid } = found.metadata
    await unlessGone(api.delete(GRANTED_LOCATIONS, { name }, uid ? { preconditions: { uid } } : {}))
    return
  }
  if (!found) {
    await api.create(GRANTED_LOCATIONS, granted(row, { name }), { fieldManager })
    return
  }
  const wanted = granted(row, found.metadata)
  const present = { ...found, metadata: { ...found.metadata, labels: found.metadata.labels ?? {} } }
  if (!equalJson(present, wanted)) await api.update(GRANTED_LOCATIONS, wanted, { fieldManager })
}

function granted(row: GrantedRow, metadata: KubeObject['metadata']): KubeObject {
  const { inventory, location, instances, availableInstances } = row
  return {
    apiVersion: EDGE_API_VERSION,
    kind: 'GrantedLocation',
    metadata: { ...metadata, labels: { ...row.labels } },
    inventory,
    location,
    instances,
    ready: availableInstances,
  }
}
