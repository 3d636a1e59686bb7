/**
 * Labels by which a Namespace says how its Pods are secured. Pod security is about the cluster, not about what is in the
 * Namespace: saying so takes a grant for the cluster scope.
 */
import type { KubeObject } from '../../../apimachinery/object.ts'
import type { Told } from '../../../placement/consent/allowance.ts'
import { namespaceKey } from '../../../placement/words/names.ts'
import type { Source } from '../join/placementProduct.ts'

const POD_SECURITY = 'pod-security.kubernetes.io/'
/** What a placement is told whose Namespace goes without them. */
export const UNSECURED: Told = {
  reason: 'ClusterScopedNotGranted',
  message: `its labels ${POD_SECURITY}* stay behind; ask who administers the inventory to extend its PlacementGrant (spec.clusterScoped)`,
}

export function asksToSecure({ fact }: Source, { metadata: { labels = {} } }: KubeObject): boolean {
  return fact.key === namespaceKey(fact.name) && Object.keys(labels).some(key => key.startsWith(POD_SECURITY))
}

export function withoutPodSecurity(object: KubeObject): KubeObject {
  const { labels = {} } = object.metadata
  const kept = Object.entries(labels).filter(([key]) => !key.startsWith(POD_SECURITY))
  return { ...object, metadata: { ...object.metadata, labels: Object.fromEntries(kept) } }
}
