/**
 * Watches of the cluster, one informer for each resource and selection that somebody needs, and none else.
 */

import {
  type GroupResource,
  type GroupVersionResource,
  groupResourceName,
  type KubeObject,
} from '../../apimachinery/object.ts'
import type { SpaceClient } from '../../client/client.ts'
import { pause } from '../../client/clock.ts'
import { type CacheChange, Informer } from '../../client/informer.ts'
import { refOf } from '../../client/refOf.ts'
import type { Runtime } from '../../client/runtime.ts'
import { keyText, type SyncKey } from '../mailbox/mirror.ts'
import { CLUSTER_LIST } from './clusterLists.ts'

interface Watched {
  informer: Informer
  resource: GroupVersionResource
  stop: AbortController
  running: Promise<void>
  /** Its first list, or the end of the patience with it. */
  first: Promise<unknown>
  /** Keys that were read before the first list is there. */
  early: Map<string, SyncKey>
}

const PATIENCE_MS = 5000

interface ClusterWatchesDeps extends Runtime {
  client: SpaceClient
  /** Narrows the watches. */
  labelSelector?: string
  /** Gets every change, the first list included. */
  onChange(resource: GroupVersionResource, change: CacheChange): void
  /** The first list of a resource is complete: what it does not hold does not exist. */
  onSynced?(resource: GroupVersionResource): void
  /**
   * The first list of a resource lacks an object that was read before ({@link ClusterWatches.firstList}). It may have been there then, and
   * no watch reports its end.
   */
  onMissing?(key: SyncKey): void
  /** The part of each object that is held. Default: all of it. */
  keep?: (object: KubeObject) => KubeObject
  /** A list or watch of a resource failed, and is tried again. */
  onFailure?(resource: GroupVersionResource, error: unknown): void
  /** A list of a resource is complete, the first one or a later one. */
  onListed?(resource: GroupVersionResource): void
}

export class ClusterWatches {
  readonly #deps: ClusterWatchesDeps
  readonly #watched = new Map<string, Watched>()
  /** Watches that are ending. */
  readonly #ending = new Set<Promise<void>>()

  constructor(deps: ClusterWatchesDeps) {
    this.#deps = deps
  }

  /** Watches exactly these; the running ones go on. */
  want(resources: readonly GroupVersionResource[]): void {
    const wanted = new Map(resources.map(resource => [groupResourceName(resource), resource]))
    for (const [name, watched] of this.#watched) if (!wanted.has(name)) this.#end(name, watched)
    for (const [name, resource] of wanted) {
      const watched = this.#watched.get(name)
      if (watched?.resource.version === resource.version) continue
      // in another version they are the same objects
      if (watched) this.#end(name, watched)
      this.#watched.set(name, this.#start(resource, watched))
    }
  }

  /**
   * Lists all that is watched anew: what is known is not trusted any more, and is not shown. Resolves as {@link firstList} does,
   * for all of them.
   */
  async listAnew(): Promise<void> {
    for (const [name, watched] of [...this.#watched]) {
      this.#end(name, watched)
      this.#watched.set(name, this.#start(watched.resource, watched))
    }
    await this.firstLists()
  }

  /** Resolves when the first list of each resource is complete, and after a while in any case. */
  async firstLists(): Promise<void> {
    await Promise.all([...this.#watched.values()].map(({ first }) => first))
  }

  /** The cached object; `undefined` when there is none, or when the resource is not watched or not listed yet. */
  get(resource: GroupResource, ref: { namespace: string; name: string }): KubeObject | undefined {
    const informer = this.#watched.get(groupResourceName(resource))?.informer
    return informer?.get({ name: ref.name, ...(ref.namespace && { namespace: ref.namespace }) })
  }

  /** Whether a complete list of the resource has been seen. */
  hasSynced(resource: GroupResource): boolean {
    return this.#watched.get(groupResourceName(resource))?.informer.hasSynced === true
  }

  /**
   * Resolves when the first list of a key's resource is complete, which saves single reads meanwhile. It resolves at once when the resource
   * is not watched, and after a while in any case. `onMissing` follows, should that list lack the key.
   */
  async firstList(key: SyncKey): Promise<void> {
    const name = groupResourceName(key)
    await this.#watched.get(name)?.first
    const watched = this.#watched.get(name)
    if (watched?.informer.hasSynced === false) watched.early.set(keyText(key), key)
  }

  /** Whether a complete list was seen of all that is watched. */
  allSynced(): boolean {
    for (const { informer } of this.#watched.values()) if (!informer.hasSynced) return false
    return true
  }

  *objects(): Iterable<{ resource: GroupVersionResource; object: KubeObject }> {
    for (const { resource, informer } of this.#watched.values())
      for (const object of informer.list()) yield { resource, object }
  }

  async stop(): Promise<void> {
    for (const [name, watched] of this.#watched) this.#end(name, watched)
    await Promise.all(this.#ending)
  }

  #end(name: string, watched: Watched): void {
    this.#watched.delete(name)
    watched.stop.abort()
    this.#ending.add(watched.running)
    void watched.running.then(() => this.#ending.delete(watched.running))
  }

  /** @param before knew the resource until now; objects that the first list lacks get an end event */
  #start(resource: GroupVersionResource, before?: Watched): Watched {
    const { clock, onChange, onSynced, onMissing, onFailure, onListed } = this.#deps
    const early = before?.early ?? new Map<string, SyncKey>()
    const stop = new AbortController()
    const informer = new Informer({
      ...this.#deps,
      resource,
      mostBytes: CLUSTER_LIST.mostBytes,
      onFailure: error => onFailure?.(resource, error),
      onListed: () => onListed?.(resource),
    })
    informer.subscribe(change => onChange(resource, change))
    if (before)
      void informer.synced.then(() => {
        if (stop.signal.aborted) return
        for (const object of before.informer.list()) {
          const { namespace, name = '' } = object.metadata
          if (!informer.get({ name, ...(namespace && { namespace }) })) onChange(resource, { type: 'delete', object })
        }
      })
    void informer.synced.then(() => {
      // whoever takes its place has them, too
      if (stop.signal.aborted) return
      for (const key of early.values()) if (!informer.get(refOf(key))) onMissing?.(key)
      early.clear()
    })
    if (onSynced) void informer.synced.then(() => stop.signal.aborted || onSynced(resource))
    const waited = new AbortController()
    const patience = pause(clock, PATIENCE_MS, AbortSignal.any([stop.signal, waited.signal]))
    const first = Promise.race([informer.synced.then(() => waited.abort()), patience])
    return { informer, resource, stop, running: informer.run(stop.signal), first, early }
  }
}
