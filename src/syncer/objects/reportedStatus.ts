/**
 * An object of the cluster that passes from one space to another keeps its status until a controller there writes a new one. That status
 * belongs to the former owner. The new owner gets it when its content is in the cluster and the status is known to concern that. It then
 * names the generation, or has changed since the transfer. Statuses of Kubernetes' own kinds without a generation may never change again,
 * and describe the object as it is.
 *
 * The mailbox keeps a status when a spec changes, too, and a syncer that lost its state knows of neither when it came. Pure.
 */
import { at, has } from '../../apimachinery/fields.ts'
import { isOfKubernetes } from '../../apimachinery/kubernetesGroups.ts'
import { type GroupResource, isRecord, type KubeObject, type ManagedFieldsEntry } from '../../apimachinery/object.ts'
import { hasGenerations } from '../../placement/outcome/observedGeneration.ts'
import { OWNED_SINCE_ANNOTATION } from '../../placement/words/placement.ts'
import { ownerOf, SYNCER_MANAGER } from './marks.ts'

/** Owner of an object in the mailbox, and since when if it had another before. */
export function ownershipOf(object: Readonly<KubeObject>): string {
  return `${ownerOf(object) ?? ''} ${object.metadata.annotations?.[OWNED_SINCE_ANNOTATION] ?? ''}`.trim()
}

/**
 * Whether an object in the mailbox is of another space than what was brought last under its name. `brought`: the ownership of that,
 * where it is known; else what was another's before and of which nothing was reported since is taken for it.
 */
export function isOfAnother(object: Readonly<KubeObject>, brought: string | undefined): boolean {
  if (brought !== undefined) return brought !== ownershipOf(object)
  return object.metadata.annotations?.[OWNED_SINCE_ANNOTATION] !== undefined && !hasContent(object)
}

/** Many kinds have an empty status from the start. */
function hasContent({ status }: Readonly<KubeObject>): boolean {
  return isRecord(status) ? Object.keys(status).length > 0 : status !== undefined
}

/** Whether a status is about this generation, as far as it says; `isSame`: it is the one that was there before. */
export function isAbout(
  resource: Pick<GroupResource, 'group'>,
  status: unknown,
  { generation, isSame }: { generation: number | undefined; isSame: boolean },
): boolean {
  if (generation === undefined || !hasGenerations(status)) return !isSame || isOfKubernetes(resource)
  const { observedGeneration, conditions } = isRecord(status) ? status : {}
  const reaches = (observed: unknown): boolean => typeof observed === 'number' && observed >= generation
  if (typeof observedGeneration === 'number') return reaches(observedGeneration)
  return Array.isArray(conditions) && conditions.some(one => isRecord(one) && reaches(one.observedGeneration))
}

/**
 * Whether the status of an object in the mailbox is about the spec that is there. By generation: of what was never edited, and of what the status names. Else by the times of the last report and of the last other write;
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
  return manager === SYNCER_MANAGER && has(fieldsV1, 'f:status')
}
