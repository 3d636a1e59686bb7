/**
 * Described, not acting: which objects a space's server acts upon, and which are only there to be carried elsewhere.
 *
 * In a space that describes workload, the denatured kinds are descriptions for the clusters. One of their objects acts in the space itself
 * only with the label {@link NATURED_LABEL}, and then it stays. In a mailbox everything on its way, down or up, is inert. Elsewhere
 * everything acts, as in Kubernetes.
 */

import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { RBAC_KINDS, STEERING_KINDS } from '../words/kindGroups.ts'
import { EDGE_GROUP, isInMailbox, isProjected, UPSYNCED } from '../words/placement.ts'
import type { SpaceType } from './spaceTypes.ts'

/** With the value `true`: the object acts in the space that it is in, and never travels. */
export const NATURED_LABEL = `${EDGE_GROUP}/natured`

/** Rights and identities. */
const IDENTITIES: ReadonlySet<string> = new Set([...RBAC_KINDS, 'serviceaccounts'])
/** Kinds that steer requests. */
const SETTINGS: ReadonlySet<string> = new Set([
  ...STEERING_KINDS,
  'flowschemas.flowcontrol.apiserver.k8s.io',
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io',
  'limitranges',
  'resourcequotas',
])

/** Where an object stands. `path` is that of the space from the root. */
interface Place {
  readonly type: SpaceType
  readonly path: string
}

/** Known facts about each space of the tree. */
export interface Places {
  typeOf(space: string): SpaceType
  /** `undefined` when there is no such space. */
  pathOf(space: string): string | undefined
}

/** Queries of a server or a controller about the objects of its spaces (logical-cluster ids). Cheap. */
export interface Nature {
  /** Whether objects of a kind are descriptions there unless they are labelled. */
  isDescribed(space: string, kind: GroupResource): boolean
  acts(space: string, kind: GroupResource, object: Readonly<KubeObject>): boolean
  /** Whether conversion webhooks of the space's own kinds are called. */
  callsConversions(space: string): boolean
}

/** Nature of a server without spaces, and of tests. */
export const EVERYTHING_ACTS: Nature = {
  isDescribed: () => false,
  acts: () => true,
  callsConversions: () => true,
}

export function natureOf(places: Places): Nature {
  const placeOf = (space: string): Place => ({ type: places.typeOf(space), path: places.pathOf(space) ?? '' })
  return {
    isDescribed: (space, kind) => isDescribedIn(places.typeOf(space), kind),
    acts: (space, kind, object) => actsIn(placeOf(space), kind, object),
    callsConversions: space => callsConversionsIn(placeOf(space)),
  }
}

function isDescribedIn(type: SpaceType, kind: GroupResource): boolean {
  if (!type.describes) return false
  const name = groupResourceName(kind)
  return SETTINGS.has(name) || (type.identitiesAct !== true && IDENTITIES.has(name))
}

function actsIn({ type, path }: Place, kind: GroupResource, object: Readonly<KubeObject>): boolean {
  if (isInMailbox(path)) return !isOnItsWay(object)
  return !isDescribedIn(type, kind) || isNatured(object) || isServersAccount(kind, object)
}

/** Their webhooks may run in clusters only. */
function callsConversionsIn({ type, path }: Place): boolean {
  return !type.describes && !isInMailbox(path)
}

export function isNatured(object: Readonly<KubeObject>): boolean {
  return object.metadata.labels?.[NATURED_LABEL] === 'true'
}

/** Whether an object in a mailbox came from a workload space, or from the cluster. */
function isOnItsWay(object: Readonly<KubeObject>): boolean {
  return isProjected(object) || object.metadata.annotations?.[UPSYNCED] !== undefined
}

/** The account that the server gives every namespace; each cluster makes its own. */
function isServersAccount(kind: GroupResource, { metadata }: Readonly<KubeObject>): boolean {
  return kind.group === '' && kind.resource === 'serviceaccounts' && metadata.name === 'default'
}
