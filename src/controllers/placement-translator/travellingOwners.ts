/** Which owners of an object go where it goes: its copy there says so, and the cluster has references to them. */
import type { CarriedOwner } from '../../apimachinery/carriedOwners.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { PlacementJoin } from './placementJoin.ts'
import type { Source } from './placementProduct.ts'

/** Those owners of a source that the same space places in the same mailbox. */
export function ownersThere(
  join: Pick<PlacementJoin, 'workload' | 'sourcesOf'>,
  mailbox: string,
  { space }: Source,
  object: KubeObject,
): CarriedOwner[] {
  if (!object.metadata.ownerReferences?.length) return []
  const goes = (key: string): boolean => join.sourcesOf(mailbox, key).some(source => source.space === space)
  return join.workload(space).dependents.ownersThat(goes, object)
}
