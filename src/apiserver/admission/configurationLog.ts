/**
 * The few objects that steer admission (webhook configurations, policies, quotas, …) of every space, kept parsed, as a
 * projection of the store, so that a request learns with one look into a map that none concerns it.
 */
import type { Nature } from '../../apimachinery/nature.ts'
import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import type { Key, Store, Stored, StoreEvent } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'

export interface ConfigurationLogOptions {
  store: Pick<Store, 'project'>
  resources: readonly GroupResource[]
  /** Only objects whose text says this are looked at; the others are not even parsed. */
  mark?: string
  /** Objects that are none of this. */
  ignores?: (object: KubeObject) => boolean
  /** Which objects act in their space; the others are kept aside. Absent: all. Whoever gives it tells of changes by `rethink`. */
  nature?: Pick<Nature, 'acts'>
}

/** By space and `namespace/name`. No empty maps inside. */
type Known = Map<string, Map<string, KubeObject>>

export class ConfigurationLog {
  readonly #options: ConfigurationLogOptions
  /** By resource. */
  readonly #known = new Map<string, Known>()
  /** Those that do not act where they are, by resource. */
  readonly #inert = new Map<string, Known>()
  /** What was asked for since the last change, by resource and space. */
  readonly #lists = new Map<string, Lists>()
  readonly #listeners: ((space: string) => void)[] = []

  constructor(options: ConfigurationLogOptions) {
    this.#options = options
    for (const { group, resource } of options.resources) {
      const name = groupResourceName({ group, resource })
      this.#known.set(name, new Map())
      this.#inert.set(name, new Map())
      options.store.project(
        { group, resource },
        { reset: items => this.#reset(name, items), apply: event => this.#apply(name, event) },
      )
    }
  }

  /** Calls back after each change in a space. */
  onChange(listener: (space: string) => void): void {
    this.#listeners.push(listener)
  }

  /** What acts in a space has become other than it was. */
  rethink(space: string): void {
    let changed = false
    for (const { group, resource } of this.#options.resources) {
      const name = groupResourceName({ group, resource })
      const [known, inert] = [this.#known.get(name)!, this.#inert.get(name)!]
      const all = [...(known.get(space) ?? []), ...(inert.get(space) ?? [])]
      this.#lists.delete(`${name}/${space}`)
      known.delete(space)
      inert.delete(space)
      for (const [id, object] of all)
        put(this.#acts(space, object, { group, resource }) ? known : inert, space, id, object)
      changed ||= all.length > 0
    }
    if (changed) this.#tell(space)
  }

  /** Logical-cluster ids of the spaces that have such objects. */
  spaces(resource: GroupResource): string[] {
    return [...(this.#known.get(groupResourceName(resource))?.keys() ?? [])]
  }

  has(space: string, resource: GroupResource): boolean {
    return this.#known.get(groupResourceName(resource))?.has(space) === true
  }

  /** In order of names; `namespace`: only those in it. Sorted once for each change, not for each request that asks. */
  list(space: string, resource: GroupResource, namespace?: string): readonly KubeObject[] {
    const name = groupResourceName(resource)
    const objects = this.#known.get(name)?.get(space)
    if (objects === undefined) return []
    const place = `${name}/${space}`
    const lists = this.#lists.get(place) ?? listsOf(objects.values())
    this.#lists.set(place, lists)
    return (namespace === undefined ? lists.all : lists.inside.get(namespace)) ?? []
  }

  get(space: string, resource: GroupResource, namespace: string, name: string): KubeObject | undefined {
    return this.#known.get(groupResourceName(resource))?.get(space)?.get(`${namespace}/${name}`)
  }

  #reset(name: string, items: Iterable<Stored>): void {
    const read = [...items].map(stored => ({ key: stored.key, object: this.#read(stored) }))
    const [known, inert] = [this.#known.get(name)!, this.#inert.get(name)!]
    const before = [...known.keys()]
    for (const space of before) this.#lists.delete(`${name}/${space}`)
    known.clear()
    inert.clear()
    for (const { key, object } of read) {
      if (object) put(this.#acts(key.space, object, key) ? known : inert, key.space, idOf(key), object)
    }
    for (const space of new Set([...before, ...known.keys()])) this.#tell(space)
  }

  #apply(name: string, { type, key, stored }: StoreEvent): void {
    const [known, inert] = [this.#known.get(name)!, this.#inert.get(name)!]
    const object = type === 'put' ? this.#read(stored) : undefined
    this.#lists.delete(`${name}/${key.space}`)
    const acts = object !== undefined && this.#acts(key.space, object, key)
    drop(inert, key)
    if (object && !acts) put(inert, key.space, idOf(key), object)
    if (object && acts) put(known, key.space, idOf(key), object)
    else if (!drop(known, key)) return
    this.#tell(key.space)
  }

  #read(stored: Stored): KubeObject | undefined {
    const { mark, ignores } = this.#options
    if (mark !== undefined && !stored.bytes.includes(mark)) return undefined
    const object = decodeObject(stored)
    return ignores?.(object) ? undefined : object
  }

  #acts(space: string, object: KubeObject, { group, resource }: GroupResource): boolean {
    return this.#options.nature?.acts(space, { group, resource }, object) ?? true
  }

  #tell(space: string): void {
    for (const listener of this.#listeners) listener(space)
  }
}

/** In order of names. */
interface Lists {
  readonly all: readonly KubeObject[]
  readonly inside: ReadonlyMap<string, readonly KubeObject[]>
}

function listsOf(objects: Iterable<KubeObject>): Lists {
  const all = [...objects].sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
  return { all, inside: Map.groupBy(all, ({ metadata }) => metadata.namespace ?? '') }
}

function idOf({ namespace, name }: Key): string {
  return `${namespace}/${name}`
}

function put(known: Known, space: string, id: string, object: KubeObject): void {
  const objects = known.get(space) ?? new Map<string, KubeObject>()
  objects.set(id, object)
  known.set(space, objects)
}

/** Whether it was there. */
function drop(known: Known, key: Key): boolean {
  const objects = known.get(key.space)
  if (!objects?.delete(idOf(key))) return false
  if (objects.size === 0) known.delete(key.space)
  return true
}
