/** A store as releases left it whose spaces had no types, and where nobody had to consent to placing. */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { KubeObject } from '../../src/apimachinery/object.ts'
import { encodeObject } from '../../src/apiserver/registry/codec.ts'
import { openLevelStore } from '../../src/storage/level/openLevelStore.ts'
import type { Key } from '../../src/storage/store.ts'

const SINCE = '2026-01-31T10:20:30Z'
const EDGE = 'edge.kubestellar.io'
export const UNIVERSAL = { name: 'universal', path: 'root' }

/** Ids of spaces. */
export const CORE = 'core000000000001'
export const INVENTORY_A = 'imwa000000000001'
export const INVENTORY_B = 'imwb000000000001'
export const WORKLOAD = 'wmwa000000000001'
const COMPUTE = 'comp000000000001'
const TARGET_UID = '11111111-1111-4111-8111-111111111111'
/** Name and id of the mailbox of cluster `florin`. */
export const MAILBOX_NAME = `${INVENTORY_A}-mb-${TARGET_UID}`
export const MAILBOX = 'mbox000000000001'

export interface EarlierObject {
  space: string
  resource: string
  object: KubeObject
}

export function object(
  space: string,
  resource: string,
  apiVersion: string,
  kind: string,
  rest: Partial<KubeObject>,
): EarlierObject {
  const metadata = { uid: randomUUID(), creationTimestamp: SINCE, ...rest.metadata }
  return { space, resource, object: { apiVersion, kind, ...rest, metadata } }
}

export function edge(space: string, resource: string, kind: string, rest: Partial<KubeObject>): EarlierObject {
  return object(space, resource, `${EDGE}/v2alpha1`, kind, rest)
}

/** A Workspace whose space is ready. */
export function workspace(parent: string, name: string, cluster: string, type: object = UNIVERSAL): EarlierObject {
  const owner = { username: 'admin', groups: ['system:masters'] }
  return object(parent, 'workspaces', 'tenancy.kcp.io/v1alpha1', 'Workspace', {
    metadata: {
      name,
      generation: 1,
      finalizers: ['core.kcp.io/logicalcluster'],
      annotations: { 'experimental.tenancy.kcp.io/owner': JSON.stringify(owner) },
    },
    spec: { type, cluster, URL: `https://127.0.0.1:6443/clusters/root:${name}` },
    status: { phase: 'Ready' },
  })
}

/** The first spaces; one cluster with its mailbox; a placement from `root:wmw1` to it, and what it carried there. */
export function earlierObjects(): EarlierObject[] {
  const target = { name: 'florin', uid: TARGET_UID, labels: { id: 'florin', env: 'prod' } }
  const where = { cluster: INVENTORY_A, locationName: 'florin', syncTargetName: 'florin', syncTargetUID: TARGET_UID }
  const copied = { labels: { [`${EDGE}/projected`]: 'yes' } }
  const placement = edge(WORKLOAD, 'edgeplacements', 'EdgePlacement', {
    metadata: { name: 'shop', generation: 1 },
    spec: {
      locationSelectors: [{ matchLabels: { env: 'prod' } }],
      downsync: [{ apiGroup: '', resources: ['configmaps'], namespaces: ['app'], objectNames: ['*'] }],
    },
  })
  const owner = {
    apiVersion: `${EDGE}/v2alpha1`,
    kind: 'EdgePlacement',
    name: 'shop',
    uid: placement.object.metadata.uid!,
  }
  return [
    workspace('root', 'espw', CORE),
    workspace('root', 'compute', COMPUTE),
    workspace('root', 'imw1', INVENTORY_A),
    workspace('root', 'imw2', INVENTORY_B),
    workspace('root', 'wmw1', WORKLOAD),
    workspace(CORE, MAILBOX_NAME, MAILBOX),
    edge(INVENTORY_A, 'synctargets', 'SyncTarget', { metadata: target, spec: {} }),
    edge(INVENTORY_A, 'locations', 'Location', {
      metadata: { name: 'florin', labels: { env: 'prod' } },
      spec: {
        resource: { group: EDGE, version: 'v2alpha1', resource: 'synctargets' },
        instanceSelector: { matchLabels: { id: 'florin' } },
      },
    }),
    edge(INVENTORY_B, 'locations', 'Location', {
      metadata: { name: 'guilder', labels: { env: 'test' } },
      spec: { resource: { group: EDGE, version: 'v2alpha1', resource: 'synctargets' }, instanceSelector: {} },
    }),
    placement,
    edge(WORKLOAD, 'singleplacementslices', 'SinglePlacementSlice', {
      metadata: { name: 'shop', ownerReferences: [owner] },
      destinations: [where],
    }),
    ...[INVENTORY_A, INVENTORY_B, WORKLOAD, MAILBOX, CORE, COMPUTE].map(space =>
      object(space, 'namespaces', 'v1', 'Namespace', {
        metadata: { name: 'default' },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      }),
    ),
    ...[WORKLOAD, MAILBOX].map(space =>
      object(space, 'namespaces', 'v1', 'Namespace', {
        metadata: { name: 'app', ...(space === MAILBOX && copied) },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      }),
    ),
    ...[WORKLOAD, MAILBOX].map(space =>
      object(space, 'configmaps', 'v1', 'ConfigMap', {
        metadata: { name: 'greeting', namespace: 'app', ...(space === MAILBOX && copied) },
        data: { text: 'hello' },
      }),
    ),
    object(MAILBOX, 'configmaps', 'v1', 'ConfigMap', { metadata: { name: 'carried-up', namespace: 'app' }, data: {} }),
  ]
}

/** Makes the store of a server that never ran here. */
export async function writeEarlierStore(dataDir: string, objects: readonly EarlierObject[]): Promise<void> {
  const store = await openLevelStore({ path: join(dataDir, 'store') })
  for (const { space, resource, object } of objects) {
    const [group = '', version] = object.apiVersion!.split('/')
    const { namespace = '', name = '' } = object.metadata
    const key: Key = { space, group: version === undefined ? '' : group, resource, namespace, name }
    await store.write({ key, mutation: { type: 'put', text: encodeObject(object) }, expect: 0 })
  }
  await store.close()
}
