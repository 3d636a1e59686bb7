/**
 * Associated objects of the cluster: those whose owners lead, uid by uid, to what was placed, and Events about these and about what
 * was placed. Kinds are watched as long as a copy in the mailbox asks for them, and of each object its owners alone are held.
 *
 * A reference counts where kind and name are those of the object with its uid. An owner that was made anew is another one.
 */
import { isStatusError } from '../../apimachinery/errors.ts'
import { str } from '../../apimachinery/fields.ts'
import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { equalJson } from '../../apimachinery/values.ts'
import type { DiscoveredResource, SpaceClient } from '../../client/client.ts'
import { silentLogger } from '../../client/logger.ts'
import type { Runtime } from '../../client/runtime.ts'
import type { WorkQueue } from '../../client/workqueue.ts'
import {
  type AssociatedAsk,
  type AssociatedOwner,
  askFor,
  asksOf,
  associatedWith,
  eventTime,
  isAssociable,
  isEvents,
  MAX_ASSOCIATED_EVENTS,
  MAX_OWNER_STEPS,
  matchesKinds,
  OWNER_KINDS,
} from '../../placement/associated/associated.ts'
import { objectKey, parseObjectKey } from '../../placement/words/names.ts'
import { isProjected } from '../../placement/words/placement.ts'
import type { ClusterAllowance } from '../mailbox/clusterAllowance.ts'
import { keyOf, keyText, type SyncKey } from '../mailbox/mirror.ts'
import { isUpsynced, ownerOf } from '../objects/marks.ts'
import { ClusterWatches } from './clusterWatches.ts'
import type { ServedResources } from './served.ts'

/** An object of the cluster that belongs to a copy. */
export interface Association {
  readonly ask: AssociatedAsk
  /** Id of the space of the copy. */
  readonly space: string
  /** Object key of the copy. */
  readonly root: string
  /** In the cluster. */
  readonly rootUid: string
  readonly uid: string
  readonly owners: readonly AssociatedOwner[]
  /** An Event is old where its object has enough newer ones. */
  readonly isOld: boolean
}

/** A copy that asks for associated objects. */
interface Root {
  readonly key: SyncKey
  readonly kind: string
  readonly space: string
  readonly asks: readonly AssociatedAsk[]
  readonly uid: string | undefined
}

/** An object of the cluster, as far as it is held. */
interface Stub extends KubeObject {
  readonly owners: readonly AssociatedOwner[]
  /** When an Event happened last; `''` of other kinds. */
  readonly time: string
}

interface Held {
  readonly key: SyncKey
  readonly stub: Stub
}

/** Owners of one object that count; a cluster may name any number. */
const MAX_OWNERS = 16
const MAX_LOOKED_AT = 64

interface AssociatesDeps extends Pick<Runtime, 'clock' | 'random'> {
  cluster: SpaceClient
  served: ServedResources
  allowance: Pick<ClusterAllowance, 'mayReport' | 'readsOwners'>
  queues: { up: Pick<WorkQueue<SyncKey>, 'add'> }
  /** Kinds that may not be read are others. */
  onAssociates(): void
  /** The cluster's object of a copy. */
  placed: (key: SyncKey) => Readonly<KubeObject> | undefined
  arePlacedKnown: (kind: GroupResource) => boolean
}

export class Associates {
  readonly #deps: AssociatesDeps
  readonly #seen: ClusterWatches
  readonly #byKey = new Map<string, Held>()
  readonly #byUid = new Map<string, Held>()
  /** Keys by the uid of an owner. */
  readonly #children = new Map<string, Map<string, SyncKey>>()
  readonly #roots = new Map<string, Root>()
  readonly #rootsByUid = new Map<string, Root>()
  /** Kinds that copies ask for, counted by the text of their asks. */
  readonly #wanted = new Map<string, { readonly asks: readonly AssociatedAsk[]; count: number }>()
  /** Objects of the mailbox by the key of the copy that they belong to. */
  readonly #carried = new Map<string, Map<string, SyncKey>>()
  readonly #carriedFor = new Map<string, string>()
  /** The newest Events of objects that have more than come up, by uid, as long as none of these Events changes. */
  readonly #newest = new Map<string, ReadonlyMap<string, SyncKey>>()
  /** Uids of objects whose Events changed in the batch that is being read. */
  readonly #eventful = new Set<string>()
  /** Kinds that are watched. */
  #watched: ReadonlySet<string> = new Set()
  /** Kinds that the cluster does not let the syncer read. */
  readonly #forbidden = new Set<string>()
  #refused: readonly string[] = []
  #started = false

  constructor(deps: AssociatesDeps) {
    this.#deps = deps
    const { cluster: client, clock, random } = deps
    this.#seen = new ClusterWatches({
      client,
      clock,
      random,
      // refused kinds are in the report, and each try of theirs need not be in the log
      logger: silentLogger,
      keep: stubOf,
      onChange: (resource, { type, object }) => this.#changed(resource, object as Stub, type === 'delete'),
      onSynced: () => this.#synced(),
      onListed: resource => this.#setForbidden(resource, false),
      onFailure: (resource, error) => {
        if (isStatusError(error, 'Forbidden')) this.#setForbidden(resource, true)
      },
    })
  }

  start(): void {
    this.#started = true
    this.watch()
  }

  async stop(): Promise<void> {
    await this.#seen.stop()
  }

  async listAnew(): Promise<void> {
    await this.#seen.listAnew()
  }

  /** {@link ClusterWatches.firstLists} */
  async listed(): Promise<void> {
    await this.#seen.firstLists()
  }

  /** Kinds that copies ask for and that the syncer may not read in the cluster: its flags or the cluster do not allow it. */
  get notAllowed(): readonly string[] {
    return [...new Set([...this.#refused, ...this.#forbidden])].sort()
  }

  /** An object of the mailbox changed. */
  mailboxChanged(key: SyncKey, object: Readonly<KubeObject> | undefined): void {
    const account = object && isUpsynced(object) ? associatedWith(object) : undefined
    this.#noteCarried(key, account?.root)
    const asks = object && isProjected(object) ? asksOf(object) : []
    const before = this.#roots.get(keyText(key))
    if (asks.length === 0 && !before) return
    const root = { key, kind: object?.kind ?? '', space: (object && ownerOf(object)) ?? '', asks }
    this.#setRoot(key, asks.length > 0 ? root : undefined)
  }

  /** The cluster's object of a copy may be another. */
  placedChanged(key: SyncKey): void {
    const root = this.#roots.get(keyText(key))
    if (root) this.#setRoot(key, root)
  }

  /** The copy that an object belongs to; `undefined`: nothing of the mailbox asks for it. */
  of(key: SyncKey): Association | undefined {
    const stub = this.#stub(key)
    if (!stub || stub.metadata.deletionTimestamp !== undefined) return undefined
    const root = this.#rootOf(key, stub)
    const ask = root && askFor(root.asks, key)
    if (!root || !ask || !this.#mayReport(key)) return undefined
    const { group, resource, namespace, name } = root.key
    return {
      ask,
      space: root.space,
      root: objectKey({ group, resource }, namespace, name),
      rootUid: root.uid ?? '',
      uid: stub.metadata.uid ?? '',
      owners: stub.owners,
      isOld: isEvents(key) && this.#isOldEvent(key, stub),
    }
  }

  /** Whether the cluster's lists hold the object of a key. */
  holds(key: SyncKey): boolean {
    return this.#stub(key) !== undefined
  }

  /** Whether the cluster's lists hold the object of a copy. */
  isPlaced(root: SyncKey): boolean {
    return this.#deps.placed(root) !== undefined
  }

  /** Objects of the mailbox that belong to copies, each with the space of its copy. */
  *carried(): Generator<{ key: SyncKey; space: string }> {
    for (const [copy, keys] of this.#carried) {
      const root = this.#roots.get(keyText(parseObjectKey(copy)))
      if (root) for (const key of keys.values()) yield { key, space: root.space }
    }
  }

  /** The copy that a carried object belongs to, where it asks for the kind. */
  asker(key: SyncKey, carried: Readonly<KubeObject>): SyncKey | undefined {
    const account = associatedWith(carried)
    const root = account && parseObjectKey(account.root)
    const known = root && this.#roots.get(keyText(root))
    return known && askFor(known.asks, key) && this.#mayReport(key) ? root : undefined
  }

  /** Whether lists of the cluster tell that an object belongs to no copy any more. */
  isKnown(key: SyncKey, root: SyncKey): boolean {
    if (this.#deps.served.lacks(key)) return true
    if (!this.#seen.hasSynced(key)) return false
    // what is there may have owners of a kind that is not listed yet, or never will be
    return !this.holds(key) || (this.#seen.allSynced() && this.#deps.arePlacedKnown(root))
  }

  /** Watches of the cluster follow the wishes and what the cluster serves. */
  watch(): void {
    if (!this.#started) return
    const { served, allowance } = this.#deps
    const asks = [...this.#wanted.values()].flatMap(one => one.asks)
    const wanted: DiscoveredResource[] = []
    const refused: string[] = []
    for (const resource of asks.length > 0 ? served.all() : []) {
      const isRequested = isAssociable(resource) && asks.some(({ kinds }) => matchesKinds(kinds, resource))
      const isLink = OWNER_KINDS.some(link => groupResourceName(link) === groupResourceName(resource))
      if (!(isRequested || isLink) || !['list', 'watch'].every(verb => resource.verbs.includes(verb))) continue
      const mayReport = allowance.mayReport(resource, resource.namespaced)
      if (mayReport || (isLink && allowance.readsOwners)) wanted.push(resource)
      if (isRequested && !mayReport) refused.push(groupResourceName(resource))
    }
    for (const name of this.#forbidden)
      if (!wanted.some(resource => groupResourceName(resource) === name)) this.#forbidden.delete(name)
    this.#refused = refused
    this.#seen.want(wanted)
    this.#forgetAllBut(wanted)
    this.#deps.onAssociates()
  }

  /** All that is associated, or was. */
  lookAtAll(): void {
    for (const root of this.#roots.values()) this.#queueOf(root)
    for (const keys of this.#carried.values()) for (const key of keys.values()) this.#deps.queues.up.add(key)
  }

  /** Whether flags of the syncer let it report a kind. Owners are read without that. */
  #mayReport(key: SyncKey): boolean {
    return this.#deps.allowance.mayReport(key, key.namespace !== '')
  }

  #forgetAllBut(watched: readonly GroupResource[]): void {
    const before = this.#watched
    const now = new Set(watched.map(groupResourceName))
    this.#watched = now
    if ([...before].every(name => now.has(name))) return
    for (const { key, stub } of [...this.#byKey.values()])
      if (!now.has(groupResourceName(key))) this.#changed(key, stub, true)
  }

  #stub(key: SyncKey): Stub | undefined {
    return this.#seen.get(key, key) as Stub | undefined
  }

  #setRoot(key: SyncKey, root: Omit<Root, 'uid'> | undefined): void {
    const id = keyText(key)
    const before = this.#roots.get(id)
    const now = root && { ...root, uid: this.#deps.placed(key)?.metadata.uid }
    if (equalJson(before, now)) return
    if (before?.uid !== undefined) this.#rootsByUid.delete(before.uid)
    if (now) this.#roots.set(id, now)
    else this.#roots.delete(id)
    if (now?.uid !== undefined) this.#rootsByUid.set(now.uid, now)
    if (!equalJson(before?.asks, now?.asks)) this.#count(before?.asks, now?.asks)
    for (const one of [before, now]) if (one) this.#queueOf(one)
  }

  #count(before: readonly AssociatedAsk[] = [], now: readonly AssociatedAsk[] = []): void {
    for (const [asks, by] of [
      [before, -1],
      [now, 1],
    ] as const) {
      const text = JSON.stringify(asks.map(({ kinds }) => kinds))
      const known = this.#wanted.get(text) ?? { asks, count: 0 }
      known.count += by
      if (known.count > 0) this.#wanted.set(text, known)
      else this.#wanted.delete(text)
    }
    this.watch()
  }

  #changed(resource: GroupResource, stub: Stub, isGone: boolean): void {
    const { up } = this.#deps.queues
    const key = keyOf(resource, stub)
    const id = keyText(key)
    const before = this.#byKey.get(id)
    const { uid = '' } = stub.metadata
    const uidBefore = before?.stub.metadata.uid ?? ''
    const ownersBefore = before?.stub.owners ?? []
    for (const owner of ownersBefore) this.#unlink(owner.uid, key)
    // also where a list has another object of its name
    if (before && this.#byUid.get(uidBefore) === before) this.#byUid.delete(uidBefore)
    this.#byKey.delete(id)
    if (!isGone) {
      const held = { key, stub }
      this.#byKey.set(id, held)
      this.#byUid.set(uid, held)
      for (const owner of stub.owners) this.#link(owner.uid, key)
    }
    if (isGone || this.#carriedFor.has(id) || this.#rootOf(key, stub)) up.add(key)
    // as of now others belong to a copy, or no more
    if (before && uidBefore !== uid) this.#queueBelow(uidBefore)
    if (isGone || uidBefore !== uid || !equalJson(ownersBefore, stub.owners)) this.#queueBelow(uid)
    if (isEvents(key)) for (const owner of [...ownersBefore, ...stub.owners]) this.#eventsChanged(owner.uid)
  }

  #link(uid: string, key: SyncKey): void {
    const keys = this.#children.get(uid) ?? new Map<string, SyncKey>()
    this.#children.set(uid, keys.set(keyText(key), key))
  }

  #unlink(uid: string, key: SyncKey): void {
    const keys = this.#children.get(uid)
    keys?.delete(keyText(key))
    if (keys?.size === 0) this.#children.delete(uid)
  }

  /** Up the owners, the nearest first. */
  #rootOf(key: SyncKey, stub: Stub): Root | undefined {
    const looked = new Set<string>()
    let level: readonly Stub[] = [stub]
    for (let step = 0; step < MAX_OWNER_STEPS && level.length > 0; step++) {
      const above: Stub[] = []
      for (const { kind, name, uid } of level.flatMap(({ owners }) => owners)) {
        if (looked.has(uid) || looked.size === MAX_LOOKED_AT) continue
        looked.add(uid)
        const root = this.#rootsByUid.get(uid)
        if (root && root.kind === kind && root.key.name === name && root.key.namespace === key.namespace) return root
        const owner = this.#byUid.get(uid)?.stub
        if (owner && owner.kind === kind && owner.metadata.name === name) above.push(owner)
      }
      level = above
    }
    return undefined
  }

  #queueOf(root: Root): void {
    if (root.uid !== undefined) this.#queueBelow(root.uid)
    const { group, resource, namespace, name } = root.key
    const carried = this.#carried.get(objectKey({ group, resource }, namespace, name))
    for (const key of carried?.values() ?? []) this.#deps.queues.up.add(key)
  }

  #queueBelow(uid: string): void {
    const looked = new Set<string>([uid])
    for (const each of looked) {
      for (const key of this.#children.get(each)?.values() ?? []) {
        this.#deps.queues.up.add(key)
        const below = this.#stub(key)?.metadata.uid
        if (below !== undefined) looked.add(below)
      }
    }
  }

  #eventsChanged(about: string): void {
    this.#newest.delete(about)
    // once for all changes of a batch
    if (this.#eventful.size === 0)
      queueMicrotask(() => {
        const eventful = [...this.#eventful]
        this.#eventful.clear()
        for (const each of eventful) if (this.#belongs(each)) this.#queueEvents(each)
      })
    this.#eventful.add(about)
  }

  #belongs(uid: string): boolean {
    const held = this.#byUid.get(uid)
    return this.#rootsByUid.has(uid) || (held !== undefined && this.#rootOf(held.key, held.stub) !== undefined)
  }

  /** Events about one object: those that are among the newest now, or no more. */
  #queueEvents(about: string): void {
    const newest = this.#newestEvents(about)
    for (const key of newest.values()) if (!this.#carriedFor.has(keyText(key))) this.#deps.queues.up.add(key)
    for (const [id, key] of this.#children.get(about) ?? [])
      if (isEvents(key) && !newest.has(id) && this.#carriedFor.has(id)) this.#deps.queues.up.add(key)
  }

  #newestEvents(about: string): ReadonlyMap<string, SyncKey> {
    const known = this.#newest.get(about)
    if (known) return known
    const events = [...(this.#children.get(about) ?? [])].flatMap(([id, key]) => {
      const stub = isEvents(key) ? this.#stub(key) : undefined
      return stub ? [{ id, key, time: stub.time }] : []
    })
    if (events.length <= MAX_ASSOCIATED_EVENTS) return new Map(events.map(({ id, key }) => [id, key]))
    events.sort((a, b) => (a.time === b.time ? (a.id < b.id ? -1 : 1) : a.time < b.time ? 1 : -1))
    const newest = new Map(events.slice(0, MAX_ASSOCIATED_EVENTS).map(({ id, key }) => [id, key]))
    this.#newest.set(about, newest)
    return newest
  }

  #isOldEvent(key: SyncKey, { owners }: Stub): boolean {
    return owners.every(({ uid }) => !this.#newestEvents(uid).has(keyText(key)))
  }

  #noteCarried(key: SyncKey, root: string | undefined): void {
    const id = keyText(key)
    const before = this.#carriedFor.get(id)
    if (before === root) return
    if (before !== undefined) {
      const of = this.#carried.get(before)
      of?.delete(id)
      if (of?.size === 0) this.#carried.delete(before)
      this.#carriedFor.delete(id)
    }
    if (root === undefined) return
    const of = this.#carried.get(root) ?? new Map<string, SyncKey>()
    this.#carried.set(root, of.set(id, key))
    this.#carriedFor.set(id, root)
  }

  #synced(): void {
    // some of what was carried may be gone, or belong to nothing
    for (const keys of this.#carried.values()) for (const key of keys.values()) this.#deps.queues.up.add(key)
  }

  #setForbidden(resource: GroupResource, isForbidden: boolean): void {
    const name = groupResourceName(resource)
    if (this.#forbidden.has(name) === isForbidden) return
    if (isForbidden) this.#forbidden.add(name)
    else this.#forbidden.delete(name)
    this.#deps.onAssociates()
  }
}

/** An Event belongs to the object that it is about. */
function stubOf(object: KubeObject): Stub {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, ownerReferences = [] } = object.metadata
  const isEvent = object.kind === 'Event' && object.apiVersion === 'v1'
  const about = { kind: str(object, 'involvedObject', 'kind'), name: str(object, 'involvedObject', 'name') }
  const owners = isEvent ? [{ ...about, uid: str(object, 'involvedObject', 'uid') }] : ownerReferences
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    owners: owners.slice(0, MAX_OWNERS).map(owner => ({ kind: owner.kind, name: owner.name, uid: owner.uid })),
    time: isEvent ? eventTime(object) : '',
  }
}
