/** Which owners of an object go where it goes: its copy there says so, and the cluster has references to them. */

import type { KubeObject } from '../../../apimachinery/object.ts'
import { type CarriedOwner, flagsOf, MAX_CARRIED_OWNERS } from '../../../placement/content/carriedOwners.ts'
import { objectKey } from '../../../placement/words/names.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Source } from '../join/placementProduct.ts'

/** Those owners of a source that the same space places in the same mailbox. */
export function ownersThere(
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
