/**
 * Reports of what holds a placement, beside its outcome: conditions `DeletionHeld` and `IntakeWaits`, each with an Event when it begins,
 * and `Paused`. At most one report a second, and only where it differs from the EdgePlacement.
 */

import { type Condition, conditionsOf, mergeConditions } from '../../../apimachinery/conditions.ts'
import { groupResourceName, isRecord, type KubeObject } from '../../../apimachinery/object.ts'
import { timestamp } from '../../../apimachinery/timestamp.ts'
import type { Client } from '../../../client/client.ts'
import type { Clock } from '../../../client/clock.ts'
import type { CrowdLog } from '../../../client/crowdLog.ts'
import { unlessGone } from '../../../client/unlessGone.ts'
import type { ReconcileResult } from '../../../client/workqueue.ts'
import { FIELD_MANAGER, parseObjectKey } from '../../../placement/words/names.ts'
import { CONFIRM_DELETION_ANNOTATION, EDGE_PLACEMENTS, PAUSED_ANNOTATION } from '../../../placement/words/placement.ts'
import type { EventRecorder } from '../../eventRecorder.ts'
import type { PlacementJoin } from '../join/placementJoin.ts'
import type { Brake } from '../retention/brake.ts'
import { DELETION_HELD, type Hold } from '../retention/brakeLedger.ts'
import type { Pauses } from '../retention/pauses.ts'
import type { WaitingIntakes } from './waitingIntakes.ts'

export interface HoldReportsDeps {
  client: Client
  brake: Pick<Brake, 'holdOf'>
  join: Pick<PlacementJoin, 'spec' | 'waysOf' | 'workload'>
  pauses: Pick<Pauses, 'locationOf'>
  intakes: Pick<WaitingIntakes, 'messageFor'>
  /** What people call the cluster of a mailbox. */
  clusterOf: (mailbox: string) => string
  events: Pick<EventRecorder, 'record'>
  clock: Clock
  log: Pick<CrowdLog, 'tell'>
}

/** The condition of a placement that waits for an intake. */
export const INTAKE_WAITS = 'IntakeWaits'
/** Reasons of the Events with which conditions begin. */
const EVENTS: Readonly<Record<string, string | undefined>> = {
  [DELETION_HELD]: DELETION_HELD,
  [INTAKE_WAITS]: 'SetAside',
}
const INTERVAL_MS = 1000
const BEGINS = [
  'warn',
  true,
  'deletions are held until somebody confirms them, by the annotation that the condition names',
] as const
const ENDS = ['info', false, 'deletions are held no more'] as const
const OTHER_HASH = 'The hash that is confirmed on it now is not that of these copies. '
/** Of the Locations that are paused. */
const NAMED = 5

export class HoldReports {
  readonly #deps: HoldReportsDeps
  /** When a placement was last told, for those of the last second. */
  readonly #toldAt = new Map<string, number>()

  constructor(deps: HoldReportsDeps) {
    this.#deps = deps
  }

  forget(space: string, name: string): void {
    this.#toldAt.delete(`${space} ${name}`)
  }

  /** Whether it has something to report though not all of it is known. */
  waits(space: string, name: string): boolean {
    return this.#deps.intakes.messageFor(space, name) !== undefined
  }

  /** @param isKnown whether all is known that the placement selects and where it leads */
  async reconcile(space: string, name: string, isKnown = true): Promise<ReconcileResult> {
    const { client, clock, brake } = this.#deps
    const id = `${space} ${name}`
    const waitMs = (this.#toldAt.get(id) ?? Number.NEGATIVE_INFINITY) + INTERVAL_MS - clock.now()
    if (waitMs > 0) return { requeueAfterMs: waitMs }
    const placement = await unlessGone(client.in(space).get(EDGE_PLACEMENTS, { name }))
    if (!placement || placement.metadata.deletionTimestamp !== undefined) {
      this.#toldAt.delete(id)
      return {}
    }
    const before = conditionsOf(placement)
    const hold = isKnown ? brake.holdOf(space, name) : 'unknown'
    const told = hold === 'unknown' ? [] : [heldCondition(hold, placement, this.#deps.clusterOf)]
    if (isKnown) told.push(this.#pausedCondition(space, name))
    told.push(setAsideCondition(this.#deps.intakes.messageFor(space, name)))
    // what never was needs no word
    const news = told.filter(
      condition => condition.status === 'True' || before.some(({ type }) => type === condition.type),
    )
    const { resourceVersion = '', generation: observedGeneration = 0 } = placement.metadata
    const stated = news.map(condition => ({ ...condition, observedGeneration }))
    const { conditions, isChanged } = mergeConditions(before, stated, timestamp(new Date(clock.now())))
    if (!isChanged) return {}
    this.#toldAt.set(id, clock.now())
    // the number and the condition agree in each version; before the first report there is none
    const hasCounts = isRecord(placement.status) && isRecord(placement.status.counts)
    const counts = hasCounts && hold !== 'unknown' && { counts: { deletionHeld: hold?.copies ?? 0 } }
    const body = { metadata: { resourceVersion }, status: { conditions, ...counts } }
    const options = { subresource: 'status', fieldManager: FIELD_MANAGER } as const
    await client.in(space).patch(EDGE_PLACEMENTS, { name }, 'merge', body, options)
    const was = (type: string) => before.some(other => other.type === type && other.status === 'True')
    for (const condition of news) {
      const { type, status, message } = condition
      const reason = EVENTS[type]
      if (reason === undefined || was(type) === (status === 'True')) continue
      if (status === 'True') {
        const event = { reason, message: `${condition.reason}: ${message}`, isNewest: true }
        await this.#deps.events.record(space, placement, event)
      }
      if (type !== DELETION_HELD) continue
      const [level, held, text] = status === 'True' ? BEGINS : ENDS
      this.#deps.log.tell(level, { space, edgePlacement: name, ...(held && { held: message }) }, text)
    }
    return {}
  }

  #pausedCondition(space: string, name: string): Condition {
    const { join, pauses } = this.#deps
    const type = 'Paused'
    if (join.spec(space, name)?.isPaused) {
      const message = 'nothing of it is changed or deleted in the clusters, until spec.paused is taken away'
      return { type, status: 'True', reason: 'PlacementPaused', message }
    }
    const objects = join.workload(space).pausedIn(name)
    const locations = new Set<string>()
    for (const mailbox of join.waysOf(space, name)?.keys() ?? []) {
      const location = pauses.locationOf(mailbox)
      if (location !== undefined) locations.add(location)
    }
    const parts = [
      ...(objects > 0 ? [`${objects} of its objects (annotation ${PAUSED_ANNOTATION})`] : []),
      ...(locations.size > 0 ? [`what is at Location ${[...locations].sort().slice(0, NAMED).join(', ')}`] : []),
    ]
    if (parts.length === 0) return { type, status: 'False', reason: 'NotPaused', message: '' }
    const rest = locations.size > NAMED ? ` and ${locations.size - NAMED} more` : ''
    return {
      type,
      status: 'True',
      reason: 'PartlyPaused',
      message: `nothing is changed or deleted of ${parts.join(', and ')}${rest}`,
    }
  }
}

function heldCondition(
  hold: Hold | undefined,
  { metadata: { name, annotations = {} } }: KubeObject,
  clusterOf: (mailbox: string) => string,
): Condition {
  if (!hold) return { type: DELETION_HELD, status: 'False', reason: 'NothingHeld', message: '' }
  const examples = hold.examples.map(({ mailbox, key }) => {
    const object = parseObjectKey(key)
    return `${groupResourceName(object)} "${object.namespace ? `${object.namespace}/` : ''}${object.name}" at ${clusterOf(mailbox)}`
  })
  const more = hold.copies > examples.length ? ', …' : ''
  const confirmed = annotations[CONFIRM_DELETION_ANNOTATION]
  const isStale = confirmed !== undefined && confirmed !== hold.hash
  const message =
    `${hold.copies} copies in ${hold.clusters} ${hold.clusters === 1 ? 'cluster' : 'clusters'} are not placed there any more, and none of them was deleted by name; ` +
    `they stay: ${examples.join(', ')}${more}. ${isStale ? OTHER_HASH : ''}Undo what took them away, or confirm that they go: ` +
    `kubectl annotate --overwrite edgeplacement ${name} ${CONFIRM_DELETION_ANNOTATION}=${hold.hash}`
  return { type: DELETION_HELD, status: 'True', reason: 'TooMuchAtOnce', message, lastTransitionTime: hold.since }
}

function setAsideCondition(message: string | undefined): Condition {
  return message === undefined
    ? { type: INTAKE_WAITS, status: 'False', reason: 'NothingWaits', message: '' }
    : { type: INTAKE_WAITS, status: 'True', reason: 'SetAside', message }
}
