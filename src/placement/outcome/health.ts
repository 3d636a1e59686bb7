/**
 * Whether an object does what it is there for, by each kind's own rule, from its spec and status alone. Pure.
 *
 * A status counts when it is about the newest spec. `Stalled` and `Reconciling` are believed of any kind, as kstatus does. Conditions by
 * custom decide for a kind without a rule: `Ready`, else `Available`. An object without any of that is healthy by its presence, also before
 * its operator has written a first status. No definition declares whether one will, and many have a status that stays empty: a wait for
 * `Ready` could last for ever.
 *
 * Omissions of a rule are deliberate. Examples are a load balancer or Ingress without an address, a claim that waits for its first
 * consumer, a suspended Job or CronJob. Each may be as it should be. Duration is no criterion: no clock triggers the next look.
 * @see docs/health.md for what differs from kstatus
 */
import { at, list, num, objects, str } from '../../apimachinery/fields.ts'
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { leftTexts } from '../content/leftFields.ts'

export const HEALTHS = [
  'Healthy',
  /** On its way. */
  'Progressing',
  /** It has come to rest without what it is there for, and will not get there by waiting. */
  'Degraded',
  /** A suspension at an author's wish. */
  'Suspended',
] as const
export type Health = (typeof HEALTHS)[number]

export interface HealthVerdict {
  readonly health: Health
  /** Why it is not healthy, on one line; `''` where it is. */
  readonly message: string
}

type Rule = (object: Readonly<KubeObject>) => HealthVerdict

/** As many as Kubernetes can count. */
const MOST_PODS = 2 ** 31 - 1
const NOT_LOOKED_AT = 'its newest spec has not been looked at'
export const HEALTHY: HealthVerdict = { health: 'Healthy', message: '' }

/** @param kind of the object, with `group` */
export function healthOf(kind: { group: string; resource: string }, object: Readonly<KubeObject>): HealthVerdict {
  if (object.metadata.deletionTimestamp !== undefined) return progressing('it is being deleted')
  const observed = at(object.status, 'observedGeneration')
  const { generation } = object.metadata
  if (typeof observed === 'number' ? observed < (generation ?? 0) : generation !== undefined && hasOwnHealth(kind))
    return progressing(NOT_LOOKED_AT)
  return byOperator(object) ?? (RULES[groupResourceName(kind)] ?? byConditions)(object)
}

/** Kinds that always say which generation their status is about: where that is missing, it is about an older one. */
const TELLING: ReadonlySet<string> = new Set([
  'deployments.apps',
  'statefulsets.apps',
  'daemonsets.apps',
  'replicasets.apps',
  'replicationcontrollers',
])

function hasOwnHealth(kind: { group: string; resource: string }): boolean {
  return TELLING.has(groupResourceName(kind))
}

const RULES: Readonly<Record<string, Rule>> = {
  'deployments.apps': deployment,
  'statefulsets.apps': statefulSet,
  'daemonsets.apps': daemonSet,
  'replicasets.apps': replicaSet,
  replicationcontrollers: replicaSet,
  'jobs.batch': job,
  'cronjobs.batch': cronJob,
  pods: pod,
  persistentvolumeclaims: claim,
  'horizontalpodautoscalers.autoscaling': autoscaler,
  'customresourcedefinitions.apiextensions.k8s.io': definition,
  'apiservices.apiregistration.k8s.io': byCondition('Available'),
  // it has an address or none, and runs all the same
  services: () => HEALTHY,
  'ingresses.networking.k8s.io': () => HEALTHY,
  'poddisruptionbudgets.policy': () => HEALTHY,
}

function deployment(object: Readonly<KubeObject>): HealthVerdict {
  const { status } = object
  const progress = conditionOf(object, 'Progressing')
  if (progress.reason === 'ProgressDeadlineExceeded') return degraded(progress.message || 'it makes no progress')
  const failure = conditionOf(object, 'ReplicaFailure')
  if (failure.status === 'True') return degraded(failure.message || 'Pods cannot be made')
  if (at(object.spec, 'paused') === true) return { health: 'Suspended', message: 'it is paused' }
  const wanted = replicasOf(object)
  const updated = pods(status, 'updatedReplicas')
  if (updated < wanted) return progressing(`${updated} of ${wanted} Pods are of the newest spec`)
  if (pods(status, 'replicas') > updated) return progressing(`${pods(status, 'replicas') - updated} old Pods are left`)
  const available = pods(status, 'availableReplicas')
  return available < wanted ? progressing(`${available} of ${wanted} Pods are available`) : HEALTHY
}

function statefulSet(object: Readonly<KubeObject>): HealthVerdict {
  const { spec, status } = object
  const wanted = replicasOf(object)
  const ready = pods(status, 'readyReplicas')
  if (ready < wanted) return progressing(`${ready} of ${wanted} Pods are ready`)
  const left = pods(status, 'replicas') - wanted
  if (left > 0) return progressing(`${left} Pods are to go`)
  // Pods are replaced when somebody deletes them
  if (str(spec, 'updateStrategy', 'type') === 'OnDelete') return HEALTHY
  const partition = pods(spec, 'updateStrategy', 'rollingUpdate', 'partition')
  const due = Math.max(0, wanted - partition)
  const updated = pods(status, 'updatedReplicas')
  if (partition > 0) return updated < due ? progressing(`${updated} of ${due} Pods are of the newest spec`) : HEALTHY
  return str(status, 'updateRevision') !== str(status, 'currentRevision')
    ? progressing(`${updated} of ${wanted} Pods are of the newest spec`)
    : HEALTHY
}

function daemonSet(object: Readonly<KubeObject>): HealthVerdict {
  const { spec, status } = object
  if (at(status, 'observedGeneration') === undefined) return progressing('its nodes have not been looked at')
  const wanted = pods(status, 'desiredNumberScheduled')
  const updated = pods(status, 'updatedNumberScheduled')
  if (str(spec, 'updateStrategy', 'type') !== 'OnDelete' && updated < wanted)
    return progressing(`${updated} of ${wanted} Pods are of the newest spec`)
  const available = pods(status, 'numberAvailable')
  return available < wanted ? progressing(`${available} of ${wanted} Pods are available`) : HEALTHY
}

function replicaSet(object: Readonly<KubeObject>): HealthVerdict {
  const { status } = object
  const failure = conditionOf(object, 'ReplicaFailure')
  if (failure.status === 'True') return degraded(failure.message || 'Pods cannot be made')
  const wanted = replicasOf(object)
  const available = pods(status, 'availableReplicas')
  if (available < wanted) return progressing(`${available} of ${wanted} Pods are available`)
  const left = pods(status, 'replicas') - wanted
  return left > 0 ? progressing(`${left} Pods are to go`) : HEALTHY
}

/** A Job that runs does what it is there for, and is done when it has done it. */
function job(object: Readonly<KubeObject>): HealthVerdict {
  const failed = conditionOf(object, 'Failed')
  if (failed.status === 'True') return degraded(failed.message || 'it failed')
  if (conditionOf(object, 'Complete').status === 'True') return HEALTHY
  if (at(object.spec, 'suspend') === true) return { health: 'Suspended', message: 'it is suspended' }
  return progressing(at(object.status, 'startTime') === undefined ? 'it has not begun' : 'it runs')
}

function cronJob(object: Readonly<KubeObject>): HealthVerdict {
  return at(object.spec, 'suspend') === true ? { health: 'Suspended', message: 'it is suspended' } : HEALTHY
}

/** Words by which a kubelet says that a container does not start. */
const BROKEN = /^(Err.*|.*Error|.*BackOff)$/

function pod(object: Readonly<KubeObject>): HealthVerdict {
  const { status } = object
  const phase = str(status, 'phase')
  if (phase === 'Succeeded') return HEALTHY
  if (phase === 'Failed') return degraded(str(status, 'message') || str(status, 'reason') || 'it failed')
  for (const container of [...objects(status, 'initContainerStatuses'), ...objects(status, 'containerStatuses')]) {
    const reason = str(container, 'state', 'waiting', 'reason')
    if (BROKEN.test(reason))
      return degraded(`container ${str(container, 'name')}: ${str(container, 'state', 'waiting', 'message') || reason}`)
  }
  const scheduled = conditionOf(object, 'PodScheduled')
  if (scheduled.reason === 'Unschedulable') return progressing(scheduled.message || 'no node takes it')
  return conditionOf(object, 'Ready').status === 'True' ? HEALTHY : progressing('it is not ready')
}

/** Until a Pod uses it, a claim may wait by its class, which is nobody's trouble. */
function claim({ status }: Readonly<KubeObject>): HealthVerdict {
  return str(status, 'phase') === 'Lost' ? degraded('its volume is gone') : HEALTHY
}

function autoscaler(object: Readonly<KubeObject>): HealthVerdict {
  for (const type of ['AbleToScale', 'ScalingActive']) {
    const { status, reason, message } = conditionOf(object, type)
    // at zero replicas it rests
    if (status === 'False' && reason !== 'ScalingDisabled') return degraded(message || reason)
  }
  return list(object.status, 'conditions').length > 0 ? HEALTHY : progressing('it has not been looked at')
}

function definition(object: Readonly<KubeObject>): HealthVerdict {
  const names = conditionOf(object, 'NamesAccepted')
  if (names.status === 'False') return degraded(names.message || 'its names are taken')
  return conditionOf(object, 'Established').status === 'True' ? HEALTHY : progressing('it is not established')
}

function byCondition(type: string): Rule {
  return object => {
    const { status, message } = conditionOf(object, type)
    return status === 'True' ? HEALTHY : status === 'False' ? degraded(message) : progressing(`it is not ${type}`)
  }
}

/** An operator's report that its object does not do its work; `undefined`: none. */
function byOperator(object: Readonly<KubeObject>): HealthVerdict | undefined {
  if (object.status === undefined) return undefined
  const stalled = conditionOf(object, 'Stalled')
  if (stalled.status === 'True' && !stalled.isOld) return degraded(stalled.message || stalled.reason || 'it is stalled')
  const reconciling = conditionOf(object, 'Reconciling')
  return reconciling.status === 'True'
    ? progressing(reconciling.message || reconciling.reason || 'it is being reconciled')
    : undefined
}

function byConditions(object: Readonly<KubeObject>): HealthVerdict {
  for (const type of ['Ready', 'Available']) {
    const { status, reason, message, isOld } = conditionOf(object, type)
    if (isOld) return progressing(NOT_LOOKED_AT)
    if (status !== '') return status === 'True' ? HEALTHY : progressing(message || reason || `it is not ${type}`)
  }
  return HEALTHY
}

interface Found extends Record<'status' | 'reason' | 'message', string> {
  /** Whether the report concerns an older spec. */
  readonly isOld: boolean
}

function conditionOf({ metadata, status }: Readonly<KubeObject>, type: string): Found {
  const found = objects(status, 'conditions').find(condition => condition.type === type)
  const observed = at(found, 'observedGeneration')
  return {
    status: str(found, 'status'),
    reason: str(found, 'reason'),
    message: str(found, 'message'),
    isOld: typeof observed === 'number' && observed < (metadata.generation ?? 0),
  }
}

/** Without a count in the spec, or with one that is left to the cluster, the reported one: an autoscaler there may set it. */
function replicasOf(object: Readonly<KubeObject>): number {
  const { spec, status, kind } = object
  const replicas = at(spec, 'replicas')
  const isLeft = leftTexts(object).some(pointer => pointer === '/spec/replicas' || pointer === '/spec')
  if (typeof replicas === 'number' && !isLeft) return replicas
  const there = pods(status, 'replicas')
  if (there > 0 || conditionOf(object, 'Available').status === 'True') return there
  // none is there yet, or none is wanted: a Deployment says which
  return isLeft && kind !== 'Deployment' ? 0 : 1
}

/** A count of Pods: what a cluster says may be anything. */
function pods(value: unknown, ...path: readonly string[]): number {
  return Math.trunc(Math.min(Math.max(num(value, ...path), 0), MOST_PODS))
}

function progressing(message: string): HealthVerdict {
  return { health: 'Progressing', message }
}

function degraded(message: string): HealthVerdict {
  return { health: 'Degraded', message }
}
