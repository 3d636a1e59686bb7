/** Expectations of the demo about spaces and clusters: each waits until it is met, or names the missing part. */
import { isRecord, type KubeObject } from '../src/apimachinery/object.ts'
import type { Observer } from './observer.ts'

export function mailboxOf(core: Observer, syncTarget: string): string {
  for (const key of core.keys()) {
    const object = core.get(key)?.object
    if (
      object?.kind !== 'Workspace' ||
      object.metadata.annotations?.['edge.kubestellar.io/sync-target-name'] !== syncTarget
    )
      continue
    if (isRecord(object.spec) && typeof object.spec.cluster === 'string') return object.spec.cluster
  }
  throw new Error(`no mailbox workspace under root:espw for SyncTarget ${syncTarget}`)
}

export async function present(observer: Observer, resource: string, names: readonly string[]): Promise<void> {
  for (const name of names) await exists(observer, 'root:imw1', `${resource} ${name}`)
}

export async function exists(observer: Observer, where: string, key: string): Promise<void> {
  await observer.until(where, () => (observer.get(key) ? undefined : `${key} is missing`))
}

export async function destinations(space: Observer, placement: string, expected: readonly string[]): Promise<void> {
  await space.until(`SinglePlacementSlice ${placement}`, () => {
    const object = space.get(`singleplacementslices.edge.kubestellar.io ${placement}`)?.object
    const found = (Array.isArray(object?.destinations) ? object.destinations.filter(isRecord) : [])
      .map(d => String(d.locationName))
      .sort()
    return same(found, expected) ? undefined : `expected ${expected.join(', ')}; found ${found.join(', ') || 'none'}`
  })
}

export async function syncerConfig(
  mailbox: Observer,
  name: string,
  expected: { namespaced: readonly string[]; cluster: readonly string[]; upsync: readonly string[] },
): Promise<void> {
  await mailbox.until(`${name}: SyncerConfig the-one`, () => {
    const spec = mailbox.get('syncerconfigs.edge.kubestellar.io the-one')?.object.spec
    if (!isRecord(spec)) return 'it is missing'
    const records = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isRecord) : [])
    const namespaced = records(spec.namespacedObjects).flatMap(item =>
      records(item.objectsByNamespace).flatMap(ns =>
        (ns.names as string[]).map(object => `${item.resource} ${ns.namespace}/${object}`),
      ),
    )
    const cluster = records(spec.clusterScope).flatMap(item =>
      ((item.objects as string[] | undefined) ?? []).map(object => `${item.resource} ${object}`),
    )
    const upsync = records(spec.upsync).map(item => String(item.apiGroup))
    const found = { namespaced: namespaced.sort(), cluster: cluster.sort(), upsync: upsync.sort() }
    for (const part of ['namespaced', 'cluster', 'upsync'] as const) {
      if (!same(found[part], expected[part]))
        return `${part}: expected ${expected[part].join(', ')}; found ${found[part].join(', ')}`
    }
    return undefined
  })
}

export async function page(cluster: Observer, name: string, namespace: string, text: string): Promise<void> {
  await cluster.until(`${name}: the page in ${namespace}`, () => {
    const data = cluster.get(`configmaps ${namespace}/httpd-htdocs`)?.object.data
    const html = isRecord(data) ? String(data['index.html']) : 'no ConfigMap'
    return html.includes(text) ? undefined : `expected "${text}", found ${html}`
  })
}

export async function ready(cluster: Observer, name: string, key: string): Promise<void> {
  await cluster.until(`${name}: ${key}`, () => {
    const status = cluster.get(key)?.object.status
    return isRecord(status) && status.readyReplicas === 1 ? undefined : `not ready: ${JSON.stringify(status)}`
  })
}

export async function environment(cluster: Observer, name: string, key: string, expected: string): Promise<void> {
  await cluster.until(`${name}: ${key}`, () => {
    const text = JSON.stringify(cluster.get(key)?.object.spec ?? {})
    return text.includes(`"value":${JSON.stringify(expected)}`)
      ? undefined
      : `its environment does not say "${expected}"`
  })
}

export async function executing(space: Observer, where: string, key: string, expected: string): Promise<void> {
  await space.until(`${where}: ${key}`, () => {
    const found = space.get(key)?.object.metadata.annotations?.['kubestellar.io/executing-count']
    return found === expected ? undefined : `executing-count: expected ${expected}, found ${found ?? 'none'}`
  })
}

export function conditionOf(object: KubeObject | undefined, type: string): unknown {
  return conditionsOf(object).find(condition => condition.type === type)?.status
}

export function reasonOf(object: KubeObject | undefined, type: string): unknown {
  return conditionsOf(object).find(condition => condition.type === type)?.reason
}

export function conditionsOf(object: KubeObject | undefined): Record<string, unknown>[] {
  return isRecord(object?.status) && Array.isArray(object.status.conditions)
    ? object.status.conditions.filter(isRecord)
    : []
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify([...a].sort()) === JSON.stringify([...b].sort())
}
