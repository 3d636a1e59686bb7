/**
 * The copy of an associated object for the mailbox: whole, or metadata with a summary of spec and status. A summary of a Pod, or of
 * its template, has names and images of containers: neither environment nor arguments leave the cluster. Pure.
 */
import { objects, record, str } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import type { AssociatedWith } from '../../placement/associated/associated.ts'
import { ASSOCIATED_WITH } from '../../placement/words/placement.ts'
import { upsyncCopy } from './copies.ts'

interface AssociatedCopy {
  readonly copy: KubeObject
  readonly status: unknown
}

type Fields = Readonly<Record<string, unknown>>

export function associatedCopy(
  live: Readonly<KubeObject>,
  apiVersion: string,
  full: boolean,
  account: AssociatedWith,
): AssociatedCopy {
  const whole = upsyncCopy(live, apiVersion)
  const { metadata } = whole
  const kept = full ? whole : { metadata: { annotations: upsyncedMark(metadata.annotations) } }
  const marked = { ...metadata, annotations: withAccount(kept, account) }
  if (full || isEvent(live)) return { copy: { ...whole, metadata: marked }, status: live.status }
  const { kind, spec } = whole
  const copy = { apiVersion, kind, metadata: marked, ...(isRecord(spec) && { spec: specOf(kind, spec) }) }
  return { copy, status: kind === 'Pod' && isRecord(live.status) ? podStatus(live.status) : live.status }
}

/** Annotations of a copy, with the account of its association. */
export function withAccount(
  { metadata }: Pick<KubeObject, 'metadata'>,
  account: AssociatedWith,
): Record<string, string> {
  return { ...metadata.annotations, [ASSOCIATED_WITH]: JSON.stringify(account) }
}

/** An Event has no spec, and is short. */
function isEvent({ apiVersion, kind }: Readonly<KubeObject>): boolean {
  return kind === 'Event' && apiVersion === 'v1'
}

/** Annotations of others may be long, and hold anything. */
function upsyncedMark(annotations: KubeObject['metadata']['annotations']): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => key.startsWith('edge.kubestellar.io/')))
}

function specOf(kind: string, spec: Fields): object {
  if (kind === 'Pod') return podSpec(spec)
  const { template, jobTemplate, selector } = spec
  const flat = Object.fromEntries(Object.entries(spec).filter(([, value]) => !isObject(value)))
  return {
    ...flat,
    ...(isRecord(selector) && { selector }),
    ...(isRecord(template) && { template: templateOf(template) }),
    ...(isRecord(jobTemplate) && { jobTemplate: { spec: specOf('Job', record(jobTemplate.spec)) } }),
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function templateOf({ metadata, spec }: Fields): object {
  const { labels } = record(metadata)
  return { ...(isRecord(labels) && { metadata: { labels } }), ...(isRecord(spec) && { spec: podSpec(spec) }) }
}

function podSpec(spec: Fields): object {
  const { nodeName, restartPolicy, initContainers } = spec
  return {
    containers: containersOf(spec.containers),
    ...(initContainers !== undefined && { initContainers: containersOf(initContainers) }),
    ...(nodeName !== undefined && { nodeName }),
    ...(restartPolicy !== undefined && { restartPolicy }),
  }
}

function containersOf(containers: unknown): object[] {
  // a sidecar is known by its policy
  return objects(containers).map(({ name, image, restartPolicy }) => ({
    name,
    image,
    ...(restartPolicy !== undefined && { restartPolicy }),
  }))
}

function podStatus(status: Fields): object {
  const { phase, reason, message, podIP, startTime, conditions, containerStatuses, initContainerStatuses } = status
  return Object.fromEntries(
    Object.entries({
      phase,
      reason,
      message,
      podIP,
      startTime,
      conditions,
      containerStatuses: containerStatuses && objects(containerStatuses).map(containerStatus),
      initContainerStatuses: initContainerStatuses && objects(initContainerStatuses).map(containerStatus),
    }).filter(([, value]) => value !== undefined),
  )
}

function containerStatus(status: Fields): object {
  const { name, image, ready, restartCount, state, lastState } = status
  return {
    name,
    image,
    imageID: '',
    ready,
    restartCount,
    ...(isRecord(state) && { state: withoutIds(state) }),
    ...(isRecord(lastState) && { lastState: withoutIds(lastState) }),
  }
}

function withoutIds(state: Fields): object {
  const { terminated } = state
  if (!isRecord(terminated)) return state
  const { containerID: _, ...rest } = terminated
  return { ...state, terminated: { ...rest, message: str(rest, 'message').slice(0, MAX_MESSAGE) } }
}

const MAX_MESSAGE = 1024
