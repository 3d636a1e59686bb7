/** Mailbox to cluster: applies what the plan wants, deletes what it no longer wants and we made, repairs what drifts. */
import { isEmptySet, union } from '../apimachinery/apply/fieldSet.ts'
import { isStatusError } from '../apimachinery/errors.ts'
import { isKubernetesService } from '../apimachinery/kubernetesService.ts'
import { leftFieldsOf, type Pointer, withoutFields } from '../apimachinery/leftFields.ts'
import { apiVersionOf, groupResourceName, type KubeObject } from '../apimachinery/object.ts'
import type { Produced } from '../apimachinery/observedGeneration.ts'
import {
  ADOPT,
  DOWNSYNCED,
  isProjected,
  OVERWRITE,
  PROJECTED_LABEL,
  PROJECTED_VALUE,
} from '../apimachinery/placement.ts'
import { NAMESPACES } from '../apimachinery/resources.ts'
import type { DiscoveredResource, SpaceClient } from '../client/client.ts'
import { type Clock, systemClock } from '../client/clock.ts'
import type { Logger } from '../client/logger.ts'
import { unlessGone } from '../client/unlessGone.ts'
import type { ReconcileResult } from '../client/workqueue.ts'
import type { Allowance } from './allowance.ts'
import { ClusterOwners } from './clusterOwners.ts'
import type { ClusterWatches } from './clusterWatches.ts'
import { keepsClusters, versionRefusal } from './definitions.ts'
import { Dialect } from './dialect.ts'
import { type Echo, Echoes } from './echoes.ts'
import type { EmptiedNamespaces } from './emptiedNamespaces.ts'
import {
  heldCopy,
  LEFT_MANAGER,
  leftCopy,
  ownedByOthers,
  type Released,
  releasedBy,
  stillLeft,
  toHandOver,
} from './handOver.ts'
import { fieldsOf, keyText, type MailboxMirror, type Mirrored, refOf, type SyncKey } from './mirror.ts'
import { type Outcomes, type Trouble, troubleOf } from './outcomes.ts'
import {
  downsyncCopy,
  FIELD_MANAGER,
  isClusterRecord,
  isImplied,
  isMade,
  isOurs,
  isOursToDelete,
  isServersOwn,
  isStrangers,
  mayAdopt,
  mayOverwrite,
  ownerOf,
  spaceUser,
} from './ownership.ts'
import type { Refusal, Refusals } from './refusals.ts'
import { disclaimed, isPreserved } from './release.ts'
import { RepairPace } from './repairPace.ts'
import type { ServedResources } from './served.ts'
import type { SyncPlan } from './syncPlan.ts'
import { choiceOf } from './unionMembers.ts'

export interface DownsyncDeps {
  /** Reads, and writes unless `as` is there. */
  cluster: SpaceClient
  /** The cluster in the name of a user. What a space owns is then written as {@link spaceUser}, so that the cluster's own access
   * control judges it. */
  as?: ((user: string) => SpaceClient) | undefined
  served: ServedResources
  mirror: MailboxMirror
  /** The downsynced objects of the cluster. */
  watches: ClusterWatches
  plan: () => SyncPlan
  /** Whether the mirror is complete: only then is an absent object a deleted one. */
  mirrorComplete: () => boolean
  refusals: Refusals
  /** Is told what of the mailbox is not in the cluster as it should be. */
  outcomes: Pick<Outcomes, 'except' | 'settle'>
  allowance: Allowance
  emptied: Pick<EmptiedNamespaces, 'remove'>
  /** Whether all that is in the cluster already may be adopted. */
  adoptExisting: boolean
  /** {@link Downsync.produced} may answer otherwise. */
  onProduced?: (key: SyncKey) => void
  /** The object is to be looked at again. */
  again: (key: SyncKey) => void
  logger: Logger
  clock?: Clock
}

/** A kind that the cluster does not serve (yet) is looked for again after this; its CRD's arrival wakes the key sooner. */
const NOT_SERVED_RETRY_MS = 30_000
/** An object that is going away and that we do not watch. */
const TERMINATING_RETRY_MS = 5000
/** What somebody else made in the cluster may go, and no watch of ours tells. */
const STRANGER_RETRY_MS = 300_000

const RELEASE_ATTEMPTS = 5

/** The cluster's news of what was just written may be on their way still. */
const SOON = { requeueAfterMs: 50 }

const ALREADY_IN_CLUSTER: Refusal = {
  reason: 'AlreadyInCluster',
  message:
    `was in the cluster before, and no syncer made it; annotate its source with ${ADOPT}: "true" to take it over, ` +
    'or start the syncer with --adopt-existing',
}

const NO_OWNER: Refusal = {
  reason: 'NoOwner',
  message: 'does not tell the space that owns it, in whose name it would be applied (--impersonate)',
}

type Outcome = ReconcileResult & { refusal?: Refusal; trouble?: Trouble }

const HELD: Trouble = {
  state: 'held',
  reason: 'Paused',
  message: 'nothing is written to the cluster while its SyncTarget is paused',
}
const NOT_ASKED: Trouble = {
  state: 'waiting',
  reason: 'NotAsked',
  message: 'no SyncerConfig of the mailbox asks for it yet',
}
const UNSERVED: Trouble = {
  state: 'unserved',
  reason: 'KindNotServed',
  message: 'the cluster does not serve this kind',
}
const GOING: Trouble = {
  state: 'terminating',
  reason: 'Terminating',
  message: 'what the cluster holds is being deleted, and is made anew then',
}
const FOUGHT: Trouble = {
  state: 'drifted',
  reason: 'Fought',
  message: 'somebody in the cluster keeps changing fields of it; they are put back ever more slowly',
}

interface ApplyTarget {
  readonly resource: DiscoveredResource
  readonly key: SyncKey
  /** In whose name it is written. */
  readonly cluster: SpaceClient
}

/** Why the syncer deletes from the cluster. */
const CAUSES = {
  sourceGone: 'its source is gone',
  unwanted: 'its source is there, and no placement wants it here any more',
  leftover: 'left by an earlier run, and the mailbox does not hold it',
  replaced: 'its source was deleted and made anew with other fields that cannot be changed; it comes again',
} as const

export class Downsync {
  readonly #deps: DownsyncDeps
  readonly owners: ClusterOwners
  readonly #echoes = new Echoes()
  readonly #pace: RepairPace
  readonly #dialect: Dialect
  /** What may be in the cluster without our having heard so. Not all of it is unwanted. */
  readonly #leftovers = new Map<string, SyncKey>()
  /** What the mailbox held in this run and holds no more. */
  readonly #left = new Map<string, { readonly isPreserved: boolean }>()
  /** What was looked at in this run. */
  readonly #judged = new Set<string>()
  /** Kinds that were said to be missing. */
  readonly #unserved = new Set<string>()
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #busy = new Set<string>()
  /** What came while nothing may be written. */
  #waiting: Map<string, SyncKey> | undefined

  constructor(deps: DownsyncDeps) {
    this.#deps = deps
    const { logger, clock = systemClock } = deps
    this.#pace = new RepairPace(clock)
    this.#dialect = new Dialect({ logger, clock })
    this.owners = new ClusterOwners({
      ...deps,
      clock,
      writer: live => this.#writer(ownerOf(live)),
      isBusy: key => this.#busy.has(keyText(key)),
      staysPreserved: key => this.#left.get(keyText(key))?.isPreserved === true,
    })
  }

  /** Tells of an object that an earlier run left in the cluster. */
  foundLeftover(key: SyncKey): void {
    this.#leftovers.set(keyText(key), key)
  }

  /** Tells of an object that the mailbox held until now. */
  sourceLeft(key: SyncKey, object: Readonly<KubeObject> | undefined): void {
    this.#left.set(keyText(key), { isPreserved: isPreserved(object) })
  }

  /** What is to be looked at again whenever the mirror becomes complete: no watch may tell of it. */
  leftovers(): Iterable<SyncKey> {
    return this.#leftovers.values()
  }

  /** From now on nothing is written; resolves when what was under way is over. */
  async hold(): Promise<void> {
    this.#waiting ??= new Map()
    await Promise.allSettled([...this.#underWay])
  }

  /** Writes again; what came meanwhile is to be looked at. */
  resume(): Iterable<SyncKey> {
    const waiting = this.#waiting ?? new Map<string, SyncKey>()
    this.#waiting = undefined
    return waiting.values()
  }

  /**
   * Which generation of `live` came of which of the mailbox's object; `unknown` where this run has not written it. `undefined`
   * until it was looked at: then it will be known in a moment.
   */
  produced(key: SyncKey, object: Readonly<KubeObject>, live: Readonly<KubeObject>): Produced | 'unknown' | undefined {
    const text = keyText(key)
    const echo = this.#echoes.get(text)
    if (echo === undefined) return this.#judged.has(text) ? 'unknown' : undefined
    const { sourceUid, sourceGeneration: here, uid, generation: there } = echo
    if (here === undefined || there === undefined) return 'unknown'
    return sourceUid === object.metadata.uid && uid === live.metadata.uid ? { here, there } : 'unknown'
  }

  async reconcile(key: SyncKey): Promise<ReconcileResult> {
    if (this.#waiting) {
      this.#waiting.set(keyText(key), key)
      this.#except(key, HELD)
      this.#judge(key, this.#echoes.get(keyText(key)))
      return {}
    }
    this.#busy.add(keyText(key))
    const work = this.#reconcile(key)
    this.#underWay.add(work)
    try {
      return await work
    } finally {
      this.#underWay.delete(work)
      this.#busy.delete(keyText(key))
    }
  }

  async #reconcile(key: SyncKey): Promise<ReconcileResult> {
    const { mirror, plan, mirrorComplete } = this.#deps
    // The cluster's own, whoever marked it and whatever the mailbox says.
    if (isKubernetesService(key, key.namespace, key.name)) return {}
    if (groupResourceName(key) === 'configmaps' && isClusterRecord(key)) return {}
    const mirrored = mirror.get(key)
    if (mirrored) this.#left.delete(keyText(key))
    // Of this sort the cluster has its own, too.
    if (mirrored && isServersOwn(mirrored.object)) return {}
    if (mirrored && plan().wantsDown(key, key.namespace, key.name)) return await this.#carry(key, mirrored)
    // Namespaces hold more than what we put there: only a Namespace that left the mailbox leaves the cluster.
    const kept = mirrored !== undefined && groupResourceName(key) === 'namespaces'
    if (kept || !mirrorComplete()) {
      if (kept) this.#deps.refusals.settle(key)
      if (mirrored && isProjected(mirrored.object)) this.#except(key, NOT_ASKED)
      else this.#deps.outcomes.settle(key)
      return {}
    }
    return await this.#tellingOf(key, async () => {
      const waitMs = await this.#deps.emptied.remove(key)
      if (waitMs !== undefined) return { requeueAfterMs: waitMs }
      const removed = await this.#remove(key, mirrored !== undefined)
      const isWaiting = mirrored !== undefined && isProjected(mirrored.object)
      return { ...removed, ...(isWaiting && { trouble: NOT_ASKED }) }
    })
  }

  async #carry(key: SyncKey, mirrored: Mirrored): Promise<ReconcileResult> {
    const refusal = this.#deps.allowance.refusalOf(key)
    const before = this.#echoes.get(keyText(key))
    try {
      return await this.#tellingOf(key, async () => (refusal ? { refusal } : await this.#apply(key, mirrored)))
    } finally {
      this.#judge(key, before)
    }
  }

  /** Whatever came of it, its status need not wait any longer. */
  #judge(key: SyncKey, before: Echo | undefined): void {
    const text = keyText(key)
    if (this.#judged.has(text) && this.#echoes.get(text) === before) return
    this.#judged.add(text)
    this.#deps.onProduced?.(key)
  }

  async #tellingOf(key: SyncKey, work: () => Promise<Outcome>): Promise<ReconcileResult> {
    const { refusals, outcomes } = this.#deps
    try {
      const { refusal, trouble, ...result } = await work()
      if (refusal) refusals.refuse(key, refusal)
      else refusals.settle(key)
      if (refusal) this.#except(key, { state: 'refused', ...refusal })
      else if (trouble) this.#except(key, trouble)
      else outcomes.settle(key)
      return result
    } catch (error) {
      this.#except(key, troubleOf(error))
      // Rights may be on their way: tried again like other trouble, and told by the queue.
      if (isStatusError(error, 'Forbidden')) refusals.note(key, { reason: 'Forbidden', message: error.message })
      throw error
    }
  }

  #except(key: SyncKey, trouble: Trouble): void {
    const { mirror, outcomes } = this.#deps
    outcomes.except(key, Number(mirror.get(key)?.object.metadata.resourceVersion ?? 0), trouble)
  }

  /** @param needer the space whose object needs a Namespace that nobody placed */
  async #apply(key: SyncKey, { resource: { version }, object }: Mirrored, needer?: string): Promise<Outcome> {
    const { served, watches } = this.#deps
    const implied = this.#deps.as !== undefined && isImplied(object)
    const owner = this.#deps.as && (ownerOf(object) ?? (implied ? needer : undefined))
    // It comes with the first object that needs it, in the name of its space.
    if (implied && owner === undefined) return {}
    if (this.#deps.as && owner === undefined) return { refusal: NO_OWNER }
    let resource = await this.#served(key, version)
    if (resource?.version !== version) {
      const refusal = await versionRefusal(this.#deps, key, version)
      if (refusal) return { refusal, requeueAfterMs: NOT_SERVED_RETRY_MS }
      resource = served.at(key, version)
    }
    if (resource === undefined) return { requeueAfterMs: NOT_SERVED_RETRY_MS, trouble: UNSERVED }
    const text = keyText(key)
    const cached = watches.get(key, key)
    let live = cached ?? (await unlessGone(this.#deps.cluster.get(resource, refOf(key))))
    if (live === undefined) {
      const alone = downsyncCopy(object, { apiVersion: apiVersionOf(resource), mark: true, owner })
      const copy = await this.owners.complete(key, object, alone, { fresh: true })
      const made = await this.#make(resource, key, copy, owner)
      if (made !== undefined) {
        this.#echoes.wrote(text, copy, made, object)
        this.owners.stands(key, object, made)
        this.owners.observed(resource, { type: 'apply', object: made })
        // made with all of it; what is left to the cluster is let go of now
        return leftFieldsOf(object).length > 0 ? SOON : {}
      }
      // Somebody was faster than we: it is theirs.
      live = await unlessGone(this.#deps.cluster.get(resource, refOf(key)))
      if (live === undefined) return { requeueAfterMs: TERMINATING_RETRY_MS, trouble: GOING }
    }
    if (live.metadata.deletionTimestamp !== undefined) {
      this.#echoes.forget(text)
      return cached ? { trouble: GOING } : { requeueAfterMs: TERMINATING_RETRY_MS, trouble: GOING } // when it is gone it is made again
    }
    if (implied) return {} // there, which is all that is needed of it
    if (keepsClusters(object, live)) return { requeueAfterMs: STRANGER_RETRY_MS }
    if (!mayOverwrite(object)) return await this.#handsOff(resource, key, object, live)
    if (!this.#deps.adoptExisting && !mayAdopt(object) && isStrangers(live))
      return { refusal: ALREADY_IN_CLUSTER, requeueAfterMs: STRANGER_RETRY_MS }
    const whole = downsyncCopy(object, { apiVersion: apiVersionOf(resource), mark: isMade(object, live), owner })
    const left = leftFieldsOf(object)
    const alone = withoutFields(whole, left)
    let copy = await this.owners.complete(key, object, alone, { fresh: false })
    let state = this.#echoes.compare(text, copy, live)
    if (state === 'drifted' && cached) {
      // The watch may be behind our own write.
      live = await unlessGone(this.#deps.cluster.get(resource, refOf(key)))
      // gone, or made anew: whose it is now is judged when the watch tells of it
      if (live === undefined || live.metadata.uid !== cached.metadata.uid) return {}
      state = this.#echoes.compare(text, copy, live)
    }
    if (state === 'same') {
      this.#echoes.stands(text, object)
      this.owners.stands(key, object, live)
      return {}
    }
    // Only what the cluster changed is a repair: what the center changed must never wait behind a quarrel.
    const drifted = state === 'drifted'
    const waitMs = drifted ? this.#pace.waitMs(text) : 0
    if (waitMs > 0) return { requeueAfterMs: waitMs, trouble: FOUGHT }
    copy = await this.owners.complete(key, object, alone, { fresh: true })
    try {
      const result = await this.#write(resource, key, copy, live, left)
      this.#echoes.wrote(text, copy, result, object)
      this.owners.stands(key, object, result)
      if (drifted && result.metadata.resourceVersion !== live.metadata.resourceVersion) this.#repaired(key)
      return {}
    } catch (error) {
      if (isStatusError(error, 'NotFound') && error.details?.kind !== 'namespaces') await served.refresh()
      const replaced = isStatusError(error, 'Invalid') && (await this.#replace(resource, key, live, object))
      if (replaced) return { ...replaced, trouble: GOING }
      if (await this.#chooseAnew({ resource, key, cluster: this.#writer(owner) }, copy, error))
        return { ...SOON, trouble: troubleOf(error) }
      throw error
    }
  }

  /** Takes away what the cluster holds beside a choice that was made anew; whether that was what an apply failed at. */
  async #chooseAnew({ resource, key, cluster }: ApplyTarget, copy: KubeObject, error: unknown): Promise<boolean> {
    if (!isStatusError(error, 'Invalid')) return false
    const live = await cluster.get(resource, refOf(key))
    const choice = choiceOf(error, copy, live, ownedByOthers(live))
    if (choice === undefined) return false
    // Not as the syncer's own: its claims are those of its applies.
    await cluster.patch(resource, refOf(key), 'json', choice, { fieldManager: LEFT_MANAGER })
    return true
  }

  /**
   * Creates, and never adopts: what is marked as ours is deleted when it is not wanted any more, and an apply would put the
   * mark on what somebody else made in the same moment.
   * @returns `undefined` when the object is there already
   */
  async #make(
    resource: DiscoveredResource,
    key: SyncKey,
    copy: KubeObject,
    owner: string | undefined,
  ): Promise<KubeObject | undefined> {
    const text = keyText(key)
    // Should the answer be lost, it may be there, and may not be wanted any more by then.
    this.#leftovers.set(text, key)
    try {
      const made = await this.#inNamespace(key, owner, () =>
        this.#writer(owner).create(resource, copy, { fieldManager: FIELD_MANAGER }),
      )
      this.#leftovers.delete(text)
      return made
    } catch (error) {
      if (isStatusError(error, 'AlreadyExists')) return undefined
      if (isStatusError(error, 'NotFound') && error.details?.kind !== 'namespaces') await this.#deps.served.refresh()
      throw error
    }
  }

  async #write(
    resource: DiscoveredResource,
    key: SyncKey,
    copy: KubeObject,
    live: Readonly<KubeObject>,
    left: readonly Pointer[],
  ): Promise<KubeObject> {
    const cluster = this.#writer(ownerOf(copy))
    await this.#takeOver(resource, key, live, cluster)
    // With its uid the apply fails when it is not that object any more, and what we know about ownership with it.
    const { uid } = live.metadata
    const guarded = uid ? { ...copy, metadata: { ...copy.metadata, uid } } : copy
    const target = { resource, key, cluster }
    const released = releasedBy(copy, live, left)
    const applied = isEmptySet(union(released.unsaid, released.left))
      ? await this.#applyDeclared(target, guarded)
      : await this.#applyReleasing(target, guarded, released)
    const result = await this.#takeBack(target, copy, applied)
    if (
      result.metadata.annotations?.[OVERWRITE] !== undefined &&
      copy.metadata.annotations?.[OVERWRITE] === undefined
    ) {
      const body = { metadata: { annotations: { [OVERWRITE]: null } } }
      return await cluster.patch(resource, refOf(key), 'merge', body, { fieldManager: FIELD_MANAGER })
    }
    return result
  }

  /** What we created counts as applied from now on: else fields that the center drops would stay ours for ever. */
  async #takeOver(
    resource: DiscoveredResource,
    key: SyncKey,
    live: Readonly<KubeObject>,
    cluster: SpaceClient,
  ): Promise<void> {
    const { managedFields = [] } = live.metadata
    const mine = managedFields.filter(({ manager, subresource }) => manager === FIELD_MANAGER && !subresource)
    if (mine.length !== 1 || mine[0]!.operation !== 'Update') return
    const at = `/metadata/managedFields/${managedFields.indexOf(mine[0]!)}`
    const body = [
      { op: 'test', path: '/metadata/uid', value: live.metadata.uid },
      { op: 'test', path: `${at}/manager`, value: FIELD_MANAGER },
      { op: 'replace', path: `${at}/operation`, value: 'Apply' },
    ]
    try {
      await cluster.patch(resource, refOf(key), 'json', body, { fieldManager: FIELD_MANAGER })
    } catch (error) {
      // The apply behind this one, which names the uid, tells the same.
      if (!isStatusError(error, 'NotFound')) throw error
    }
  }

  /** Somebody may write, a status say, between the look and the apply: then once more. */
  async #applyReleasing(target: ApplyTarget, copy: KubeObject, released: Released): Promise<KubeObject> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#applyDeclared(target, await this.#handOver(target, copy, released))
      } catch (error) {
        if (!isStatusError(error, 'Conflict') || attempt === RELEASE_ATTEMPTS) throw error
      }
    }
  }

  /**
   * Before the center lets go of fields: those that the cluster's own defaults would change are kept as they are by another
   * manager. What it is then to apply, which fails when the object has changed since it was looked at.
   */
  async #handOver(target: ApplyTarget, copy: KubeObject, { unsaid, left }: Released): Promise<KubeObject> {
    const { resource, key, cluster } = target
    const fresh = await cluster.get(resource, refOf(key))
    const without = isEmptySet(unsaid) ? fresh : await this.#tried(target, copy)
    if (without === undefined && isEmptySet(left)) return copy
    const handed = union(left, toHandOver(unsaid, fresh, without ?? fresh))
    const held = isEmptySet(handed)
      ? fresh
      : await cluster.patch(resource, refOf(key), 'apply', leftCopy(fresh, handed), {
          fieldManager: LEFT_MANAGER,
          force: true,
        })
    const { resourceVersion } = held.metadata
    return resourceVersion === undefined ? copy : { ...copy, metadata: { ...copy.metadata, resourceVersion } }
  }

  /** What the center says again is nobody else's any more: else it would stay when the center takes it away. */
  async #takeBack({ resource, key, cluster }: ApplyTarget, copy: KubeObject, live: KubeObject): Promise<KubeObject> {
    const still = stillLeft(copy, live)
    if (still === undefined) return live
    const options = { fieldManager: LEFT_MANAGER, force: true }
    return await cluster.patch(resource, refOf(key), 'apply', heldCopy(live, still), options)
  }

  /** What an apply would make; `undefined` where somebody in the cluster, a webhook, allows no trying. */
  async #tried(target: ApplyTarget, copy: KubeObject): Promise<KubeObject | undefined> {
    try {
      return await this.#applyDeclared(target, copy, { dryRun: true })
    } catch (error) {
      if (!isStatusError(error, 'BadRequest')) throw error
      this.#deps.logger.warn(
        fieldsOf(target.key, copy.metadata.uid ?? ''),
        `what the center says no more falls back to the cluster's defaults, for an apply cannot be tried: ${error.message}`,
      )
      return undefined
    }
  }

  /** Leaves out what this cluster's release does not know. */
  async #applyDeclared(
    { resource, key, cluster }: ApplyTarget,
    copy: KubeObject,
    { dryRun = false } = {},
  ): Promise<KubeObject> {
    const options = { fieldManager: FIELD_MANAGER, force: true, ...(dryRun && { dryRun }) }
    return await this.#dialect.speak(resource, copy, body =>
      this.#inNamespace(key, ownerOf(copy), () => cluster.patch(resource, refOf(key), 'apply', body, options)),
    )
  }

  /** The cluster, in the name of the space that owns what is written where that is wanted. */
  #writer(owner: string | undefined): SpaceClient {
    const { as, cluster } = this.#deps
    return as && owner !== undefined ? as(spaceUser(owner)) : cluster
  }

  /** Makes the Namespace first where it is missing. */
  async #inNamespace(key: SyncKey, owner: string | undefined, write: () => Promise<KubeObject>): Promise<KubeObject> {
    const { mirror, plan } = this.#deps
    try {
      return await write()
    } catch (error) {
      const missing = isStatusError(error, 'NotFound') && error.details?.kind === 'namespaces'
      if (!missing || key.namespace === '') throw error
      const namespace = { ...NAMESPACES, namespace: '', name: key.namespace }
      const mirrored = mirror.get(namespace)
      if (!mirrored || !plan().wantsDown(namespace, '', key.namespace)) throw error
      await this.#apply(namespace, mirrored, owner)
      return await write()
    }
  }

  /** The cluster's copy must say so too: its annotation decides about deletion. */
  async #handsOff(
    resource: DiscoveredResource,
    key: SyncKey,
    object: Readonly<KubeObject>,
    live: Readonly<KubeObject>,
  ): Promise<ReconcileResult> {
    const value = object.metadata.annotations?.[OVERWRITE]
    if (live.metadata.annotations?.[OVERWRITE] === value && isProjected(live)) return {}
    const metadata = { annotations: { [OVERWRITE]: value }, labels: { [PROJECTED_LABEL]: PROJECTED_VALUE } }
    await this.#writer(ownerOf(object)).patch(
      resource,
      refOf(key),
      'merge',
      { metadata },
      { fieldManager: FIELD_MANAGER },
    )
    this.#echoes.forget(keyText(key))
    return {}
  }

  /** Deleted and made anew in the center with other immutable fields: the cluster's copy goes the same way. */
  async #replace(
    resource: DiscoveredResource,
    key: SyncKey,
    live: Readonly<KubeObject>,
    object: Readonly<KubeObject>,
  ): Promise<ReconcileResult | undefined> {
    const before = this.#echoes.get(keyText(key))?.sourceUid
    if (before === undefined || before === object.metadata.uid || !isOurs(live, DOWNSYNCED)) return undefined
    return await this.#delete(resource, key, live, 'replaced')
  }

  /** The refusal says why it stays although nobody wants it any more. */
  async #remove(key: SyncKey, held: boolean): Promise<Outcome> {
    const { cluster, served, watches } = this.#deps
    const text = keyText(key)
    // Most of what the mailbox holds was never meant for the cluster: that is not worth a question.
    if (!this.#echoes.get(text) && !this.#leftovers.has(text) && !watches.get(key, key)) {
      this.#left.delete(text)
      return {}
    }
    const refusal = this.#deps.allowance.refusalOf(key)
    if (refusal) return { refusal: { ...refusal, message: `stays, for its deletion ${refusal.message}` } }
    const resource = served.find(key)
    const live = resource && (await unlessGone(cluster.get(resource, refOf(key))))
    // The mailbox may have gone while the cluster was asked.
    if (!this.#deps.mirrorComplete()) return {}
    if (live && (isPreserved(live) || this.#left.get(text)?.isPreserved)) await this.#release(resource, key, live)
    else if (live && isOursToDelete(live)) {
      const gone = this.#left.has(text) ? 'sourceGone' : 'leftover'
      const waits = await this.#delete(resource, key, live, held ? 'unwanted' : gone)
      if (waits.requeueAfterMs !== undefined) return waits
    }
    this.owners.left(key)
    this.#left.delete(text)
    this.#echoes.forget(text)
    this.#judged.delete(text)
    this.#pace.forget(text)
    this.#leftovers.delete(text)
    return {}
  }

  async #delete(
    resource: DiscoveredResource,
    key: SyncKey,
    live: Readonly<KubeObject>,
    cause: keyof typeof CAUSES,
  ): Promise<ReconcileResult> {
    const { uid = '' } = live.metadata
    const requeueAfterMs = await this.owners.letGo(key, live, async () => {
      try {
        const options = { propagationPolicy: 'Background', preconditions: { uid } } as const
        await this.#writer(ownerOf(live)).delete(resource, refOf(key), options)
        this.#deps.logger.info(fieldsOf(key, uid), `deleted from the cluster: ${CAUSES[cause]}`)
      } catch (error) {
        if (!isStatusError(error, 'NotFound', 'Conflict')) throw error
      }
    })
    return requeueAfterMs === undefined ? {} : { requeueAfterMs }
  }

  /** It stays, and is nobody's from now on. */
  async #release(resource: DiscoveredResource, key: SyncKey, live: Readonly<KubeObject>): Promise<void> {
    const { uid } = live.metadata
    const writer = this.#writer(ownerOf(live))
    const body = disclaimed(live, await this.owners.keptBy(live))
    if (!(await unlessGone(writer.patch(resource, refOf(key), 'merge', body, { fieldManager: FIELD_MANAGER })))) return
    this.#deps.logger.info(fieldsOf(key, uid), 'left in the cluster, unmarked: whoever placed it wants it to stay')
  }

  async #served(key: SyncKey, version: string): Promise<DiscoveredResource | undefined> {
    const { served, logger } = this.#deps
    const name = groupResourceName(key)
    const resource = served.at(key, version)
    if (resource !== undefined) {
      this.#unserved.delete(name)
      return resource
    }
    await served.refresh()
    const now = served.at(key, version)
    if (now === undefined && !this.#unserved.has(name)) {
      this.#unserved.add(name)
      logger.info({ resource: name }, 'the cluster does not serve this kind; its objects wait for it')
    }
    return now
  }

  #repaired(key: SyncKey): void {
    if (!this.#pace.repaired(keyText(key))) return
    const { resource, group, namespace, name } = key
    this.#deps.logger.warn(
      { resource, group, namespace, name },
      'somebody in the cluster keeps changing fields of this object that the center sets; repairing it less often',
    )
  }
}
