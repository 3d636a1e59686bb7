/**
 * The part of an object that belongs to the server: its identity, its times, its deletion, its generation, its status.
 * Pure; objects are changed in place.
 */
import { statusError } from '../../apimachinery/errors.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { cloneJson, equalJson } from '../../apimachinery/values.ts'
import { CLIENT_METADATA, type ClientMetadata } from '../../kinds/strategy.ts'
import { otherUid } from './resourceVersions.ts'

/** Removes fields of a new object that no client can set. */
export function wipeSystemMetadata({ metadata }: KubeObject, namespace: string | undefined): void {
  if (namespace !== undefined) metadata.namespace = namespace
  else delete metadata.namespace
  delete metadata.deletionTimestamp
  delete metadata.deletionGracePeriodSeconds
  delete metadata.selfLink
  delete metadata.resourceVersion
  delete metadata.uid
  delete metadata.creationTimestamp
}

export function keepSystemMetadata(object: KubeObject, old: KubeObject): void {
  const { metadata } = object
  const before = old.metadata
  metadata.name ||= before.name ?? ''
  if (before.namespace === undefined) delete metadata.namespace
  else metadata.namespace ||= before.namespace
  assign(metadata, 'uid', before.uid)
  assign(metadata, 'creationTimestamp', before.creationTimestamp)
  assign(metadata, 'generation', before.generation)
  // Fields that only a deletion can set stay as sent, for validation to refuse.
  if (before.deletionTimestamp !== undefined) metadata.deletionTimestamp = before.deletionTimestamp
  if (before.deletionGracePeriodSeconds !== undefined)
    metadata.deletionGracePeriodSeconds ??= before.deletionGracePeriodSeconds
  if (before.generateName !== undefined && metadata.generateName === undefined)
    metadata.generateName = before.generateName
  delete metadata.selfLink
  if (metadata.managedFields === undefined) assign(metadata, 'managedFields', before.managedFields)
}

/** `/status` changes the status, and of the metadata what is not in `kept`. */
export function onlyStatus(object: KubeObject, old: KubeObject, kept: readonly ClientMetadata[]): void {
  const { status, metadata } = object
  // the status, too: it stays where it is in the text, behind the spec
  for (const field of Object.keys(object)) delete object[field]
  const copy = cloneJson(old)
  const { metadata: before } = copy
  Object.assign(object, copy)
  for (const field of CLIENT_METADATA) if (!kept.includes(field)) assign(before, field, metadata[field])
  if (status === undefined) delete object.status
  else object.status = status
  if (metadata.managedFields) before.managedFields = metadata.managedFields
}

export function keepStatus(object: KubeObject, old: KubeObject): void {
  if (old.status === undefined) delete object.status
  else object.status = old.status
}

export function specChanged(object: KubeObject, old: KubeObject, withMetadata: boolean): boolean {
  const { metadata: newMeta, status: _status, ...rest } = object
  const { metadata: oldMeta, status: _oldStatus, ...before } = old
  if (!equalJson(rest, before)) return true
  return (
    withMetadata && !(equalJson(newMeta.labels, oldMeta.labels) && equalJson(newMeta.annotations, oldMeta.annotations))
  )
}

export function setManaged(object: KubeObject, managed: KubeObject['metadata']['managedFields']): void {
  if (managed === undefined || managed.length === 0) delete object.metadata.managedFields
  else object.metadata.managedFields = managed
}

export function checkPreconditions(
  type: ResourceType,
  name: string,
  object: Readonly<KubeObject>,
  preconditions: { uid?: string; resourceVersion?: string } | undefined,
): void {
  const { uid, resourceVersion } = object.metadata
  if (preconditions?.uid && preconditions.uid !== uid) {
    throw otherUid(type, name, preconditions.uid, uid)
  }
  if (preconditions?.resourceVersion && preconditions.resourceVersion !== resourceVersion) {
    const why = `Precondition failed: ResourceVersion in precondition: ${preconditions.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`
    throw statusError.conflict(type, name, why)
  }
}

/** Fields that a write of the main resource cannot change, and so does not own. */
export function unwritable(type: ResourceType, subresource: string): readonly (readonly string[])[] {
  return subresource === '' && type.subresources.includes('status') ? STATUS : []
}

const STATUS = [['status']]

/** Namespaces keep a second list of finalizers in their spec. */
export function hasNamespaceFinalizers(object: Readonly<KubeObject>): boolean {
  if (object.kind !== 'Namespace' || object.apiVersion !== 'v1') return false
  const spec = object.spec as { finalizers?: unknown[] } | undefined
  return (spec?.finalizers?.length ?? 0) > 0
}

function assign<T extends object, K extends keyof T>(target: T, field: K, value: T[K] | undefined): void {
  if (value === undefined) delete target[field]
  else target[field] = value
}
