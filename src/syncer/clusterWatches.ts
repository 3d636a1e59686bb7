/**
 * Watches of the cluster, one informer for each resource and selection that somebody needs, and none else.
 */
import {
  type GroupResource,
  type GroupVersionResource,
  groupResourceName,
  type KubeObject,
} from '../apimachinery/object.ts'
import type { SpaceClient } from '../client/client.ts'
import { Informer } from '../client/informer.ts'
import type { Logger } from '../client/logger.ts'

interface Watched {
  informer: Informer
  resource: GroupVersionResource
  stop: AbortController
  running: Promise<void>
}

export interface ClusterWatchesDeps {
  client: SpaceClient
  logger: Logger
  /** Narrows the watches. */
  labelSelector?: string
  /** Hears of every change, the first list included. */
  onChange(resource: GroupVersionResource, object: KubeObject): void
}

export class ClusterWatches {
  readonly #deps: ClusterWatchesDeps
  readonly #watched = new Map<string, Watched>()

  constructor(deps: ClusterWatchesDeps) {
    this.#deps = deps
  }

  /** Watches exactly these; the running ones go on. */
  want(resources: readonly GroupVersionResource[]): void {
    const wanted = new Map(resources.map(resource => [groupResourceName(resource), resource]))
    for (const [name, watched] of this.#watched) {
      if (wanted.get(name)?.version === watched.resource.version) continue
      watched.stop.abort()
      this.#watched.delete(name)
    }
    for (const [name, resource] of wanted) if (!this.#watched.has(name)) this.#watched.set(name, this.#start(resource))
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

  objects(resource: GroupResource): readonly KubeObject[] {
    return this.#watched.get(groupResourceName(resource))?.informer.list() ?? []
  }

  async stop(): Promise<void> {
    const running = [...this.#watched.values()]
    this.#watched.clear()
    for (const watched of running) watched.stop.abort()
    await Promise.all(running.map(watched => watched.running))
  }

  #start(resource: GroupVersionResource): Watched {
    const { client, logger, labelSelector, onChange } = this.#deps
    const stop = new AbortController()
    const informer = new Informer({ client, resource, logger, ...(labelSelector && { labelSelector }) })
    informer.subscribe(change => onChange(resource, change.object))
    return { informer, resource, stop, running: informer.run(stop.signal) }
  }
}
