/**
 * The few objects that steer admission (webhook configurations, policies, quotas, …) of every space, kept parsed, as a projection of the
 * store. One look into a map shows that none concerns a request.
 */
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { type GroupResource, groupResourceName, type KubeObject } from '../../apimachinery/object.ts'
import type { Nature } from '../../placement/spaces/nature.ts'
import { mentions, sizeOf } from '../../storage/sharedStored.ts'
import type { Key, Store, Stored, StoreEvent } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'

interface ConfigurationLogOptions {
  store: Pick<Store, 'project'>
  resources: readonly GroupResource[]
  /** Only objects whose text says this are looked at; the others are not even parsed. */
  mark?: string
  /** Objects that are none of this. */
  ignores?: (object: KubeObject) => boolean
  /** Which objects act in their space; the others are kept aside. Absent: all. Its provider reports changes by `rethink`. */
  nature?: Pick<Nature, 'acts'>
}

/** How much there is in one place. */
interface SettingsSize {
  readonly objects: number
  /** As they are stored. */
  readonly bytes: number
}

/** `changed`: names of the objects that were; absent: any may have been. */
export type SettingsListener = (space: string, changed?: readonly string[]) => void

interface Known {
  readonly object: KubeObject
  readonly bytes: number
}

export class ConfigurationLog {
  readonly #options: ConfigurationLogOptions
  /** By resource. */
  readonly #known = new Map<string, Settings>()
  /** Those that do not act where they are, by resource. */
  readonly #inert = new Map<string, Settings>()
  /** The known ones again, by who asks for them. */
  readonly #byIdentity = new WeakMap<GroupResource, Settings>()
  /** By resource. */
  readonly #listeners = new Map<string, SettingsListener[]>()

  constructor(options: ConfigurationLogOptions) {
    this.#options = options
    for (const { group, resource } of options.resources) {
      const name = groupResourceName({ group, resource })
      this.#known.set(name, new Settings())
      this.#inert.set(name, new Settings())
      options.store.project(
        { group, resource },
        { reset: items => this.#reset(name, items), apply: event => this.#apply(name, event) },
      )
    }
  }

  /** Calls back after each change of these in a space. */
  onChange(resources: readonly GroupResource[], listener: SettingsListener): void {
    for (const resource of resources) {
      const name = groupResourceName(resource)
      this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener])
    }
  }

  /** The acting objects of a space have changed. */
  rethink(space: string): void {
    for (const { group, resource } of this.#options.resources) {
      const name = groupResourceName({ group, resource })
      const [known, inert] = [this.#known.get(name)!, this.#inert.get(name)!]
      const all = [...known.take(space), ...inert.take(space)]
      for (const each of all) (this.#acts(space, each.object, { group, resource }) ? known : inert).put(space, each)
      if (all.length > 0) this.#notify(name, space)
    }
  }

  /** Logical-cluster ids of the spaces that have such objects. */
  spaces(resource: GroupResource): string[] {
    return this.#known.get(groupResourceName(resource))?.spaces() ?? []
  }

  /** Called for each write and each of them: without a name that were put together for it. */
  has(space: string, resource: GroupResource): boolean {
    let settings = this.#byIdentity.get(resource)
    if (settings === undefined) {
      settings = this.#known.get(groupResourceName(resource))
      if (settings === undefined) return false
      this.#byIdentity.set(resource, settings)
    }
    return settings.has(space)
  }

  /** In order of names; `namespace`: only those in it. Sorted once for each change there, not for each request that asks. */
  list(space: string, resource: GroupResource, namespace?: string): readonly KubeObject[] {
    return this.#known.get(groupResourceName(resource))?.list(space, namespace) ?? []
  }

  get(space: string, resource: GroupResource, namespace: string, name: string): KubeObject | undefined {
    return this.#known.get(groupResourceName(resource))?.get(space, namespace, name)
  }

  /** Size of those that act in a namespace, or, where `''`, outside of any. */
  size(space: string, resource: GroupResource, namespace: string): SettingsSize {
    return this.#known.get(groupResourceName(resource))?.size(space, namespace) ?? NOTHING
  }

  #reset(name: string, items: Iterable<Stored>): void {
    const [known, inert] = [this.#known.get(name)!, this.#inert.get(name)!]
    const before = known.spaces()
    known.clear()
    inert.clear()
    for (const stored of items) {
      const object = this.#read(stored)
      const { key } = stored
      if (object) (this.#acts(key.space, object, key) ? known : inert).put(key.space, { object, bytes: sizeOf(stored) })
    }
    for (const space of new Set([...before, ...known.spaces()])) this.#notify(name, space)
  }

  #apply(name: string, { type, key, stored }: StoreEvent): void {
    const [known, inert] = [this.#known.get(name)!, this.#inert.get(name)!]
    const object = type === 'put' ? this.#read(stored) : undefined
    const acts = object !== undefined && this.#acts(key.space, object, key)
    inert.drop(key)
    if (object && !acts) inert.put(key.space, { object, bytes: sizeOf(stored) })
    if (object && acts) known.put(key.space, { object, bytes: sizeOf(stored) })
    else if (!known.drop(key)) return
    this.#notify(name, key.space, [key.name])
  }

  #read(stored: Stored): KubeObject | undefined {
    const { mark, ignores } = this.#options
    if (mark !== undefined && !mentions(stored, mark)) return undefined
    const object = decodeObject(stored)
    return ignores?.(object) ? undefined : object
  }

  #acts(space: string, object: KubeObject, { group, resource }: GroupResource): boolean {
    return this.#options.nature?.acts(space, { group, resource }, object) ?? true
  }

  #notify(name: string, space: string, changed?: readonly string[]): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(space, changed)
  }
}

const NOTHING: SettingsSize = { objects: 0, bytes: 0 }

/** In one namespace, or in none. */
interface Place {
  readonly objects: Map<string, Known>
  bytes: number
  /** In order of names; absent until somebody asks, and after a change. */
  sorted: readonly KubeObject[] | undefined
}

/** Settings of one kind. No empty maps inside. */
class Settings {
  /** By space, and by namespace. */
  readonly #spaces = new Map<string, Map<string, Place>>()
  /** Lists over all namespaces since the last change, by space. */
  readonly #all = new Map<string, readonly KubeObject[]>()

  spaces(): string[] {
    return [...this.#spaces.keys()]
  }

  has(space: string): boolean {
    return this.#spaces.has(space)
  }

  get(space: string, namespace: string, name: string): KubeObject | undefined {
    return this.#spaces.get(space)?.get(namespace)?.objects.get(name)?.object
  }

  size(space: string, namespace: string): SettingsSize | undefined {
    const place = this.#spaces.get(space)?.get(namespace)
    return place && { objects: place.objects.size, bytes: place.bytes }
  }

  list(space: string, namespace?: string): readonly KubeObject[] | undefined {
    const places = this.#spaces.get(space)
    if (places === undefined) return undefined
    if (namespace === undefined && !(places.size === 1 && places.has(''))) {
      const all = (): readonly KubeObject[] => inOrder(places.values().flatMap(({ objects }) => objects.values()))
      return getOrInsert(this.#all, space, all)
    }
    const place = places.get(namespace ?? '')
    if (place) place.sorted ??= inOrder(place.objects.values())
    return place?.sorted
  }

  put(space: string, known: Known): void {
    const { namespace = '', name = '' } = known.object.metadata
    const places = getOrInsert(this.#spaces, space, () => new Map<string, Place>())
    const place = getOrInsert(places, namespace, () => ({ objects: new Map(), bytes: 0, sorted: undefined }))
    const before = place.objects.get(name)
    place.bytes += known.bytes - (before?.bytes ?? 0)
    place.objects.set(name, known)
    // most changes are of what is there: thousands are not sorted anew for that
    const at = before && place.sorted?.indexOf(before.object)
    place.sorted = at === undefined ? undefined : place.sorted?.with(at, known.object)
    this.#all.delete(space)
  }

  /** Whether it was there. */
  drop({ space, namespace, name }: Key): boolean {
    const places = this.#spaces.get(space)
    const place = places?.get(namespace)
    const known = place?.objects.get(name)
    if (!places || !place || !known) return false
    place.objects.delete(name)
    place.bytes -= known.bytes
    place.sorted = undefined
    if (place.objects.size === 0) places.delete(namespace)
    if (places.size === 0) this.#spaces.delete(space)
    this.#all.delete(space)
    return true
  }

  /** All of a space, which has none then. */
  take(space: string): Known[] {
    const taken =
      this.#spaces
        .get(space)
        ?.values()
        .flatMap(({ objects }) => objects.values()) ?? []
    const all = [...taken]
    this.#spaces.delete(space)
    this.#all.delete(space)
    return all
  }

  clear(): void {
    this.#spaces.clear()
    this.#all.clear()
  }
}

function inOrder(known: Iterable<Known>): KubeObject[] {
  return Array.from(known, ({ object }) => object).sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1))
}
