/**
 * What a mailbox's copy of an object looks like, given its (customized) sources and the copy that is there.
 *
 * Source keys of labels and annotations overlay the copy's own; every other top-level field is the source's; status and
 * the rest of metadata are the mailbox's. The copy remembers which keys and fields came from a source, so that what leaves
 * the source leaves the copy, and what somebody else put there stays.
 */
import { strings } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject, type ObjectMeta } from '../../apimachinery/object.ts'
import {
  CUSTOMIZATION_ERROR_ANNOTATION,
  PROJECTED_FROM_ANNOTATION,
  PROJECTED_KEYS_ANNOTATION,
  PROJECTED_LABEL,
  PROJECTED_VALUE,
} from '../../apimachinery/placement.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { CARRIER_MARKS } from './names.ts'

export interface ProjectionSource {
  /** Id of the space that it comes from. */
  readonly space: string
  /** Already customized. */
  readonly object: KubeObject
}

/** The part of a copy that sources decide. */
export interface Projection {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** Top-level fields other than apiVersion, kind, metadata and status. */
  readonly fields: Readonly<Record<string, unknown>>
  readonly spaces: readonly string[]
}

interface ProjectedKeys {
  labels: string[]
  annotations: string[]
  fields: string[]
}

const OWN_ANNOTATIONS: ReadonlySet<string> = new Set([
  PROJECTED_KEYS_ANNOTATION,
  PROJECTED_FROM_ANNOTATION,
  CUSTOMIZATION_ERROR_ANNOTATION,
  ...CARRIER_MARKS,
])
const NOT_FIELDS = new Set(['apiVersion', 'kind', 'metadata', 'status'])

/** `sources`, at least one, newest first: each top-level field and each key is the newest source's that has it. */
export function project(sources: readonly ProjectionSource[]): Projection {
  const newest = sources[0]!.object
  const labels: Record<string, string> = {}
  const annotations: Record<string, string> = {}
  const fields: Record<string, unknown> = {}
  for (const { object } of sources.toReversed()) {
    for (const [key, value] of Object.entries(object.metadata.labels ?? {})) {
      if (!isReservedKey(key) && key !== PROJECTED_LABEL) labels[key] = value
    }
    for (const [key, value] of Object.entries(object.metadata.annotations ?? {})) {
      if (!isReservedKey(key) && !OWN_ANNOTATIONS.has(key)) annotations[key] = value
    }
    for (const [field, value] of Object.entries(withoutServerFields(object))) {
      if (!NOT_FIELDS.has(field)) fields[field] = value
    }
  }
  return {
    apiVersion: newest.apiVersion,
    kind: newest.kind,
    name: newest.metadata.name ?? '',
    namespace: newest.metadata.namespace ?? '',
    labels,
    annotations,
    fields,
    spaces: sources.map(source => source.space).sort(),
  }
}

/** The body that creates the copy. */
export function createdCopy(projection: Projection): KubeObject {
  const { apiVersion, kind, name, namespace, fields } = projection
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace !== '' && { namespace }),
      labels: { ...projection.labels, [PROJECTED_LABEL]: PROJECTED_VALUE },
      annotations: { ...projection.annotations, ...records(projection) },
    },
    ...fields,
  }
}

/** The body that brings the copy up to date, or `undefined` when nothing is to be changed. `copy` is left as it is. */
export function updatedCopy(projection: Projection, copy: KubeObject): KubeObject | undefined {
  const before = projectedKeysOf(copy)
  const { labels = {}, annotations = {} } = copy.metadata
  const metadata: ObjectMeta = {
    ...copy.metadata,
    labels: { ...without(labels, before.labels), ...projection.labels, [PROJECTED_LABEL]: PROJECTED_VALUE },
    annotations: { ...without(annotations, before.annotations), ...projection.annotations, ...records(projection) },
  }
  const fields = keptByServer(projection, copy)
  const updated: KubeObject = {
    ...without(copy, before.fields),
    ...fields,
    apiVersion: copy.apiVersion,
    kind: copy.kind,
    metadata,
  }
  return equalJson(updated, copy) ? undefined : updated
}

/** A bare Namespace for objects whose Namespace was not itself selected. */
export function implicitNamespace(name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { [PROJECTED_LABEL]: PROJECTED_VALUE } },
  }
}

/** Ids of the spaces that the copy was made from; empty for implicit Namespaces. */
export function projectedFrom(copy: KubeObject): string[] {
  return (copy.metadata.annotations?.[PROJECTED_FROM_ANNOTATION] ?? '').split(',').filter(id => id !== '')
}

function records(projection: Projection): Record<string, string> {
  const keys: ProjectedKeys = {
    labels: Object.keys(projection.labels).sort(),
    annotations: Object.keys(projection.annotations).sort(),
    fields: Object.keys(projection.fields).sort(),
  }
  return {
    [PROJECTED_KEYS_ANNOTATION]: JSON.stringify(keys),
    [PROJECTED_FROM_ANNOTATION]: projection.spaces.join(','),
  }
}

function projectedKeysOf(copy: KubeObject): ProjectedKeys {
  const none: ProjectedKeys = { labels: [], annotations: [], fields: [] }
  const text = copy.metadata.annotations?.[PROJECTED_KEYS_ANNOTATION]
  if (text === undefined) return none
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    // somebody edited our note: without it removals are not known, and the note is written anew
    return none
  }
  if (!isRecord(parsed)) return none
  const { labels, annotations, fields } = parsed
  return {
    labels: strings(labels),
    annotations: strings(annotations).filter(key => !isReservedKey(key)),
    fields: strings(fields).filter(field => !NOT_FIELDS.has(field)),
  }
}

/** The server's own keys: each space has its own values. */
function isReservedKey(key: string): boolean {
  return key.startsWith('kcp.io/') || key.includes('.kcp.io/')
}

/** A Job's selector and the labels behind it are made by each server from the Job's uid. */
function withoutServerFields(object: KubeObject): Readonly<Record<string, unknown>> {
  if (object.kind !== 'Job' || !object.apiVersion.startsWith('batch/')) return object
  const { spec } = object
  if (!isRecord(spec) || spec.manualSelector === true) return object
  const { selector: _made, ...rest } = spec
  const template = isRecord(spec.template) ? spec.template : {}
  const metadata = isRecord(template.metadata) ? template.metadata : {}
  const labels = isRecord(metadata.labels) ? without(metadata.labels, JOB_LABELS) : undefined
  return {
    ...object,
    spec: { ...rest, template: { ...template, metadata: { ...metadata, ...(labels && { labels }) } } },
  }
}

const JOB_LABELS = ['controller-uid', 'job-name', 'batch.kubernetes.io/controller-uid', 'batch.kubernetes.io/job-name']

/** The projected fields, with what the mailbox's server put into this copy when it was made and would refuse to lose. */
function keptByServer(projection: Projection, copy: KubeObject): Readonly<Record<string, unknown>> {
  if (copy.kind !== 'Job' || !isRecord(projection.fields.spec) || !isRecord(copy.spec)) return projection.fields
  if (projection.fields.spec.manualSelector === true) return projection.fields
  const { selector, template } = copy.spec
  return {
    ...projection.fields,
    spec: {
      ...projection.fields.spec,
      ...(selector !== undefined && { selector }),
      ...(template !== undefined && { template }),
    },
  }
}

function without<T extends object>(value: T, keys: readonly string[]): T {
  return keys.length === 0
    ? value
    : (Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key))) as T)
}
