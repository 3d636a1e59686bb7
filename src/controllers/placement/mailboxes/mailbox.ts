/**
 * One mailbox as it is: an index of its projected objects, other facts about them, and the progress of its stream. {@link Mailboxes} feeds
 * it.
 */
import { MapOfSets } from '../../../apimachinery/nestedMaps.ts'
import type { GroupResource, GroupVersionResource, KubeObject } from '../../../apimachinery/object.ts'
import type { StreamEvent } from '../../../client/client.ts'
import { type AssociatedStatus, NOTHING_LEFT_OUT } from '../../../placement/desks/syncerConfig.ts'
import type { HealthVerdict } from '../../../placement/outcome/health.ts'
import type { UpsyncShare } from '../../../placement/select/upsyncShare.ts'
import { namespaceKey, objectKey } from '../../../placement/words/names.ts'
import { SYNCER_CONFIG_NAME, SYNCER_CONFIGS } from '../../../placement/words/placement.ts'
import { CopyHealth } from './copyHealth.ts'
import type { CopyTimings } from './copyTimings.ts'
import type { CopyLikeness } from './likenesses.ts'
import { NamespacedMap } from './namespacedMap.ts'
import { PendingChanges, type PendingChangesDeps } from './pendingChanges.ts'

/** Facts about each projected object. */
export interface CopyFact {
  readonly resource: GroupVersionResource
  readonly uid: string
  readonly resourceVersion: string
  readonly terminating: boolean
  /** Id of the space whose object it is; `''`: nobody's. */
  readonly owner: string
  /** Whether this version is known to say what we want: then its event is no news. */
  readonly settled: boolean
  /** From a snapshot. */
  readonly likeness?: CopyLikeness | undefined
}

/** Which generation of an owner's object a copy says. */
export interface CopyGenerations {
  readonly owner: string
  readonly uid: string
  /** Generation of the copy; a later one has the same content, or is repaired. */
  readonly generation: number
  /** Generation of the owner's object. */
  readonly source: number
}

/** Facts about each object that the syncer carried up. */
export interface CarriedFact {
  readonly resource: GroupVersionResource
  readonly uid: string
  readonly resourceVersion: string
  /** Requester, as the object says. */
  readonly requestedBy: string
  /** Key of the copy that an associated object belongs to. */
  readonly root: string | undefined
}

/** A definition of a kind. */
export interface Definition {
  readonly kind: GroupResource
  readonly uid: string
  readonly generation: number
  /** The same for definitions that say the same. */
  readonly digest: string
}

/** News of a mailbox, beside its copies. */
export interface MailboxListener {
  configChanged(mailbox: Mailbox): void
  /** Its syncer begins or ceases to leave out some of what it should carry up. */
  upsyncFilled(mailbox: Mailbox): void
  /** An object was carried up, or names another requester. */
  carriedUp(mailbox: Mailbox, key: string): void
  /** The mailbox defines (again) a kind. */
  served(mailbox: Mailbox, resource: string): void
  /** Its definitions of kinds are others than before. */
  definesOther(mailbox: Mailbox): void
  namespaceGone(mailbox: Mailbox, namespace: string): void
}

export class Mailbox {
  readonly name: string
  /** Logical-cluster id. */
  readonly space: string
  readonly copies = new NamespacedMap<CopyFact>()
  readonly carried = new NamespacedMap<CarriedFact>()
  /** By key of a copy: associated objects of it. */
  readonly associated = new MapOfSets<string>()
  /** Objects in its Namespaces that neither the center nor the syncer put there, nor the server itself. */
  readonly others = new NamespacedMap<true>()
  readonly namespaces = new Set<string>()
  /** Pending changes of its copies. */
  readonly changes: PendingChanges
  readonly timings: CopyTimings | undefined
  readonly health = new CopyHealth()
  /** Generations that copies say, of those whose status a space wants back: as written or found right in this run. */
  readonly generations = new Map<string, CopyGenerations>()
  /** Reasons why the mailbox refused objects at their last write. */
  readonly refused = new Map<string, string>()
  /** How often an object was tried whose kind it does not serve, for those that wait. */
  readonly unserved = new Map<string, number>()
  /** Whether its syncer lacks room for what it should carry up. */
  isUpsyncFull = false
  /** Associated objects that its syncer leaves out, by its report. */
  leftOut: AssociatedStatus = NOTHING_LEFT_OUT
  /** Upsync share that its syncer got last. */
  share: UpsyncShare | undefined
  /** Owners of copies that others deleted, and that have to be created again. */
  readonly lostOwners = new Map<string, string>()
  /** Objects under a write of ours, with the event that the mailbox's stream sent meanwhile: news only if it is another's. */
  readonly #writing = new Map<string, StreamEvent | undefined>()
  /** Definitions that its syncer carried up, by name. */
  readonly definitions = new Map<string, Definition>()
  /** Counts their changes. */
  definitionChanges = 0
  synced = false
  /** During a later snapshot: keys that were known before and are not in it yet. */
  #unseen: Set<string> | undefined
  #hasConfig = false
  /** Position up to which the mailbox's stream is complete; without end during a snapshot. */
  received = Number.POSITIVE_INFINITY

  constructor(name: string, space: string, timing: PendingChangesDeps = {}) {
    this.name = name
    this.timings = timing.timings
    this.changes = new PendingChanges(timing)
    this.space = space
  }

  /** Id of the space that owns the object there by what was written last. */
  ownerOf(key: string): string | undefined {
    return (this.copies.get(key)?.owner ?? this.lostOwners.get(key)) || undefined
  }

  /**
   * Health of a copy in the content that its claims want. `content`: the contentHash of that. `undefined`: its cluster has
   * not processed this content yet.
   */
  healthIn(key: string, content: string): HealthVerdict | undefined {
    if (!this.copies.has(key) || this.changes.isPending(key)) return undefined
    return this.health.in(key, content)
  }

  /**
   * Whether the answer to a read or write is news. It may arrive after later events of the stream, and must not restore a deleted copy.
   */
  isNews({ metadata }: KubeObject): boolean {
    return Number(metadata.resourceVersion) > this.received
  }

  /** Notes an object that its syncer carried up. */
  carry(key: string, fact: CarriedFact): void {
    const { root } = fact
    if (this.carried.get(key)?.root !== root) this.dropCarried(key)
    this.carried.set(key, fact)
    if (root !== undefined) this.associated.add(root, key)
  }

  /** Whether it was known. */
  dropCarried(key: string): boolean {
    const { root } = this.carried.get(key) ?? {}
    if (root !== undefined) this.associated.delete(root, key)
    return this.carried.delete(key)
  }

  /** A snapshot begins: what is known and not part of it is gone. */
  beginSnapshot(): void {
    this.received = Number.POSITIVE_INFINITY
    const namespaces = [...this.namespaces].map(namespaceKey)
    const known = [...this.copies.keys(), ...this.carried.keys(), ...this.others.keys(), ...namespaces]
    this.#unseen = new Set(this.#hasConfig ? [...known, SYNCER_CONFIG_KEY] : known)
  }

  /** The snapshot is complete. Answers the keys that are gone since the last one. */
  endSnapshot(revision: number): Iterable<string> {
    const gone = this.#unseen ?? []
    this.#unseen = undefined
    this.received = revision
    return gone
  }

  /** The stream sent an object of the mailbox. */
  receive(key: string, isThere: boolean): void {
    this.#unseen?.delete(key)
    if (key === SYNCER_CONFIG_KEY) this.#hasConfig = isThere
  }

  /** Whether a snapshot is under way. */
  get isReading(): boolean {
    return this.received === Number.POSITIVE_INFINITY
  }

  /** A write of ours begins. */
  begin(key: string): void {
    if (!this.#writing.has(key)) this.#writing.set(key, undefined)
  }

  /** Whether a change waits until a write of ours is through, and with it what is known to be ours. */
  awaits(key: string, event: StreamEvent): boolean {
    if (!this.#writing.has(key)) return false
    this.#writing.set(key, event)
    return true
  }

  /** Whether all that follows from a version of a copy was looked at when it was written, or found right. */
  isSettled(key: string, revision: number): boolean {
    const known = this.copies.get(key)
    return known?.settled === true && !this.isReading && known.resourceVersion === String(revision)
  }

  /** Whether the stream has delivered exactly this process's write: then no event is left to handle. */
  hasReceived(key: string, resourceVersion: string): boolean {
    const received = this.#writing.get(key)
    if (received === undefined || String(received.revision) !== resourceVersion) return false
    this.#writing.set(key, undefined)
    return true
  }

  /** The write is over: answers with the latest foreign event meanwhile. */
  end(key: string): StreamEvent | undefined {
    const received = this.#writing.get(key)
    this.#writing.delete(key)
    return received
  }

  /** The same, before a later change of the object is looked at. */
  overtake(key: string): StreamEvent | undefined {
    const received = this.#writing.get(key)
    if (received !== undefined) this.#writing.set(key, undefined)
    return received
  }

  /** Forgets a copy that was found gone, unless the stream has delivered a newer one meanwhile. */
  forget(key: string, known: CopyFact | undefined): void {
    if (known && this.copies.get(key) === known) this.copies.delete(key)
  }
}

/** Whether nothing is in a Namespace of the mailbox but what the server puts into each. */
export function isEmptyIn({ copies, carried, others }: Mailbox, namespace: string): boolean {
  return !copies.hasIn(namespace) && !carried.hasIn(namespace) && !others.hasIn(namespace)
}

export const SYNCER_CONFIG_KEY = objectKey(SYNCER_CONFIGS, '', SYNCER_CONFIG_NAME)
