/**
 * Decides about one object: whether its owners still want it, and, when it is itself on its way out, whether its dependents
 * let it go. Every decision rests on live reads; what is written is bound to the version that was read.
 * @see https://kubernetes.io/docs/concepts/architecture/garbage-collection/
 */

import { MapOfMaps } from '../../apimachinery/nestedMaps.ts'
import { groupResourceName, type KubeObject, type OwnerReference } from '../../apimachinery/object.ts'
import { atMost } from '../../client/atMost.ts'
import type { Client, DeleteOptions } from '../../client/client.ts'
import { refOf } from '../../client/refOf.ts'
import type { StreamedRef } from '../../client/streamSource.ts'
import { unlessGone } from '../../client/unlessGone.ts'
import type { ReconcileResult } from '../../client/workqueue.ts'
import { PLACEMENT_CONTENTS, PLACEMENT_REVISIONS, PLACEMENT_ROLLOUTS } from '../../placement/words/placement.ts'
import type { WorkTurns } from '../../program/workTurns.ts'
import { type DependencyGraph, FOREGROUND, type GraphListener, ORPHAN, refId } from './dependencyGraph.ts'
import type { OwnerReader, OwnerState } from './ownerReader.ts'

/** New kinds wake their dependents; this is for kinds that come in ways that we do not see. */
const UNKNOWN_RECHECK_MS = 300_000

interface GarbageDeps extends Pick<GraphListener, 'wakeAll'> {
  client: Client
  graph: DependencyGraph
  owners: OwnerReader
  /** In whose slices of the loop's time owners are looked for: an object may name thousands. */
  turns: Pick<WorkTurns, 'begin'>
}

/** Owners of an object that are looked for at the same time. */
const OWNERS_AT_ONCE = 16

/** They may hold Secrets and no user can delete them, so they go with their EdgePlacement however it is deleted. */
const OF_PLACEMENT: ReadonlySet<string> = new Set(
  [PLACEMENT_REVISIONS, PLACEMENT_CONTENTS, PLACEMENT_ROLLOUTS].map(groupResourceName),
)

export class GarbageReconciler {
  readonly #deps: GarbageDeps
  /** Objects with an owner of a kind that their space does not serve, by space. */
  readonly #unknown = new MapOfMaps<StreamedRef>()

  constructor(deps: GarbageDeps) {
    this.#deps = deps
  }

  async reconcile(ref: StreamedRef): Promise<ReconcileResult> {
    const object = await this.#read(ref)
    if (!object) return {}
    if (object.metadata.deletionTimestamp !== undefined) return await this.#release(ref, object)
    return object.metadata.ownerReferences?.length
      ? await this.#judge(ref, object, object.metadata.ownerReferences)
      : {}
  }

  /** A space serves other kinds than before: owners that nobody could look for may be found now. */
  kindsChanged(space: string): void {
    this.#deps.owners.forgetKinds(space)
    const waiting = this.#unknown.deleteAll(space)
    if (waiting.size > 0) this.#deps.wakeAll(waiting.values(), space)
  }

  /** An object under deletion: does what its finalizers ask for, as soon as all its dependents are known. */
  async #release(ref: StreamedRef, object: KubeObject): Promise<ReconcileResult> {
    const { uid = '', finalizers = [] } = object.metadata
    if (!this.#deps.graph.knowsDependentsOf(ref.space, uid)) return {}
    if (finalizers.includes(ORPHAN)) {
      for (const dependent of this.#deps.graph.dependentsOf(ref.space, uid))
        if (!OF_PLACEMENT.has(groupResourceName(dependent.ref.resource))) await this.#disown(dependent.ref, uid)
      await this.#patch(ref, object, { finalizers: finalizers.filter(name => name !== ORPHAN) })
    } else if (finalizers.includes(FOREGROUND)) {
      if (this.#deps.graph.isHeldUp(ref.space, uid)) this.#deps.graph.askBlocking(ref.space, uid)
      else await this.#patch(ref, object, { finalizers: finalizers.filter(name => name !== FOREGROUND) })
    }
    return {}
  }

  /** A living object with owners: stays for as long as one of them is solid. */
  async #judge(ref: StreamedRef, object: KubeObject, owners: readonly OwnerReference[]): Promise<ReconcileResult> {
    const states: OwnerState[] = []
    const work = this.#deps.turns.begin({ owner: ref.space })
    await atMost(OWNERS_AT_ONCE, owners.entries(), async ([i, owner]) => {
      if (work.due) await work.rest()
      states[i] = await this.#stateOf(ref, owner)
    })
    const having = (state: OwnerState) => owners.filter((_, index) => states[index] === state)
    if (having('unknown').length > 0) return this.#waitForKind(ref)
    const solid = having('solid')
    if (solid.length > 0) {
      if (solid.length < owners.length) await this.#patch(ref, object, { ownerReferences: solid })
      return {}
    }
    const { uid = '', finalizers = [] } = object.metadata
    if (having('waiting').length > 0 && this.#deps.graph.hasDependents(ref.space, uid)) {
      // a dependent that waits for us while we wait for it: somebody has to let go
      let current = object
      if (this.#deps.graph.hasWaitingDependent(ref.space, uid)) {
        const unblocked = owners.map(owner => ({ ...owner, blockOwnerDeletion: false }))
        current = (await this.#patch(ref, object, { ownerReferences: unblocked })) ?? object
      }
      await this.#delete(ref, current, 'Foreground')
    } else {
      const policy = finalizers.includes(ORPHAN)
        ? 'Orphan'
        : finalizers.includes(FOREGROUND)
          ? 'Foreground'
          : 'Background'
      await this.#delete(ref, object, policy)
    }
    return {}
  }

  async #stateOf(ref: StreamedRef, owner: OwnerReference): Promise<OwnerState> {
    if (this.#deps.graph.isLive(ref.space, owner.uid)) return 'solid'
    const { epoch } = this.#deps.graph
    const state = await this.#deps.owners.read(ref.space, ref.namespace, owner)
    if (state === 'solid') this.#deps.graph.noteLive(ref.space, owner.uid, epoch)
    return state
  }

  #waitForKind(ref: StreamedRef): ReconcileResult {
    this.#unknown.set(ref.space, refId(ref), ref)
    return { requeueAfterMs: UNKNOWN_RECHECK_MS }
  }

  /** Takes one owner off a dependent. */
  async #disown(ref: StreamedRef, ownerUid: string): Promise<void> {
    const object = await this.#read(ref)
    const owners = object?.metadata.ownerReferences ?? []
    const rest = owners.filter(owner => owner.uid !== ownerUid)
    if (object && rest.length < owners.length) await this.#patch(ref, object, { ownerReferences: rest })
  }

  async #read(ref: StreamedRef): Promise<KubeObject | undefined> {
    return await unlessGone(this.#deps.client.in(ref.space).get(ref.resource, refOf(ref)))
  }

  /** `undefined` when the object is gone. @throws StatusError Conflict when it changed since it was read */
  async #patch(ref: StreamedRef, read: KubeObject, metadata: object): Promise<KubeObject | undefined> {
    const { uid, resourceVersion } = read.metadata
    const body = { metadata: { uid, resourceVersion, ...metadata } }
    return await unlessGone(this.#deps.client.in(ref.space).patch(ref.resource, refOf(ref), 'merge', body))
  }

  async #delete(
    ref: StreamedRef,
    read: KubeObject,
    propagationPolicy: NonNullable<DeleteOptions['propagationPolicy']>,
  ): Promise<void> {
    const { uid, resourceVersion } = read.metadata
    const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) }
    await unlessGone(
      this.#deps.client.in(ref.space).delete(ref.resource, refOf(ref), { propagationPolicy, preconditions }),
    )
  }
}
