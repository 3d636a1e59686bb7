/** Objects born in the cluster, carried into the mailbox: with their namespace, and with their CRD where it is missing. */

import { hasCause, isStatusError, namespaceTrouble } from '../../apimachinery/errors.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import {
  apiVersionOf,
  type GroupResource,
  type GroupVersionResource,
  groupResourceName,
  isRecord,
  type KubeObject,
} from '../../apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import { shortened } from '../../apimachinery/shortened.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { DiscoveredResource, SpaceClient } from '../../client/client.ts'
import type { Clock } from '../../client/clock.ts'
import type { Logger } from '../../client/logger.ts'
import { refOf } from '../../client/refOf.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import { type AssociatedWith, associatedWith, isEvents } from '../../placement/associated/associated.ts'
import type { LeftOutCause } from '../../placement/desks/syncerConfig.ts'
import { healthOf } from '../../placement/outcome/health.ts'
import { BUDGET_EXCEEDED } from '../../placement/spaces/spaceBudget.ts'
import { DOWNSYNCED, UPSYNC_FULL } from '../../placement/words/placement.ts'
import { RepairPace } from '../down/repairPace.ts'
import type { ClusterAllowance, Refusal } from '../mailbox/clusterAllowance.ts'
import { Echoes } from '../mailbox/echoes.ts'
import { fieldsOf, keyText, type MailboxMirror, type SyncKey } from '../mailbox/mirror.ts'
import { type SyncPlan, wantsDefinition } from '../mailbox/syncPlan.ts'
import { associatedCopy, withAccount } from '../objects/associatedCopy.ts'
import { upsyncCopy } from '../objects/copies.ts'
import { isOurs, isServersOwn, isUpsynced, SYNCER_MANAGER } from '../objects/marks.ts'
import type { Associates, Association } from '../sees/associates.ts'
import type { ClusterWatches } from '../sees/clusterWatches.ts'
import type { ServedResources } from '../sees/served.ts'
import type { Refusals } from '../tells/refusals.ts'
import type { AssociatedRoom, Charged } from './associatedRoom.ts'
import { type StatusLimit, statusPatch } from './statusLimit.ts'

interface UpsyncDeps {
  mailbox: SpaceClient
  /** Read before anything is taken from the mailbox. */
  cluster: Pick<SpaceClient, 'get'>
  /** Kinds of the mailbox. */
  served: ServedResources
  /** Kinds of the cluster. */
  clusterServed: ServedResources
  mirror: MailboxMirror
  /** Whole resources of the cluster: those that upsync asks for. */
  born: ClusterWatches
  /** The CRDs of the cluster. */
  definitions: ClusterWatches
  associates: Associates
  room: AssociatedRoom
  plan: () => SyncPlan
  mirrorComplete: () => boolean
  refusals: Refusals
  allowance: ClusterAllowance
  statusLimit: StatusLimit
  logger: Logger
  clock: Clock
}

/** Objects of the cluster that its lists lack are read again after this, for no watch may report their end. */
const DENIED_RETRY_MS = 60_000

export class Upsync {
  readonly #deps: UpsyncDeps
  readonly #echoes = new Echoes()
  /** Objects that had no room in the mailbox at the last attempt. */
  readonly #withoutRoom = new Set<string>()
  #isRoomKept = false
  /** Associated objects that keep changing are carried up ever more slowly. */
  readonly #pace: RepairPace

  constructor(deps: UpsyncDeps) {
    this.#deps = deps
    this.#pace = new RepairPace(deps.clock)
  }

  async reconcile(key: SyncKey): Promise<ReconcileResult> {
    const live = this.#live(key)
    if (live !== undefined && live.metadata.deletionTimestamp === undefined) {
      // copies of the center do not go back as objects of the cluster
      if (isOurs(live, DOWNSYNCED) || isServersOwn(live)) return {}
      const refusal = this.#refusalOf(key)
      if (refusal) this.#deps.refusals.refuse(key, refusal)
      else await this.#reporting(key, () => this.#carry(key, live))
      return {}
    }
    const association = this.#deps.associates.of(key)
    if (association && !this.#isRequested(key)) {
      return await this.#reporting(key, () => this.#carryAssociated(key, association))
    }
    this.#withoutRoom.delete(keyText(key))
    if (!this.#deps.plan().wantsDown(key, key.namespace, key.name)) this.#deps.refusals.settle(key)
    return await this.#remove(key)
  }

  /** There may be room again any time: retried like other trouble, and reported by the queue. */
  async #reporting<T>(key: SyncKey, work: () => Promise<T>): Promise<T> {
    const id = keyText(key)
    try {
      const result = await work()
      if (this.#withoutRoom.delete(id)) this.#deps.refusals.settle(key)
      return result
    } catch (error) {
      if (hasCause(error, BUDGET_EXCEEDED)) {
        this.#withoutRoom.add(id)
        this.#deps.refusals.note(key, { reason: UPSYNC_FULL, message: messageOf(error) })
      }
      throw error
    }
  }

  /**
   * An object that may not enter the cluster does not come out of it either. A CRD comes with the objects that it defines.
   */
  #refusalOf(key: SyncKey): Refusal | undefined {
    const { allowance, plan } = this.#deps
    if (!isDefinition(key) || plan().wantsUp(key, key.namespace, key.name)) return allowance.refusalOf(key)
    return [true, false].some(namespaced => allowance.mayCarry(definedBy(key), namespaced))
      ? undefined
      : allowance.refusalOf(key)
  }

  /** The object to be carried. */
  #live(key: SyncKey): Readonly<KubeObject> | undefined {
    const { plan, born, definitions } = this.#deps
    if (plan().wantsUp(key, key.namespace, key.name)) return born.get(key, key)
    return this.#isWantedDefinition(key) ? definitions.get(key, key) : undefined
  }

  async #carry(key: SyncKey, live: Readonly<KubeObject>): Promise<void> {
    const { mailbox, mirror, served } = this.#deps
    const resource = served.find(key)
    // Its CRD is on the way by a key of its own; when the mailbox serves it this one comes again.
    if (resource === undefined) return
    const existing = mirror.get(key)?.object ?? (await unlessGone(mailbox.get(resource, refOf(key))))
    if (existing !== undefined && !isUpsynced(existing)) return
    const copy = upsyncCopy(live, apiVersionOf(resource))
    // an object of a set belongs to its copy no less
    const account = this.#accountInSet(key, live, existing)
    if (account) copy.metadata.annotations = withAccount(copy, account)
    this.#deps.room.forget(key)
    if (isDefinition(key)) return await this.#define(key, resource, copy, existing)
    const { status } = live
    const reported = status !== undefined && this.#deps.statusLimit.allows(key, live) ? status : undefined
    try {
      await this.#write(key, this.#changesOf(key, { resource, copy, existing, status, reported }))
    } catch (error) {
      // no update makes the whole Pod of its summary
      const summary = existing && associatedWith(existing)
      if (!isStatusError(error, 'Invalid') || !summary || summary.whole) throw error
      await this.#delete(key, existing, 'it is carried up whole from now on')
    }
  }

  /** Its account; the one that it had, until lists of the cluster show whether that is still so. */
  #accountInSet(
    key: SyncKey,
    live: Readonly<KubeObject>,
    existing: Readonly<KubeObject> | undefined,
  ): AssociatedWith | undefined {
    const { associates, mirrorComplete } = this.#deps
    const { uid } = live.metadata
    const association = associates.of(key)
    if (association?.uid === uid) return association && { ...accountOf(key, live, association), whole: true }
    const before = existing && associatedWith(existing)
    if (!existing || before?.uid !== uid) return undefined
    const root = associates.asker(key, existing)
    return !mirrorComplete() || (root && !associates.isKnown(key, root)) ? before : undefined
  }

  /** An object of the cluster that belongs to a copy. Reads come last: most changes of one that waits for its turn cost none. */
  async #carryAssociated(key: SyncKey, association: Association): Promise<ReconcileResult> {
    const { mailbox, mirror, mirrorComplete, served, cluster, clusterServed, room } = this.#deps
    const { ask, space, isOld, uid } = association
    const charged = { space, placement: ask.placement }
    const resource = served.find(key)
    const known = mirror.get(key)?.object
    if (known !== undefined && !isUpsynced(known)) return {}
    if (isOld) return await this.#leaveOut(key, charged, known, 'olderEvents')
    if (!this.#deps.allowance.reportsFrom(key)) return await this.#leaveOut(key, charged, known, 'notAllowed')
    if (resource === undefined) return await this.#leaveOut(key, charged, known, 'notTaken')
    // those that are there come first; a complete mailbox has all looked at again
    if (!known && !mirrorComplete()) return {}
    // another object of that name, which may not be what an update makes of the one before
    if (known && associatedWith(known)?.uid !== uid) return await this.#delete(key, known, 'it is made anew')
    this.#keepRoom()
    if (!room.hasRoom(charged, key)) return await this.#takeBack(key, known)
    const waitMs = Math.max(known ? this.#pace.waitMs(keyText(key)) : 0, room.waitMs(key))
    if (waitMs > 0) return { requeueAfterMs: waitMs }
    const live = await unlessGone(cluster.get(clusterServed.at(key, resource.version) ?? resource, refOf(key)))
    // its watch tells
    if (live?.metadata.uid !== uid || live.metadata.deletionTimestamp !== undefined) return {}
    if (isOurs(live, DOWNSYNCED) || isServersOwn(live)) return {}
    const { copy, status } = associatedCopy(live, apiVersionOf(resource), ask.full, accountOf(key, live, association))
    const reported = status !== undefined && this.#deps.statusLimit.allows(key, live) ? status : undefined
    const bytes = Buffer.byteLength(JSON.stringify([copy, reported]))
    if (!room.take(charged, key, bytes)) return await this.#takeBack(key, known)
    const changesOf = (existing: Readonly<KubeObject> | undefined): Changes =>
      this.#changesOf(key, { resource, copy, existing, status, reported })
    const isSame = ({ apply, patch }: Changes): boolean => !apply && !patch
    if (known && isSame(changesOf(known))) return {}
    const turnMs = room.turnMs(charged, key)
    if (turnMs > 0) return { requeueAfterMs: turnMs }
    const existing = known ?? (await unlessGone(mailbox.get(resource, refOf(key))))
    if (existing !== undefined && !isUpsynced(existing)) return {}
    const changes = changesOf(existing)
    if (isSame(changes)) return {}
    if (existing) this.#pace.repaired(keyText(key))
    try {
      await this.#write(key, changes)
    } catch (error) {
      if (!isStatusError(error, 'Invalid')) throw error
      // a summary may lack what its definition requires; and what is there may be no later state of it
      if (!existing) this.#deps.logger.warn({ ...fieldsOf(key), err: error }, 'the mailbox does not take this object')
      return await this.#leaveOut(key, charged, existing, 'notTaken')
    }
    return {}
  }

  /** Objects that an earlier run carried up keep their room: a restart changes nothing of which ones are there. */
  #keepRoom(): void {
    const { associates, mirror, mirrorComplete, room } = this.#deps
    if (this.#isRoomKept || !mirrorComplete()) return
    this.#isRoomKept = true
    for (const { key, space } of associates.carried()) {
      const object = mirror.get(key)?.object
      const account = object && !this.#isRequested(key) && associatedWith(object)
      if (account) room.reserve({ space, placement: account.placement }, key, Buffer.byteLength(JSON.stringify(object)))
    }
  }

  async #leaveOut(
    key: SyncKey,
    charged: Charged,
    existing: Readonly<KubeObject> | undefined,
    cause: LeftOutCause,
  ): Promise<ReconcileResult> {
    this.#deps.room.leaveOut(charged, key, cause)
    return await this.#takeBack(key, existing)
  }

  async #takeBack(key: SyncKey, existing: Readonly<KubeObject> | undefined): Promise<ReconcileResult> {
    return existing ? await this.#delete(key, existing, 'it has no room there') : {}
  }

  #changesOf(key: SyncKey, { resource, copy, existing, status, reported }: Carried): Changes {
    const withStatus = resource.subresources.includes('status')
    if (!withStatus && reported !== undefined) copy.status = cloneJson(reported)
    return {
      resource,
      copy,
      apply: existing === undefined || this.#echoes.compare(keyText(key), copy, existing) !== 'same',
      patch: withStatus && status !== undefined ? statusPatch(reported, existing?.status) : undefined,
    }
  }

  async #write(key: SyncKey, { resource, copy, apply, patch }: Changes): Promise<void> {
    const { mailbox } = this.#deps
    if (apply) this.#echoes.wrote(keyText(key), copy, await this.#apply(resource, key, copy))
    if (patch)
      await mailbox.patch(resource, refOf(key), 'json', patch, { subresource: 'status', fieldManager: SYNCER_MANAGER })
  }

  /** The definition of a kind that the mailbox lacks, or that we carried there. */
  async #define(
    key: SyncKey,
    resource: DiscoveredResource,
    copy: KubeObject,
    existing: Readonly<KubeObject> | undefined,
  ): Promise<void> {
    if (existing === undefined && this.#deps.served.find(definedBy(key))) return
    // A webhook of the cluster is not reachable from the center.
    if (isRecord(copy.spec)) delete copy.spec.conversion
    if (existing !== undefined && this.#echoes.compare(keyText(key), copy, existing) === 'same') return
    this.#echoes.wrote(keyText(key), copy, await this.#apply(resource, key, copy))
  }

  async #apply(resource: DiscoveredResource, key: SyncKey, copy: KubeObject): Promise<KubeObject> {
    const { mailbox } = this.#deps
    const apply = (): Promise<KubeObject> =>
      mailbox.patch(resource, refOf(key), 'apply', copy, { fieldManager: SYNCER_MANAGER, force: true })
    try {
      return await apply()
    } catch (error) {
      const missing = namespaceTrouble(error) === 'NamespaceMissing'
      if (!missing || key.namespace === '') throw error
      await this.#createNamespace(key.namespace)
      return await apply()
    }
  }

  async #createNamespace(name: string): Promise<void> {
    const object: KubeObject = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }
    try {
      await this.#deps.mailbox.create(NAMESPACES, object, { fieldManager: SYNCER_MANAGER })
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
    }
  }

  async #remove(key: SyncKey): Promise<ReconcileResult> {
    const { mirror, mirrorComplete, associates, logger } = this.#deps
    this.#echoes.forget(keyText(key))
    this.#deps.room.forget(key)
    this.#pace.forget(keyText(key))
    const copy = mirror.get(key)
    if (!copy || !isUpsynced(copy.object) || copy.object.metadata.deletionTimestamp !== undefined) return {}
    const isRequested = this.#isRequested(key)
    const root = isRequested ? undefined : associates.asker(key, copy.object)
    if (!mirrorComplete() || !(root ? associates.isKnown(key, root) : this.#isGone(key))) return {}
    if ((isRequested || root) && (await this.#isUnlisted(key, root))) {
      logger.warn(fieldsOf(key), 'the cluster has this object, and its lists do not hold it; it stays in the mailbox')
      return { requeueAfterMs: DENIED_RETRY_MS }
    }
    const asker = associatedWith(copy.object) ? 'copy' : 'upsync'
    const cause = isRequested || root ? 'it is gone from the cluster' : `no ${asker} names it any more`
    return await this.#delete(key, copy.object, cause)
  }

  async #delete(key: SyncKey, { metadata }: Readonly<KubeObject>, cause: string): Promise<ReconcileResult> {
    const { mailbox, served, logger } = this.#deps
    this.#echoes.forget(keyText(key))
    const resource = this.#deps.mirror.get(key)?.resource ?? served.find(key)
    if (!resource) return {}
    try {
      const { uid = '' } = metadata
      await mailbox.delete(resource, refOf(key), { propagationPolicy: 'Background', preconditions: { uid } })
      logger.info(fieldsOf(key, uid), `deleted from the mailbox: ${cause}`)
    } catch (error) {
      if (!isStatusError(error, 'NotFound', 'Conflict')) throw error
    }
    return {}
  }

  /** Whether the cluster has an object that its lists lack; `root`: the copy that it belongs to, which may be the one that is missing. */
  async #isUnlisted(key: SyncKey, root: SyncKey | undefined): Promise<boolean> {
    const { mirror, associates } = this.#deps
    const missing = root && associates.holds(key) ? root : key
    if (missing === root && associates.isPlaced(root)) return false
    const resource = mirror.get(missing)?.resource
    return resource !== undefined && (await this.#isThere(missing, resource))
  }

  /** A list may be wrong, and so may a discovery: a read of the object itself decides. */
  async #isThere(key: SyncKey, { version }: GroupVersionResource): Promise<boolean> {
    const { cluster, clusterServed } = this.#deps
    const live = await unlessGone(cluster.get(clusterServed.at(key, version) ?? { ...key, version }, refOf(key)))
    return live !== undefined && live.metadata.deletionTimestamp === undefined
  }

  #isRequested(key: SyncKey): boolean {
    return this.#deps.plan().wantsUp(key, key.namespace, key.name) || this.#isWantedDefinition(key)
  }

  #isWantedDefinition(key: SyncKey): boolean {
    return isDefinition(key) && wantsDefinition(this.#deps.plan(), key.name)
  }

  /** Whether it is known, rather than merely not seen, that the cluster has nothing to carry under this key. */
  #isGone(key: SyncKey): boolean {
    const { plan, born, definitions, clusterServed } = this.#deps
    if (plan().wantsUp(key, key.namespace, key.name)) {
      if (born.hasSynced(key)) return true
      // The kind itself left the cluster: its CRD is gone, not just slow to be served.
      const definition = { ...CRDS, namespace: '', name: `${key.resource}.${key.group}` }
      return clusterServed.lacks(key) && definitions.hasSynced(CRDS) && definitions.get(CRDS, definition) === undefined
    }
    return !this.#isWantedDefinition(key) || definitions.hasSynced(CRDS)
  }
}

/** The kind that a definition of this name is of. */
function definedBy({ name }: SyncKey): GroupResource {
  const [resource = '', ...group] = name.split('.')
  return { group: group.join('.'), resource }
}

function isDefinition(key: SyncKey): boolean {
  return groupResourceName(key) === groupResourceName(CRDS)
}

interface Carried {
  readonly resource: DiscoveredResource
  readonly copy: KubeObject
  readonly existing: Readonly<KubeObject> | undefined
  readonly status: unknown
  /** Absent where it is too large. */
  readonly reported: unknown
}

/** Writes that bring a mailbox up to date. */
interface Changes {
  readonly resource: DiscoveredResource
  readonly copy: KubeObject
  readonly apply: boolean
  readonly patch: object[] | undefined
}

function accountOf(
  key: SyncKey,
  live: Readonly<KubeObject>,
  { root, rootUid, ask, uid, owners }: Association,
): AssociatedWith {
  const { creationTimestamp } = live.metadata
  const { health, message } = isEvents(key) ? {} : healthOf(key, live)
  return {
    root,
    rootUid,
    placement: ask.placement,
    uid,
    owners,
    ...(creationTimestamp !== undefined && { created: creationTimestamp }),
    ...(health !== undefined && { health }),
    ...(message && { message: shortened(message, MAX_HEALTH_MESSAGE) }),
  }
}

const MAX_HEALTH_MESSAGE = 300
