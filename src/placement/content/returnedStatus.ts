/**
 * Which objects of a workload space carry a cluster's reported status, and their status before. The evidence is their managed fields, which
 * not all objects have, and the count. The count is one before a status is returned and stays until that is taken back. Both stay when the
 * server ends. Pure.
 */
import { record } from '../../apimachinery/fields.ts'
import { type GroupResource, isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { FIELD_MANAGER, resourceKey } from '../words/names.ts'
import { EXECUTING_COUNT_ANNOTATION } from '../words/placement.ts'

/** Whether the status of a kind belongs to each server. */
export function neverReturns(resource: GroupResource): boolean {
  return OF_EACH_SERVER.has(resourceKey(resource))
}
const OF_EACH_SERVER: ReadonlySet<string> = new Set([resourceKey(NAMESPACES), resourceKey(CRDS)])

/** Whether the status is one that the translator returned, and has not taken back since. */
export function hasReturnedStatus(object: Readonly<KubeObject>): boolean {
  const { managedFields = [], annotations = {} } = object.metadata
  const mine = managedFields.some(({ manager, subresource }) => manager === FIELD_MANAGER && subresource === 'status')
  return (
    claimsStatus(object) ||
    ((mine || annotations[EXECUTING_COUNT_ANNOTATION] === '1') && !equalJson(object.status, bornStatus(object)))
  )
}

/**
 * Whether the translator claims fields of a status that is a part of its object as any other: that of a kind without the
 * sub-resource. All other fields there are their authors'.
 */
export function claimsStatus({ metadata: { managedFields = [] } }: Readonly<KubeObject>): boolean {
  return managedFields.some(
    ({ manager, operation, fieldsV1 }) =>
      manager === FIELD_MANAGER && operation === 'Apply' && isRecord(fieldsV1) && 'f:status' in fieldsV1,
  )
}

/** The object for an update of its status that makes it what it was born with: its server adds what its kind always says. */
export function withBornStatus(object: Readonly<KubeObject>): KubeObject {
  const { status: _status, ...rest } = object
  const status = bornStatus(object)
  return { ...rest, ...(status && { status }) }
}

/** Status at birth of kinds that get more than servers add to an empty update. */
function bornStatus({ apiVersion, kind, status }: Readonly<KubeObject>): Record<string, unknown> | undefined {
  if (apiVersion !== 'v1' || !PENDING.has(kind)) return undefined
  const { qosClass } = record(status)
  return { phase: 'Pending', ...(kind === 'Pod' && qosClass !== undefined && { qosClass }) }
}
const PENDING: ReadonlySet<string> = new Set(['Pod', 'PersistentVolume', 'PersistentVolumeClaim'])
