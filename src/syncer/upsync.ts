/** Objects born in the cluster, carried into the mailbox: with their namespace, and with their CRD where it is missing. */
import { isStatusError } from '../apimachinery/errors.ts'
import { apiVersionOf, type GroupVersionResource, isRecord, type KubeObject } from '../apimachinery/object.ts'
import type { DiscoveredResource, SpaceClient } from '../client/client.ts'
import type { ReconcileResult } from '../client/workqueue.ts'
import type { ClusterWatches } from './clusterWatches.ts'
import { getOrNothing, refOf } from './downsync.ts'
import type { MailboxMirror, SyncKey } from './mirror.ts'
import { DOWNSYNCED, FIELD_MANAGER, isOurs, UPSYNCED, upsyncCopy } from './ownership.ts'
import type { ServedResources } from './served.ts'
import type { SyncPlan } from './syncPlan.ts'

export interface UpsyncDeps {
  cluster: SpaceClient
  mailbox: SpaceClient
  /** What the mailbox serves. */
  served: ServedResources
  /** What the cluster serves. */
  clusterServed: ServedResources
  mirror: MailboxMirror
  watches: ClusterWatches
  plan: () => SyncPlan
  mirrorComplete: () => boolean
}

const NAMESPACES: GroupVersionResource = { group: '', version: 'v1', resource: 'namespaces' }
const CRDS: GroupVersionResource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
}
/** A CRD that was just created is served a moment later. */
const SERVED_SOON_MS = 200

export async function upsync(deps: UpsyncDeps, key: SyncKey): Promise<ReconcileResult> {
  const { mirror, plan, watches } = deps
  const wanted = plan().wantsUp(key, key.namespace, key.name)
  const live = wanted ? watches.get(key, key) : undefined
  if (live !== undefined && live.metadata.deletionTimestamp === undefined) {
    // What came from the center does not go back as if it had been born here.
    return isOurs(live, DOWNSYNCED) ? {} : carry(deps, key, live)
  }
  const copy = mirror.get(key)
  if (copy === undefined || !isOurs(copy.object, UPSYNCED) || !deps.mirrorComplete()) return {}
  // An absent object counts as deleted only once its watch has seen everything.
  if (wanted && !watches.hasSynced(key)) return {}
  try {
    await deps.mailbox.delete(copy.resource, refOf(key), { preconditions: { uid: copy.object.metadata.uid ?? '' } })
  } catch (error) {
    if (!isStatusError(error, 'NotFound', 'Conflict')) throw error
  }
  return {}
}

async function carry(deps: UpsyncDeps, key: SyncKey, live: Readonly<KubeObject>): Promise<ReconcileResult> {
  const { mailbox, mirror, served } = deps
  let resource = served.find(key)
  if (resource === undefined) {
    await served.refresh()
    resource = served.find(key)
  }
  if (resource === undefined) return (await carryDefinition(deps, key)) ? { requeueAfterMs: SERVED_SOON_MS } : {}
  const existing = mirror.get(key)?.object ?? (await getOrNothing(mailbox, resource, refOf(key)))
  if (existing !== undefined && !isOurs(existing, UPSYNCED)) return {}
  const copy = upsyncCopy(live, apiVersionOf(resource))
  if (existing === undefined || !sameContent(existing, copy)) await write(deps, resource, key, copy)
  if (
    resource.subresources.includes('status') &&
    copy.status !== undefined &&
    JSON.stringify(existing?.status) !== JSON.stringify(copy.status)
  ) {
    const patch = [{ op: 'add', path: '/status', value: copy.status }]
    await mailbox.patch(resource, refOf(key), 'json', patch, { subresource: 'status', fieldManager: FIELD_MANAGER })
  }
  return {}
}

async function write(deps: UpsyncDeps, resource: DiscoveredResource, key: SyncKey, copy: KubeObject): Promise<void> {
  const { mailbox } = deps
  const apply = async (): Promise<void> => {
    await mailbox.patch(resource, refOf(key), 'apply', copy, { fieldManager: FIELD_MANAGER, force: true })
  }
  try {
    await apply()
  } catch (error) {
    if (!isStatusError(error, 'NotFound') || key.namespace === '') throw error
    await createIfAbsent(mailbox, NAMESPACES, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: key.namespace },
    })
    await apply()
  }
}

/** The CRD of a kind that the mailbox lacks; false when the cluster has none (a built-in kind of a newer release). */
async function carryDefinition(deps: UpsyncDeps, key: SyncKey): Promise<boolean> {
  const crds = deps.clusterServed.find(CRDS)
  const definition = crds && (await getOrNothing(deps.cluster, crds, { name: `${key.resource}.${key.group}` }))
  if (definition === undefined) return false
  const { status: _status, ...copy } = upsyncCopy(definition, definition.apiVersion)
  // It stays when its last object leaves: others may use the kind by then.
  delete copy.metadata.annotations?.[UPSYNCED]
  // A webhook of the cluster is not reachable from the center.
  if (isRecord(copy.spec)) delete copy.spec.conversion
  await createIfAbsent(deps.mailbox, CRDS, copy as KubeObject)
  return true
}

async function createIfAbsent(client: SpaceClient, resource: GroupVersionResource, object: KubeObject): Promise<void> {
  try {
    await client.create(resource, object, { fieldManager: FIELD_MANAGER })
  } catch (error) {
    if (!isStatusError(error, 'AlreadyExists')) throw error
  }
}

/** Everything but the status, which has its own road, and what the mailbox adds by itself. */
function sameContent(existing: Readonly<KubeObject>, copy: Readonly<KubeObject>): boolean {
  const content = (object: Readonly<KubeObject>): string => {
    const { status: _status, metadata, ...rest } = object
    const annotations = Object.entries(metadata.annotations ?? {}).filter(
      ([key]) => !key.startsWith('kcp.io/') && !key.includes('.kcp.io/'),
    )
    return JSON.stringify([rest, metadata.labels ?? {}, annotations.sort()])
  }
  return content(existing) === content(copy)
}
