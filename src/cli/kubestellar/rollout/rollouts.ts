/** The revisions and rollouts of an EdgePlacement, as people may read them. */
import { isStatusError } from '../../../apimachinery/errors.ts'
import { num, str } from '../../../apimachinery/fields.ts'
import type { GroupVersionResource, KubeObject } from '../../../apimachinery/object.ts'
import type { SpaceClient } from '../../../client/client.ts'
import { listAll } from '../../../client/listWatch.ts'
import { isStaged } from '../../../placement/rollout/strategy.ts'
import {
  EDGE_PLACEMENTS,
  PLACEMENT_LABEL,
  PLACEMENT_REVISIONS,
  PLACEMENT_ROLLOUTS,
} from '../../../placement/words/placement.ts'
import { placementLabel } from '../../../placement/words/placementSlices.ts'
import { CommandError } from '../../shell/commandError.ts'

const PAGE = 100

/** The newest first. */
export async function revisionsOf(space: SpaceClient, placement: string): Promise<KubeObject[]> {
  return (await ofPlacement(space, PLACEMENT_REVISIONS, placement)).sort((a, b) => revisionOf(b) - revisionOf(a))
}

/** The newest first. */
export async function rolloutsOf(space: SpaceClient, placement: string): Promise<KubeObject[]> {
  return (await ofPlacement(space, PLACEMENT_ROLLOUTS, placement)).sort(byRun)
}

/** Newest rollout of each placement, by its name. */
export async function newestRollouts(space: SpaceClient): Promise<KubeObject[]> {
  const { items } = await listAll(space, PLACEMENT_ROLLOUTS, { limit: PAGE })
  const newest = new Map<string, KubeObject>()
  for (const one of items.sort(byRun)) if (!newest.has(placementOf(one))) newest.set(placementOf(one), one)
  return [...newest.values()].sort((a, b) => (placementOf(a) < placementOf(b) ? -1 : 1))
}

/** @throws CommandError with the reason why there is none */
export async function newestRollout(space: SpaceClient, placement: string): Promise<KubeObject> {
  const [newest] = await rolloutsOf(space, placement)
  return newest ?? (await noRollout(space, placement))
}

/** @throws CommandError */
export async function noRollout(space: SpaceClient, placement: string): Promise<never> {
  try {
    const { spec } = await space.get(EDGE_PLACEMENTS, { name: placement })
    const remedy = 'set spec.rolloutStrategy.type to Progressive or ProgressivePerGroup'
    throw new CommandError(
      isStaged((spec as Record<string, unknown> | undefined)?.rolloutStrategy)
        ? `EdgePlacement "${placement}" has no rollout yet; its first one begins some seconds after its last edit`
        : `EdgePlacement "${placement}" has no rollouts: its edits reach all clusters at once; ${remedy}`,
    )
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    throw new CommandError(`there is no EdgePlacement "${placement}" here`, 1, { cause: error })
  }
}

export function placementOf(object: KubeObject): string {
  return str(object, 'spec', 'placement')
}

export function revisionOf(object: KubeObject): number {
  return num(object, 'spec', 'revision')
}

function byRun(a: KubeObject, b: KubeObject): number {
  return num(b, 'spec', 'run') - num(a, 'spec', 'run') || revisionOf(b) - revisionOf(a)
}

async function ofPlacement(
  space: SpaceClient,
  resource: GroupVersionResource,
  placement: string,
): Promise<KubeObject[]> {
  const labelSelector = `${PLACEMENT_LABEL}=${placementLabel(placement)}`
  const { items } = await listAll(space, resource, { limit: PAGE, labelSelector })
  return items.filter(one => placementOf(one) === placement)
}
