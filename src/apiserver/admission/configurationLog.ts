/**
 * The few objects that steer admission (webhook configurations, policies, quotas, …) of every space, kept parsed and in step
 * with the store's log, so that a request learns with one look into a map that none concerns it.
 */
import { groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import { isStorageError, type Store, type StoreEvent } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'
import type { Logger } from '../request/logger.ts'

export interface FollowedResource {
  readonly group: string
  readonly resource: string
}

export interface ConfigurationLogOptions {
  store: Pick<Store, 'list' | 'watch'>
  resources: readonly FollowedResource[]
  /** Objects that do not act here. */
  ignores?: (object: KubeObject) => boolean
  log: Logger
}

export class ConfigurationLog {
  readonly #options: ConfigurationLogOptions
  /** By resource, space and `namespace/name`. No empty maps inside. */
  readonly #known = new Map<string, Map<string, Map<string, KubeObject>>>()
  readonly #listeners: ((space: string) => void)[] = []
  readonly #stopping = new AbortController()
  #loops: Promise<void>[] = []

  constructor(options: ConfigurationLogOptions) {
    this.#options = options
    for (const resource of options.resources) this.#known.set(groupResourceName(resource), new Map())
  }

  /** Resolves when everything stored is known. */
  async start(): Promise<void> {
    this.#loops = await Promise.all(
      this.#options.resources.map(async resource => {
        const revision = await this.#load(resource)
        return { loop: this.#follow(resource, revision) }
      }),
    ).then(started => started.map(({ loop }) => loop))
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#loops)
  }

  /** Calls back after each change in a space. */
  onChange(listener: (space: string) => void): void {
    this.#listeners.push(listener)
  }

  /** Logical-cluster ids of the spaces that have such objects. */
  spaces(resource: FollowedResource): string[] {
    return [...(this.#known.get(groupResourceName(resource))?.keys() ?? [])]
  }

  has(space: string, resource: FollowedResource): boolean {
    return this.#known.get(groupResourceName(resource))?.has(space) === true
  }

  /** In order of names; `namespace`: only those in it. Read-only. */
  list(space: string, resource: FollowedResource, namespace?: string): KubeObject[] {
    const objects = this.#known.get(groupResourceName(resource))?.get(space)
    if (objects === undefined) return []
    const found = [...objects.values()]
    const inside = namespace === undefined ? found : found.filter(object => object.metadata.namespace === namespace)
    return inside.sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  }

  get(space: string, resource: FollowedResource, namespace: string, name: string): KubeObject | undefined {
    return this.#known.get(groupResourceName(resource))?.get(space)?.get(`${namespace}/${name}`)
  }

  async #load(resource: FollowedResource): Promise<number> {
    const { items, revision } = await this.#options.store.list(resource)
    const spaces = this.#known.get(groupResourceName(resource))!
    const before = [...spaces.keys()]
    spaces.clear()
    for (const stored of items) this.#put(resource, stored.key, decodeObject(stored))
    for (const space of new Set([...before, ...spaces.keys()])) this.#tell(space)
    return revision
  }

  async #follow(resource: FollowedResource, revision: number): Promise<void> {
    const { signal } = this.#stopping
    let after = revision
    while (!signal.aborted) {
      try {
        for await (const batch of this.#options.store.watch(resource, { after, signal })) {
          for (const event of batch) {
            this.#react(resource, event)
            after = event.revision
          }
        }
      } catch (error) {
        if (signal.aborted || isStorageError(error, 'Closed')) return
        this.#options.log.error({ err: error, ...resource }, 'the watch of admission settings ended; starting over')
        after = await this.#load(resource)
      }
    }
  }

  #react(resource: FollowedResource, event: StoreEvent): void {
    if (event.type === 'put') this.#put(resource, event.key, decodeObject(event.stored))
    else this.#drop(resource, event.key)
    this.#tell(event.key.space)
  }

  #put(resource: FollowedResource, key: StoreEvent['key'], object: KubeObject): void {
    if (this.#options.ignores?.(object)) {
      this.#drop(resource, key)
      return
    }
    const spaces = this.#known.get(groupResourceName(resource))!
    const objects = spaces.get(key.space) ?? new Map<string, KubeObject>()
    objects.set(`${key.namespace}/${key.name}`, object)
    spaces.set(key.space, objects)
  }

  #drop(resource: FollowedResource, key: StoreEvent['key']): void {
    const spaces = this.#known.get(groupResourceName(resource))!
    const objects = spaces.get(key.space)
    objects?.delete(`${key.namespace}/${key.name}`)
    if (objects?.size === 0) spaces.delete(key.space)
  }

  #tell(space: string): void {
    for (const listener of this.#listeners) listener(space)
  }
}
