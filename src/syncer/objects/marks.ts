/** The marks of downsync and upsync on an object, and whose it is by them. Pure. */

import { isKubernetesService } from '../../apimachinery/kubernetesService.ts'
import {
  type GroupResource,
  groupResourceName,
  type KubeObject,
  type ManagedFieldsEntry,
} from '../../apimachinery/object.ts'
import { isTokenSecret } from '../../apimachinery/tokenSecret.ts'
import {
  ADOPT,
  CLUSTER_RECORD,
  CREATE_ONLY,
  DOWNSYNCED,
  IMPLIED_ANNOTATION,
  isProjected,
  OVERWRITE,
  OWNER_ANNOTATION,
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

/** The cluster's object with the mark of a creation, also where that was taken off. */
export function asMade(live: Readonly<KubeObject>): Readonly<KubeObject> {
  if (isOurs(live, DOWNSYNCED)) return live
  const annotations = { ...live.metadata.annotations, [DOWNSYNCED]: ownMark(live) }
  return { ...live, metadata: { ...live.metadata, annotations } }
}

/**
 * Whether an object in the mailbox was born in the cluster and carried there. The center's objects were not, whatever their annotations.
 */
export function isUpsynced(object: Readonly<KubeObject>): boolean {
  return isOurs(object, UPSYNCED) && !isProjected(object)
}

/** Absent, empty or "true": the center's word goes. Anything else: create when absent, then keep hands off. */
export function mayOverwrite(object: Readonly<KubeObject>): boolean {
  const value = object.metadata.annotations?.[OVERWRITE]
  return value === undefined || value === '' || value === 'true'
}

/** Whether an object in the cluster goes when the mailbox does not hold it any more. An object under deletion needs no help. */
export function isOursToDelete(live: Readonly<KubeObject>): boolean {
  return live.metadata.deletionTimestamp === undefined && isOurs(live, DOWNSYNCED) && mayOverwrite(live)
}

/**
 * Whether an object in the cluster was there before, without a write of any syncer. Namespaces are everybody's. Managed fields prove a
 * syncer's apply over an existing object, and an object of a syncer that has left the cluster. Marks alone prove nothing: foreign objects
 * bear them, too.
 */
export function isStrangers(live: Readonly<KubeObject>): boolean {
  if (isOurs(live, DOWNSYNCED) || (live.kind === 'Namespace' && live.apiVersion === 'v1')) return false
  return !claimsOfOurs(live).some(
    ({ operation, fieldsV1 = {} }) =>
      operation === 'Apply' || Object.keys(fieldsV1).some(name => name !== 'f:metadata'),
  )
}

/** Whether an object was in the cluster before, and a syncer applies its copy over it. */
export function isAdopted(live: Readonly<KubeObject>): boolean {
  if (live.metadata.deletionTimestamp !== undefined || !mayOverwrite(live)) return false
  if (isOurs(live, DOWNSYNCED) || isOurs(live, IMPLIED_ANNOTATION)) return false
  return claimsOfOurs(live).some(({ operation }) => operation === 'Apply')
}

/** Claims of the syncer on an object in the cluster. */
export function claimsOfOurs({ metadata }: Pick<KubeObject, 'metadata'>): ManagedFieldsEntry[] {
  return (metadata.managedFields ?? []).filter(({ manager, subresource }) => manager === SYNCER_MANAGER && !subresource)
}

/** Whether the cluster's object stays as it is, by the annotation of its copy in the mailbox. */
export function isCreateOnly(object: Readonly<KubeObject>): boolean {
  return object.metadata.annotations?.[CREATE_ONLY] === 'true'
}

/** Whether a copy in the mailbox may adopt the cluster's object of its name. */
export function mayAdopt(object: Readonly<KubeObject>): boolean {
  return object.metadata.annotations?.[ADOPT] === 'true'
}

/**
 * Id of the space whose object it is: of one in the mailbox, or of one in the cluster that was applied in its name. `undefined`
 * when nothing says so, or somebody wrote something else there.
 */
export function ownerOf({ metadata: { annotations } }: Readonly<KubeObject>): string | undefined {
  const id = annotations?.[OWNER_ANNOTATION]
  return id !== undefined && SPACE_ID.test(id) ? id : undefined
}

/** Whether an object in the mailbox is a Namespace that no placement selects, there for its content. */
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

/** Whether an object in the mailbox never goes to the cluster. A Secret that was placed asks the cluster for a token. */
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

/** Whether it is the cluster's own, whoever marked it and whatever the mailbox says. */
export function isClustersOwn(key: GroupResource & { namespace: string; name: string }): boolean {
  if (groupResourceName(key) === 'configmaps') return isClusterRecord(key)
  return isKubernetesService(key, key.namespace, key.name)
}

/** Whether a ConfigMap is the cluster's note of its mailbox. */
function isClusterRecord({ namespace, name }: { namespace?: string; name?: string }): boolean {
  return namespace === CLUSTER_RECORD.namespace && name === CLUSTER_RECORD.name
}
