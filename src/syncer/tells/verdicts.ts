/** Words for an object that is not in the cluster as in the mailbox, where they are not the cluster's own. */

import { groupResourceName, type KubeObject, type ManagedFieldsEntry } from '../../apimachinery/object.ts'
import { CRDS } from '../../apimachinery/resources.ts'
import { shortLine } from '../../apimachinery/shortened.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import { waveFault, waveOf } from '../../placement/content/wave.ts'
import {
  differenceWords,
  FIELDS_CHANGED,
  FIELDS_DROPPED,
  type LiveField,
} from '../../placement/outcome/fieldDifference.ts'
import { type HealthVerdict, healthOf } from '../../placement/outcome/health.ts'
import { MAX_MESSAGE, STATUS_TOO_LARGE } from '../../placement/outcome/outcome.ts'
import { isStatusTooLarge, STATUS_LIMIT_BYTES } from '../../placement/outcome/statusLimit.ts'
import { ADOPT } from '../../placement/words/placement.ts'
import type { Refusal } from '../mailbox/clusterAllowance.ts'
import { nameOf, type SyncKey } from '../mailbox/mirror.ts'
import { type AlteredFields, alteredFields } from '../objects/alteredFields.ts'
import { SYNCER_MANAGER } from '../objects/marks.ts'
import type { Trouble } from './outcomes.ts'

export const ALREADY_IN_CLUSTER: Refusal = {
  reason: 'AlreadyInCluster',
  message:
    `was in the cluster before, and no syncer made it; annotate its source with ${ADOPT}: "true" to take it over, ` +
    'or ask who administers the inventory for a PlacementGrant with spec.adoptExisting (or for a syncer with --adopt-existing)',
}

export const NO_OWNER: Refusal = {
  reason: 'NoOwner',
  message: 'does not tell the space that owns it, in whose name it would be applied (--impersonate)',
}

/** The outcome of a look at an object. `live`: the cluster's object now, where that is known. */
export type Outcome = ReconcileResult & {
  refusal?: Refusal
  trouble?: Trouble
  live?: Readonly<KubeObject>
  /** Fields that `live` does not hold as they were sent. */
  altered?: AlteredFields | undefined
  /** Fields that are left to the cluster. */
  liveFields?: readonly LiveField[] | undefined
  /** `live` is the cluster's own, and stays so. */
  isKept?: boolean
}

export const HELD: Trouble = {
  state: 'held',
  reason: 'Paused',
  message: 'nothing is written to the cluster while its SyncTarget is paused',
}
export const NOT_REQUESTED: Trouble = {
  state: 'waiting',
  reason: 'NotAsked',
  message: 'no SyncerConfig of the mailbox asks for it yet',
}
export const UNSERVED: Trouble = {
  state: 'unserved',
  reason: 'KindNotServed',
  message: 'the cluster does not serve this kind',
}
export const GOING: Trouble = {
  state: 'terminating',
  reason: 'Terminating',
  message: 'what the cluster holds is being deleted, and is made anew then',
}
/** Trouble of an object under deletion in the cluster: the same, or that it is unwanted there, with the reason of its wait. */
export function goingAway(live: Readonly<KubeObject>, why = 'it is deleted from the cluster'): Trouble {
  const { deletionTimestamp = '', finalizers = [] } = live.metadata
  const waits = finalizers.length > 0 ? `; it waits for finalizers ${finalizers.join(', ')}` : ''
  return { ...GOING, message: `${why} since ${deletionTimestamp}${waits}` }
}
/** Trouble of a finished object that is not in the cluster any more. @param end how */
export function finished({ health, message }: HealthVerdict): Trouble {
  const how = message === '' ? '' : `: ${message}`
  return {
    state: 'finished',
    reason: health === 'Degraded' ? 'Failed' : 'Succeeded',
    message: `it has run to its end there, and the cluster holds it no more${how}; it runs again when its spec changes`,
    health: { health, message: shortLine(message, MAX_MESSAGE) },
  }
}
/** A quarrel about fields that somebody in the cluster changes again and again. `sent` and `live`: the object as it was sent, and as it is there. */
export function fought(key: SyncKey, sent: Readonly<KubeObject>, live: Readonly<KubeObject>): Trouble {
  const altered = alteredFields(key, sent, live)
  const rest = `${lastManagerOf(live)} keeps changing it, and the syncer restores it ever more slowly. To leave a field to the cluster, name it in spec.ignoreDifferences of the EdgePlacement`
  const room = MAX_MESSAGE - rest.length - 2
  const words = altered ? `${differenceWords(altered.differences, altered.count, room)}: ` : ''
  return { state: 'drifted', reason: 'Fought', message: words + rest }
}

const MAX_MANAGER = 100

/** The field manager that wrote the object last, beside the syncer; clusters before 1.18 note none. */
function lastManagerOf({ metadata: { managedFields = [] } }: Readonly<KubeObject>): string {
  let last: ManagedFieldsEntry | undefined
  for (const entry of managedFields) {
    if (entry.manager === SYNCER_MANAGER || entry.subresource) continue
    if ((entry.time ?? '') >= (last?.time ?? '')) last = entry
  }
  return last?.manager ? `field manager "${shortLine(last.manager, MAX_MANAGER)}"` : 'somebody in the cluster'
}

/** Trouble of the syncer itself, reported on its own config. */
export const STATE_NOT_KEPT: Trouble = {
  state: 'retrying',
  reason: 'StateNotKept',
  message: 'what the syncer knows is not in its state dir, which takes nothing now; its log says why',
}

const STATUS_STAYS: Trouble = {
  state: 'applied',
  reason: STATUS_TOO_LARGE,
  message: `its status in the cluster is larger than ${STATUS_LIMIT_BYTES} bytes of JSON and stays there, so how it is is not known`,
}

/** Standing of the cluster's `object`: facts beside the status that comes back. */
export function standingOf(key: SyncKey, object: Readonly<KubeObject>, outcome: Outcome): Trouble | undefined {
  const stands = standing(key, outcome)
  const { liveFields } = outcome
  const trouble = liveFields ? { ...(stands ?? PLAIN), liveFields } : stands
  if (outcome.live === undefined || trouble?.state === 'altered') return trouble
  const health = otherHealth(key, object, outcome.live)
  return health ? { ...(trouble ?? PLAIN), health } : trouble
}

/** All is as it was sent. */
export const PLAIN: Trouble = { state: 'applied', reason: 'Applied', message: '' }

/** How it is, where the center, which knows its own spec and the cluster's status, would take it for something else. */
function otherHealth(
  key: SyncKey,
  object: Readonly<KubeObject>,
  live: Readonly<KubeObject>,
): HealthVerdict | undefined {
  const { generation } = live.metadata
  const metadata = { ...object.metadata, ...(generation !== undefined && { generation }) }
  const seen = healthOf(key, { ...object, metadata, status: live.status })
  const held = healthOf(key, live)
  return equalJson(seen, held) ? undefined : { ...held, message: shortLine(held.message, MAX_MESSAGE) }
}

function standing(key: SyncKey, { live, altered, isKept = false }: Outcome): Trouble | undefined {
  if (live === undefined) return undefined
  const unreported = unreportedOf(key, live)
  if (altered === undefined) return unreported
  const { count } = altered
  const differences = isKept ? altered.differences.map(one => ({ ...one, decisive: false })) : altered.differences
  const [{ change, decisive } = {}] = differences
  // another thing to be known of what is there goes first
  if (!decisive && unreported) return unreported
  const reason = change === 'Dropped' ? FIELDS_DROPPED : FIELDS_CHANGED
  const own = isKept ? 'it keeps its own definition: ' : ''
  const altering = {
    reason,
    message: `${own}${differenceWords(differences, count, MAX_MESSAGE - own.length)}`,
    differences,
  }
  if (!decisive) return { state: 'applied', ...altering }
  const { health, message } = healthOf(key, live)
  return { state: 'altered', ...altering, health: { health, message: shortLine(message, MAX_MESSAGE) } }
}

/** Facts about the cluster's object that its returned status does not carry. */
function unreportedOf(key: SyncKey, live: Readonly<KubeObject>): Trouble | undefined {
  if (groupResourceName(key) !== groupResourceName(CRDS)) return isStatusTooLarge(live) ? STATUS_STAYS : undefined
  // the mailbox's own status of it is about the mailbox
  const { health, message } = healthOf(CRDS, live)
  if (health === 'Degraded') return { state: 'refused', reason: 'NamesNotAccepted', message }
  return health === 'Progressing' ? { state: 'waiting', reason: DEFINITION_NOT_ESTABLISHED, message } : undefined
}

export const DEFINITION_NOT_ESTABLISHED = 'DefinitionNotEstablished'

/** It waits for another object of its space, of an earlier wave. */
export function earlierWave({ wave, blocked, key, why }: EarlierWave): Trouble {
  const message = `wave ${wave} waits for ${nameOf(key)} of wave ${blocked}: ${why}`
  return { state: 'waiting', reason: 'EarlierWave', message }
}
interface EarlierWave {
  readonly wave: number
  readonly blocked: number
  readonly key: SyncKey
  readonly why: string
}

/** Refusal of an object in the mailbox with a malformed wave. The cluster's object stays as it is. */
export function waveRefusal(object: Readonly<KubeObject>): Refusal | undefined {
  return waveOf(object) === undefined
    ? { reason: 'InvalidWave', message: `is not applied: ${waveFault(object)}` }
    : undefined
}
