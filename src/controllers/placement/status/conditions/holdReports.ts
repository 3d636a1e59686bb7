/**
 * Reports of what holds a placement, beside its outcome: conditions `DeletionHeld` and `IntakeWaits`, each with an Event when it begins,
 * `Paused` and `RestoreUnsettled`. The condition `RolledOut` has an Event when it turns.
 */

import { type Condition, conditionOf } from '../../../../apimachinery/conditions.ts'
import { groupResourceName, type KubeObject } from '../../../../apimachinery/object.ts'
import { someOf } from '../../../../apimachinery/someOf.ts'
import type { CrowdLog } from '../../../../client/crowdLog.ts'
import { ROLLED_OUT, type RolloutReport } from '../../../../placement/rollout/rolloutStates.ts'
import { parseObjectKey } from '../../../../placement/words/names.ts'
import { CONFIRM_DELETION_ANNOTATION, PAUSED_ANNOTATION } from '../../../../placement/words/placement.ts'
import type { EventRecorder } from '../../../eventRecorder.ts'
import type { Inventory } from '../../inventory/inventory.ts'
import type { PlacementJoin } from '../../join/placementJoin.ts'
import type { WaitingIntakes } from '../../join/waitingIntakes.ts'
import type { Brake } from '../../retention/brake.ts'
import { DELETION_HELD, type HeldRemovals } from '../../retention/brakeLedger.ts'
import type { Pauses } from '../../retention/pauses.ts'
import type { RestoreReports } from './restoreReports.ts'
import { rolloutCondition, rolloutEvent } from './rolloutCondition.ts'

export interface HoldReportsDeps {
  brake: Pick<Brake, 'holdOf'>
  join: Pick<PlacementJoin, 'spec' | 'waysOf' | 'workload'>
  pauses: Pick<Pauses, 'locationOf'>
  intakes: Pick<WaitingIntakes, 'messageFor'>
  restore: Pick<RestoreReports, 'condition'>
  /** How far the newest rollout of a placement is; `undefined`: nothing of it is staged. */
  rollout: (space: string, placement: string) => RolloutReport | undefined
  inventory: Pick<Inventory, 'clusterName'>
  events: Pick<EventRecorder, 'record'>
  log: Pick<CrowdLog, 'log'>
}

/** `undefined`: nothing is held. */
export type KnownHold = HeldRemovals | undefined | 'unknown'

/** The condition of a placement that waits for an intake. */
export const INTAKE_WAITS = 'IntakeWaits'
/** Reasons of the Events with which conditions begin. */
const EVENTS: Readonly<Record<string, string | undefined>> = {
  [DELETION_HELD]: DELETION_HELD,
  [INTAKE_WAITS]: 'SetAside',
}
const BEGINS = [
  'warn',
  true,
  'deletions are held until somebody confirms them, by the annotation that the condition names',
] as const
const ENDS = ['info', false, 'deletions are held no more'] as const
const OTHER_HASH = 'The hash that is confirmed on it now is not that of these copies. '
/** Paused Locations that a message names. */
const NAMED = 5

export class HoldReports {
  readonly #deps: HoldReportsDeps

  constructor(deps: HoldReportsDeps) {
    this.#deps = deps
  }

  /** Whether an intake of the placement waits, which is reported though not all of it is known. */
  waits(space: string, name: string): boolean {
    return this.#deps.intakes.messageFor(space, name) !== undefined
  }

  holdOf(space: string, name: string): KnownHold {
    return this.#deps.brake.holdOf(space, name)
  }

  /**
   * Conditions of a placement; none of a type that never was `True`.
   * @param isKnown whether all is known that the placement selects and where it leads
   */
  conditions(space: string, placement: KubeObject, hold: KnownHold, isKnown: boolean): Condition[] {
    const { name = '' } = placement.metadata
    const held = hold === 'unknown' ? [] : [heldCondition(hold, placement, this.#deps.inventory)]
    const mailboxes = this.#deps.join.waysOf(space, name)?.keys() ?? []
    const known = isKnown ? [this.#pausedCondition(space, name), this.#deps.restore.condition(mailboxes)] : []
    const waits = setAsideCondition(this.#deps.intakes.messageFor(space, name))
    const holds = [...held, ...known, waits].filter(
      ({ type, status }) => status === 'True' || conditionOf(placement, type),
    )
    const rolledOut = isKnown ? this.#rolledOut(space, placement) : undefined
    return rolledOut ? [...holds, rolledOut] : holds
  }

  /** Whether a start still looks for edits of before. */
  isOpening(space: string, name: string): boolean {
    return this.#deps.rollout(space, name)?.isDirty === 'unknown'
  }

  #rolledOut(space: string, placement: KubeObject): Condition | undefined {
    const rollout = this.#deps.rollout(space, placement.metadata.name ?? '')
    return rollout || conditionOf(placement, ROLLED_OUT) ? rolloutCondition(placement, rollout) : undefined
  }

  /** Records an Event and logs where a condition turned. Call it after the write. @param before the placement before the write */
  async reported(space: string, before: KubeObject, conditions: readonly Condition[]): Promise<void> {
    const { events, log } = this.#deps
    for (const condition of conditions) {
      const { type, status, reason, message } = condition
      const turn = type === ROLLED_OUT ? rolloutEvent(before, condition) : undefined
      if (turn) await events.record(space, before, turn)
      const event = EVENTS[type]
      if (event === undefined || (conditionOf(before, type)?.status === 'True') === (status === 'True')) continue
      if (status === 'True') {
        await events.record(space, before, {
          reason: event,
          message: `${reason}: ${message}`,
          isNewest: true,
          room: 'holds',
        })
      }
      if (type !== DELETION_HELD) continue
      const [level, held, text] = status === 'True' ? BEGINS : ENDS
      log.log(level, { space, edgePlacement: before.metadata.name, ...(held && { held: message }) }, text)
    }
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
      ...(locations.size > 0 ? [`what is at Location ${someOf([...locations].sort(), NAMED)}`] : []),
    ]
    if (parts.length === 0) return { type, status: 'False', reason: 'NotPaused', message: '' }
    const message = `nothing is changed or deleted of ${parts.join(', and ')}`
    return { type, status: 'True', reason: 'PartlyPaused', message }
  }
}

function heldCondition(
  hold: HeldRemovals | undefined,
  { metadata: { name, annotations = {} } }: KubeObject,
  inventory: Pick<Inventory, 'clusterName'>,
): Condition {
  if (!hold) return { type: DELETION_HELD, status: 'False', reason: 'NothingHeld', message: '' }
  const examples = hold.examples.map(({ mailbox, key }) => {
    const object = parseObjectKey(key)
    return `${groupResourceName(object)} "${object.namespace ? `${object.namespace}/` : ''}${object.name}" at ${inventory.clusterName(mailbox)}`
  })
  const more = hold.copies > examples.length ? ', …' : ''
  const confirmed = annotations[CONFIRM_DELETION_ANNOTATION]
  const isStale = confirmed !== undefined && confirmed !== hold.hash
  const message =
    `${hold.copies} ${hold.copies === 1 ? 'copy' : 'copies'} in ${hold.clusters} ${hold.clusters === 1 ? 'cluster' : 'clusters'} ` +
    `${hold.copies === 1 ? 'is' : 'are'} not placed there any more, and none of them was deleted by name; ` +
    `they stay: ${examples.join(', ')}${more}. ${isStale ? OTHER_HASH : ''}Undo what took them away, or confirm that they go: ` +
    `kubectl annotate --overwrite edgeplacement ${name} ${CONFIRM_DELETION_ANNOTATION}=${hold.hash}`
  return { type: DELETION_HELD, status: 'True', reason: 'TooMuchAtOnce', message, lastTransitionTime: hold.since }
}

function setAsideCondition(message: string | undefined): Condition {
  return message === undefined
    ? { type: INTAKE_WAITS, status: 'False', reason: 'NothingWaits', message: '' }
    : { type: INTAKE_WAITS, status: 'True', reason: 'SetAside', message }
}
