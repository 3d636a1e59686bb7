/** Which kinds and objects a syncer may write in its mailbox. Pure. */
import { type GroupResource, isSameResource } from '../../apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import {
  setCovers,
  setMatches,
  setsWantDefinition,
  setsWantNamespace,
  type UpsyncSet,
} from '../../placement/select/upsyncSets.ts'
import {
  EDGE_GROUP,
  EDGE_SYNC_CONFIGS,
  SYNCER_CONFIGS,
  SYNCER_NAME,
  SYNCER_NAMESPACE,
} from '../../placement/words/placement.ts'
import { serviceAccountUserName } from '../auth/users.ts'

export interface Target {
  resource: GroupResource
  namespace: string
  /** `''` while it is not known. */
  name: string
}

/** Under which name a syncer acts in its mailbox. */
export const SYNCER_USER = serviceAccountUserName({ namespace: SYNCER_NAMESPACE, name: SYNCER_NAME })

/** Kinds by which the center speaks to the syncer: it reports in their status. */
export function isReport(resource: GroupResource): boolean {
  return isSameResource(resource, SYNCER_CONFIGS) || isSameResource(resource, EDGE_SYNC_CONFIGS)
}

/** Kinds whose status acts where it is written, or tells about the server that they are in. */
export function hasOwnStatus(resource: GroupResource): boolean {
  const { group } = resource
  return (
    isSameResource(resource, NAMESPACES) ||
    isSameResource(resource, CRDS) ||
    group === 'certificates.k8s.io' ||
    group === EDGE_GROUP ||
    group.endsWith('.kcp.io')
  )
}

/**
 * Whether upsync sets ask for an object, or for what it needs first: its Namespace, its definition. Without a name: whether they
 * can ask for any of the kind.
 */
export function isDemanded(sets: readonly UpsyncSet[], { resource, namespace, name }: Target): boolean {
  if (isSameResource(resource, NAMESPACES) && (name === '' ? sets.length > 0 : setsWantNamespace(sets, name)))
    return true
  if (isSameResource(resource, CRDS) && (name === '' ? sets.length > 0 : setsWantDefinition(sets, name))) return true
  return sets.some(set => (name === '' ? setCovers(set, resource) : setMatches(set, resource, namespace, name)))
}
