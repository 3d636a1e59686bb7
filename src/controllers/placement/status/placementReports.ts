/**
 * Reports on EdgePlacements: conditions, counts and broken copies. Denials by grants follow from the join, refusals by clusters from
 * their syncers' outcome reports, and the center's own findings from remarks.
 *
 * One look reads the outcome and the holds of a placement and writes both at once. {@link ReportPace} spaces the looks. The translator
 * writes EdgePlacement.status here alone. The where-resolver adds its conditions and counts by the same function, writeStatus.ts.
 */

import { setImmediate } from 'node:timers/promises'
import { type Condition, conditionOf } from '../../../apimachinery/conditions.ts'
import { at, type Fields, num } from '../../../apimachinery/fields.ts'
import { MapOfSets } from '../../../apimachinery/nestedMaps.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import type { Client } from '../../../client/client.ts'
import type { Clock } from '../../../client/clock.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import type { ReconcileResult } from '../../../client/workqueue.ts'
import { type Allowance, refusedByAll } from '../../../placement/consent/allowance.ts'
import { RefusalCount } from '../../../placement/outcome/refusalCount.ts'
import { MAX_SPACE_UPSYNC } from '../../../placement/select/upsyncShare.ts'
import { describeObject, FIELD_MANAGER, parseObjectKey } from '../../../placement/words/names.ts'
import { EDGE_PLACEMENTS, UPSYNC_FULL } from '../../../placement/words/placement.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Destination, Ways } from '../../../placement/words/ways.ts'
import { writeStatus } from '../../writeStatus.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Tasks } from '../join/tasks.ts'
import type { RetainedCopies } from '../retention/retainedCopies.ts'
import { associatedReport } from './conditions/associatedReport.ts'
import type { DueObjects } from './conditions/dueObjects.ts'
import type { HoldReports, KnownHold } from './conditions/holdReports.ts'
import type { Stages } from './conditions/outcomeConditions.ts'
import { conditionsFor, type Findings } from './conditions/placementConditions.ts'
import { namesOf } from './conditions/refusedCopies.ts'
import { STATUS_WITHHELD, type WithheldStatuses } from './conditions/withheldStatuses.ts'
import type { OutageEvents } from './events/outageEvents.ts'
import type { TroubleEvents } from './events/troubleEvents.ts'
import { type PlacementOutcomeDeps, placementOutcome } from './placementOutcome.ts'
import { ReportPace } from './reportPace.ts'

export interface PlacementReportsDeps {
  client: Client
  join: PlacementJoin
  allowances: {
    allowance(space: string, way: { mailbox: string; cluster: string; locationName: string }): Allowance
    /** Why a space has nowhere to place; `undefined` when it has. */
    nowhere(space: string): Reason | undefined
    /** Whether it is not known all that a space may place. */
    isUncertain(space: string): boolean
  }
  /** Holds, pauses and intakes, which are reported beside the outcome. */
  holds: Pick<HoldReports, 'waits' | 'holdOf' | 'conditions' | 'reported' | 'isOpening'>
  retained: Pick<RetainedCopies, 'behindPauseOf'>
  /** Why objects have no status although the placement asks for it. */
  withheld: Pick<WithheldStatuses, 'of'>
  due: Pick<DueObjects, 'judge' | 'isDue' | 'forgetPlacement'>
  /** Whether a mailbox may be there and is not read yet. */
  isUnread: (mailbox: string) => boolean
  /** Why some of its StatusCollectors do not work. */
  uncollected: (space: string, placement: string) => Reason | undefined
  /** Kinds that it asks of clusters, and that these define otherwise. */
  definitions: (space: string, placement: string) => Reason | 'unknown' | undefined
  outcomes: PlacementOutcomeDeps
  clock: Clock
  /** Events about what authors have to act on. */
  events: Pick<TroubleEvents, 'report' | 'forget'>
  outages: Pick<OutageEvents, 'report' | 'forget'>
  tasks: Pick<Tasks, 'report'>
}

/** Mailboxes that the same grants lead to. */
interface Alike {
  readonly allowances: ReadonlySet<Allowance>
  readonly mailboxes: readonly string[]
  /** Keys that do not go there. */
  readonly denied: Set<string>
}

/** News of content waits so long for a report that is due anyway. */
const UNREPORTED_MS = 250
/** Pairs of object and combination of grants that are looked at between two turns of the event loop. */
const TURN_WORK = 20_000

export class PlacementReports {
  readonly #deps: PlacementReportsDeps
  /** Pace of the looks at each placement. */
  readonly #pace = new ReportPace()
  /** By space, placements that were reported before all of it was named: they are reported once more when it is. */
  readonly #reportedEarly = new MapOfSets<string>()

  /** By placement: the revision up to which content counts in the outcome that this run reported last. */
  readonly #reported = new Map<string, number>()
  /** Placements of which this run knows as much as an earlier one. */
  readonly #whole = new Set<string>()
  /** Placements with content that is not reported yet. */
  readonly #unreported = new Set<string>()
  #cancel: (() => void) | undefined

  constructor(deps: PlacementReportsDeps) {
    this.#deps = deps
  }

  /** All copies of a space that may have to change are named. */
  named(space: string): void {
    for (const placement of this.#reportedEarly.deleteAll(space)) this.#deps.tasks.report(space, placement)
  }

  /** More content of a placement is taken in: the next report says so, soon at the latest. */
  contentChanged(space: string, placement: string): void {
    this.#unreported.add(`${space} ${placement}`)
    this.#cancel ??= this.#deps.clock.after(UNREPORTED_MS, () => {
      this.#cancel = undefined
      const unreported = [...this.#unreported]
      this.#unreported.clear()
      for (const id of unreported) {
        const blank = id.indexOf(' ')
        const [space, name] = [id.slice(0, blank), id.slice(blank + 1)]
        if ((this.#reported.get(id) ?? 0) < (this.#deps.join.observed.of(space, name) ?? 0))
          this.#deps.tasks.report(space, name)
      }
    })
  }

  stop(): void {
    this.#cancel?.()
  }

  forget(space: string, placement: string): void {
    this.#reported.delete(`${space} ${placement}`)
    this.#whole.delete(`${space} ${placement}`)
    this.#deps.due.forgetPlacement(space, placement)
    this.#unreported.delete(`${space} ${placement}`)
    this.#reportedEarly.delete(space, placement)
    this.#pace.forget(`${space} ${placement}`)
    this.#deps.events.forget(space, placement)
    this.#deps.outages.forget(space, placement)
  }

  /** Whether it has something to report though not all of it is known. */
  waits(space: string, name: string): boolean {
    return this.#deps.holds.waits(space, name)
  }

  /** @param isKnown whether all is known that the placement selects and where it leads */
  async reconcile(space: string, name: string, isKnown = true): Promise<ReconcileResult> {
    const { join, clock, holds } = this.#deps
    const id = `${space} ${name}`
    const waitMs = this.#pace.waitMs(id, clock.now())
    if (waitMs > 0) return { requeueAfterMs: waitMs }
    // one that leads nowhere yet is to be reported as soon as it does
    if (join.waysOf(space, name) || holds.waits(space, name)) this.#pace.looked(id, clock.now())
    const hold = isKnown ? holds.holdOf(space, name) : 'unknown'
    const found = isKnown ? await this.#find(space, name, hold) : undefined
    return await this.#report(space, name, { isKnown, hold, found })
  }

  /** The outcome as far as there is one yet; what changes it has {@link reconcile} called again. */
  async #find(space: string, name: string, hold: KnownHold): Promise<Outcome | undefined> {
    const { join, allowances } = this.#deps
    const ways = join.waysOf(space, name)
    if (!ways || allowances.isUncertain(space)) return undefined
    const isFirst = !this.#reported.has(`${space} ${name}`)
    const isOpening = this.#isOpening(space, name, ways)
    // read before the count: another look reports what is taken in meanwhile
    const [content, generation] = [join.observed.of(space, name), join.observed.settledOf(space, name)]
    const stages = await this.#stages(space, name, ways, typeof hold === 'object' ? hold.copies : 0)
    if (stages.outcome.early) this.#reportAgain(space, name)
    const isSelected = (key: string): boolean => join.workload(space).selects(name, key)
    const collects = (join.spec(space, name)?.collectors.length ?? 0) > 0
    const collected = collects ? (this.#deps.uncollected(space, name) ?? 'all') : undefined
    const definitions = this.#deps.definitions(space, name)
    const associated = this.#associated(space, name, ways, stages.outcome.full)
    return { stages, collected, definitions, associated, isFirst, isOpening, isSelected, content, generation }
  }

  #withheld(space: string, name: string): Reason | 'unknown' | undefined {
    const { join, withheld } = this.#deps
    const { wantSingletonReportedState, wantMultiWECReportedState } = join.spec(space, name) ?? {}
    if (!wantSingletonReportedState && !wantMultiWECReportedState) return undefined
    if (this.#deps.due.isDue(space, name)) return 'unknown'
    return withheld.of(space, key => join.workload(space).names(name, key))
  }

  #associated(space: string, name: string, ways: Ways, full: readonly string[]): Findings['associated'] {
    const { join, allowances, outcomes } = this.#deps
    const deps = {
      allowance: (way: Destination) => allowances.allowance(space, way),
      reported: (mailbox: string) => outcomes.mailbox(mailbox)?.leftOut,
      full,
    }
    return associatedReport(deps, { space, name }, join.spec(space, name), ways)
  }

  #reportAgain(space: string, placement: string): void {
    this.#reportedEarly.add(space, placement)
    if (this.#deps.outcomes.isNamed(space)) this.named(space)
  }

  async #stages(space: string, name: string, ways: Ways, stayingCopies: number): Promise<Stages> {
    if (ways.size === 0) {
      const nowhere = this.#deps.allowances.nowhere(space) ?? NO_LOCATION
      const outcome = await placementOutcome(this.#deps.outcomes, { space, name, ways })
      return { nowhere, outcome, stayingCopies }
    }
    const [found, denied, unplaced, cuts] = [1, 2, 3, 4].map(() => new RefusalCount()) as FourCounts
    const groups = this.#alike(space, ways)
    await this.#countDenied(space, name, groups, both(found, denied))
    this.#countUpsync(space, name, groups, both(found, cuts))
    this.#countRemarks(space, name, ways, both(found, unplaced))
    const deniedBy = new Map<string, ReadonlySet<string>>()
    for (const { mailboxes, denied } of groups)
      if (denied.size > 0) for (const one of mailboxes) deniedBy.set(one, denied)
    const outcome = await placementOutcome(this.#deps.outcomes, {
      space,
      name,
      ways,
      denied: mailbox => deniedBy.get(mailbox) ?? [],
    })
    const { full } = outcome
    if (full.length > 0 && (this.#deps.join.spec(space, name)?.upsync.length ?? 0) > 0)
      found.add('spec.upsync', { reason: UPSYNC_FULL, message: `${namesOf(full)}: ${CARRIED_TOO_MUCH}` }, full.length)
    return {
      found: found.summary,
      denied: denied.summary ?? cuts.summary,
      unplaced: unplaced.summary,
      outcome,
      stayingCopies,
      behindPause: this.#deps.retained.behindPauseOf(space, name, mailbox => ways.has(mailbox)),
    }
  }

  /** Mailboxes that the same grants lead to, and the same upsync sets, counted: thousands of clusters mostly share them. */
  #alike(space: string, ways: Ways): Alike[] {
    const { join, allowances: consents } = this.#deps
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

  async #countDenied(space: string, name: string, groups: readonly Alike[], count: Counts): Promise<void> {
    const { join } = this.#deps
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

  #countUpsync(space: string, name: string, groups: readonly Alike[], count: Counts): void {
    const spec = this.#deps.join.spec(space, name)
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
  #countRemarks(space: string, name: string, ways: Ways, count: Counts): void {
    const { join, outcomes } = this.#deps
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

  /** Whether an earlier run may have found reasons that this one has not looked for yet. */
  #isOpening(space: string, name: string, ways: Ways): boolean {
    const { join, due, holds, isUnread, outcomes } = this.#deps
    if (this.#whole.has(`${space} ${name}`)) return false
    if (due.isDue(space, name) || holds.isOpening(space, name) || !outcomes.isNamed(space)) return true
    const workload = join.workload(space)
    for (const mailbox of ways.keys()) {
      if (isUnread(mailbox) || !outcomes.isNamed(mailbox)) return true
      for (const key of outcomes.mailbox(mailbox)?.changes.unlooked() ?? [])
        if (workload.selects(name, key)) return true
    }
    return false
  }

  /** Objects are judged whose reasons an earlier run has reported, and that nothing else would look at. */
  #judgeAnew(space: string, placement: KubeObject, { isFirst, stages }: Outcome): boolean {
    const { name = '' } = placement.metadata
    const has = (type: string, status: string) => conditionOf(placement, type)?.status === status
    if (!isFirst || stages.nowhere || !(has(STATUS_WITHHELD, 'True') || has('Placed', 'False'))) return false
    this.#deps.due.judge(space, name)
    return this.#deps.due.isDue(space, name)
  }

  async #report(space: string, name: string, { isKnown, hold, found }: Report): Promise<ReconcileResult> {
    const { client, join, clock, holds, events, outages } = this.#deps
    const api = client.in(space)
    const placement = await unlessGone(api.get(EDGE_PLACEMENTS, { name }))
    if (!placement || placement.metadata.deletionTimestamp !== undefined) return {}
    const { generation = 0 } = placement.metadata
    const held = holds.conditions(space, placement, hold, isKnown)
    if (!found && held.length === 0) return {}
    const conditions: Condition[] = held.map(condition => ({ ...condition, observedGeneration: generation }))
    const fields: Fields = {}
    // before the first outcome there are no counts
    const counts = found?.stages.outcome.counts ?? at(placement.status, 'counts')
    const before = num(placement.status, 'counts', 'deletionHeld')
    const deletionHeld = hold === 'unknown' ? before : (hold?.copies ?? 0)
    if (isRecord(counts)) fields.counts = { ...counts, deletionHeld }
    if (found) {
      const { broken } = found.stages.outcome
      // its newest spec may not be taken in yet
      const observedGeneration = Math.min(generation, found.generation ?? Number.POSITIVE_INFINITY)
      const isOpening = this.#judgeAnew(space, placement, found) || found.isOpening
      if (!isOpening && join.spec(space, name)) this.#whole.add(`${space} ${name}`)
      // what stays in clusters is not known at once, either
      const stages = hold === 'unknown' ? { ...found.stages, stayingCopies: before } : found.stages
      const findings = { ...found, stages, isOpening, withheld: this.#withheld(space, name) }
      const stated = conditionsFor(placement, findings, observedGeneration)
      conditions.unshift(...stated)
      // else counts of the earlier run stay, too
      if (stated.some(({ type }) => type === 'Placed')) fields.broken = broken.length > 0 ? broken : null
      else delete fields.counts
      Object.assign(fields, { observedGeneration, ...observedNow(placement, findings) })
    }
    const options = { nowMs: clock.now(), fieldManager: FIELD_MANAGER }
    await writeStatus(api, [EDGE_PLACEMENTS, placement], { conditions, fields }, options)
    await holds.reported(space, placement, held)
    if (!found) return {}
    // a placement that is gone meanwhile is forgotten already
    if (join.spec(space, name)) this.#reported.set(`${space} ${name}`, Number(fields.observedResourceVersion ?? 0))
    const { broken, differing, fallen, ambiguous } = found.stages.outcome
    await events.report(space, placement, [...broken, ...differing], ambiguous)
    const clusters = found.stages.outcome.counts.clusters
    const requeueAfterMs = await outages.report(space, placement, { fallen, clusters })
    return requeueAfterMs === undefined ? {} : { requeueAfterMs }
  }
}

interface Report {
  /** Whether all is known that the placement selects and where it leads. */
  readonly isKnown: boolean
  readonly hold: KnownHold
  readonly found: Outcome | undefined
}

interface Observed {
  /** Up to where the content is taken in of which the counts speak; `undefined`: something is known to come. */
  readonly content: number | undefined
  /** Generation of the spec that they concern. */
  readonly generation: number | undefined
}

/** It never goes back: this run has taken in all that an earlier run reported, deletions included. */
function observedNow(
  { status, metadata }: KubeObject,
  { content = 0, isFirst, isOpening, stages }: Findings & Observed,
): { observedResourceVersion?: string } {
  const reported = Number(at(status, 'observedResourceVersion') ?? 0)
  const before = reported <= Number(metadata.resourceVersion) ? reported : 0
  // conditions of before stay while it is not known what has to change, and what keeps it from that
  const now = isOpening || (isFirst && stages.outcome.projecting) ? before : Math.max(before, content)
  return now > 0 ? { observedResourceVersion: String(now) } : {}
}

type Outcome = Omit<Findings, 'withheld'> & Observed

type Counts = Pick<RefusalCount, 'add'>
type FourCounts = [RefusalCount, RefusalCount, RefusalCount, RefusalCount]

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
