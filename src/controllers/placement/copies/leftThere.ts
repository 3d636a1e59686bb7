/** What of an object is left to a cluster: what any of its space's placements leaves that place it there. */
import { leftOf } from '../../../placement/content/leftRules.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Source } from '../join/placementProduct.ts'

/** JSON pointers; asked of each copy, and nearly always none. */
export function leftThere(
  join: Pick<PlacementJoin, 'spec' | 'workload'>,
  { space, placements, fact }: Pick<Source, 'space' | 'placements' | 'fact'>,
): readonly string[] {
  if (placements.every(name => !join.spec(space, name)?.left.length)) return NOTHING
  const rules = placements.flatMap(name => join.spec(space, name)?.left ?? [])
  const { resource, namespace, name } = fact
  return leftOf(rules, { group: resource.group, kind: join.workload(space).kinds.kindOf(resource), namespace, name })
}

const NOTHING: readonly string[] = []
