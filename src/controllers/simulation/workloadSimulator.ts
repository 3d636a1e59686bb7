/**
 * Stands in for the kubelet and the workload controllers of a cluster: gives workload objects a believable status and
 * Deployments their ReplicaSet. No container runs.
 */

import { createHash } from 'node:crypto'
import { record } from '../../apimachinery/fields.ts'
import { apiVersionOf, type GroupVersionResource, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { LAST_APPLIED_ANNOTATION } from '../../apimachinery/resources.ts'
import { timestamp } from '../../apimachinery/timestamp.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { SpaceClient } from '../../client/client.ts'
import { Controller } from '../../client/controller.ts'
import { refOf } from '../../client/refOf.ts'
import { StreamSource } from '../../client/streamSource.ts'
import { unlessChanged } from '../../client/unlessGone.ts'
import type { ControllerRuntime } from '../spacesController.ts'
import { simulatedStatus } from './workloadStatus.ts'

interface WorkloadKey {
  resource: GroupVersionResource
  namespace: string
  name: string
}

const apps = (resource: string): GroupVersionResource => ({ group: 'apps', version: 'v1', resource })
const REPLICA_SETS = apps('replicasets')
const SIMULATED: readonly GroupVersionResource[] = [
  apps('deployments'),
  REPLICA_SETS,
  apps('statefulsets'),
  apps('daemonsets'),
  { group: 'batch', version: 'v1', resource: 'jobs' },
  { group: '', version: 'v1', resource: 'pods' },
  { group: '', version: 'v1', resource: 'replicationcontrollers' },
  { group: 'apiregistration.k8s.io', version: 'v1', resource: 'apiservices' },
]
const OPTIONS = { fieldManager: 'simulation' }

/** Works on the one space of a plain cluster. */
export function workloadSimulator(options: ControllerRuntime & { space: string }): Controller<WorkloadKey> {
  const { client, space, clock } = options
  const api = client.in(space)
  const controller: Controller<WorkloadKey> = new Controller<WorkloadKey>({
    ...options,
    name: 'workload-simulator',
    sources: [
      new StreamSource({
        ...options,
        resources: SIMULATED,
        handler: {
          change: ({ type, resource, namespace, name }) => {
            if (type !== 'DELETED') controller.add({ resource, namespace, name })
          },
        },
      }),
    ],
    // deleted or changed meanwhile: its next event wakes the key again
    reconcile: key => unlessChanged(simulate(api, key, new Date(clock.now()))),
  })
  return controller
}

async function simulate(api: SpaceClient, key: WorkloadKey, now: Date): Promise<void> {
  const object = await api.get(key.resource, refOf(key))
  if (object.metadata.deletionTimestamp !== undefined) return
  if (object.kind === 'Deployment') await ensureReplicaSet(api, object)
  const status = simulatedStatus(object, timestamp(now))
  if (status === undefined || equalJson(status, object.status)) return
  await api.update(key.resource, { ...object, status }, { ...OPTIONS, subresource: 'status' })
}

/** The ReplicaSet of the Deployment's present template; older ones are scaled to nothing. */
async function ensureReplicaSet(api: SpaceClient, deployment: KubeObject): Promise<void> {
  const { namespace = '', name = '', uid = '' } = deployment.metadata
  const spec = record(deployment, 'spec')
  const template = record(spec, 'template')
  const hash = createHash('sha256').update(JSON.stringify(template)).digest('hex').slice(0, 10)
  const mark = { 'pod-template-hash': hash }
  const labels = { ...record(template, 'metadata', 'labels'), ...mark } as Record<string, string>
  const { items } = await api.list(REPLICA_SETS, { namespace })
  const owned = items.filter(item => item.metadata.ownerReferences?.some(owner => owner.uid === uid))
  const current = owned.find(item => item.metadata.name === `${name}-${hash}`)
  for (const old of owned) {
    const replicas = old === current ? spec.replicas : 0
    if (isRecord(old.spec) && old.spec.replicas !== replicas) {
      const patch = { spec: { replicas } }
      await api.patch(REPLICA_SETS, { namespace, name: old.metadata.name ?? '' }, 'merge', patch, OPTIONS)
    }
  }
  if (current) return
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name, uid, controller: true, blockOwnerDeletion: true }
  // As the real controller does: children inherit the annotations of their Deployment.
  const { [LAST_APPLIED_ANNOTATION]: _last, ...annotations } = deployment.metadata.annotations ?? {}
  await api.create(
    REPLICA_SETS,
    {
      apiVersion: apiVersionOf(REPLICA_SETS),
      kind: 'ReplicaSet',
      metadata: { name: `${name}-${hash}`, namespace, labels, annotations, ownerReferences: [owner] },
      spec: {
        replicas: spec.replicas,
        selector: { matchLabels: { ...record(spec, 'selector', 'matchLabels'), ...mark } },
        template: { ...template, metadata: { ...record(template, 'metadata'), labels } },
      },
    },
    OPTIONS,
  )
}
