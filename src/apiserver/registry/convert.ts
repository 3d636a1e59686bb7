/**
 * Between the served versions of one resource. Most differ in nothing but their apiVersion; the exceptions stand below.
 * Everything works on whole objects in place of the one given (which may be changed and must not be used afterwards).
 */
import { objects } from '../../apimachinery/fields.ts'
import { apiVersionOf, groupResourceName, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'

/** The group that keys of a resource carry: events of both groups are one set of objects. */
export function storageGroup(type: { group: string; resource: string }): string {
  return type.group === 'events.k8s.io' && type.resource === 'events' ? '' : type.group
}

export function storageApiVersion(type: ResourceType): string {
  return apiVersionOf({ group: storageGroup(type), version: type.storageVersion })
}

/** `object` as `type` serves it. */
export function convertTo(
  object: KubeObject,
  apiVersion: string,
  type: { group: string; resource: string },
): KubeObject {
  if (object.apiVersion === apiVersion) return object
  const convert =
    CONVERSIONS[
      `${groupResourceName({ group: storageGroup(type), resource: type.resource })} ${object.apiVersion} ${apiVersion}`
    ]
  convert?.(object)
  object.apiVersion = apiVersion
  return object
}

/** Whether the versions of a kind differ in more than their apiVersion. */
export function differsByVersion(type: { group: string; resource: string }): boolean {
  return DIFFERENT.has(groupResourceName({ group: storageGroup(type), resource: type.resource }))
}

/** The names of an Event's fields in the core group, and in its own. */
const EVENT_FIELDS = [
  ['message', 'note'],
  ['involvedObject', 'regarding'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
] as const

const CONVERSIONS: Record<string, (object: KubeObject) => void> = {
  'events v1 events.k8s.io/v1': event => {
    for (const [core, own] of EVENT_FIELDS) rename(event, core, own)
    // written only when they say something; the other form always has them
    for (const field of ['reportingController', 'reportingInstance']) if (event[field] === '') delete event[field]
  },
  'events events.k8s.io/v1 v1': event => {
    for (const [core, own] of EVENT_FIELDS) rename(event, own, core)
  },
  'horizontalpodautoscalers.autoscaling autoscaling/v2 autoscaling/v1': autoscalerToV1,
  'horizontalpodautoscalers.autoscaling autoscaling/v1 autoscaling/v2': autoscalerToV2,
}

const DIFFERENT: ReadonlySet<string> = new Set(Object.keys(CONVERSIONS).map(key => key.split(' ')[0]!))

const METRICS = 'autoscaling.alpha.kubernetes.io/metrics'
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior'

/** v1 knows the target CPU utilization only; what else v2 says travels in annotations, as upstream does it. */
function autoscalerToV1(object: KubeObject): void {
  const spec = isRecord(object.spec) ? object.spec : {}
  const metrics = objects(spec.metrics)
  const cpu = metrics.find(isCpuUtilization)
  const others = metrics.filter(metric => metric !== cpu)
  if (cpu) spec.targetCPUUtilizationPercentage = utilizationOf(cpu)
  const annotations = { ...object.metadata.annotations }
  if (others.length > 0) annotations[METRICS] = JSON.stringify(others)
  if (spec.behavior !== undefined) annotations[BEHAVIOR] = JSON.stringify(spec.behavior)
  if (Object.keys(annotations).length > 0) object.metadata.annotations = annotations
  delete spec.metrics
  delete spec.behavior
  if (isRecord(object.status)) {
    const current = objects(object.status.currentMetrics)
    const measured = current.find(isCpuUtilization)
    const resource = isRecord(measured?.resource) ? measured.resource : {}
    const value = isRecord(resource.current) ? resource.current.averageUtilization : undefined
    if (value !== undefined) object.status.currentCPUUtilizationPercentage = value
    delete object.status.currentMetrics
    delete object.status.conditions
  }
}

function autoscalerToV2(object: KubeObject): void {
  const spec = isRecord(object.spec) ? object.spec : {}
  const annotations = { ...object.metadata.annotations }
  const metrics: unknown[] = parseJson(annotations[METRICS], [])
  if (typeof spec.targetCPUUtilizationPercentage === 'number') {
    const target = { type: 'Utilization', averageUtilization: spec.targetCPUUtilizationPercentage }
    metrics.unshift({ type: 'Resource', resource: { name: 'cpu', target } })
  }
  const behavior = parseJson<unknown>(annotations[BEHAVIOR], undefined)
  if (metrics.length > 0) spec.metrics = metrics
  if (behavior !== undefined) spec.behavior = behavior
  delete spec.targetCPUUtilizationPercentage
  delete annotations[METRICS]
  delete annotations[BEHAVIOR]
  if (Object.keys(annotations).length > 0) object.metadata.annotations = annotations
  else delete object.metadata.annotations
  if (!isRecord(object.status)) return
  delete object.status.currentCPUUtilizationPercentage
  // v1 always says it, v2 only when there are some
  if (object.status.currentReplicas === 0) delete object.status.currentReplicas
}

function isCpuUtilization(metric: Record<string, unknown>): boolean {
  const resource = isRecord(metric.resource) ? metric.resource : {}
  return (
    metric.type === 'Resource' &&
    resource.name === 'cpu' &&
    (utilizationOf(metric) !== undefined || 'current' in resource)
  )
}

function utilizationOf(metric: Record<string, unknown>): unknown {
  const resource = isRecord(metric.resource) ? metric.resource : {}
  return isRecord(resource.target) ? resource.target.averageUtilization : undefined
}

/** Annotations are users' text: what is not JSON is as if it were absent, as upstream treats it. */
function parseJson<T>(text: string | undefined, otherwise: T): T {
  if (text === undefined) return otherwise
  try {
    return JSON.parse(text) as T
  } catch {
    return otherwise
  }
}

function rename(object: Record<string, unknown>, from: string, to: string): void {
  if (object[from] === undefined) return
  object[to] = object[from]
  delete object[from]
}
