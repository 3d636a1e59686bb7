/** The stages in which a revision would come to clusters, before any of them begins. Pure. */
import { compareTexts } from '../../apimachinery/values.ts'
import { slotsOf, stagesOf } from './step.ts'
import { clustersOf, groupsMatching, type RolloutStrategy } from './strategy.ts'
import { windowText } from './windows.ts'

export interface PlannedCluster {
  /** Unique among the destinations. */
  readonly key: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** Silent, paused or leaving. */
  readonly away: boolean
}

export interface PlannedGroup<C> {
  /** Empty: the clusters that are in no group. */
  readonly name: string
  readonly approval: boolean
  /** For people. Empty: at any time. */
  readonly windows: readonly string[]
  /** In the order in which they begin. */
  readonly clusters: readonly C[]
}

export interface PlannedStage<C> {
  /** Clusters that are on their way at once at most. */
  readonly atOnce: number
  /** Clusters that may fail. */
  readonly mayFail: number
  readonly groups: readonly PlannedGroup<C>[]
}

/** Groups without clusters are part of it, and stages without any group are not. */
export function planOf<C extends PlannedCluster>(strategy: RolloutStrategy, clusters: Iterable<C>): PlannedStage<C>[] {
  const members: C[][] = Array.from({ length: strategy.groups.length + 1 }, () => [])
  for (const cluster of clusters)
    members[groupsMatching(strategy, cluster.labels)[0] ?? strategy.groups.length]!.push(cluster)
  const thereIn = (groups: readonly number[]): number =>
    groups.reduce((sum, group) => sum + members[group]!.filter(({ away }) => !away).length, 0)
  const total = thereIn([...members.keys()])
  return stagesOf(strategy).flatMap(({ groups, maxFailures }) => {
    const planned = groups.flatMap((position): PlannedGroup<C>[] => {
      const group = strategy.groups[position]
      if (!group && members[position]!.length === 0) return []
      return [
        {
          name: group?.name ?? '',
          approval: group?.approval ?? false,
          windows: (group?.windows ?? []).map(windowText),
          clusters: members[position]!.sort(byName),
        },
      ]
    })
    const there = thereIn(groups)
    const atOnce = Math.min(there, slotsOf(strategy, there, total))
    return planned.length > 0 ? [{ atOnce, mayFail: clustersOf(maxFailures, there), groups: planned }] : []
  })
}

function byName(a: PlannedCluster, b: PlannedCluster): number {
  return compareTexts(a.name, b.name) || compareTexts(a.key, b.key)
}
