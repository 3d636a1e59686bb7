/** Content of a center that benchmarks begin with: clusters, their mailboxes, spaces. */
import { at } from '../src/apimachinery/fields.ts'
import type { KubeObject } from '../src/apimachinery/object.ts'
import { WORKSPACES } from '../src/apimachinery/resources.ts'
import type { Client } from '../src/client/client.ts'
import { EDGE_API_VERSION, LOCATIONS, SYNC_TARGETS } from '../src/placement/words/placement.ts'

export const INVENTORY = 'root:imw1'
export const WORKLOAD = 'root:wmw1'
/** The parent of all mailboxes. */
const CORE = 'root:espw'

export const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps' }
export const DEPLOYMENTS = { group: 'apps', version: 'v1', resource: 'deployments' }
/** Requests of a crowd. */
export const AT_ONCE = 16

export function edgeObject(kind: string, name: string, content: object, labels = {}): KubeObject {
  return { apiVersion: EDGE_API_VERSION, kind, metadata: { name, labels }, ...content }
}

/** A SyncTarget and its Location, both with the labels `env` and `id`. Returns the SyncTarget. */
export async function addCluster(admin: Client, name: string, env: string): Promise<KubeObject> {
  const inventory = admin.in(INVENTORY)
  const labels = { env, id: name }
  const target = await inventory.create(SYNC_TARGETS, edgeObject('SyncTarget', name, { spec: {} }, labels))
  const spec = { resource: SYNC_TARGETS, instanceSelector: { matchLabels: { id: name } } }
  await inventory.create(LOCATIONS, edgeObject('Location', name, { spec }, labels))
  return target
}

/** The Workspaces of all mailboxes, once so many are ready. */
export async function mailboxesOf(admin: Client, count: number): Promise<KubeObject[]> {
  return await eventually(async () => {
    const { items } = await admin.in(CORE).list(WORKSPACES)
    const ready = items.filter(isReady)
    return ready.length >= count ? ready : undefined
  })
}

/** Makes a space below `root`. Resolves to its Workspace once that is ready. */
export async function addSpace(admin: Client, name: string): Promise<KubeObject> {
  const root = admin.in('root')
  await root.create(WORKSPACES, workspace(name))
  return await eventually(async () => {
    const made = await root.get(WORKSPACES, { name })
    return isReady(made) ? made : undefined
  })
}

export function workspace(name: string): KubeObject {
  return { apiVersion: 'tenancy.kcp.io/v1alpha1', kind: 'Workspace', metadata: { name }, spec: {} }
}

export function isReady({ status }: KubeObject): boolean {
  return at(status, 'phase') === 'Ready'
}

export async function eventually<T>(look: () => Promise<T | undefined>, everyMs = 100): Promise<T> {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise(resolve => setTimeout(resolve, everyMs))
  }
}
