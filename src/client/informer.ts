/**
 * A read-only copy of one resource that follows the server, and the changes that brought it there. The copy is replaced in one step by a
 * completed list; objects that such a list no longer holds give deletions.
 */
import type { KubeObject } from '../apimachinery/object.ts'
import type { ObjectRef } from './client.ts'
import type { Source } from './controller.ts'
import { type InformerEvent, type ListWatchOptions, listWatch } from './listWatch.ts'
import { silentLogger } from './logger.ts'

/** Objects are shared with every reader: copy before changing. */
interface Getter {
  get(ref: ObjectRef): KubeObject | undefined
}
interface Lister extends Getter {
  /** In no particular order. */
  list(namespace?: string): readonly KubeObject[]
  readonly size: number
}

/** A difference between two states of the cache; listeners see the new state in the cache. */
export type CacheChange =
  | { type: 'apply'; object: KubeObject; previous: KubeObject | undefined }
  /** `object` is the last known state. */
  | { type: 'delete'; object: KubeObject }

interface InformerOptions extends ListWatchOptions {
  /** Key of an object in the cache. Default `namespace/name`; reads across all spaces need the space in it. */
  keyOf?: (object: KubeObject) => string
}

export class Informer implements Source, Lister {
  /** Resolves with the first complete list. */
  readonly synced: Promise<void>
  readonly #options: InformerOptions
  readonly #keyOf: (object: KubeObject) => string
  readonly #listeners = new Set<(change: CacheChange) => void>()
  readonly #resolveSynced: () => void
  #objects: ReadonlyMap<string, KubeObject> & Map<string, KubeObject> = new Map()
  #next: Map<string, KubeObject> | undefined
  #hasSynced = false

  constructor(options: InformerOptions) {
    this.#options = options
    this.#keyOf = options.keyOf ?? (object => cacheKey(object.metadata.namespace, object.metadata.name ?? ''))
    const { promise, resolve } = Promise.withResolvers<void>()
    this.synced = promise
    this.#resolveSynced = resolve
  }

  get hasSynced(): boolean {
    return this.#hasSynced
  }

  get size(): number {
    return this.#objects.size
  }

  get(ref: ObjectRef): KubeObject | undefined {
    return this.withKey(cacheKey(ref.namespace, ref.name))
  }

  /** Look-up in an informer with keys of its own. */
  withKey(key: string): KubeObject | undefined {
    return this.#objects.get(key)
  }

  list(namespace?: string): readonly KubeObject[] {
    const all = [...this.#objects.values()]
    return namespace === undefined ? all : all.filter(object => object.metadata.namespace === namespace)
  }

  /** Calls the listener for changes from now on, synchronously and in order. An error of a listener is logged. The answer unsubscribes. */
  subscribe(listener: (change: CacheChange) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async run(signal: AbortSignal): Promise<void> {
    for await (const batch of listWatch(this.#options, signal)) for (const event of batch) this.apply(event)
  }

  /** Brings one event into the cache. Called by `run`; public for sources that bring events of their own. */
  apply(event: InformerEvent): void {
    switch (event.type) {
      case 'init':
        this.#next = new Map()
        return
      case 'initApply':
        this.#next?.set(this.#keyOf(event.object), event.object)
        return
      case 'initDone':
        this.#replace()
        return
      case 'apply': {
        const key = this.#keyOf(event.object)
        const previous = this.#objects.get(key)
        this.#objects.set(key, event.object)
        this.#notify({ type: 'apply', object: event.object, previous })
        return
      }
      case 'delete':
        this.#objects.delete(this.#keyOf(event.object))
        this.#notify({ type: 'delete', object: event.object })
    }
  }

  #replace(): void {
    const next = this.#next
    if (!next) return
    const before = this.#objects
    this.#next = undefined
    this.#objects = next
    for (const [key, object] of before) if (!next.has(key)) this.#notify({ type: 'delete', object })
    for (const [key, object] of next) {
      const previous = before.get(key)
      const same =
        previous && versionOf(previous) === versionOf(object) && previous.metadata.uid === object.metadata.uid
      if (!same) this.#notify({ type: 'apply', object, previous })
    }
    this.#hasSynced = true
    this.#resolveSynced()
  }

  #notify(change: CacheChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change)
      } catch (error) {
        const { namespace, name } = change.object.metadata
        const logger = this.#options.logger ?? silentLogger
        logger.error({ resource: this.#options.resource, namespace, name, err: error }, 'informer listener failed')
      }
    }
  }
}

const versionOf = (object: KubeObject) => object.metadata.resourceVersion

/** Neither part can hold a slash. */
const cacheKey = (namespace: string | undefined, name: string) => `${namespace ?? ''}/${name}`
