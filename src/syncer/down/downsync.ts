/** Mailbox to cluster: applies what the plan wants, deletes what it no longer wants and we made, repairs what drifts. */

import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import type { CacheChange } from '../../client/informer.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import { endOf } from '../../placement/outcome/finished.ts'
import { healthOf } from '../../placement/outcome/health.ts'
import type { Produced } from '../../placement/outcome/observedGeneration.ts'
import { isDone } from '../../placement/outcome/outcome.ts'
import { isProjected } from '../../placement/words/placement.ts'
import type { Echo, Echoes } from '../mailbox/echoes.ts'
import { keyOf, keyText, type Mirrored, type SyncKey } from '../mailbox/mirror.ts'
import { isClustersOwn, staysInMailbox } from '../objects/marks.ts'
import type { Compared } from '../tells/liveAnswers.ts'
import { type Outcomes, type Trouble, troubleOf } from '../tells/outcomes.ts'
import type { Refusals } from '../tells/refusals.ts'
import { HELD, NOT_REQUESTED, type Outcome, standingOf, waveRefusal } from '../tells/verdicts.ts'
import { ArrivalOrder } from './arrivalOrder.ts'
import { type ClusterParts, clusterParts } from './clusterParts.ts'
import type { DownsyncContext } from './context.ts'
import type { EmptiedNamespaces } from './emptiedNamespaces.ts'
import type { RemovalBrake } from './removalBrake.ts'

interface DownsyncDeps extends DownsyncContext {
  /** Whether a snapshot of the mailbox is being received. */
  isReading: () => boolean
  refusals: Refusals
  /** Takes objects of the mailbox that are not in the cluster as they should be. */
  outcomes: Pick<Outcomes, 'except' | 'settle' | 'exceptions' | 'isOpen'>
  emptied: Pick<EmptiedNamespaces, 'remove'>
  brake: Pick<RemovalBrake, 'holdOf' | 'over'>
  /** {@link Downsync.produced} may answer otherwise. */
  onProduced?: (key: SyncKey) => void
}

export class Downsync {
  readonly #deps: DownsyncDeps
  readonly #echoes: Echoes
  readonly #parts: ClusterParts
  readonly #order: ArrivalOrder
  /** Objects that this run has judged. */
  readonly #judged = new Set<string>()
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #busy = new Set<string>()
  /** Keys that arrived while nothing may be written. */
  #waiting: Map<string, SyncKey> | undefined

  constructor(deps: DownsyncDeps) {
    this.#deps = deps
    this.#echoes = deps.echoes
    this.#order = new ArrivalOrder(deps)
    this.#parts = clusterParts({
      ...deps,
      isBusy: key => this.#busy.has(keyText(key)),
      forgotten: key => this.#judged.delete(keyText(key)),
    })
  }

  /** Tells of an object that an earlier run left in the cluster. */
  foundLeftover(key: SyncKey, object: Readonly<KubeObject>): void {
    if (this.#deps.mirror.get(key)) this.#parts.removals.mayBeThere(key)
    else this.#parts.removals.isLeftover(key, object)
  }

  /** The cluster may hold the object although no watch shows it. */
  mayBeThere(key: SyncKey): void {
    this.#parts.removals.mayBeThere(key)
  }

  /** Tells of a change of the mailbox, which is going to be looked at; without `object` it holds that no more. */
  sourceChanged(key: SyncKey, object?: Readonly<KubeObject>, previous?: Readonly<KubeObject>): void {
    this.#order.changed(key, object, previous)
    if (object !== undefined) this.#deps.brake.over(key)
    if (object === undefined) this.#parts.removals.sourceLeft(key, previous)
  }

  /** The mailbox is known as a whole, and all of it is going to be looked at. */
  sourcesWhole(): void {
    this.#order.whole()
  }

  /** Keys to be judged again whenever the mirror becomes complete: no watch may show them. */
  leftovers(): Iterable<SyncKey> {
    return this.#parts.removals.leftovers()
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

  /** As {@link Echoes.isFormers}. */
  isFormers(key: SyncKey, object: Readonly<KubeObject>, live: Readonly<KubeObject>): boolean {
    return this.#echoes.isFormers(keyText(key), key, object, live)
  }

  /** The object in the cluster now, beside the copy that would be written. */
  async compare(key: SyncKey): Promise<Compared> {
    const { mirror, plan, allowance } = this.#deps
    const mirrored = mirror.get(key)
    const isCarried =
      mirrored !== undefined &&
      !staysInMailbox(mirrored.object) &&
      plan().wantsDown(key, key.namespace, key.name) &&
      (allowance.refusalOf(key) ?? waveRefusal(mirrored.object)) === undefined
    return isCarried ? await this.#parts.comparison.compare(key, mirrored) : { state: 'notCarried' }
  }

  async reconcile(key: SyncKey): Promise<ReconcileResult> {
    if (this.#waiting) {
      this.#waiting.set(keyText(key), key)
      if (!this.#stands(key)) this.#except(key, HELD)
      this.#judge(key, this.#echoes.get(keyText(key)))
      return {}
    }
    this.#busy.add(keyText(key))
    const mirrored = this.#deps.mirror.get(key)
    const work = this.#reconcile(key, mirrored)
    this.#underWay.add(work)
    try {
      return await work
    } finally {
      this.#underWay.delete(work)
      this.#busy.delete(keyText(key))
      this.#order.ended(key, mirrored?.object)
    }
  }

  /** Whether a verdict outlasts a pause: the mailbox has no news of the object, and a timer wakes it, no watch of the cluster. */
  #stands(key: SyncKey): boolean {
    const { outcomes } = this.#deps
    if (outcomes.isOpen(key)) return false
    const { state } = outcomes.exceptions.get(keyText(key)) ?? {}
    return state === 'refused' || (state === undefined && this.#parts.carrier.isStrangers(key))
  }

  async #reconcile(key: SyncKey, mirrored: Mirrored | undefined): Promise<ReconcileResult> {
    const { plan, mirrorComplete } = this.#deps
    if (isClustersOwn(key)) return {}
    if (mirrored) this.#parts.removals.sourceIsThere(key)
    // the cluster has its own of this sort
    if (mirrored && staysInMailbox(mirrored.object)) return {}
    if (mirrored && plan().wantsDown(key, key.namespace, key.name)) return await this.#carry(key, mirrored)
    this.#parts.carrier.leaves(key)
    // Namespaces hold more than what we put there: only a Namespace that left the mailbox leaves the cluster.
    const kept = mirrored !== undefined && groupResourceName(key) === 'namespaces'
    if (kept || !mirrorComplete()) {
      if (kept) this.#deps.refusals.settle(key)
      if (mirrored && isProjected(mirrored.object)) this.#except(key, NOT_REQUESTED)
      else this.#deps.outcomes.settle(key)
      return {}
    }
    const hold = mirrored ? undefined : this.#deps.brake.holdOf(key)
    if (hold === 'to be judged') return {}
    if (hold && (!this.#deps.watches.hasSynced(key) || this.#deps.watches.get(key, key))) {
      this.#except(key, hold)
      return {}
    }
    if (hold) this.#deps.brake.over(key)
    return await this.#reporting(key, async () => {
      const waitMs = await this.#deps.emptied.remove(key)
      if (waitMs !== undefined) return { requeueAfterMs: waitMs }
      const removed = await this.#parts.removals.remove(key, mirrored !== undefined)
      const isWaiting = mirrored !== undefined && isProjected(mirrored.object)
      return { ...removed, ...(isWaiting && { trouble: NOT_REQUESTED }) }
    })
  }

  async #carry(key: SyncKey, mirrored: Mirrored): Promise<ReconcileResult> {
    const { object } = mirrored
    const refusal = this.#deps.allowance.refusalOf(key) ?? waveRefusal(object)
    const before = this.#echoes.get(keyText(key))
    const hold = refusal
      ? undefined
      : this.#order.hold(key, { isNews: () => !this.#parts.comparison.isThere(key, mirrored) })
    if (hold && !hold.trouble) return { ...hold, postponed: true }
    try {
      return await this.#reporting(key, async () => {
        if (refusal) return this.#inOrder(key, object, { refusal })
        if (hold) return hold
        const carried = await this.#parts.carrier.carry(key, mirrored)
        if (carried.live) this.#noteEnd(key, carried.live)
        const trouble = carried.trouble ?? standingOf(key, object, carried)
        return this.#inOrder(key, object, { ...carried, ...(trouble && { trouble }) })
      })
    } catch (error) {
      this.#order.looked(key, object, troubleOf(error).message)
      throw error
    } finally {
      this.#judge(key, before)
    }
  }

  /** Later objects of the order proceed by this outcome. */
  #inOrder(key: SyncKey, object: Readonly<KubeObject>, outcome: Outcome): Outcome {
    const { refusal, trouble, live } = outcome
    const health = live && healthOf(key, live)
    const isReady = health === undefined || health.health === 'Healthy' || health.health === 'Suspended'
    // what the cluster does not serve waits alone, and what is there keeps nobody waiting, nor what ended well
    const isDoneWell = trouble !== undefined && isDone(trouble.state) && trouble.health?.health !== 'Degraded'
    const isAlone = trouble?.state === 'unserved' || isDoneWell
    const message = isAlone ? undefined : (refusal?.message ?? trouble?.message)
    this.#order.looked(key, object, message ?? (isReady ? undefined : health.message))
    return outcome
  }

  /** The cluster's word about an object, also the last one: what has run to its end may be gone in the same moment. */
  observed(resource: GroupResource, change: Pick<CacheChange, 'type' | 'object'>): void {
    this.#noteEnd(keyOf(resource, change.object), change.object)
    this.#parts.owners.observed(resource, change)
  }

  #noteEnd(key: SyncKey, live: Readonly<KubeObject>): void {
    const source = this.#deps.mirror.get(key)?.object
    if (source) this.#echoes.ended(keyText(key), source, live, endOf(key, live))
  }

  /** Whatever came of it, its status need not wait any longer. */
  #judge(key: SyncKey, before: Echo | undefined): void {
    const text = keyText(key)
    if (this.#judged.has(text) && this.#echoes.get(text) === before) return
    this.#judged.add(text)
    this.#deps.onProduced?.(key)
  }

  async #reporting(key: SyncKey, work: () => Promise<Outcome>): Promise<ReconcileResult> {
    const { refusals, outcomes } = this.#deps
    try {
      const {
        refusal,
        trouble,
        live: _live,
        altered: _altered,
        liveFields: _fields,
        isKept: _isKept,
        ...result
      } = await work()
      if (refusal) refusals.refuse(key, refusal)
      else refusals.settle(key)
      if (refusal) this.#except(key, { state: 'refused', ...refusal })
      else if (trouble) this.#except(key, trouble)
      else outcomes.settle(key)
      return result
    } catch (error) {
      const trouble = troubleOf(error)
      this.#except(key, trouble)
      // Rights may be on their way: retried like other trouble, and reported by the queue.
      if (trouble.reason === 'Forbidden') refusals.note(key, { reason: 'Forbidden', message: trouble.message })
      throw error
    }
  }

  #except(key: SyncKey, trouble: Trouble): void {
    const { mirror, outcomes } = this.#deps
    outcomes.except(key, Number(mirror.get(key)?.object.metadata.resourceVersion ?? 0), trouble)
  }
}
