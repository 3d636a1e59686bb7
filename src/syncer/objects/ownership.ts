/**
 * Whose an object is, and what crosses: the marks that downsync and upsync leave, and the copies that they carry. Pure.
 */

import { isRecord, type KubeObject, type ManagedFieldsEntry } from '../../apimachinery/object.ts'
import { isTokenSecret } from '../../apimachinery/tokenSecret.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import { goesToCluster, JOB_LABELS } from '../../placement/words/marks.ts'
import {
  ADOPT,
  CLUSTER_RECORD,
  CREATE_ONLY,
  DOWNSYNCED,
  IMPLIED_ANNOTATION,
  isProjected,
  OVERWRITE,
  OWNER_ANNOTATION,
  PROJECTED_LABEL,
  PROJECTED_VALUE,
  UPSYNCED,
} from '../../placement/words/placement.ts'

/** Field manager of everything that the syncer applies. */
export const SYNCER_MANAGER = 'kubestellar-syncer'

/** `Kind/namespace/name`, `Kind//name` without a namespace: children that inherit the annotation do not inherit its value. */
export function ownMark(object: Readonly<KubeObject>): string {
  return `${object.kind}/${object.metadata.namespace ?? ''}/${object.metadata.name}`
}

export function isOurs(object: Readonly<KubeObject>, annotation: string): boolean {
  return object.metadata.annotations?.[annotation] === ownMark(object)
}

/** What the cluster has of an object that the syncer made, as if nobody had taken that mark off. */
export function asMade(live: Readonly<KubeObject>): Readonly<KubeObject> {
  if (isOurs(live, DOWNSYNCED)) return live
  const annotations = { ...live.metadata.annotations, [DOWNSYNCED]: ownMark(live) }
  return { ...live, metadata: { ...live.metadata, annotations } }
}

/**
 * Of an object in the mailbox: whether it was born in the cluster and carried there. What the center put there was not, whatever
 * its annotations say.
 */
export function isUpsynced(object: Readonly<KubeObject>): boolean {
  return isOurs(object, UPSYNCED) && !isProjected(object)
}

/** Absent, empty or "true": the center's word goes. Anything else: create when absent, then keep hands off. */
export function mayOverwrite(object: Readonly<KubeObject>): boolean {
  const value = object.metadata.annotations?.[OVERWRITE]
  return value === undefined || value === '' || value === 'true'
}

/** Of an object in the cluster: whether it goes when the mailbox does not hold it any more. What is going already needs no help. */
export function isOursToDelete(live: Readonly<KubeObject>): boolean {
  return live.metadata.deletionTimestamp === undefined && isOurs(live, DOWNSYNCED) && mayOverwrite(live)
}

/**
 * Of an object in the cluster: whether it was there before, and no syncer ever wrote it. Namespaces are everybody's. What a syncer
 * applied over somebody's object tells so by its managed fields, and so does what one made that has left the cluster. Marks alone are put on what is not ours, too.
 */
export function isStrangers(live: Readonly<KubeObject>): boolean {
  if (isOurs(live, DOWNSYNCED) || (live.kind === 'Namespace' && live.apiVersion === 'v1')) return false
  return !claimsOfOurs(live).some(
    ({ operation, fieldsV1 = {} }) =>
      operation === 'Apply' || Object.keys(fieldsV1).some(name => name !== 'f:metadata'),
  )
}

/** Of an object in the cluster: whether it was there before, and a syncer writes what the center says of it. */
export function isAdopted(live: Readonly<KubeObject>): boolean {
  if (live.metadata.deletionTimestamp !== undefined || !mayOverwrite(live)) return false
  if (isOurs(live, DOWNSYNCED) || isOurs(live, IMPLIED_ANNOTATION)) return false
  return claimsOfOurs(live).some(({ operation }) => operation === 'Apply')
}

/** What the syncer says of an object in the cluster. */
export function claimsOfOurs({ metadata }: Pick<KubeObject, 'metadata'>): ManagedFieldsEntry[] {
  return (metadata.managedFields ?? []).filter(({ manager, subresource }) => manager === SYNCER_MANAGER && !subresource)
}

/** Of an object in the mailbox: whether what a cluster holds of it stays as it is. */
export function isCreateOnly(object: Readonly<KubeObject>): boolean {
  return object.metadata.annotations?.[CREATE_ONLY] === 'true'
}

/** Of an object in the mailbox: whether it shall become of what a cluster holds under its name. */
export function mayAdopt(object: Readonly<KubeObject>): boolean {
  return object.metadata.annotations?.[ADOPT] === 'true'
}

/**
 * What to apply in the cluster: the mailbox object without what servers and local controllers own.
 * `mark` makes it ours: only an object that we create is ours to delete, and a Namespace that is there by implication only when
 * it is empty, for others put things into it. `owner` is whom a later deletion is done for.
 */
export function downsyncCopy(
  object: Readonly<KubeObject>,
  { apiVersion, mark, owner }: { apiVersion: string; mark: boolean; owner: string | undefined },
): KubeObject {
  const { status: _status, metadata: _metadata, ...rest } = cloneJson(object) as KubeObject
  const annotations = transportable(object.metadata.annotations)
  if (mark) annotations[isImplied(object) ? IMPLIED_ANNOTATION : DOWNSYNCED] = ownMark(object)
  if (owner !== undefined) annotations[OWNER_ANNOTATION] = owner
  // The label is what the cluster is watched by.
  const labels = { ...object.metadata.labels, [PROJECTED_LABEL]: PROJECTED_VALUE }
  return withoutServerFields({ ...rest, apiVersion, kind: object.kind, metadata: carried(object, labels, annotations) })
}

/**
 * Id of the space whose object it is: of one in the mailbox, or of one in the cluster that was applied in its name. `undefined`
 * when nothing says so, or somebody wrote something else there.
 */
export function ownerOf({ metadata: { annotations } }: Readonly<KubeObject>): string | undefined {
  const id = annotations?.[OWNER_ANNOTATION]
  return id !== undefined && SPACE_ID.test(id) ? id : undefined
}

/** Of an object in the mailbox: whether it is a Namespace that nobody placed, which is there for what was placed in it. */
export function isImplied(object: Readonly<KubeObject>): boolean {
  return object.kind === 'Namespace' && object.apiVersion === 'v1' && ownerOf(object) === undefined
}

/** Whether the syncer made what the cluster has of an object in the mailbox. A Namespace that comes to be placed stays as it came. */
export function isMade(object: Readonly<KubeObject>, live: Readonly<KubeObject>): boolean {
  return isOurs(live, DOWNSYNCED) || (isImplied(object) && isOurs(live, IMPLIED_ANNOTATION))
}

/** The user in whose name what a space owns is applied, when the syncer impersonates. */
export function spaceUser(id: string): string {
  return `orrery:space:${id}`
}

const SPACE_ID = /^[a-z0-9]+$/

/** What to apply in the mailbox for an object of the cluster. The status has a road of its own. */
export function upsyncCopy(object: Readonly<KubeObject>, apiVersion: string): KubeObject {
  const { status: _status, metadata: _metadata, ...rest } = cloneJson(object) as KubeObject
  const annotations = transportable(object.metadata.annotations)
  annotations[UPSYNCED] = ownMark(object)
  // A label inherited from a downsynced object would make the center take it for one of its own.
  const { [PROJECTED_LABEL]: _label, ...labels } = object.metadata.labels ?? {}
  return withoutServerFields({ ...rest, apiVersion, kind: object.kind, metadata: carried(object, labels, annotations) })
}

/** Of an object in the mailbox: whether it never goes to the cluster. A Secret that was placed asks the cluster for a token. */
export function staysInMailbox(object: Readonly<KubeObject>): boolean {
  return isServersOwn(object) && !(isTokenSecret(object) && isProjected(object))
}

/** Made or filled by each server for itself: the other side has its own. */
export function isServersOwn(object: Readonly<KubeObject>): boolean {
  const { kind, type, metadata } = object
  if (kind === 'Secret') return isTokenSecret(object) || type === 'bootstrap.kubernetes.io/token'
  if (kind === 'ConfigMap') return metadata.name === 'kube-root-ca.crt' || isClusterRecord(metadata)
  return kind === 'ServiceAccount' && metadata.name === 'default'
}

/** Of a ConfigMap: whether it is the cluster's own note about whom it is served by. */
export function isClusterRecord({ namespace, name }: { namespace?: string; name?: string }): boolean {
  return namespace === CLUSTER_RECORD.namespace && name === CLUSTER_RECORD.name
}

function carried(
  object: Readonly<KubeObject>,
  labels: Record<string, string>,
  annotations: Record<string, string>,
): KubeObject['metadata'] {
  const { name, namespace } = object.metadata
  return {
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  }
}

/** Annotations that belong to one server stay there. */
function transportable(annotations: Readonly<Record<string, string>> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations ?? {}).filter(([key]) => goesToCluster(key)))
}

/** Fields that a server fills in for its own copy and refuses when they come from another one. */
function withoutServerFields(copy: KubeObject): KubeObject {
  const { spec } = copy
  if (!isRecord(spec)) return copy
  if (copy.kind === 'Namespace' && copy.apiVersion === 'v1') delete spec.finalizers
  if (copy.kind === 'Job' && copy.apiVersion.startsWith('batch/') && spec.manualSelector !== true) {
    delete spec.selector
    const template = isRecord(spec.template) && isRecord(spec.template.metadata) ? spec.template.metadata : {}
    for (const labels of [copy.metadata.labels, template.labels])
      if (isRecord(labels)) for (const label of JOB_LABELS) delete labels[label]
  }
  return copy
}
