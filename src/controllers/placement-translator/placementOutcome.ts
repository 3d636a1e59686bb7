/**
 * What became of one placement: how many of its copies are in their clusters, and what is broken where, in the clusters' words.
 *
 * Worked out from what is not as it should be: exceptions that syncers name, copies that they have not looked at, clusters that
 * are silent. All others are applied. So a report costs clusters and exceptions, not copies. Where it is not known whose the
 * exceptions of a cluster are, nothing there counts as applied.
 */
import { setImmediate } from 'node:timers/promises'
import type { Exception, OutcomeState } from '../../apimachinery/outcome.ts'
import type { ClusterOutcome } from './clusterOutcomes.ts'
import type { DesiredContent } from './desiredContent.ts'
import { parseObjectKey } from './names.ts'
import type { PlacementJoin } from './placementJoin.ts'
import type { Ways } from './ways.ts'

export interface PlacementOutcomeDeps {
  join: Pick<PlacementJoin, 'workload'>
  /** The mailbox, once all that it holds is known. */
  mailbox: (name: string) => OutcomeMailbox | undefined
  /** What its syncer says, by the mailbox's space. */
  outcome: (space: string) => ClusterOutcome
  /** Whether it is known by now of everything of a space or of a mailbox whether it may have to change. */
  isNamed: (owner: string) => boolean
}

export interface OutcomeMailbox {
  readonly space: string
  readonly copies: ReadonlyMap<string, unknown>
  readonly desired: DesiredContent
  ownersOf(key: string): string[]
}

/** As the status of an EdgePlacement has it. */
export interface OutcomeCounts {
  /** Clusters that the placement leads to. */
  readonly clusters: number
  readonly objects: number
  /** Of the copies: each object in each cluster. */
  readonly copies: number
  readonly applied: number
  readonly pending: number
  readonly stale: number
  /** Not in the mailbox: no grant, or what the center itself found. */
  readonly notPlaced: number
  readonly refused: number
  readonly retrying: number
  /** Of the other states: waiting, unserved, terminating, held, drifted. */
  readonly waiting: number
  /** In clusters of which more is wrong than can be told, so that it is not known whose that is. */
  readonly unknown: number
}

export interface Broken {
  readonly location: string
  readonly group: string
  readonly resource: string
  readonly namespace?: string
  readonly name: string
  readonly state: OutcomeState
  readonly reason: string
  readonly message: string
  readonly since: string
}

export interface PlacementOutcome {
  readonly counts: OutcomeCounts
  readonly broken: readonly Broken[]
  /** Whether copies are yet to be written into mailboxes. */
  readonly projecting: boolean
  /** Locations whose clusters are silent, some of them. */
  readonly silent: readonly string[]
}

/** Entries of the list, and of one cluster in it, so that none hides another. */
const MAX_BROKEN = 20
const MAX_SILENT = 5
/** Keys that are looked at between two turns of the event loop. */
const TURN_WORK = 20_000
/** Copies that are looked for one by one; where there are more, only what is known to be missing counts. */
const MAX_LOOKED_FOR = 20_000

export async function placementOutcome(
  deps: PlacementOutcomeDeps,
  { space, name, ways, notPlaced }: { space: string; name: string; ways: Ways; notPlaced: number },
): Promise<PlacementOutcome> {
  const workload = deps.join.workload(space)
  const keys = workload.selectedBy(name)
  const isSelected = (key: string): boolean => workload.selects(name, key)
  const copies = keys.length * ways.size
  const lists: Broken[][] = []
  const silent: string[] = []
  const states = { refused: 0, retrying: 0, waiting: 0 }
  let [pending, stale, unknown, missing, work] = [0, 0, 0, 0, 0]
  let projecting = !deps.isNamed(space)
  for (const [mailboxName, several] of ways) {
    const mailbox = deps.mailbox(mailboxName)
    const outcome = mailbox && deps.outcome(mailbox.space)
    const location = several[0]!.locationName
    if (!mailbox || !outcome?.live) {
      stale += keys.length
      if (keys.length > 0 && silent.length < MAX_SILENT) silent.push(location)
      continue
    }
    if (outcome.compared) mailbox.desired.processed(outcome.processed)
    if (projecting || !outcome.compared || !deps.isNamed(mailboxName)) {
      pending += keys.length
      continue
    }
    const broken: Broken[] = []
    const excepted = new Set<string>()
    for (const [key, exception] of outcome.exceptions) {
      work++
      if (!isSelected(key) || !mailbox.ownersOf(key).includes(space) || mailbox.desired.isPending(key)) continue
      excepted.add(key)
      states[stateIn(exception.state)]++
      if (broken.length < MAX_BROKEN) broken.push(brokenOf(location, key, exception))
    }
    if (broken.length > 0) lists.push(broken)
    let behind = 0
    for (const key of mailbox.desired.pending()) {
      work++
      if (isSelected(key)) behind++
    }
    pending += behind
    const rest = keys.length - behind - excepted.size
    if (Object.keys(outcome.unlisted).length > 0) unknown += Math.max(0, rest)
    else if (copies <= MAX_LOOKED_FOR) {
      work += keys.length
      for (const key of keys) if (!mailbox.copies.has(key) && !mailbox.desired.isPending(key)) missing++
    }
    for (const key of mailbox.desired.behind()) {
      work++
      if (!isSelected(key)) continue
      projecting = true
      break
    }
    if (work < TURN_WORK) continue
    work = 0
    await setImmediate()
  }
  // what may not go there is missing as well
  pending += Math.max(0, missing - notPlaced)
  const { refused, retrying, waiting } = states
  const applied = Math.max(0, copies - notPlaced - pending - stale - unknown - refused - retrying - waiting)
  const counts = { clusters: ways.size, objects: keys.length, copies, applied, pending, stale, notPlaced }
  return {
    counts: { ...counts, refused, retrying, waiting, unknown },
    broken: eachInTurn(lists),
    projecting,
    silent,
  }
}

function stateIn(state: OutcomeState): 'refused' | 'retrying' | 'waiting' {
  return state === 'refused' || state === 'retrying' ? state : 'waiting'
}

function brokenOf(location: string, key: string, { state, reason, message, since }: Exception): Broken {
  const { group, resource, namespace, name } = parseObjectKey(key)
  return { location, group, resource, ...(namespace && { namespace }), name, state, reason, message, since }
}

/** Each cluster's first before any cluster's second. */
function eachInTurn(lists: readonly Broken[][]): Broken[] {
  const all: Broken[] = []
  for (let i = 0; all.length < MAX_BROKEN && lists.some(list => i < list.length); i++) {
    for (const list of lists) if (list[i] && all.length < MAX_BROKEN) all.push(list[i]!)
  }
  return all
}
