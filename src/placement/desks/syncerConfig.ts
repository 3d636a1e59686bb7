/**
 * Stored part of a mailbox's SyncerConfig `the-one`. Its lists are not stored: readers get them derived from the mailbox (derivedLists.ts
 * of the server). An object that comes or goes so is no change of it, however many there are.
 */

import { at, objects, str, strings } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import { compareFirsts, equalJson } from '../../apimachinery/values.ts'
import type { UpsyncSet } from '../select/placementSpec.ts'
import {
  CARRIES_ANNOTATION,
  CARRIES_PROJECTED,
  EDGE_API_VERSION,
  SYNCER_CONFIG_NAME,
  UPSYNC_FULL,
} from '../words/placement.ts'

interface SyncerConfigSpec {
  readonly namespaceScope: Readonly<Record<string, never>>
  readonly namespacedObjects: readonly []
  readonly clusterScope: readonly []
  readonly upsync: readonly UpsyncSet[]
}

/** Equal upsync sets count once. */
export function syncerConfigSpec(upsync: readonly UpsyncSet[]): SyncerConfigSpec {
  return { namespaceScope: {}, namespacedObjects: [], clusterScope: [], upsync: distinct(upsync) }
}

export function createdSyncerConfig(spec: SyncerConfigSpec): KubeObject {
  return {
    apiVersion: EDGE_API_VERSION,
    kind: 'SyncerConfig',
    metadata: { name: SYNCER_CONFIG_NAME, annotations: { [CARRIES_ANNOTATION]: CARRIES_PROJECTED } },
    spec,
  }
}

/** The body that brings it up to date, status untouched, or `undefined` when it says the same already. */
export function updatedSyncerConfig(spec: SyncerConfigSpec, current: KubeObject): KubeObject | undefined {
  const { annotations } = current.metadata
  if (equalJson(current.spec, spec) && annotations?.[CARRIES_ANNOTATION] === CARRIES_PROJECTED) return undefined
  const metadata = { ...current.metadata, annotations: { ...annotations, [CARRIES_ANNOTATION]: CARRIES_PROJECTED } }
  return { ...current, metadata, spec }
}

function distinct(sets: readonly UpsyncSet[]): UpsyncSet[] {
  const byText = new Map(
    sets.map(set => [JSON.stringify([set.apiGroup, set.resources, set.namespaces, set.names]), set]),
  )
  return [...byText].sort(compareFirsts).map(([, { apiGroup, resources, namespaces, names }]) => ({
    apiGroup,
    resources: [...resources],
    namespaces: [...namespaces],
    names: [...names],
  }))
}

/** Whether the syncer reports that the mailbox has no room for more of what it should carry up. */
export function isUpsyncFull({ status }: KubeObject): boolean {
  return Number(at(status, 'refused', 'reasons', UPSYNC_FULL)) > 0
}

/** Causes why an object that belongs to a placement stays in its cluster, as counts of them are named. */
export type LeftOutCause =
  /** Want of room. */
  | 'leftOut'
  /** Its object has enough newer Events. */
  | 'olderEvents'
  /** The mailbox does not define its kind, or refuses the object. */
  | 'notTaken'
  /** The syncer's flags leave out its namespace. */
  | 'notAllowed'

/** How many objects that belong to a placement are left out, by cause. */
export interface AssociatedReport extends Readonly<Record<LeftOutCause, number>> {
  readonly space: string
  readonly placement: string
}

/** The part of a SyncerConfig's status about associated objects. */
export interface AssociatedStatus {
  readonly leftOut: readonly AssociatedReport[]
  /** Kinds that the syncer may not read. */
  readonly notAllowed: readonly string[]
}

export const NOTHING_LEFT_OUT: AssociatedStatus = { leftOut: [], notAllowed: [] }

export function associatedStatus({ status }: KubeObject): AssociatedStatus {
  return {
    leftOut: objects(status, 'associated', 'leftOut').map(one => ({
      space: str(one.space),
      placement: str(one.placement),
      leftOut: Number(one.leftOut) || 0,
      olderEvents: Number(one.olderEvents) || 0,
      notTaken: Number(one.notTaken) || 0,
      notAllowed: Number(one.notAllowed) || 0,
    })),
    notAllowed: strings(at(status, 'associated', 'notAllowed')),
  }
}
