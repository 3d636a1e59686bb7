/** Adaptation of an object to a claim and its destination: fields left to a cluster, owners that travel along, pod security labels. */
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Adaptation } from '../../../placement/content/adaptation.ts'
import { type CarriedOwner, flagsOf, MAX_CARRIED_OWNERS } from '../../../placement/content/carriedOwners.ts'
import { leftOf } from '../../../placement/content/leftRules.ts'
import { type Projection, project } from '../../../placement/content/projection.ts'
import { namespaceKey, objectKey } from '../../../placement/words/names.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Source } from '../join/placementProduct.ts'

/** `spec`: of the placements as they are, or would be. */
type AdaptationJoin = Pick<PlacementJoin, 'spec' | 'workload' | 'adopts' | 'associatedOf'>

export function adaptationOf(join: AdaptationJoin, claim: Source): Adaptation {
  const { space, placements, implied = false } = claim
  const preserve = placements.some(name => join.spec(space, name)?.preserves)
  return {
    implied,
    preserve,
    adopt: join.adopts(claim),
    left: leftThere(join, claim),
    associated: join.associatedOf(claim),
  }
}

export interface AdaptedObject {
  readonly mailbox: string
  /** The object as it is stored. */
  readonly object: KubeObject
  /** Additions of its Customizer are judged like the object's own fields. */
  readonly customized: KubeObject
  readonly adaptation: Adaptation
  /** Whether the claim may set how Pods of its Namespace are secured there. */
  readonly secures: boolean
}

/** The copy of a claim, as its mailbox is to hold it. */
export function adapt(
  join: Pick<PlacementJoin, 'workload' | 'sourcesOf'>,
  claim: Source,
  { mailbox, object, customized, adaptation, secures }: AdaptedObject,
): Projection {
  const secured = asksToSecure(claim, customized) && !secures ? withoutPodSecurity(customized) : customized
  return project(claim.space, secured, { ...adaptation, owners: ownersThere(join, mailbox, claim, object) })
}

/** JSON pointers to the fields that any placement of the claim leaves to the cluster; nearly always none. */
function leftThere(
  join: Pick<PlacementJoin, 'spec' | 'workload'>,
  { space, placements, fact }: Pick<Source, 'space' | 'placements' | 'fact'>,
): readonly string[] {
  if (placements.every(name => !join.spec(space, name)?.left.length)) return NOTHING
  const rules = placements.flatMap(name => join.spec(space, name)?.left ?? [])
  const { resource, namespace, name } = fact
  return leftOf(rules, { group: resource.group, kind: join.workload(space).kinds.kindOf(resource), namespace, name })
}

const NOTHING: readonly string[] = []

/** Owners of a source that the same space places in the same mailbox: the cluster's object refers to them. */
function ownersThere(
  join: Pick<PlacementJoin, 'workload' | 'sourcesOf'>,
  mailbox: string,
  { space }: Source,
  { metadata }: KubeObject,
): CarriedOwner[] {
  const { namespace = '', ownerReferences = [] } = metadata
  const goes = (key: string): boolean => join.sourcesOf(mailbox, key).some(source => source.space === space)
  const found: CarriedOwner[] = []
  for (const owner of ownerReferences) {
    const gr = join.workload(space).kinds.resourceOf(owner)
    if (gr === undefined || found.length === MAX_CARRIED_OWNERS) continue
    const { kind, name } = owner
    const around = [...new Set(['', namespace])].find(one => goes(objectKey(gr, one, name)))
    if (around !== undefined) found.push({ ...gr, kind, namespace: around, name, ...flagsOf(owner) })
  }
  return found
}

/**
 * Labels of a Namespace that set how its Pods are secured. Pod security is about the cluster, not about the Namespace's content,
 * so a copy has them only under a grant for the cluster scope.
 */
const POD_SECURITY = 'pod-security.kubernetes.io/'
/** Reason on a placement whose Namespace goes without them. */
export const UNSECURED: Reason = {
  reason: 'ClusterScopedNotGranted',
  message: `its labels ${POD_SECURITY}* stay behind; ask who administers the inventory to extend its PlacementGrant (spec.clusterScoped)`,
}

export function asksToSecure({ fact }: Source, { metadata: { labels = {} } }: KubeObject): boolean {
  return fact.key === namespaceKey(fact.name) && Object.keys(labels).some(key => key.startsWith(POD_SECURITY))
}

function withoutPodSecurity(object: KubeObject): KubeObject {
  const { labels = {} } = object.metadata
  const kept = Object.entries(labels).filter(([key]) => !key.startsWith(POD_SECURITY))
  return { ...object, metadata: { ...object.metadata, labels: Object.fromEntries(kept) } }
}
