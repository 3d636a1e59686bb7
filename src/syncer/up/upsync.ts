/** Objects born in the cluster, carried into the mailbox: with their namespace, and with their CRD where it is missing. */
import { hasCause, isStatusError, namespaceTrouble } from '../../apimachinery/errors.ts'
import { messageOf } from '../../apimachinery/messageOf.ts'
import {
  apiVersionOf,
  type GroupVersionResource,
  groupResourceName,
  isRecord,
  type KubeObject,
} from '../../apimachinery/object.ts'
import { CRDS, NAMESPACES } from '../../apimachinery/resources.ts'
import { cloneJson } from '../../apimachinery/values.ts'
import type { DiscoveredResource, SpaceClient } from '../../client/client.ts'
import type { Logger } from '../../client/logger.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import { BUDGET_EXCEEDED } from '../../placement/spaces/spaceBudget.ts'
import { DOWNSYNCED, UPSYNC_FULL } from '../../placement/words/placement.ts'
import type { ClusterAllowance, Refusal } from '../mailbox/clusterAllowance.ts'
import { Echoes } from '../mailbox/echoes.ts'
import { fieldsOf, keyText, type MailboxMirror, refOf, type SyncKey } from '../mailbox/mirror.ts'
import { type SyncPlan, wantsDefinition } from '../mailbox/syncPlan.ts'
import { upsyncCopy } from '../objects/copies.ts'
import { isOurs, isServersOwn, isUpsynced, SYNCER_MANAGER } from '../objects/marks.ts'
import type { ClusterWatches } from '../sees/clusterWatches.ts'
import type { ServedResources } from '../sees/served.ts'
import type { Refusals } from '../tells/refusals.ts'
import { type StatusLimit, statusPatch } from './statusLimit.ts'

interface UpsyncDeps {
  mailbox: SpaceClient
  /** Asked before anything is taken from the mailbox. */
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
  plan: () => SyncPlan
  mirrorComplete: () => boolean
  refusals: Refusals
  allowance: ClusterAllowance
  statusLimit: StatusLimit
  logger: Logger
}

/** What its lists do not hold and the cluster has is looked at again after this, for no watch may tell of its end. */
const DENIED_RETRY_MS = 60_000

export class Upsync {
  readonly #deps: UpsyncDeps
  readonly #echoes = new Echoes()
  /** Objects that had no room in the mailbox at the last attempt. */
  readonly #withoutRoom = new Set<string>()

  constructor(deps: UpsyncDeps) {
    this.#deps = deps
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
    this.#withoutRoom.delete(keyText(key))
    if (!this.#deps.plan().wantsDown(key, key.namespace, key.name)) this.#deps.refusals.settle(key)
    return await this.#remove(key)
  }

  /** There may be room again any time: tried again like other trouble, and told by the queue. */
  async #reporting(key: SyncKey, work: () => Promise<void>): Promise<void> {
    const id = keyText(key)
    try {
      await work()
    } catch (error) {
      if (hasCause(error, BUDGET_EXCEEDED)) {
        this.#withoutRoom.add(id)
        this.#deps.refusals.note(key, { reason: UPSYNC_FULL, message: messageOf(error) })
      }
      throw error
    }
    if (this.#withoutRoom.delete(id)) this.#deps.refusals.settle(key)
  }

  /** What may not be carried into the cluster does not come out of it either. A CRD comes with what it defines. */
  #refusalOf(key: SyncKey): Refusal | undefined {
    const { allowance, plan } = this.#deps
    if (!isDefinition(key) || plan().wantsUp(key, key.namespace, key.name)) return allowance.refusalOf(key)
    const [resource = '', ...group] = key.name.split('.')
    const defined = { group: group.join('.'), resource }
    return [true, false].some(namespaced => allowance.mayCarry(defined, namespaced))
      ? undefined
      : allowance.refusalOf(key)
  }

  /** The object to be carried. */
  #live(key: SyncKey): Readonly<KubeObject> | undefined {
    const { plan, born, definitions } = this.#deps
    if (plan().wantsUp(key, key.namespace, key.name)) return born.get(key, key)
    return isDefinition(key) && wantsDefinition(plan(), key.name) ? definitions.get(key, key) : undefined
  }

  async #carry(key: SyncKey, live: Readonly<KubeObject>): Promise<void> {
    const { mailbox, mirror, served } = this.#deps
    const resource = served.find(key)
    // Its CRD is on the way by a key of its own; when the mailbox serves it this one comes again.
    if (resource === undefined) return
    const existing = mirror.get(key)?.object ?? (await unlessGone(mailbox.get(resource, refOf(key))))
    if (existing !== undefined && !isUpsynced(existing)) return
    const copy = upsyncCopy(live, apiVersionOf(resource))
    if (isDefinition(key)) return await this.#define(key, resource, copy, existing)
    const withStatus = resource.subresources.includes('status')
    const { status } = live
    const reported = status !== undefined && this.#deps.statusLimit.allows(key, live) ? status : undefined
    if (!withStatus && reported !== undefined) copy.status = cloneJson(reported)
    if (existing === undefined || this.#echoes.compare(keyText(key), copy, existing) !== 'same') {
      const result = await this.#apply(resource, key, copy)
      this.#echoes.wrote(keyText(key), copy, result)
    }
    const patch = withStatus && status !== undefined ? statusPatch(reported, existing?.status) : undefined
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
    const [plural = '', ...group] = key.name.split('.')
    if (existing === undefined && this.#deps.served.find({ group: group.join('.'), resource: plural })) return
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
    const { mirror, mirrorComplete, mailbox, logger } = this.#deps
    this.#echoes.forget(keyText(key))
    const copy = mirror.get(key)
    if (!copy || !isUpsynced(copy.object) || copy.object.metadata.deletionTimestamp !== undefined) return {}
    if (!mirrorComplete() || !this.#isGone(key)) return {}
    const isAskedFor = this.#isAskedFor(key)
    if (isAskedFor && (await this.#isThere(key, copy.resource))) {
      logger.warn(fieldsOf(key), 'the cluster has this object, and its lists do not hold it; it stays in the mailbox')
      return { requeueAfterMs: DENIED_RETRY_MS }
    }
    try {
      const { uid = '' } = copy.object.metadata
      const cause = isAskedFor ? 'it is gone from the cluster' : 'no upsync names it any more'
      await mailbox.delete(copy.resource, refOf(key), { propagationPolicy: 'Background', preconditions: { uid } })
      this.#deps.logger.info(fieldsOf(key, uid), `deleted from the mailbox: ${cause}`)
    } catch (error) {
      if (!isStatusError(error, 'NotFound', 'Conflict')) throw error
    }
    return {}
  }

  /** A list may be wrong, and so may a discovery: the cluster is asked for the object itself. */
  async #isThere(key: SyncKey, { version }: GroupVersionResource): Promise<boolean> {
    const { cluster, clusterServed } = this.#deps
    const live = await unlessGone(cluster.get(clusterServed.at(key, version) ?? { ...key, version }, refOf(key)))
    return live !== undefined && live.metadata.deletionTimestamp === undefined
  }

  #isAskedFor(key: SyncKey): boolean {
    const plan = this.#deps.plan()
    return plan.wantsUp(key, key.namespace, key.name) || (isDefinition(key) && wantsDefinition(plan, key.name))
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
    return !(isDefinition(key) && wantsDefinition(plan(), key.name)) || definitions.hasSynced(CRDS)
  }
}

function isDefinition(key: SyncKey): boolean {
  return groupResourceName(key) === groupResourceName(CRDS)
}
