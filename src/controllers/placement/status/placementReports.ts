/**
 * Reports on EdgePlacements: conditions, counts and broken copies, from the stages of the placement ({@link placementStages}).
 *
 * One look reads the outcome and the holds of a placement and writes both at once. {@link ReportPace} spaces the looks. The translator
 * writes EdgePlacement.status here alone. The where-resolver adds its conditions and counts by the same function, writeStatus.ts.
 */
import { type Condition, conditionOf } from '../../../apimachinery/conditions.ts'
import { at, type Fields, num } from '../../../apimachinery/fields.ts'
import { MapOfSets } from '../../../apimachinery/nestedMaps.ts'
import { isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import type { Client } from '../../../client/client.ts'
import type { Clock } from '../../../client/clock.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import type { ReconcileResult } from '../../../client/workqueue.ts'
import { FIELD_MANAGER } from '../../../placement/words/names.ts'
import { EDGE_PLACEMENTS } from '../../../placement/words/placement.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Destination, Ways } from '../../../placement/words/ways.ts'
import { writeStatus } from '../../writeStatus.ts'
import type { Tasks } from '../join/tasks.ts'
import { associatedReport } from './conditions/associatedReport.ts'
import type { DueObjects } from './conditions/dueObjects.ts'
import type { HoldReports, KnownHold } from './conditions/holdReports.ts'
import { conditionsFor, type Findings } from './conditions/placementConditions.ts'
import { STATUS_WITHHELD, type WithheldStatuses } from './conditions/withheldStatuses.ts'
import type { OutageEvents } from './events/outageEvents.ts'
import type { TroubleEvents } from './events/troubleEvents.ts'
import { type PlacementStagesDeps, placementStages } from './placementStages.ts'
import { ReportPace } from './reportPace.ts'

export interface PlacementReportsDeps extends PlacementStagesDeps {
  client: Client
  allowances: PlacementStagesDeps['allowances'] & {
    /** Whether it is not known all that a space may place. */
    isUncertain(space: string): boolean
  }
  /** Holds, pauses and intakes, which are reported beside the outcome. */
  holds: Pick<HoldReports, 'waits' | 'holdOf' | 'conditions' | 'reported' | 'isOpening'>
  /** Why objects have no status although the placement asks for it. */
  withheld: Pick<WithheldStatuses, 'of'>
  due: Pick<DueObjects, 'judge' | 'isDue' | 'forgetPlacement'>
  /** Whether a mailbox may be there and is not read yet. */
  isUnread: (mailbox: string) => boolean
  /** Why some of its StatusCollectors do not work. */
  uncollected: (space: string, placement: string) => Reason | undefined
  /** Kinds that it asks of clusters, and that these define otherwise. */
  definitions: (space: string, placement: string) => Reason | 'unknown' | undefined
  clock: Clock
  /** Events about what authors have to act on. */
  events: Pick<TroubleEvents, 'report' | 'forget'>
  outages: Pick<OutageEvents, 'report' | 'forget'>
  tasks: Pick<Tasks, 'report'>
}

/** News of content waits so long for a report that is due anyway. */
const UNREPORTED_MS = 250

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
    const stages = await placementStages(this.#deps, { space, name, ways }, typeof hold === 'object' ? hold.copies : 0)
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
