/**
 * Outcome of one placement: the number of its copies that are in their clusters and do their work. The faults of the rest come by place, in
 * the clusters' words.
 *
 * It derives from the exceptions: those that syncers name, copies behind, refusals, silent clusters. All other copies are as their cluster
 * is. The cost of a report follows clusters and exceptions, not copies.
 */
import { setImmediate } from 'node:timers/promises'
import type { AssociatedStatus } from '../../../placement/desks/syncerConfig.ts'
import { UNREPORTED } from '../../../placement/outcome/clusterOutcome.ts'
import { type CopyVerdict, healthIn, isDiffering } from '../../../placement/outcome/copyState.ts'
import {
  COPY_STATES,
  COUNT_NAMES,
  type CopyCount,
  type CopyState,
  type OutcomeCounts,
  type StateFacts,
} from '../../../placement/outcome/copyStates.ts'
import type { HealthVerdict } from '../../../placement/outcome/health.ts'
import type { Exception } from '../../../placement/outcome/outcome.ts'
import type { UpsyncShare } from '../../../placement/select/upsyncShare.ts'
import { parseObjectKey } from '../../../placement/words/names.ts'
import { ambiguousNames, type NamedPlace, namedPlace, placeName } from '../../../placement/words/placeNames.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Ways } from '../../../placement/words/ways.ts'
import type { CopyHealth } from '../mailboxes/copyHealth.ts'
import type { Remarks } from '../mailboxes/remarks.ts'
import { RefusedCopies } from './conditions/refusedCopies.ts'
import type { Fallen } from './events/outageEvents.ts'
import type { Trouble } from './events/troubleEvents.ts'
import { SpaceCluster, type SpaceClusterDeps } from './spaceCluster.ts'

export interface PlacementOutcomeDeps extends Omit<SpaceClusterDeps, 'mailbox'> {
  mailbox: (name: string) => HealthyMailbox | undefined
  remarks: Pick<Remarks, 'of' | 'in'>
  /** Path of a space, from the root; `undefined`: it is gone. */
  pathOf: (space: string) => string | undefined
}

type HealthyMailbox = NonNullable<ReturnType<SpaceClusterDeps['mailbox']>> & {
  readonly health: Pick<CopyHealth, 'unhealthyOf'>
  readonly isUpsyncFull: boolean
  readonly leftOut: AssociatedStatus
  readonly share: UpsyncShare | undefined
}

export interface Broken extends Trouble {
  readonly since?: string
}

export interface PlacementOutcome {
  readonly counts: OutcomeCounts
  readonly broken: readonly Broken[]
  /** Summary of the copies that clusters refuse, which are `counts.refused`. */
  readonly refused: Reason | undefined
  /** Locations whose clusters may refuse more than is known now. */
  readonly doubtful: ReadonlySet<string>
  /** Locations whose mailboxes have no room for what is carried up. */
  readonly full: readonly string[]
  /** Some of those that are applied and not held as they were sent. */
  readonly differing: readonly Broken[]
  /** Whether copies are yet to be written into mailboxes. */
  readonly projecting: boolean
  /** Whether it was not known yet of everything of the space whether it may have to change: then all of it counts as being written. */
  readonly early: boolean
  /** Locations whose clusters are silent, some of them, as messages name them. */
  readonly silent: readonly string[]
  /** The silent ones that reported to this server earlier. */
  readonly fallen: Fallen
  /** As {@link placeName} wants it. */
  readonly ambiguous: ReadonlySet<string>
}

/** Entries of the list, and of one cluster in it, so that none hides another. */
const MAX_BROKEN = 20
const MAX_SILENT = 5
/** Keys that are looked at between two turns of the event loop. */
const TURN_WORK = 20_000
/** Copies that are looked for one by one; where there are more, only what is known to be missing counts. */
const MAX_LOOKED_FOR = 20_000

const NONE = Object.fromEntries(COUNT_NAMES.map(count => [count, 0])) as Record<CopyCount, number>

export async function placementOutcome(
  deps: PlacementOutcomeDeps,
  {
    space,
    name,
    ways,
    denied,
  }: { space: string; name: string; ways: Ways; denied?: (mailbox: string) => Iterable<string> },
): Promise<PlacementOutcome> {
  const workload = deps.join.workload(space)
  const keys = workload.selectedBy(name)
  const copies = keys.length * ways.size
  const found = { ...NONE }
  let [progressing, degraded, work] = [0, 0, 0]
  const lists: Broken[][] = []
  const ill: Broken[][] = []
  const apart: Broken[][] = []
  let differing = 0
  const refused = new RefusedCopies()
  const doubtful = new Set<string>()
  const full: string[] = []
  const silent: string[] = []
  const fallen = new Map<string, string>()
  const ambiguous = ambiguousNames(ways)
  let early = !deps.isNamed(space)
  let projecting = early
  for (const [mailboxName, several] of ways) {
    early ||= !deps.isNamed(space)
    const cluster = new SpaceCluster(deps, space, mailboxName)
    const mailbox = deps.mailbox(mailboxName)
    const place = namedPlace(several[0]!, deps.pathOf)
    const { common } = cluster
    const { outcome } = cluster.sight
    const at = placeName(place, ambiguous)
    if (mailbox?.isUpsyncFull) full.push(at)
    if (common.state === 'Stale' && keys.length > 0) {
      if (silent.length < MAX_SILENT) silent.push(at)
      if (outcome !== UNREPORTED) fallen.set(mailboxName, at)
    }
    const isSelected = (key: string): boolean => workload.selects(name, key)
    const refusals: [key: string, words: string][] = []
    const broken: Broken[] = []
    const sick: Broken[] = []
    const others: Broken[] = []
    const seen = new Map<string, CopyState>()
    /** How those are of which the status that came back does not tell. */
    const reported = new Map<string, HealthVerdict>()
    const look = (key: string): void => {
      work++
      if (seen.has(key) || !isSelected(key)) return
      const verdict = cluster.verdict(key)
      seen.set(key, verdict.state)
      const facts: StateFacts = COPY_STATES[verdict.state]
      found[facts.count]++
      if (verdict.state === 'Refused') refusals.push([key, verdict.message || verdict.reason])
      const health = healthIn(verdict, undefined, outcome.exceptions.get(key)?.health)
      if (health && facts.count === 'applied') reported.set(key, health)
      if (isDiffering(verdict)) {
        differing++
        if (others.length < MAX_BROKEN) others.push(brokenOf(place, key, verdict))
      }
      if (verdict.state === 'Projecting') projecting = true
      if (verdict.state === 'Projecting' || (verdict.state === 'Pending' && !mailbox?.copies.has(key)))
        mailbox?.changes.reportedBehind(key)
      if (facts.isListed && broken.length < MAX_BROKEN) broken.push(brokenOf(place, key, verdict))
    }
    if (cluster.isMixed) for (const key of keys) look(key)
    else for (const key of special(deps, cluster, { denied, looksForAll: copies <= MAX_LOOKED_FOR, keys })) look(key)
    found[COPY_STATES[common.state].count] += keys.length - seen.size
    if (common.state === 'Projecting') projecting ||= keys.length > seen.size
    refused.add(at, refusals)
    work += outcome.exceptions.size
    // a refusal that does not count now may count again
    const isInDoubt = ([key, { state }]: readonly [string, Exception]): boolean =>
      state === 'refused' && seen.get(key) !== 'Refused' && isSelected(key)
    if (keys.length > 0 && (!outcome.compared || [...outcome.exceptions].some(isInDoubt))) doubtful.add(at)
    // the mailbox of a silent cluster is filled all the same; present copies may be only looked at
    if (common.state === 'Stale' && mailbox && !projecting) {
      for (const key of mailbox.changes.behind()) {
        work++
        if (!isSelected(key) || mailbox.copies.has(key) || cluster.verdict(key).state !== 'Stale') continue
        projecting = true
        break
      }
    }
    const count = (key: string, { health, message }: HealthVerdict): void => {
      if (health === 'Progressing') progressing++
      if (health !== 'Degraded') return
      degraded++
      if (sick.length < MAX_BROKEN) sick.push(degradedOf(place, key, message))
    }
    for (const [key, health] of reported) count(key, health)
    for (const [key, health] of mailbox?.health.unhealthyOf(keys, isSelected) ?? []) {
      work++
      if ((seen.get(key) ?? common.state) === 'Applied' && !reported.has(key)) count(key, health)
    }
    if (broken.length > 0) lists.push(broken)
    if (sick.length > 0) ill.push(sick)
    if (others.length > 0) apart.push(others)
    if (work < TURN_WORK) continue
    work = 0
    await setImmediate()
  }
  const counts = { clusters: ways.size, objects: keys.length, copies, ...found }
  return {
    counts: { ...counts, healthy: found.applied - progressing - degraded, progressing, degraded, differing },
    differing: eachInTurn(apart),
    refused: refused.summary(),
    doubtful,
    full,
    broken: [...eachInTurn(lists), ...eachInTurn(ill)].slice(0, MAX_BROKEN),
    projecting,
    early,
    silent,
    fallen,
    ambiguous,
  }
}

/** Keys of which something else may hold than of all others. */
function* special(
  deps: PlacementOutcomeDeps,
  cluster: SpaceCluster,
  options: {
    denied: ((mailbox: string) => Iterable<string>) | undefined
    looksForAll: boolean
    keys: readonly string[]
  },
): Generator<string> {
  const { space, name, sight } = cluster
  yield* options.denied?.(name) ?? []
  yield* deps.remarks.in(name, space).keys()
  yield* deps.join.workload(space).paused()
  const { mailbox, outcome } = sight
  if (!mailbox || !outcome.live || outcome.unreachable) return
  if (!sight.projecting && outcome.compared) {
    yield* outcome.exceptions.keys()
    yield* mailbox.changes.pending()
  } else yield* mailbox.changes.behind()
  if (!options.looksForAll) return
  for (const key of options.keys) {
    if (!mailbox.copies.has(key) || mailbox.ownerOf(key) !== space) yield key
  }
}

function brokenOf(place: NamedPlace, key: string, { state, reason, message, since }: CopyVerdict): Broken {
  return {
    ...place,
    ...objectOf(key),
    state: state.toLowerCase(),
    reason,
    message,
    ...(since !== undefined && { since }),
  }
}

function degradedOf(place: NamedPlace, key: string, message: string): Broken {
  return { ...place, ...objectOf(key), state: 'degraded', reason: 'Degraded', message }
}

function objectOf(key: string): Pick<Broken, 'group' | 'resource' | 'namespace' | 'name'> {
  const { group, resource, namespace, name } = parseObjectKey(key)
  return { group, resource, ...(namespace && { namespace }), name }
}

/** Each cluster's first before any cluster's second. */
function eachInTurn(lists: readonly Broken[][]): Broken[] {
  const all: Broken[] = []
  for (let i = 0; all.length < MAX_BROKEN && lists.some(list => i < list.length); i++) {
    for (const list of lists) if (list[i] && all.length < MAX_BROKEN) all.push(list[i]!)
  }
  return all
}
