/**
 * The stages of one placement, read from the join and from mailboxes. They are denials by grants, upsync sets that are not carried up,
 * the center's own remarks, and the outcome. Nothing is written here.
 */
import { setImmediate } from 'node:timers/promises'
import { type Allowance, refusedByAll } from '../../../placement/consent/allowance.ts'
import { RefusalCount } from '../../../placement/outcome/refusalCount.ts'
import type { PlacementSpec } from '../../../placement/select/placementSpec.ts'
import { MAX_SPACE_UPSYNC } from '../../../placement/select/upsyncShare.ts'
import { describeObject, parseObjectKey } from '../../../placement/words/names.ts'
import { UPSYNC_FULL } from '../../../placement/words/placement.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Destination, Ways } from '../../../placement/words/ways.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { RetainedCopies } from '../retention/retainedCopies.ts'
import type { Stages } from './conditions/outcomeConditions.ts'
import { namesOf } from './conditions/refusedCopies.ts'
import { type PlacementOutcomeDeps, placementOutcome } from './placementOutcome.ts'

export interface PlacementStagesDeps {
  join: PlacementJoin
  allowances: {
    allowance(space: string, way: { mailbox: string; cluster: string; locationName: string }): Allowance
    /** Why a space has nowhere to place; `undefined` when it has. */
    nowhere(space: string): Reason | undefined
  }
  retained: Pick<RetainedCopies, 'behindPauseOf'>
  outcomes: PlacementOutcomeDeps
}

interface Placed {
  readonly space: string
  readonly name: string
  readonly ways: Ways
}

/** Mailboxes that the same grants lead to. */
interface Alike {
  readonly allowances: ReadonlySet<Allowance>
  readonly mailboxes: readonly string[]
  /** Keys that do not go there. */
  readonly denied: Set<string>
}

/** Pairs of object and combination of grants that are looked at between two turns of the event loop. */
const TURN_WORK = 20_000

type Counts = Pick<RefusalCount, 'add'>
type FourCounts = [RefusalCount, RefusalCount, RefusalCount, RefusalCount]

/** @param stayingCopies that are held */
export async function placementStages(
  deps: PlacementStagesDeps,
  placed: Placed,
  stayingCopies: number,
): Promise<Stages> {
  const { space, name, ways } = placed
  if (ways.size === 0) {
    const nowhere = deps.allowances.nowhere(space) ?? NO_LOCATION
    const outcome = await placementOutcome(deps.outcomes, placed)
    return { nowhere, outcome, stayingCopies }
  }
  const [found, denied, unplaced, cuts] = [1, 2, 3, 4].map(() => new RefusalCount()) as FourCounts
  const spec = deps.join.spec(space, name)
  const groups = alike(deps, space, ways)
  await countDenied(deps, placed, groups, both(found, denied))
  countUpsync(spec, groups, both(found, cuts))
  countRemarks(deps, placed, both(found, unplaced))
  const deniedBy = new Map<string, ReadonlySet<string>>()
  for (const { mailboxes, denied } of groups)
    if (denied.size > 0) for (const one of mailboxes) deniedBy.set(one, denied)
  const outcome = await placementOutcome(deps.outcomes, {
    ...placed,
    denied: mailbox => deniedBy.get(mailbox) ?? [],
  })
  const { full } = outcome
  if (full.length > 0 && (spec?.upsync.length ?? 0) > 0)
    found.add('spec.upsync', { reason: UPSYNC_FULL, message: `${namesOf(full)}: ${CARRIED_TOO_MUCH}` }, full.length)
  return {
    found: found.summary,
    denied: denied.summary ?? cuts.summary,
    unplaced: unplaced.summary,
    outcome,
    stayingCopies,
    behindPause: deps.retained.behindPauseOf(space, name, mailbox => ways.has(mailbox)),
  }
}

/** Mailboxes that the same grants lead to, and the same upsync sets, counted: thousands of clusters mostly share them. */
function alike({ join, allowances: consents }: PlacementStagesDeps, space: string, ways: Ways): Alike[] {
  const ids = new Map<object, number>()
  const groups = new Map<string, { allowances: ReadonlySet<Allowance>; mailboxes: string[]; denied: Set<string> }>()
  const idOf = (one: object): number => {
    const id = ids.get(one) ?? ids.size
    ids.set(one, id)
    return id
  }
  const allowed = (several: readonly Destination[]) => new Set(several.map(way => consents.allowance(space, way)))
  for (const [mailbox, several] of ways) {
    const allowances = allowed(several)
    const carriers = join.carriersTo(space, mailbox).flatMap(({ spec, ways: led }) => [spec, ...allowed(led)])
    const id = [...allowances, ...carriers].map(idOf).join()
    const group = groups.get(id)
    if (group) group.mailboxes.push(mailbox)
    else groups.set(id, { allowances, mailboxes: [mailbox], denied: new Set() })
  }
  return [...groups.values()]
}

async function countDenied(
  { join }: PlacementStagesDeps,
  { space, name }: Placed,
  groups: readonly Alike[],
  count: Counts,
): Promise<void> {
  const carries = join.carriesUp(space)
  const judged = carries ? groups : groups.filter(({ allowances }) => !allowsAll(allowances))
  if (judged.length === 0) return
  let work = 0
  for (const key of join.workload(space).selectedBy(name)) {
    const object = parseObjectKey(key)
    for (const { allowances, mailboxes, denied } of judged) {
      const why = allowsAll(allowances) ? undefined : refusedByAll(allowances, object)
      if (why) count.add(describeObject(object), why, mailboxes.length)
      if (why || (carries && !join.brings(space, mailboxes[0]!, key))) denied.add(key)
      work += allowances.size
    }
    if (work < TURN_WORK) continue
    work = 0
    await setImmediate()
  }
}

function countUpsync(spec: PlacementSpec | undefined, groups: readonly Alike[], count: Counts): void {
  if (!spec || spec.upsync.length === 0) return
  for (const { allowances, mailboxes } of groups) {
    // what one of several grants denies another may allow
    const cuts = [...allowances].map(allowance => allowance.upsync(spec).denied)
    for (const field of cuts[0] ?? []) {
      if (cuts.every(denied => denied.includes(field))) count.add(field, UPSYNC_NOT_GRANTED, mailboxes.length)
    }
  }
}

/** Remarks on objects of the placement, and upsync sets that found no room in a SyncerConfig. */
function countRemarks({ join, outcomes }: PlacementStagesDeps, { space, name, ways }: Placed, count: Counts): void {
  const workload = join.workload(space)
  const upsyncs = (join.spec(space, name)?.upsync.length ?? 0) > 0
  for (const mailbox of ways.keys()) {
    for (const [key, remark] of outcomes.remarks.in(mailbox, space))
      if (workload.selects(name, key)) count.add(describeObject(parseObjectKey(key)), remark, 1)
    const crowded = upsyncs ? outcomes.mailbox(mailbox)?.share?.crowded : undefined
    const left = crowded?.find(one => one.space === space && one.name === name)?.left
    if (left !== undefined) count.add('spec.upsync', tooMuchUpsync(left), 1)
  }
}

function both(...counts: readonly RefusalCount[]): Counts {
  return {
    add(...what) {
      for (const count of counts) count.add(...what)
    },
  }
}

function tooMuchUpsync(left: number): Reason {
  const message = `${left} of its sets are not carried up, as all sets of a space have ${MAX_SPACE_UPSYNC} bytes in a cluster's SyncerConfig. Name fewer objects, or use "*"`
  return { reason: 'TooMuchUpsync', message }
}

const CARRIED_TOO_MUCH =
  'as much is carried up from there as may be: select less, or ask who administers the inventory for a larger budget'
/** Reason for a placement that leads nowhere, in a space that may place somewhere. */
export const NO_LOCATION: Reason = {
  reason: 'NoLocation',
  message:
    'spec.locationSelectors choose no Location that this space may use and that stands for a cluster; those that it may use: kubectl get grantedlocations --show-labels',
}
const UPSYNC_NOT_GRANTED: Reason = {
  reason: 'UpsyncNotGranted',
  message:
    'it may not be carried up from there; ask who administers the inventory to extend its PlacementGrant (spec.upsync; Secrets by name)',
}

function allowsAll(allowances: ReadonlySet<Allowance>): boolean {
  for (const allowance of allowances) if (allowance.allowsAll) return true
  return false
}
