/**
 * The few objects that steer admission (webhook configurations, policies, quotas, …) of every space, kept parsed, as a
 * projection of the store, so that a request learns with one look into a map that none concerns it.
 */
import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import type { Key, Store, Stored, StoreEvent } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'

export interface ConfigurationLogOptions {
  store: Pick<Store, 'project'>
  resources: readonly GroupResource[]
  /** Only objects whose text says this are looked at; the others are not even parsed. */
  mark?: string
  /** Objects that do not act here. */
  ignores?: (object: KubeObject) => boolean
}

/** By space and `namespace/name`. No empty maps inside. */
type Known = Map<string, Map<string, KubeObject>>

export class ConfigurationLog {
  readonly #options: ConfigurationLogOptions
  /** By resource. */
  readonly #known = new Map<string, Known>()
  readonly #listeners: ((space: string) => void)[] = []

  constructor(options: ConfigurationLogOptions) {
    this.#options = options
    for (const { group, resource } of options.resources) {
      const known: Known = new Map()
      this.#known.set(groupResourceName({ group, resource }), known)
      options.store.project(
        { group, resource },
        { reset: items => this.#reset(known, items), apply: event => this.#apply(known, event) },
      )
    }
  }

  /** Calls back after each change in a space. */
  onChange(listener: (space: string) => void): void {
    this.#listeners.push(listener)
  }

  /** Logical-cluster ids of the spaces that have such objects. */
  spaces(resource: GroupResource): string[] {
    return [...(this.#known.get(groupResourceName(resource))?.keys() ?? [])]
  }

  has(space: string, resource: GroupResource): boolean {
    return this.#known.get(groupResourceName(resource))?.has(space) === true
  }

  /** In order of names; `namespace`: only those in it. Read-only. */
  list(space: string, resource: GroupResource, namespace?: string): KubeObject[] {
    const objects = this.#known.get(groupResourceName(resource))?.get(space)
    if (objects === undefined) return []
    const found = [...objects.values()]
    const inside = namespace === undefined ? found : found.filter(object => object.metadata.namespace === namespace)
    return inside.sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  }

  get(space: string, resource: GroupResource, namespace: string, name: string): KubeObject | undefined {
    return this.#known.get(groupResourceName(resource))?.get(space)?.get(`${namespace}/${name}`)
  }

  #reset(known: Known, items: Iterable<Stored>): void {
    const acting = [...items].map(stored => ({ key: stored.key, object: this.#acting(stored) }))
    const before = [...known.keys()]
    known.clear()
    for (const { key, object } of acting) if (object) put(known, key, object)
    for (const space of new Set([...before, ...known.keys()])) this.#tell(space)
  }

  #apply(known: Known, { type, key, stored }: StoreEvent): void {
    const object = type === 'put' ? this.#acting(stored) : undefined
    const changed = object ? put(known, key, object) : drop(known, key)
    if (changed) this.#tell(key.space)
  }

  #acting(stored: Stored): KubeObject | undefined {
    const { mark, ignores } = this.#options
    if (mark !== undefined && !stored.bytes.includes(mark)) return undefined
    const object = decodeObject(stored)
    return ignores?.(object) ? undefined : object
  }

  #tell(space: string): void {
    for (const listener of this.#listeners) listener(space)
  }
}

function put(known: Known, { space, namespace, name }: Key, object: KubeObject): true {
  const objects = known.get(space) ?? new Map<string, KubeObject>()
  objects.set(`${namespace}/${name}`, object)
  known.set(space, objects)
  return true
}

/** Whether it was there. */
function drop(known: Known, { space, namespace, name }: Key): boolean {
  const objects = known.get(space)
  if (!objects?.delete(`${namespace}/${name}`)) return false
  if (objects.size === 0) known.delete(space)
  return true
}
