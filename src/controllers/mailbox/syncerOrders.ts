/** Orders of a SyncTarget for its syncer, the answers in its mailbox, and the conditions that report both. Pure. */
import { type Condition, conditionOf } from '../../apimachinery/conditions.ts'
import { at, record } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { isUpsyncFull } from '../../placement/desks/syncerConfig.ts'
import { LEAVE_ANNOTATION, PAUSED_ANNOTATION, UPSYNC_FULL } from '../../placement/words/placement.ts'
import { isLeaving, policyOf } from './leaving.ts'
import type { Speech } from './syncerConnections.ts'

export interface ConfigFact {
  readonly orders: Orders
  /** Answers of the syncer to them, as text for comparison. */
  readonly answers: string
}

/** Annotations of the SyncerConfig; `null` where there is none. */
export type Orders = Readonly<Record<typeof LEAVE_ANNOTATION | typeof PAUSED_ANNOTATION, string | null>>

export const ALIVE = 'SyncerAlive'
export const UNSUPPORTED = 'SyncerUnsupported'

export function readyCondition(alive: boolean, speech: Speech | undefined): Condition {
  const type = 'Ready'
  if (speech !== undefined && 'turnedAway' in speech)
    return { type, status: 'False', reason: UNSUPPORTED, message: 'the syncer was turned away; see SyncerSupported' }
  return alive
    ? { type, status: 'True', reason: ALIVE, message: 'the syncer reports' }
    : { type, status: 'False', reason: 'SyncerSilent', message: 'the syncer has been silent for a while' }
}

/** Whether this center works with the release of the syncer. */
export function supportedCondition(speech: Speech): Condition {
  const type = 'SyncerSupported'
  if ('turnedAway' in speech) return { type, status: 'False', reason: UNSUPPORTED, message: speech.turnedAway }
  const { protocol } = speech
  return { type, status: 'True', reason: 'Supported', message: `it speaks protocol ${protocol}, as this center does` }
}

export function isReady(target: KubeObject): boolean {
  return conditionOf(target, 'Ready')?.status === 'True'
}

/** Orders of a SyncTarget to its syncer. */
export function ordersFor(target: KubeObject): Orders {
  const { annotations } = target.metadata
  return {
    [LEAVE_ANNOTATION]: isLeaving(target) ? policyOf(target) : null,
    [PAUSED_ANNOTATION]: annotations?.[PAUSED_ANNOTATION] === 'true' ? 'true' : null,
  }
}

export function configFact(config: KubeObject): ConfigFact {
  const { status } = config
  const { annotations } = config.metadata
  const { paused, leaving } = record(status)
  return {
    orders: {
      [LEAVE_ANNOTATION]: annotations?.[LEAVE_ANNOTATION] ?? null,
      [PAUSED_ANNOTATION]: annotations?.[PAUSED_ANNOTATION] ?? null,
    },
    answers: JSON.stringify({ paused, leaving, ...(isUpsyncFull(config) && { full: true }) }),
  }
}

/** How much is held back changes with every try; the SyncerConfig has the number. */
export function carriedCondition(answers: unknown): Condition {
  const type = 'UpsyncComplete'
  if (at(answers, 'full') !== true) return { type, status: 'True', reason: 'WithinBudget', message: '' }
  const message =
    "its mailbox holds as much as may be carried up there: let less be selected by upsync, delete some in the cluster, or have the budget raised in the mailbox's Workspace"
  return { type, status: 'False', reason: UPSYNC_FULL, message }
}

export function pausedCondition(target: KubeObject, answers: unknown, alive: boolean): Condition {
  const type = 'Paused'
  const holds = at(answers, 'paused') === true
  if (ordersFor(target)[PAUSED_ANNOTATION] === null) {
    return holds && alive
      ? { type, status: 'True', reason: 'WaitingForSyncer', message: 'the syncer has not yet begun to carry again' }
      : { type, status: 'False', reason: 'NotPaused', message: 'the syncer carries' }
  }
  if (!holds) {
    const message = 'the syncer has not yet confirmed the pause: it may still write to the cluster'
    return { type, status: 'True', reason: alive ? 'WaitingForSyncer' : 'SyncerSilent', message }
  }
  const message = 'nothing is applied to the cluster and nothing deleted from it; its mailbox is kept up to date'
  return { type, status: 'True', reason: 'SyncerPaused', message }
}
