/**
 * Whether the status of an object in the mailbox is about the spec that is there. The mailbox keeps a status when a spec changes, and a
 * syncer that lost its state knows of neither when it came. Pure.
 */
import { at, has } from '../../apimachinery/fields.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../apimachinery/object.ts'
import { FIELD_MANAGER } from './ownership.ts'

/**
 * By generation: of what was never edited, and of what the status names. Else by the times of the last report and of the last other write;
 * within one second nobody knows. A status that is a part of its object names generations of the cluster.
 */
export function isOfThisSpec({ metadata, status }: Readonly<KubeObject>): boolean {
  const { generation, managedFields = [] } = metadata
  const reports = managedFields.filter(isReport)
  const isApart = reports.every(({ subresource }) => subresource === 'status')
  const observed = at(status, 'observedGeneration')
  if (isApart && typeof observed === 'number') return observed === generation
  if (generation === 1) return true
  const lastOf = (all: readonly ManagedFieldsEntry[]) => Math.max(...all.map(({ time }) => Date.parse(time ?? '')))
  return lastOf(reports) > lastOf(managedFields.filter(entry => !isReport(entry) && !entry.subresource))
}

function isReport({ manager, fieldsV1 }: ManagedFieldsEntry): boolean {
  return manager === FIELD_MANAGER && has(fieldsV1, 'f:status')
}
