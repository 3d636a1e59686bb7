/** State of the clusters behind a Location: whether they report, and which troubles they have. */
import { at, num, objects, str } from '../../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../../apimachinery/object.ts'
import { compileSelector } from '../../../../placement/select/selectors.ts'
import { remainingIn } from '../../clusters/eviction.ts'
import { type BrokenPlaces, earliest, type Silence, UNREACHABLE } from '../brokenPlaces.ts'
import { type Clusters, placeText } from '../clusters.ts'
import type { Known } from '../known.ts'

export type Trouble = 'bad' | 'warn' | 'none'

export interface InventoryFacts {
  /** From the root. */
  readonly path: string
  readonly locations: Known
  readonly targets: Known
}

export interface ClusterStatus {
  /** Path, where the answer is about several. */
  readonly inventory?: string
  /** Name of the GrantedLocation; in an inventory, that of the Location. */
  readonly location: string
  readonly trouble: Trouble
  readonly state: 'Ready' | 'Failing' | 'Unknown' | 'Lagging' | 'Unreachable' | 'Silent' | 'PartlySilent' | 'NoCluster'
  readonly message?: string
  /** Since when it is so, where that is known; RFC 3339. */
  readonly since?: string
  /** How many clusters it stands for, and how many of them have a syncer that is alive. */
  readonly instances: number
  readonly ready: number
  /** Only where the inventory may be read. */
  readonly lag?: { readonly objects: number }
  readonly failures?: number
}

interface ClusterFacts {
  clusters: Clusters
  broken: BrokenPlaces
  silent: ReadonlyMap<string, Silence>
  inventories: readonly InventoryFacts[]
}

export function clusterStatus(row: KubeObject, { clusters, broken, silent, inventories }: ClusterFacts): ClusterStatus {
  const [instances, ready] = [num(row, 'instances'), num(row, 'ready')]
  const keys = keysOf(row, clusters)
  const { unseenReason, silentSince, readySince, lagSince, closed, ...reported } = reportedBySyncTargets(
    row,
    inventories,
  )
  const silence = silentIn(keys, silent)
  const common = { location: row.metadata.name ?? '', instances, ready, ...reported }
  const inState = (
    trouble: Trouble,
    state: ClusterStatus['state'],
    { message, since = '' }: { message?: string; since?: string | undefined },
  ): ClusterStatus => ({
    ...common,
    trouble,
    state,
    ...(message !== undefined && { message }),
    ...(since !== '' && { since }),
  })
  const since = silentSince || silence?.since
  if (instances === 0) return inState('warn', 'NoCluster', { message: 'it stands for no cluster' })
  if (ready === 0) return inState('bad', 'Silent', { message: 'no syncer there reports', since })
  if (ready < instances)
    return inState('bad', 'PartlySilent', { message: `${instances - ready} of its clusters are silent`, since })
  // earlier reports do not count for a cluster that nobody sees now
  const why = unseenReason ?? silence?.reason
  const unseen = silence?.since
  if (why === UNREACHABLE)
    return inState('bad', 'Unreachable', { message: 'a syncer there does not reach its cluster', since: unseen })
  if (why !== undefined) return inState('warn', 'Unknown', { message: NOT_REPORTING, since: unseen })
  const here = broken.at(keys)
  // syncers do not count what is another space's there
  const failures = Math.max(reported.failures ?? 0, here?.count ?? 0)
  if (failures > 0) {
    const atLeast = here?.uncertain === undefined ? '' : 'at least '
    const example = here?.first ? `: ${here.first}` : ''
    const are = failures === 1 ? 'object is not as it should be' : 'objects are not as they should be'
    return inState('bad', 'Failing', { message: `${atLeast}${failures} ${are}${example}`, since: here?.since })
  }
  if (here?.uncertain !== undefined) return inState('warn', 'Unknown', { message: here.uncertain })
  if (reported.lag && reported.lag.objects > 0) {
    const { objects: behind } = reported.lag
    const message = `${behind} ${behind === 1 ? 'change' : 'changes'} not looked at`
    return inState('warn', 'Lagging', { message, since: lagSince })
  }
  return inState('none', 'Ready', { since: readySince, ...(closed !== undefined && { message: closed }) })
}

const NOT_REPORTING = 'a cluster there does not report now'

/** The clusters for which a Location stands, as far as placements lead there. */
function keysOf(row: KubeObject, clusters: Clusters): readonly string[] {
  const [inventory, name] = [str(row, 'inventory'), str(row, 'location')]
  const found = clusters.at({ inventory, name })
  return found.length > 0 ? found : [placeText(inventory, name)]
}

function silentIn(keys: readonly string[], silent: ReadonlyMap<string, Silence>): Silence | undefined {
  const found = keys.flatMap(key => silent.get(key) ?? [])
  return found.find(({ reason }) => reason === UNREACHABLE) ?? found[0]
}

type BehindLocation = Pick<ClusterStatus, 'lag' | 'failures'> & {
  unseenReason?: string
  /** Times in RFC 3339; `''` where they are not known. */
  silentSince?: string
  readySince?: string | undefined
  lagSince?: string
  /** Why nothing new is placed there, where that is so of all of its clusters. */
  closed?: string
}

/** Counts of the SyncTargets behind a Location, if they may be read. They cover the copies of all spaces there. */
function reportedBySyncTargets(row: KubeObject, inventories: readonly InventoryFacts[]): BehindLocation {
  const inventory = inventories.find(({ path }) => path === str(row, 'inventory'))
  if (!inventory || inventory.targets.unknown !== undefined || inventory.locations.unknown !== undefined) return {}
  const location = inventory.locations.items.find(({ metadata }) => metadata.name === str(row, 'location'))
  const [selector] = compileSelector(at(location, 'spec', 'instanceSelector'), 'spec').selectors
  const behind = inventory.targets.items.filter(({ metadata }) => selector?.matches(metadata.labels))
  const outcomes = behind.map(({ status }) => at(status, 'outcome'))
  const isSome = (field: string): boolean => outcomes.some(one => at(one, field) === false)
  const unseenReason = isSome('reachable') ? UNREACHABLE : isSome('reporting') ? 'Stale' : undefined
  const ready = behind.flatMap(({ status }) => objects(status, 'conditions')).filter(({ type }) => type === 'Ready')
  const timesOf = (isReady: boolean): string[] =>
    ready.filter(({ status }) => (status === 'True') === isReady).map(one => str(one, 'lastTransitionTime'))
  const since = {
    silentSince: earliest(timesOf(false)),
    readySince: timesOf(true).sort().at(-1),
    ...closedText(behind),
  }
  // a cluster that never reported has no numbers
  if (outcomes.every(one => one === undefined)) return since
  return {
    ...since,
    lag: { objects: outcomes.reduce((sum: number, one) => sum + num(one, 'lag', 'objects'), 0) },
    lagSince: earliest(outcomes.map(one => str(one, 'lag', 'since'))),
    failures: outcomes.reduce((sum: number, one) => sum + num(one, 'failures', 'count'), 0),
    ...(unseenReason && { unseenReason }),
  }
}

/** As `cordon` and `drain` leave them. */
function closedText(targets: readonly KubeObject[]): { closed?: string } {
  if (targets.length === 0) return {}
  const remaining = targets.map(remainingIn)
  if (remaining.every(count => count !== undefined)) {
    const left = remaining.reduce((sum, count) => sum + count, 0)
    if (left === 0) return { closed: 'drained: nothing is placed there' }
    return { closed: `${left} ${left === 1 ? 'copy is' : 'copies are'} left to be drained` }
  }
  const isCordoned = targets.every(({ spec }) => at(spec, 'unschedulable') === true)
  return isCordoned ? { closed: 'cordoned: nothing new is placed there' } : {}
}
