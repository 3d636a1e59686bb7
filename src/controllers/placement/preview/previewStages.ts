/**
 * The stages in which a question would come to clusters, as {@link step} would take them. Each placement with a rollout strategy has
 * them if the question edits it, or an object of it.
 */
import { inSlices, type Steps } from '../../../apimachinery/steps.ts'
import {
  MAX_GROUP_LOCATIONS,
  type ObjectPreview,
  type RolloutPreview,
  type StageLocation,
} from '../../../placement/desks/placementPreview.ts'
import { type PlannedCluster, planOf } from '../../../placement/rollout/plan.ts'
import { isStaged, type RolloutStrategy, readStrategy } from '../../../placement/rollout/strategy.ts'
import { windowText } from '../../../placement/rollout/windows.ts'
import { objectKey, resourceKey } from '../../../placement/words/names.ts'
import { EDGE_PLACEMENTS } from '../../../placement/words/placement.ts'
import type { Destination, Ways } from '../../../placement/words/ways.ts'
import type { SourceReaderDeps } from '../copies/sourceReader.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Rollouts } from '../rollout/rollouts.ts'
import { previewLocation } from './previewGroups.ts'
import type { Scene } from './previewScene.ts'
import { TOO_MUCH } from './previewWords.ts'

export interface PreviewStagesDeps {
  join: Pick<PlacementJoin, 'spec' | 'waysOf'>
  location: SourceReaderDeps['location']
  rollouts: Pick<Rollouts, 'of' | 'isAway'>
}

/** @param previews what becomes of the objects */
export async function previewStages(
  deps: PreviewStagesDeps,
  scene: Scene,
  previews: readonly ObjectPreview[],
): Promise<RolloutPreview[]> {
  const { request, moves } = scene
  const { space, mayGet, work } = request
  const requested = new Set(request.objects.filter(({ resource }) => isPlacement(resource)).map(nameOf))
  const rollouts: RolloutPreview[] = []
  for (const name of [...editedIn(scene, previews)].sort()) {
    const imagined = moves.placements.get(name)
    const written = (imagined?.spec ?? deps.join.spec(space, name))?.rollout
    const pinned = deps.rollouts.of(space, name)?.pinned
    if (!isStaged(written) && pinned === undefined) continue
    // its strategy is for those who may get it
    if (!requested.has(name) && !(await mayGet?.(EDGE_PLACEMENTS, { namespace: '', name }))) continue
    const { strategy } = readStrategy(written)
    const ways = imagined ? imagined.ways : deps.join.waysOf(space, name)
    if (!strategy || !ways) continue
    scene.workLeft -= ways.size * (1 + strategy.groups.length)
    const head = { placement: name, ...(pinned !== undefined && { pinned }) }
    if (scene.workLeft < 0) rollouts.push({ ...head, stages: [], message: TOO_MUCH.message })
    else rollouts.push({ ...head, ...(await inSlices(stages(deps, strategy, ways), work)) })
  }
  return rollouts
}

/** Placements that an edit of the question concerns. */
function editedIn({ request, join }: Scene, previews: readonly ObjectPreview[]): Set<string> {
  const names = new Set<string>()
  const workload = join.workload(request.space)
  for (const { operation, isMoved, group, resource, namespace = '', name, placements } of previews) {
    if (operation === 'unchanged' && !isMoved) continue
    const kind = { group, version: '', resource }
    if (isPlacement(kind)) names.add(name)
    const before = workload.selectionOf(objectKey(kind, namespace, name)).placements
    for (const placement of [...placements, ...before]) names.add(placement)
  }
  return names
}

interface Member extends PlannedCluster {
  readonly way: Destination
}

function* stages(
  { location, rollouts }: PreviewStagesDeps,
  strategy: RolloutStrategy,
  ways: Ways,
): Steps<Omit<RolloutPreview, 'placement'>> {
  const members: Member[] = []
  for (const [key, [way]] of ways) {
    const { cluster, locationName: name } = way!
    const labels = location(cluster, name)?.metadata.labels ?? {}
    members.push({ key, name, labels, away: rollouts.isAway(key), way: way! })
    yield
  }
  const { minSuccessMs, windows } = strategy
  return {
    ...(minSuccessMs > 0 && { minSuccessSeconds: minSuccessMs / 1000 }),
    ...(windows.length > 0 && { windows: windows.map(windowText) }),
    stages: planOf(strategy, members).map(({ atOnce, mayFail, groups }) => ({
      atOnce,
      mayFail,
      groups: groups.map(({ name, approval, windows, clusters }) => ({
        ...(name !== '' && { name }),
        ...(approval && { approval }),
        ...(windows.length > 0 && { windows }),
        count: clusters.length,
        locations: clusters.slice(0, MAX_GROUP_LOCATIONS).map(stageLocation),
      })),
    })),
  }
}

function stageLocation({ way, away }: Member): StageLocation {
  return { ...previewLocation(way), ...(away && { away }) }
}

function isPlacement(kind: Parameters<typeof resourceKey>[0]): boolean {
  return resourceKey(kind) === resourceKey(EDGE_PLACEMENTS)
}

function nameOf({ object }: Scene['request']['objects'][number]): string {
  return object.metadata.name ?? ''
}
