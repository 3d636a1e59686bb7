/**
 * A mailbox's copy of an object, given its owner's (customized) object and the present copy.
 *
 * The owner's keys of labels and annotations overlay the copy's own. Every other top-level field is the owner's; status and the rest of
 * metadata are the mailbox's. The copy records its owner, and the keys and fields from there. Values that leave the source leave the copy,
 * also after a change of owner, and values of other writers stay.
 */

import { record, strings } from '../../apimachinery/fields.ts'
import { isRecord, type KubeObject, type ObjectMeta } from '../../apimachinery/object.ts'
import { isServersKey, LAST_APPLIED_ANNOTATION } from '../../apimachinery/resources.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { type AssociatedAsk, asksText } from '../associated/associated.ts'
import { goesToMailbox, JOB_LABELS } from '../words/marks.ts'
import {
  ADOPT,
  ASSOCIATED_ANNOTATION,
  IMPLIED_ANNOTATION,
  LEFT_FIELDS_ANNOTATION,
  OWNED_SINCE_ANNOTATION,
  OWNER_ANNOTATION,
  OWNER_REFERENCES_ANNOTATION,
  PRESERVE_ANNOTATION,
  PROJECTED_KEYS_ANNOTATION,
  PROJECTED_LABEL,
  PROJECTED_VALUE,
} from '../words/placement.ts'
import { type CarriedOwner, carriedOwnersText } from './carriedOwners.ts'
import { leftFieldsText } from './leftFields.ts'
import { withBornStatus } from './returnedStatus.ts'

/** The part of a copy that its owner decides. */
export interface Projection {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  /** Top-level fields other than apiVersion, kind, metadata and status. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Id of the owner's space. */
  readonly owner: string
  /** Whether nobody placed it: it comes along with what is placed. */
  readonly implied: boolean
  /** Those of its owners that go to the same mailbox. */
  readonly owners: readonly CarriedOwner[]
  /** Pointers to what is left to its cluster. */
  readonly left: readonly string[]
  /** Wishes for associated objects. */
  readonly associated: readonly AssociatedAsk[]
}

interface ProjectedKeys {
  labels: string[]
  annotations: string[]
  fields: string[]
}

const NOT_FIELDS = new Set(['apiVersion', 'kind', 'metadata', 'status'])

interface Circumstances {
  readonly implied?: boolean
  /** Its cluster keeps it when it is not placed any more. */
  readonly preserve?: boolean
  /** It takes over what its cluster held before, unless it says itself that it does not. */
  readonly adopt?: boolean
  readonly owners?: readonly CarriedOwner[]
  readonly left?: readonly string[]
  readonly associated?: readonly AssociatedAsk[]
}

/** `object` is the owner's, customized already. */
export function project(
  owner: string,
  object: KubeObject,
  { implied = false, preserve = false, adopt = false, owners = [], left = [], associated = [] }: Circumstances = {},
): Projection {
  const { name = '', namespace = '', labels = {}, annotations = {} } = object.metadata
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    name,
    namespace,
    labels: keep(labels, key => !isServersKey(key) && key !== PROJECTED_LABEL),
    annotations: {
      ...(adopt && { [ADOPT]: 'true' }),
      ...keep(annotations, goesToMailbox),
      ...(preserve && { [PRESERVE_ANNOTATION]: 'true' }),
    },
    fields: keep(withoutServerFields(object), field => !NOT_FIELDS.has(field)),
    owner,
    implied,
    owners,
    left,
    associated,
  }
}

/** Whether both say the same of an object that several spaces need: who owns it makes no difference. */
export function areSame(a: Projection, b: Projection): boolean {
  return (
    equalJson(a.labels, b.labels) &&
    equalJson(without(a.annotations, [LAST_APPLIED_ANNOTATION]), without(b.annotations, [LAST_APPLIED_ANNOTATION])) &&
    equalJson(a.fields, b.fields)
  )
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
  const others = without(annotations, RECORDS)
  const metadata: ObjectMeta = {
    ...copy.metadata,
    labels: { ...without(labels, before.labels), ...projection.labels, [PROJECTED_LABEL]: PROJECTED_VALUE },
    annotations: { ...without(others, before.annotations), ...projection.annotations, ...records(projection) },
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

/** Whether the copy is another space's from this on. A copy without placement had no owner. */
export function passesOn({ owner }: Projection, copy: KubeObject): boolean {
  const before = ownerOf(copy)
  return before !== '' && !before.split(',').includes(owner)
}

/** The body of that transfer: reports so far went to the former owner. `now`: RFC 3339. */
export function passedOn(body: KubeObject, now: string): KubeObject {
  const { metadata } = body
  const annotations = { ...metadata.annotations, [OWNED_SINCE_ANNOTATION]: now }
  return withBornStatus({ ...body, metadata: { ...metadata, annotations } })
}

/** A bare Namespace for objects whose Namespace was not itself selected. */
export function implicitNamespace(name: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { [PROJECTED_LABEL]: PROJECTED_VALUE } },
  }
}

/** Id of the owner's space; `''` of implicit Namespaces. */
export function ownerOf(copy: KubeObject): string {
  return copy.metadata.annotations?.[OWNER_ANNOTATION] ?? ''
}

/** Not there where there is nothing to say. */
const RECORDS = [IMPLIED_ANNOTATION, OWNER_REFERENCES_ANNOTATION, LEFT_FIELDS_ANNOTATION, ASSOCIATED_ANNOTATION]

function records(projection: Projection): Record<string, string> {
  const owners = carriedOwnersText(projection.owners)
  const left = leftFieldsText(projection.left)
  const associated = asksText(projection.associated)
  const keys: ProjectedKeys = {
    labels: Object.keys(projection.labels).sort(),
    annotations: Object.keys(projection.annotations).sort(),
    fields: Object.keys(projection.fields).sort(),
  }
  return {
    [PROJECTED_KEYS_ANNOTATION]: JSON.stringify(keys),
    [OWNER_ANNOTATION]: projection.owner,
    ...(projection.implied && { [IMPLIED_ANNOTATION]: 'true' }),
    ...(owners !== undefined && { [OWNER_REFERENCES_ANNOTATION]: owners }),
    ...(left !== undefined && { [LEFT_FIELDS_ANNOTATION]: left }),
    ...(associated !== undefined && { [ASSOCIATED_ANNOTATION]: associated }),
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
    annotations: strings(annotations).filter(key => !isServersKey(key)),
    fields: strings(fields).filter(field => !NOT_FIELDS.has(field)),
  }
}

/** A Job's selector and the labels behind it are made by each server from the Job's uid. */
export function withoutServerFields(object: KubeObject): KubeObject {
  if (object.kind !== 'Job' || !object.apiVersion.startsWith('batch/')) return object
  const { spec } = object
  if (!isRecord(spec) || spec.manualSelector === true) return object
  const { selector: _made, ...rest } = spec
  const template = record(spec, 'template')
  const metadata = record(template, 'metadata')
  const labels = isRecord(metadata.labels) ? without(metadata.labels, JOB_LABELS) : undefined
  return {
    ...object,
    spec: { ...rest, template: { ...template, metadata: { ...metadata, ...(labels && { labels }) } } },
  }
}

/** The projected fields, with what the mailbox's server put into this copy when it was made and would refuse to lose. */
function keptByServer(projection: Projection, copy: KubeObject): Readonly<Record<string, unknown>> {
  if (copy.kind !== 'Job' || !isRecord(projection.fields.spec) || !isRecord(copy.spec)) return projection.fields
  if (projection.fields.spec.manualSelector === true) return projection.fields
  const { selector } = copy.spec
  const made = record(copy.spec, 'template', 'metadata', 'labels')
  const template = record(projection.fields.spec, 'template')
  const metadata = record(template, 'metadata')
  const labels = { ...record(metadata, 'labels'), ...keep(made, key => JOB_LABELS.includes(key)) }
  return {
    ...projection.fields,
    spec: {
      ...projection.fields.spec,
      ...(selector !== undefined && { selector }),
      template: { ...template, metadata: { ...metadata, ...(Object.keys(labels).length > 0 && { labels }) } },
    },
  }
}

function keep<V>(value: Readonly<Record<string, V>>, test: (key: string) => boolean): Record<string, V> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => test(key)))
}

function without<T extends object>(value: T, keys: readonly string[]): T {
  return keys.length === 0
    ? value
    : (Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key))) as T)
}
