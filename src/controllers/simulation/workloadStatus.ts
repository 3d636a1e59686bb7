/** Status of a workload object in a healthy cluster: that of each kind as its controllers would leave it. Pure. */
import { conditionOf } from '../../apimachinery/conditions.ts'
import { objects, record } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'

type Status = Record<string, unknown>

/** The believable status of an object; `undefined` for kinds that have none to simulate. `now` is RFC 3339. */
export function simulatedStatus(object: Readonly<KubeObject>, now: string): Status | undefined {
  const spec = record(object, 'spec')
  const generation = object.metadata.generation ?? 1
  switch (`${object.apiVersion.split('/')[0]}/${object.kind}`) {
    case 'apps/Deployment':
      return deployment(object, replicasOf(spec), generation, now)
    case 'apps/ReplicaSet':
    case 'v1/ReplicationController': {
      const replicas = replicasOf(spec)
      return {
        replicas,
        fullyLabeledReplicas: replicas,
        readyReplicas: replicas,
        availableReplicas: replicas,
        observedGeneration: generation,
      }
    }
    case 'apps/StatefulSet': {
      const replicas = replicasOf(spec)
      const revision = `${object.metadata.name}-1`
      const counts = {
        replicas,
        readyReplicas: replicas,
        availableReplicas: replicas,
        currentReplicas: replicas,
        updatedReplicas: replicas,
      }
      return {
        ...counts,
        currentRevision: revision,
        updateRevision: revision,
        observedGeneration: generation,
        collisionCount: 0,
      }
    }
    case 'apps/DaemonSet': {
      const scheduled = {
        currentNumberScheduled: 1,
        desiredNumberScheduled: 1,
        updatedNumberScheduled: 1,
        numberMisscheduled: 0,
      }
      return { ...scheduled, numberReady: 1, numberAvailable: 1, observedGeneration: generation }
    }
    case 'batch/Job': {
      const succeeded = typeof spec.completions === 'number' ? spec.completions : 1
      const complete = condition(
        object,
        'Complete',
        { reason: 'CompletionsReached', message: 'the simulation completed the job' },
        now,
      )
      return {
        succeeded,
        ready: 0,
        startTime: object.metadata.creationTimestamp,
        completionTime: complete.lastTransitionTime,
        conditions: [complete],
      }
    }
    case 'v1/Pod':
      return pod(object, spec, now)
    case 'apiregistration.k8s.io/APIService':
      return apiService(object, spec, now)
    default:
      return undefined
  }
}

function deployment(object: Readonly<KubeObject>, replicas: number, generation: number, now: string): Status {
  return {
    observedGeneration: generation,
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
    conditions: [
      condition(
        object,
        'Available',
        { reason: 'MinimumReplicasAvailable', message: 'Deployment has minimum availability.' },
        now,
      ),
      condition(
        object,
        'Progressing',
        { reason: 'NewReplicaSetAvailable', message: 'the simulated rollout has finished' },
        now,
      ),
    ],
  }
}

function pod(object: Readonly<KubeObject>, spec: Status, now: string): Status {
  const containers = objects(spec.containers)
  const startedAt = object.metadata.creationTimestamp
  return {
    phase: 'Running',
    startTime: startedAt,
    hostIP: '192.0.2.1',
    podIP: '198.51.100.1',
    conditions: ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map(type =>
      condition(object, type, {}, now),
    ),
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: `simulated://${String(image)}`,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt } },
    })),
  }
}

/** As kube-aggregator says it of an APIService whose Service does not exist. */
function apiService(object: Readonly<KubeObject>, spec: Status, now: string): Status {
  if (!isRecord(spec.service)) {
    return {
      conditions: [
        condition(object, 'Available', { reason: 'Local', message: 'Local APIServices are always available' }, now),
      ],
    }
  }
  const { name, namespace } = spec.service
  const missing = {
    status: 'False',
    reason: 'ServiceNotFound',
    message: `service/${String(name)} in "${String(namespace)}" is not present`,
  }
  return { conditions: [condition(object, 'Available', missing, now)] }
}

/** A condition keeps its transition time as long as its status stays. */
function condition(object: Readonly<KubeObject>, type: string, fields: Record<string, string>, now: string): Status {
  const known = conditionOf(object, type)
  const value = fields.status ?? 'True'
  const lastTransitionTime =
    known?.status === value && typeof known.lastTransitionTime === 'string' ? known.lastTransitionTime : now
  const updated = object.kind === 'Deployment' ? { lastUpdateTime: lastTransitionTime } : {}
  return { type, status: value, ...fields, ...updated, lastTransitionTime }
}

function replicasOf(spec: Status): number {
  return typeof spec.replicas === 'number' ? spec.replicas : 1
}
