/** The fleet of a workload space and its troubles at a glance: placements, and the clusters that they may lead to. Pure. */

import { at, num, objects, str, strings } from '../../../../apimachinery/fields.ts'
import type { KubeObject } from '../../../../apimachinery/object.ts'
import { COUNT_NAMES, type OutcomeCounts } from '../../../../placement/outcome/copyStates.ts'
import { compileSelector } from '../../../../placement/select/selectors.ts'
import { ANSWERS_VERSION } from '../../../shell/output.ts'
import { remainingIn } from '../../clusters/eviction.ts'
import { BrokenPlaces, earliest, namedOf, type Silence, staleClusters, UNREACHABLE } from '../brokenPlaces.ts'
import { Clusters, placeText } from '../clusters.ts'
import { Places } from '../destinations.ts'
import type { Known } from '../known.ts'
import { whereaboutsOf } from '../workStatus.ts'

export interface InventoryFacts {
  /** From the root. */
  readonly path: string
  readonly locations: Known
  readonly targets: Known
}

interface StatusFacts {
  readonly placements: Known
  readonly granted: Known
  readonly bindings: Known
  readonly slices: Known
  /** WorkStatuses of what is broken, where placements name only some of it. */
  readonly beyond?: Known
  /** WorkStatuses in silent clusters, where they are few. */
  readonly stale?: Known
  /** WorkStatuses of what makes progress, where they are few. */
  readonly progressing?: Known
  /** Those that the user may read. */
  readonly inventories: readonly InventoryFacts[]
}

export type Trouble = 'bad' | 'warn' | 'none'

/** `deletionHeld`: of the plan of the space that the brake holds; none of `copies`. */
type Counts = OutcomeCounts & { readonly deletionHeld: number }

export interface PlacementStatus {
  /** Path, where the answer is about several. */
  readonly space?: string
  readonly name: string
  readonly trouble: Trouble
  /** The first stage at which it is not well, in its own word; `Healthy` or `Applied` where all is. */
  readonly state: string
  readonly message?: string
  /** Since when that stage is so; RFC 3339. */
  readonly since?: string
  readonly counts: Counts
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

export interface StatusAnswer {
  readonly apiVersion: string
  readonly kind: 'FleetStatus'
  readonly message: string
  /** The worst first; `more` were left out. */
  readonly placements: { readonly items: readonly PlacementStatus[]; readonly total: number; readonly troubled: number }
  readonly clusters: { readonly items: readonly ClusterStatus[]; readonly total: number; readonly troubled: number }
  readonly unknown: readonly string[]
}

/** Bound on listed placements, and on clusters. */
const MAX_LISTED = 1000
const COUNTS = [
  ...['clusters', 'objects', 'copies'],
  ...COUNT_NAMES,
  ...['deletionHeld', 'healthy', 'progressing', 'degraded', 'differing'],
]

export function fleetStatus(facts: StatusFacts): StatusAnswer {
  const { placements, granted, bindings, slices, beyond, stale, progressing, inventories } = facts
  const clusters = new Clusters(new Places(granted.items, bindings.items), slices.items)
  const one = placements.items.map(placement => namingProgress(placementStatus(placement), progressing, clusters))
  const broken = new BrokenPlaces(placements.items, beyond, clusters)
  const silent = staleClusters(stale, clusters)
  const two = granted.items.map(row => clusterStatus(row, { clusters, broken, silent, inventories }))
  const unknown: string[] = []
  if (placements.unknown !== undefined) unknown.push(`how placements are: ${placements.unknown}`)
  if (granted.unknown !== undefined) unknown.push(`how clusters are: ${granted.unknown}`)
  if (beyond?.unknown !== undefined) unknown.push(`what else is broken where: ${beyond.unknown}`)
  const counts = [
    ...(placements.unknown === undefined ? [ofPlacements(one)] : []),
    ...(granted.unknown === undefined ? [ofClusters(two)] : []),
  ]
  return statusAnswer(one, two, { message: counts.join(', ') || 'nothing is known', unknown })
}

/** The worst first. */
export function statusAnswer(
  placements: readonly PlacementStatus[],
  clusters: readonly ClusterStatus[],
  { message, unknown }: Pick<StatusAnswer, 'message' | 'unknown'>,
): StatusAnswer {
  return {
    apiVersion: ANSWERS_VERSION,
    kind: 'FleetStatus',
    message,
    placements: listed(placements, ({ space = '', name }) => `${space} ${name}`),
    clusters: listed(clusters, ({ inventory = '', location }) => `${inventory} ${location}`),
    unknown,
  }
}

function listed<T extends { readonly trouble: Trouble; readonly state: string }>(
  all: readonly T[],
  name: (one: T) => string,
) {
  const rank: Readonly<Record<Trouble, number>> = { bad: 0, warn: 1, none: 2 }
  const items = all.toSorted(
    (a, b) =>
      rank[a.trouble] - rank[b.trouble] ||
      (a.state < b.state ? -1 : a.state > b.state ? 1 : name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0),
  )
  const troubled = all.filter(({ trouble }) => trouble !== 'none').length
  return { items: items.slice(0, MAX_LISTED), total: all.length, troubled }
}

export function ofPlacements(placements: readonly PlacementStatus[]): string {
  const copies = placements.reduce((sum, { counts }) => sum + counts.copies, 0)
  const applied = placements.reduce((sum, { counts }) => sum + counts.applied, 0)
  // each of a space tells of the same plan
  const heldIn = new Map<string, number>()
  for (const { space = '', counts } of placements)
    heldIn.set(space, Math.max(heldIn.get(space) ?? 0, counts.deletionHeld))
  const held = [...heldIn.values()].reduce((sum, copies) => sum + copies, 0)
  const more = held === 0 ? '' : `, ${held} held back from deletion`
  return `${counted(placements, 'placement')}, ${applied} of ${copies} ${copies === 1 ? 'copy' : 'copies'} applied${more}`
}

export function ofClusters(clusters: readonly ClusterStatus[]): string {
  return counted(clusters, 'location')
}

function counted(all: readonly { readonly trouble: Trouble }[], word: string): string {
  const troubled = all.filter(({ trouble }) => trouble !== 'none').length
  return `${all.length} ${word}${all.length === 1 ? '' : 's'}${troubled === 0 ? '' : ` (${troubled} in trouble)`}`
}

/** Conditions in the order of the stages, with the status that is well and how bad another one is. */
const STAGES = [
  { type: 'IntakeWaits', good: 'False', state: 'IntakeWaits' },
  { type: 'DeletionHeld', good: 'False', state: 'DeletionHeld' },
  { type: 'Resolved', good: 'True' },
  { type: 'Permitted', good: 'True' },
  { type: 'Applied', good: 'True' },
  { type: 'Projected', good: 'True' },
  { type: 'Placed', good: 'True' },
  { type: 'Healthy', good: 'True' },
  { type: 'Scheduled', good: 'True' },
  { type: 'RestoreUnsettled', good: 'False', state: 'RestoreUnsettled' },
  { type: 'Paused', good: 'False', state: 'Paused' },
] as const
/** Reasons for which nobody has to do anything yet. */
const PASSING: ReadonlySet<string> = new Set([
  'Pending',
  'Projecting',
  'Stale',
  'Waiting',
  'Progressing',
  'TooMuchTrouble',
  'IntakeWaits',
  'NotResolved',
  'Unschedulable',
  'Paused',
  'Held',
  'NotApplied',
])

export function placementStatus({ metadata, spec, status }: KubeObject): PlacementStatus {
  const name = metadata.name ?? ''
  const counts = Object.fromEntries(COUNTS.map(field => [field, num(status, 'counts', field)])) as unknown as Counts
  const conditions = objects(status, 'conditions')
  if (conditions.length === 0) return { name, trouble: 'warn', state: 'Pending', message: NOTHING_REPORTED, counts }
  for (const stage of STAGES) {
    let found = conditions.find(({ type }) => type === stage.type)
    if (!found || found.status === stage.good) continue
    // a placement that leads nowhere because its clusters refuse all reports that
    if (stage.type === 'Resolved') found = conditions.find(isKeptOut) ?? found
    const state = 'state' in stage ? stage.state : str(found, 'reason') || stage.type
    const [message, since] = [str(found, 'message'), str(found, 'lastTransitionTime')]
    const words = { ...(message !== '' && { message }), ...(since !== '' && { since }) }
    return { name, trouble: PASSING.has(state) ? 'warn' : 'bad', state, ...words, counts }
  }
  if (!isOfThisSpec(metadata, status)) return { name, trouble: 'warn', state: 'Pending', message: SPEC_BEFORE, counts }
  if (counts.objects === 0 && objects(spec, 'downsync').length > 0 && selectsNothing(conditions)) {
    return { name, trouble: 'warn', state: 'NothingSelected', message: NOTHING_SELECTED, counts }
  }
  const last = conditions.find(({ type }) => type === 'Healthy') ?? conditions.find(({ type }) => type === 'Applied')
  const [state, since] = [str(last, 'type') || 'Applied', str(last, 'lastTransitionTime')]
  return { name, trouble: 'none', state, ...(since !== '' && { since }), counts }
}

/** The condition counts what makes progress; WorkStatuses name it. */
function namingProgress(one: PlacementStatus, progressing: Known | undefined, clusters: Clusters): PlacementStatus {
  if (one.state !== 'Progressing') return one
  const first = progressing?.items.find(({ spec }) => strings(spec, 'placements').includes(one.name))
  const where = first && whereaboutsOf(first)
  if (!where) return one
  const named = namedOf(at(first.spec, 'sourceRef'), str(first.status, 'healthMessage') || 'it makes progress')
  return { ...one, message: `${one.message}; at ${clusters.labelOf(where)}, ${named}` }
}

/** The message of a placement without a status: its counts are none. */
export const NOTHING_REPORTED = 'nothing is reported of it yet'

const NOTHING_SELECTED =
  'no object of this space passes spec.downsync: kubectl kubestellar why KIND/NAME says what one of them lacks'

function isKeptOut({ type, status }: Readonly<Record<string, unknown>>): boolean {
  return type === 'Scheduled' && status === 'False'
}

const SPEC_BEFORE = 'the report is still about its former spec'

/** Whether the status concerns the placement as it is now. */
function isOfThisSpec({ generation }: KubeObject['metadata'], status: unknown): boolean {
  const observed = num(status, 'observedGeneration')
  return observed === 0 || generation === undefined || observed === generation
}

function selectsNothing(conditions: readonly Readonly<Record<string, unknown>>[]): boolean {
  return conditions.some(({ type, reason }) => type === 'Applied' && reason === 'NothingSelected')
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
