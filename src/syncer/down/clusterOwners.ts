/**
 * Owners in the cluster: what the center says owns an object is made a reference with the uid that the owner has there. No
 * reference may outlive its owner by our doing: the cluster's garbage collector would take the dependent, which is still
 * wanted. So before an owner is deleted its dependents let go of it, and none takes hold of it meanwhile.
 */

import { isStatusError } from '../../apimachinery/errors.ts'
import { type GroupResource, type KubeObject, type OwnerReference, parseApiVersion } from '../../apimachinery/object.ts'
import type { SpaceClient } from '../../client/client.ts'
import { steadyMs } from '../../client/clock.ts'
import type { CacheChange } from '../../client/informer.ts'
import { onConflict } from '../../client/onConflict.ts'
import { refOf } from '../../client/refOf.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import { type CarriedOwner, carriedOwnersOf } from '../../placement/content/carriedOwners.ts'
import { DOWNSYNCED, OWNER_ANNOTATION } from '../../placement/words/placement.ts'
import { keyOf, keyText, type SyncKey } from '../mailbox/mirror.ts'
import { isOurs, isOursToDelete, isStrangers, mayAdopt, SYNCER_MANAGER } from '../objects/marks.ts'
import { isPreserved, referencesOfOurs } from '../objects/release.ts'
import type { DownsyncContext } from './context.ts'

interface ClusterOwnersDeps extends DownsyncContext {
  /** The cluster, in whose name such an object is written. */
  writer(live: Readonly<KubeObject>): SpaceClient
  /** Whether the object is being worked on. */
  isBusy(key: SyncKey): boolean
  /** Whether the cluster keeps what the mailbox holds no more. */
  staysPreserved(key: SyncKey): boolean
}

type Links = Map<string, SyncKey>

/** Between two looks at an owner that waits for its dependents. News of them come sooner. */
const WAIT_MS = 200
/** For so long an owner waits for the center's word about its dependents, and for the first sight of all that is in the cluster. */
const PATIENCE_MS = 5000
const DISOWN_ATTEMPTS = 5

export class ClusterOwners {
  readonly #deps: ClusterOwnersDeps
  /** Dependents of an owner, in the mailbox (by its key) or in the cluster (by its uid). */
  readonly #dependents = new Map<string, Links>()
  /** Owners of each dependent, in both ways. */
  readonly #owners = new Map<string, Set<string>>()
  /** Uid of an owner in each of its dependents, `''` for none; by key. */
  readonly #completedWith = new Map<string, Map<string, string>>()
  /** Owners that are about to go. */
  readonly #going = new Set<string>()
  /** Owners that wait for their dependents, by key and by uid, and since when. */
  readonly #waiting = new Map<string, { readonly key: SyncKey; readonly sinceMs: number }>()

  constructor(deps: ClusterOwnersDeps) {
    this.#deps = deps
  }

  /**
   * The object to apply: `copy` with references to those owners of `object` that are there. `fresh`: as the cluster reports now and not
   * some moments ago, for a write.
   */
  async complete(
    key: SyncKey,
    object: Readonly<KubeObject>,
    copy: KubeObject,
    { fresh }: { fresh: boolean },
  ): Promise<KubeObject> {
    const owners = carriedOwnersOf(object)
    if (owners.length === 0) return copy
    this.#add(key, owners.map(keyText))
    const ownerReferences: OwnerReference[] = []
    for (const owner of owners) {
      const live = await this.#live(key, object, owner, fresh)
      this.#completedWith.set(
        keyText(owner),
        (this.#completedWith.get(keyText(owner)) ?? new Map()).set(keyText(key), live?.metadata.uid ?? ''),
      )
      if (live) ownerReferences.push(referenceTo(owner, live))
    }
    return ownerReferences.length === 0 ? copy : { ...copy, metadata: { ...copy.metadata, ownerReferences } }
  }

  /** `live` is what the cluster holds of `object`, as it should be. */
  stands(key: SyncKey, object: Readonly<KubeObject>, live: Readonly<KubeObject>): void {
    this.#waiting.delete(keyText(key))
    this.#wakeDependents(key, live.metadata.uid)
    if (!this.#owners.has(keyText(key)) && live.metadata.ownerReferences === undefined) return
    this.#replace(key, [...carriedOwnersOf(object).map(keyText), ...uidsIn(live)])
  }

  /** The mailbox holds it no more; the cluster may. */
  left(key: SyncKey): void {
    const links = this.#owners.get(keyText(key))
    if (links)
      this.#replace(
        key,
        [...links].filter(link => link.startsWith(BY_UID)),
      )
  }

  /** The cluster's word about an object, as dependent and as owner. */
  observed(resource: GroupResource, { type, object }: Pick<CacheChange, 'type' | 'object'>): void {
    const key = keyOf(resource, object)
    const text = keyText(key)
    if (type === 'apply') this.#add(key, uidsIn(object))
    else if (this.#owners.has(text)) {
      const declared = [...this.#owners.get(text)!].filter(link => !link.startsWith(BY_UID))
      this.#replace(key, this.#deps.mirror.get(key) ? declared : [])
    }
    const isThere = type === 'apply' && object.metadata.deletionTimestamp === undefined
    this.#wakeDependents(key, isThere ? object.metadata.uid : undefined)
  }

  /** Queues dependents with a reference to an earlier owner, or to none. */
  #wakeDependents(key: SyncKey, uid = ''): void {
    const text = keyText(key)
    const completed = this.#completedWith.get(text)
    if (completed === undefined) return
    for (const [dependent, known] of completed) {
      const at = known === uid ? undefined : this.#dependents.get(text)?.get(dependent)
      if (at) this.#deps.again(at)
    }
  }

  /**
   * Runs `remove`, which deletes `live` from the cluster, once no object that stays there names it as its owner. Nothing is done
   * where somebody is not ready: then how long to wait.
   */
  async letGo(key: SyncKey, live: Readonly<KubeObject>, remove: () => Promise<void>): Promise<number | undefined> {
    const text = keyText(key)
    if (this.#going.has(text)) return WAIT_MS
    this.#going.add(text)
    try {
      const dependents = new Map([
        ...(this.#dependents.get(keyText(key)) ?? []),
        ...(this.#dependents.get(byUid(live.metadata.uid)) ?? []),
      ])
      if (this.#mustWait(key, live, [...dependents.values()])) return WAIT_MS
      for (const dependent of dependents.values()) await this.#disown(dependent, live)
      await remove()
      this.#waiting.delete(text)
      this.#waiting.delete(byUid(live.metadata.uid))
      return undefined
    } finally {
      this.#going.delete(text)
    }
  }

  /**
   * A write under way may have taken hold already. A dependent that goes as well goes first: else the cluster would take it, and with it
   * its own dependents that stay. Where the mailbox still names this owner, although it holds it no more, the center is about to change
   * that.
   */
  #mustWait(key: SyncKey, live: Readonly<KubeObject>, dependents: readonly SyncKey[]): boolean {
    const { isBusy, mirror, watches, clock } = this.#deps
    if (dependents.some(isBusy)) return true
    const text = keyText(key)
    const isLeft = mirror.get(key) === undefined
    const isOpen = (dependent: SyncKey): boolean => {
      if (this.#goes(dependent)) return true
      const object = isLeft ? mirror.get(dependent)?.object : undefined
      return object !== undefined && carriedOwnersOf(object).some(owner => keyText(owner) === text)
    }
    if (watches.allSynced() && !dependents.some(isOpen)) return false
    const waiting = this.#waiting.get(text) ?? { key, sinceMs: steadyMs(clock) }
    this.#waiting.set(text, waiting).set(byUid(live.metadata.uid), waiting)
    return steadyMs(clock) - waiting.sinceMs < PATIENCE_MS
  }

  /** Whether the cluster holds what we are about to delete. */
  #goes(key: SyncKey): boolean {
    const { watches, plan, mirror, staysPreserved } = this.#deps
    if (mirror.get(key) !== undefined && plan().wantsDown(key, key.namespace, key.name)) return false
    const cached = watches.get(key, key)
    return cached !== undefined && isOursToDelete(cached) && !isPreserved(cached) && !staysPreserved(key)
  }

  /**
   * The owners that an object keeps which stays although it is not placed any more: not those that we may delete later. `undefined`:
   * all that it has.
   */
  async keptBy(live: Readonly<KubeObject>): Promise<OwnerReference[] | undefined> {
    const lost = new Set<OwnerReference>()
    for (const owner of referencesOfOurs(live)) if (!(await this.#stays(owner, live))) lost.add(owner)
    return lost.size === 0 ? undefined : live.metadata.ownerReferences?.filter(owner => !lost.has(owner))
  }

  async #stays({ apiVersion, kind, name, uid }: OwnerReference, { metadata }: Readonly<KubeObject>): Promise<boolean> {
    const { cluster, served } = this.#deps
    const group = parseApiVersion(apiVersion)?.group ?? ''
    const plural = served.resourceOf(group, kind)
    const resource = plural === undefined ? undefined : served.find({ group, resource: plural })
    if (resource === undefined) return false
    const { namespace } = metadata
    const live = await unlessGone(
      cluster.get(resource, { name, ...(resource.namespaced && namespace && { namespace }) }),
    )
    return live?.metadata.uid === uid && (isPreserved(live) || !isOurs(live, DOWNSYNCED))
  }

  async #disown(key: SyncKey, { metadata: { uid } }: Readonly<KubeObject>): Promise<void> {
    const { cluster, served, again } = this.#deps
    const resource = served.find(key)
    if (resource === undefined) return
    await onConflict(DISOWN_ATTEMPTS, async () => {
      const live = await unlessGone(cluster.get(resource, refOf(key)))
      const before = live?.metadata.ownerReferences ?? []
      const ownerReferences = before.filter(owner => owner.uid !== uid)
      if (live === undefined || ownerReferences.length === before.length) return
      const { uid: own, resourceVersion } = live.metadata
      const body = { metadata: { uid: own, resourceVersion, ownerReferences } }
      const options = { fieldManager: SYNCER_MANAGER }
      if (await unlessGone(this.#deps.writer(live).patch(resource, refOf(key), 'merge', body, options))) again(key)
    })
  }

  /** The owner in the cluster, where it is what the center put there for the same space, and is to stay. */
  async #live(
    key: SyncKey,
    dependent: Readonly<KubeObject>,
    owner: CarriedOwner,
    fresh: boolean,
  ): Promise<KubeObject | undefined> {
    const { cluster, served, mirror, plan, watches, allowance, adoptExisting } = this.#deps
    const { kind, ...at } = owner
    const source = mirror.get(at)?.object
    if (source === undefined || !plan().wantsDown(at, at.namespace, at.name) || this.#going.has(keyText(at)))
      return undefined
    if (source.metadata.annotations?.[OWNER_ANNOTATION] !== dependent.metadata.annotations?.[OWNER_ANNOTATION])
      return undefined
    const resource = served.find(at)
    const isReachable = at.namespace === '' || at.namespace === key.namespace
    if (!isReachable || resource === undefined || allowance.refusalOf(at)) return undefined
    const live =
      (fresh ? undefined : watches.get(at, at)) ??
      (await unlessGone(cluster.get(resource, refOf(at))).catch((error: unknown) => {
        // then it is not the syncer's either, and the owner's report covers it
        if (isStatusError(error, 'Forbidden')) return undefined
        throw error
      }))
    if (live?.kind !== kind || live.metadata.deletionTimestamp !== undefined) return undefined
    return isStrangers(live) && !adoptExisting && !mayAdopt(source) ? undefined : live
  }

  #add(key: SyncKey, links: readonly string[]): void {
    if (links.length === 0) return
    const text = keyText(key)
    const own = this.#owners.get(text) ?? new Set()
    this.#owners.set(text, own)
    for (const link of links) {
      own.add(link)
      const dependents = this.#dependents.get(link)
      if (dependents) dependents.set(text, key)
      else this.#dependents.set(link, new Map([[text, key]]))
    }
  }

  #replace(key: SyncKey, links: readonly string[]): void {
    const text = keyText(key)
    for (const link of this.#owners.get(text) ?? []) {
      if (links.includes(link)) continue
      const waiting = this.#waiting.get(link)
      if (waiting) this.#deps.again(waiting.key)
      for (const index of [this.#dependents, this.#completedWith]) {
        const dependents = index.get(link)
        dependents?.delete(text)
        if (dependents?.size === 0) index.delete(link)
      }
    }
    this.#owners.delete(text)
    this.#add(key, links)
  }
}

function referenceTo(owner: CarriedOwner, { apiVersion, kind, metadata }: Readonly<KubeObject>): OwnerReference {
  const { controller, blockOwnerDeletion } = owner
  return {
    apiVersion,
    kind,
    name: owner.name,
    uid: metadata.uid ?? '',
    ...(controller !== undefined && { controller }),
    ...(blockOwnerDeletion !== undefined && { blockOwnerDeletion }),
  }
}

const BY_UID = 'uid '
const byUid = (uid: string | undefined) => `${BY_UID}${uid}`

function uidsIn({ metadata }: Readonly<KubeObject>): string[] {
  return (metadata.ownerReferences ?? []).map(({ uid }) => byUid(uid))
}
