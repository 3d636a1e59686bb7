/**
 * The real kube-controller-manager (1.20), which speaks protobuf, does its work in a space as it does in a cluster.
 *
 * Started with all its controllers it runs too. It leaves out by itself those whose old API versions Kubernetes no longer serves (cronjob,
 * disruption, endpointslice and endpointslicemirroring, all v1beta1). Its namespace controller works as well, but waits five seconds before
 * it looks at a deleted namespace.
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { KubeObject } from '../../../src/apimachinery/object.ts'
import type { Api, WatchEvent } from '../../support/api.ts'
import { Program } from '../../syncer/support/processes.ts'
import { startSpace } from './session.ts'

const assets = process.env.KUBEBUILDER_ASSETS
const skip = assets ? false : 'KUBEBUILDER_ASSETS is unset: no kube-controller-manager'
const CONTROLLERS = [
  ...['deployment', 'replicaset', 'replicationcontroller', 'statefulset', 'daemonset', 'job'],
  ...['garbagecollector', 'serviceaccount', 'resourcequota', 'endpoint'],
]
const PODS = '/api/v1/namespaces/team/pods'
const APPS = '/apis/apps/v1/namespaces/team'
const labels = { app: 'web' }
/** Go writes some of these characters escaped, and compares byte by byte what comes back. */
const args = ['sh', '-c', 'a && b < c']
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'nginx', args }] } }
const selector = { matchLabels: labels }

t.test('kube-controller-manager in a space', { skip }, async t => {
  const { kubeconfig, api } = await startSpace(t, 'x')
  Program.spawned(t, join(assets!, 'kube-controller-manager'), [
    `--kubeconfig=${kubeconfig}`,
    `--controllers=${CONTROLLERS.join(',')}`,
    '--kube-api-content-type=application/vnd.kubernetes.protobuf',
    '--leader-elect=false',
    '--port=0',
    '--secure-port=0',
  ])
  await make(api, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } })
  const pods = await follow(t, api, PODS)

  await t.test('a Deployment gets its ReplicaSet and Pods, also when it is scaled', async t => {
    const sets = await follow(t, api, `${APPS}/replicasets`)
    await make(api, `${APPS}/deployments`, workload('Deployment', 'web', { replicas: 2 }))
    const set = await sets.until(now => now.size === 1)
    t.match(ownersOf(set), ['Deployment web'])
    t.match(ownersOf(await pods.until(now => now.size === 2)), [/^ReplicaSet web-/, /^ReplicaSet web-/])
    await api.ok(api.patch(`${APPS}/deployments/web/scale`, 'merge', { spec: { replicas: 3 } }))
    await pods.until(now => now.size === 3)
    const deployments = await follow(t, api, `${APPS}/deployments`)
    const settled = await deployments.until(([web]) => statusOf(web).replicas === 3)
    t.match(statusOf([...settled.values()][0]), { observedGeneration: 2, unavailableReplicas: 3 })
  })

  await t.test('what belongs to a deleted Deployment is collected', async t => {
    await api.ok(api.delete(`${APPS}/deployments/web`))
    await pods.until(now => now.size === 0)
    t.strictSame((await api.get(`${APPS}/replicasets`)).body.items, [])
  })

  await t.test('a StatefulSet, a DaemonSet and a Job get theirs; a quota counts them', async t => {
    await make(api, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' } })
    // New nodes are tainted as not ready; no kubelet is here to say otherwise.
    await api.ok(api.patch('/api/v1/nodes/n', 'merge', { spec: { taints: null } }))
    const parallel = { serviceName: 'db', replicas: 2, podManagementPolicy: 'Parallel' }
    await make(api, `${APPS}/statefulsets`, workload('StatefulSet', 'db', parallel))
    await make(api, `${APPS}/daemonsets`, workload('DaemonSet', 'ds', {}))
    const once = { metadata: { labels: { app: 'job' } }, spec: { ...template.spec, restartPolicy: 'Never' } }
    const job = { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { template: once } }
    await make(api, '/apis/batch/v1/namespaces/team/jobs', job)
    const all = await pods.until(now => now.size === 4)
    t.strictSame(ownersOf(all).sort(), ['DaemonSet ds', 'Job j', 'StatefulSet db', 'StatefulSet db'])
    const quotas = await follow(t, api, '/api/v1/namespaces/team/resourcequotas')
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'q' }, spec: { hard: { pods: '20' } } }
    await make(api, '/api/v1/namespaces/team/resourcequotas', quota)
    await quotas.until(([q]) => (statusOf(q).used as { pods?: string } | undefined)?.pods === '4')
    const sets = await follow(t, api, `${APPS}/daemonsets`)
    await sets.until(([ds]) => statusOf(ds).currentNumberScheduled === 1)
    const { items } = await api.ok(api.get(`${APPS}/controllerrevisions`))
    t.strictSame(items.map(ownerOf).sort(), ['DaemonSet ds', 'StatefulSet db'], 'one each: they know it again')
  })
})

function workload(kind: string, name: string, spec: object): object {
  return { apiVersion: 'apps/v1', kind, metadata: { name }, spec: { selector, template, ...spec } }
}

async function make(api: Api, path: string, object: object): Promise<void> {
  await api.ok(api.post(path, object))
}

type Objects = ReadonlyMap<string, KubeObject>

/** Content of a path's list, kept up to date by a watch. */
async function follow(t: Test, api: Api, path: string) {
  const { metadata, items } = await api.ok(api.get(path))
  const now = new Map(items.map(item => [String(item.metadata.uid), item]))
  const watch = await api.watch(`${path}?watch=1&resourceVersion=${metadata.resourceVersion}`)
  t.teardown(() => watch.close())
  const see = ({ type, object }: WatchEvent): void => {
    if (type === 'DELETED') now.delete(String(object.metadata.uid))
    else now.set(String(object.metadata.uid), object)
  }
  return {
    /** Waits until the objects are as wanted. */
    async until(wanted: (now: Objects & Iterable<[string, KubeObject]>) => boolean): Promise<Objects> {
      while (!wanted(now)) see((await watch.take(1))[0]!)
      return now
    },
  }
}

function ownersOf(objects: Objects): string[] {
  return [...objects.values()].map(ownerOf)
}

function ownerOf({ metadata }: KubeObject): string {
  const { kind, name } = metadata.ownerReferences![0]!
  return `${kind} ${name}`
}

function statusOf(entry: [string, KubeObject] | KubeObject | undefined): Record<string, unknown> {
  const object = Array.isArray(entry) ? entry[1] : entry
  return (object?.status ?? {}) as Record<string, unknown>
}
