/**
 * SyncTargets and Locations as they are now. The index keeps facts, and its readers judge them.
 *
 * A deletion names no uid, so a SyncTarget is kept by its name, too. One that is made again under its name has another mailbox.
 * A SyncTarget that is missing before the first snapshot is whole may still come: readers wait for the snapshot.
 */

import { conditionOf } from '../../../apimachinery/conditions.ts'
import { at, record, str } from '../../../apimachinery/fields.ts'
import { MapOfMaps } from '../../../apimachinery/nestedMaps.ts'
import type { KubeObject } from '../../../apimachinery/object.ts'
import {
  MAILBOX_NAME,
  RELEASE_OWNER_ANNOTATION,
  SYNC_TARGET_NAME_ANNOTATION,
} from '../../../placement/words/placement.ts'
import { mailboxOf, readySpaceOf } from '../../../placement/words/topology.ts'
import { hasLeft, isLeaving } from '../../mailbox/leaving.ts'
import type { SpacePlaces } from '../../placedSource.ts'

export type Labels = Readonly<Record<string, string>>

export interface ObjectId {
  readonly space: string
  readonly name: string
}

export interface Target extends ObjectId {
  readonly mailbox: string
  readonly uid: string
  readonly labels: Labels
  readonly available: boolean
  /** RFC 3339: the last word of the cluster, which is silent now, or which its syncer does not reach. */
  readonly silentSince: string | undefined
  readonly unschedulable: boolean
  /** From when on nothing is placed there; never: infinite. */
  readonly evictAtMs: number
  /** RFC 3339: the restore of the center since which its syncer has compared the cluster. */
  readonly sinceRestore: string | undefined
  /** Whether the cluster keeps objects that the center does not know. */
  readonly holdsDeletions: boolean
  /** Ids or paths of the spaces that give way in the mailbox. */
  readonly releases: readonly string[]
  /** Under deletion: `waits` for its syncer to leave; `left`: that syncer has left; `goes`: it waits for no syncer. */
  readonly state: 'stays' | 'waits' | 'left' | 'goes'
}

export interface TargetChange {
  readonly space: string
  readonly mailbox: string
  readonly before: Target | undefined
  readonly after: Target | undefined
}

export interface LocationChange extends ObjectId {
  readonly before: KubeObject | undefined
  readonly after: KubeObject | undefined
}

/** The Workspace of a mailbox. */
export interface MailboxFact {
  readonly uid: string
  /** Logical-cluster id once it is ready, else `''`. */
  readonly space: string
  readonly terminating: boolean
  /** The annotation; `undefined` on Workspaces that we did not make. */
  readonly syncTargetName: string | undefined
}

export interface MailboxChange {
  readonly name: string
  readonly before: MailboxFact | undefined
  readonly after: MailboxFact | undefined
}

const NO_LABELS: Labels = {}
const NO_RELEASES: readonly string[] = []

export class Inventory {
  readonly #places: Pick<SpacePlaces, 'isDeleting' | 'pathOf'>
  readonly #targets = new MapOfMaps<Target>()
  readonly #byMailbox = new Map<string, Target>()
  readonly #locations = new MapOfMaps<KubeObject>()
  readonly #mailboxes = new Map<string, MailboxFact>()
  /** Names of mailboxes by logical-cluster id. */
  readonly #mailboxAt = new Map<string, string>()

  constructor(places: Pick<SpacePlaces, 'isDeleting' | 'pathOf'>) {
    this.#places = places
  }

  /** @returns the change of each mailbox concerned: two when the SyncTarget was made again under its name */
  setTarget(id: ObjectId, object: KubeObject | undefined): TargetChange[] {
    const { space, name } = id
    const before = this.#targets.get(space, name)
    const after = object && targetOf(id, object)
    this.#targets.set(space, name, after)
    if (before) this.#byMailbox.delete(before.mailbox)
    if (after) this.#byMailbox.set(after.mailbox, after)
    if (before && before.mailbox === after?.mailbox) return [{ space, mailbox: before.mailbox, before, after }]
    const changes: TargetChange[] = []
    if (before) changes.push({ space, mailbox: before.mailbox, before, after: undefined })
    if (after) changes.push({ space, mailbox: after.mailbox, before: undefined, after })
    return changes
  }

  setLocation({ space, name }: ObjectId, object: KubeObject | undefined): LocationChange {
    const before = this.location(space, name)
    this.#locations.set(space, name, object)
    return { space, name, before, after: object }
  }

  /** `undefined`: the Workspace is none of a mailbox. */
  setMailbox(name: string, object: KubeObject | undefined): MailboxChange | undefined {
    if (!MAILBOX_NAME.test(name)) return undefined
    const before = this.#mailboxes.get(name)
    const after = object && mailboxFact(object)
    if (before?.space) this.#mailboxAt.delete(before.space)
    if (after?.space) this.#mailboxAt.set(after.space, name)
    if (after) this.#mailboxes.set(name, after)
    else this.#mailboxes.delete(name)
    return { name, before, after }
  }

  mailbox(name: string): MailboxFact | undefined {
    return this.#mailboxes.get(name)
  }

  /** Name of the mailbox that a space is. */
  mailboxAt(space: string): string | undefined {
    return this.#mailboxAt.get(space)
  }

  target(mailbox: string): Target | undefined {
    return this.#byMailbox.get(mailbox)
  }

  /** The SyncTargets of an inventory. */
  targetsOf(space: string): Iterable<Target> {
    return this.#targets.of(space).values()
  }

  locationsOf(space: string): Iterable<KubeObject> {
    return this.#locations.of(space).values()
  }

  location(space: string, name: string): KubeObject | undefined {
    return this.#locations.get(space, name)
  }

  /** The name that people know the cluster of a mailbox by. */
  clusterName(mailbox: string): string {
    return this.target(mailbox)?.name ?? mailbox
  }

  /**
   * Whether the SyncTarget of a mailbox is being deleted or gone, alone or with its whole inventory. The mailbox stays as it is
   * until it goes: only its syncer acts on its content, and a placement that leaves it takes nothing away.
   */
  isLeaving(mailbox: string): boolean {
    const target = this.target(mailbox)
    if (target?.state !== 'stays') return true
    return this.#places.isDeleting(target.space) || this.#places.pathOf(target.space) === undefined
  }

  /** Whether the administrator of the inventory empties the mailbox: the time in `spec.evictAfter` has come. */
  isEvicted(mailbox: string, nowMs: number): boolean {
    return (this.target(mailbox)?.evictAtMs ?? Number.POSITIVE_INFINITY) <= nowMs
  }
}

export function labelsOf(object: KubeObject | undefined): Labels | undefined {
  return object && (object.metadata.labels ?? NO_LABELS)
}

function targetOf({ space, name }: ObjectId, object: KubeObject): Target {
  const { metadata, spec } = object
  const { unschedulable, evictAfter } = record(spec)
  const evictAtMs = typeof evictAfter === 'string' ? Date.parse(evictAfter) : Number.NaN
  return {
    space,
    name,
    mailbox: mailboxOf({ space, object }),
    uid: metadata.uid ?? '',
    labels: metadata.labels ?? NO_LABELS,
    available: isAvailable(object),
    silentSince: silentSinceOf(object),
    unschedulable: unschedulable === true,
    evictAtMs: Number.isNaN(evictAtMs) ? Number.POSITIVE_INFINITY : evictAtMs,
    sinceRestore: str(object.status, 'outcome', 'sinceRestore') || undefined,
    holdsDeletions: at(object.status, 'outcome', 'heldDeletions') !== undefined,
    releases: releasesIn(metadata.annotations?.[RELEASE_OWNER_ANNOTATION]),
    state: stateOf(object),
  }
}

function mailboxFact(workspace: KubeObject): MailboxFact {
  const { uid = '', deletionTimestamp, annotations } = workspace.metadata
  return {
    uid,
    space: readySpaceOf(workspace),
    terminating: deletionTimestamp !== undefined,
    syncTargetName: annotations?.[SYNC_TARGET_NAME_ANNOTATION],
  }
}

function stateOf(target: KubeObject): Target['state'] {
  if (target.metadata.deletionTimestamp === undefined) return 'stays'
  if (!isLeaving(target)) return 'goes'
  return hasLeft(target) ? 'left' : 'waits'
}

function releasesIn(text: string | undefined): readonly string[] {
  return text ? text.split(',').flatMap(part => part.trim() || []) : NO_RELEASES
}

/** The Ready condition decides; before there is one, a heartbeat of a syncer. */
function isAvailable(target: KubeObject): boolean {
  const ready = conditionOf(target, 'Ready')
  return ready ? ready.status === 'True' : typeof at(target.status, 'lastSyncerHeartbeatTime') === 'string'
}

/** A cluster without any word has reported nothing. One that its syncer does not reach is silent, though its syncer is not. */
function silentSinceOf(target: KubeObject): string | undefined {
  const unreachableSince = at(target.status, 'outcome', 'unreachableSince')
  if (typeof unreachableSince === 'string') return unreachableSince
  const heartbeat = at(target.status, 'lastSyncerHeartbeatTime')
  return typeof heartbeat === 'string' && conditionOf(target, 'Ready')?.status === 'False' ? heartbeat : undefined
}
