/**
 * Kinds that a space serves: the catalog of built-in kinds, without Orrery's own that its type leaves out, under an overlay from the
 * space's CustomResourceDefinitions. All spaces together serve those kinds that no two of them define otherwise. A space without CRDs has no
 * overlay and costs nothing here. A changed CRD costs its own size, however many others the space has.
 */
import { Counts } from '../../apimachinery/counts.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { MapOfSets } from '../../apimachinery/nestedMaps.ts'
import { type GroupVersionResource, groupResourceName } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import { type SpaceType, serves, UNIVERSAL } from '../../placement/spaces/spaceTypes.ts'
import { alikeIn, type Definition } from './definedAlike.ts'

/**
 * The kinds of a space. Another object after each change, so documents made from it can be cached by identity; lookups
 * always tell the newest state.
 */
export interface TypeSet {
  readonly types: readonly ResourceType[]
  find(group: string, version: string, resource: string): ResourceType | undefined
  /** All served versions of a resource. */
  versions(group: string, resource: string): readonly ResourceType[]
  hasGroupVersion(group: string, version: string): boolean
  /** Spaces by id with their definitions of a kind. Only the set of all spaces has them. */
  definitions?(group: string, resource: string): readonly Definition[]
}

type TypeListener = (space: string, group: string, resource: string) => void

export class TypeRegistry {
  readonly #all: TypeSet
  /** Kinds of spaces of a type before they define anything; `universal` serves all. */
  readonly #bases = new Map<SpaceType, TypeSet>()
  readonly #typeOf: (space: string) => SpaceType
  readonly #overlays = new Map<string, Overlay>()
  /** Kinds of all spaces; absent: to be made anew. */
  #across: AcrossSpaces | undefined
  readonly #listeners = new Set<TypeListener>()
  /** Resources that a webhook converts, by the spaces where it does. No empty sets. */
  readonly #converted = new MapOfSets<string>()

  constructor(builtin: readonly ResourceType[], typeOf: (space: string) => SpaceType = () => UNIVERSAL) {
    this.#all = typeSetOf(builtin)
    this.#typeOf = typeOf
  }

  /** Kinds that every space serves, unless its type leaves them out. */
  get builtin(): TypeSet {
    return this.#all
  }

  /** `*` serves the built-in kinds, and custom ones that all spaces with a definition of them define alike. */
  in(space: string): TypeSet {
    if (space === '*') {
      if (this.#overlays.size === 0) return this.#all
      this.#across ??= new AcrossSpaces(this.#all, this.#overlays)
      return this.#across
    }
    const base = this.#baseOf(this.#typeOf(space))
    const overlay = this.#overlays.get(space)
    if (overlay === undefined) return base
    if (overlay.set === undefined || overlay.base !== base) {
      overlay.base = base
      overlay.set = new IndexedSet(base, overlay.index)
    }
    return overlay.set
  }

  /** Kinds that a space defines itself. */
  definedIn(space: string): readonly ResourceType[] {
    return this.#overlays.get(space)?.index.all() ?? []
  }

  /** Whether no space may define it, also where its type does not serve it. */
  isBuiltin(group: string, resource: string): boolean {
    return this.#all.versions(group, resource).length > 0
  }

  /** Whether a webhook converts any objects, in whatever space. */
  get convertsAny(): boolean {
    return this.#converted.size > 0
  }

  /** Whether a webhook converts such objects in some space. */
  areConverted(group: string, resource: string): boolean {
    return this.#converted.size > 0 && this.#converted.has(groupResourceName({ group, resource }))
  }

  /** Replaces what the CRD `<resource>.<group>` contributes to a space; an empty list removes it. */
  define(space: string, definition: string, types: readonly ResourceType[]): void {
    const overlay: Overlay = this.#overlays.get(space) ?? { index: new Index(), base: undefined, set: undefined }
    const old = overlay.index.versionsOf(definition)
    const free = types.filter(type => this.#all.find(type.group, type.version, type.resource) === undefined)
    overlay.index.put(definition, free)
    const converts = free.some(({ custom }) => custom?.convert !== undefined)
    this.#noteConverted(space, definition, converts)
    overlay.set = undefined
    this.#across = this.#across?.without([definition])
    if (overlay.index.isEmpty) this.#overlays.delete(space)
    else this.#overlays.set(space, overlay)
    const changed = old[0] ?? free[0]
    if (changed === undefined) return
    for (const listener of this.#listeners) listener(space, changed.group, changed.resource)
  }

  #baseOf(type: SpaceType): TypeSet {
    if (type.serves === undefined) return this.#all
    return getOrInsert(this.#bases, type, () =>
      typeSetOf(this.#all.types.filter(kind => kind.form !== 'own' || serves(type, kind))),
    )
  }

  /** A kind of the server's own that the space has. @throws Error where it has not */
  builtinIn(space: string, { group, version, resource }: GroupVersionResource): ResourceType {
    const type = this.in(space).find(group, version, resource)
    if (type === undefined) throw new Error(`the built-in kind ${resource} is missing from the catalog`)
    return type
  }

  forgetSpace(space: string): void {
    const overlay = this.#overlays.get(space)
    this.#overlays.delete(space)
    if (overlay) this.#across = this.#across?.without(overlay.index.names())
    for (const definition of [...this.#converted.keys()]) this.#noteConverted(space, definition, false)
  }

  #noteConverted(space: string, definition: string, converts: boolean): void {
    if (converts) this.#converted.add(definition, space)
    else this.#converted.delete(definition, space)
  }

  /** Calls back after each change of a resource's definition. Returns the way to stop. */
  onChange(listener: TypeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

interface Overlay {
  readonly index: Index
  /** Base of `set`. */
  base: TypeSet | undefined
  set: TypeSet | undefined
}

/** Types by name and by what contributes them: `plural.group`, which is the name of a CRD too. */
class Index {
  readonly #byName = new Map<string, ResourceType>()
  readonly #byResource = new Map<string, readonly ResourceType[]>()
  /** How many types each group version has. */
  readonly #groupVersions = new Counts()

  get isEmpty(): boolean {
    return this.#byResource.size === 0
  }

  put(name: string, types: readonly ResourceType[]): void {
    for (const type of this.versionsOf(name)) {
      this.#byName.delete(nameOf(type.group, type.version, type.resource))
      this.#count(type, -1)
    }
    for (const type of types) {
      this.#byName.set(nameOf(type.group, type.version, type.resource), type)
      this.#count(type, 1)
    }
    if (types.length > 0) this.#byResource.set(name, types)
    else this.#byResource.delete(name)
  }

  find(group: string, version: string, resource: string): ResourceType | undefined {
    return this.#byName.get(nameOf(group, version, resource))
  }

  versionsOf(name: string): readonly ResourceType[] {
    return this.#byResource.get(name) ?? []
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.#groupVersions.of(`${group}/${version}`) > 0
  }

  all(): ResourceType[] {
    return [...this.#byResource.values()].flat()
  }

  /** Names of what contributes them. */
  names(): Iterable<string> {
    return this.#byResource.keys()
  }

  /** By what contributes them. */
  entries(): Iterable<[name: string, types: readonly ResourceType[]]> {
    return this.#byResource
  }

  #count({ group, version }: ResourceType, change: number): void {
    this.#groupVersions.add(`${group}/${version}`, change)
  }
}

class IndexedSet implements TypeSet {
  readonly #base: TypeSet | undefined
  readonly #index: Index
  /** Made at first use: most requests look up one kind. */
  #types: readonly ResourceType[] | undefined

  constructor(base: TypeSet | undefined, index: Index, types?: readonly ResourceType[]) {
    this.#base = base
    this.#index = index
    this.#types = types
  }

  get types(): readonly ResourceType[] {
    this.#types ??= [...(this.#base?.types ?? []), ...this.#index.all()]
    return this.#types
  }

  find(group: string, version: string, resource: string): ResourceType | undefined {
    return this.#base?.find(group, version, resource) ?? this.#index.find(group, version, resource)
  }

  versions(group: string, resource: string): readonly ResourceType[] {
    const own = this.#index.versionsOf(groupResourceName({ group, resource }))
    return own.length > 0 ? own : (this.#base?.versions(group, resource) ?? [])
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.#base?.hasGroupVersion(group, version) === true || this.#index.hasGroupVersion(group, version)
  }
}

/** Kinds of all spaces. A custom one is looked up in each of them at its first use. */
class AcrossSpaces implements TypeSet {
  readonly #base: TypeSet
  readonly #overlays: ReadonlyMap<string, Overlay>
  /** By name, of kinds that were looked up. Sets before and after a change share it. */
  readonly #versions: Map<string, readonly ResourceType[]>
  #types: readonly ResourceType[] | undefined

  constructor(
    base: TypeSet,
    overlays: ReadonlyMap<string, Overlay>,
    versions = new Map<string, readonly ResourceType[]>(),
  ) {
    this.#base = base
    this.#overlays = overlays
    this.#versions = versions
  }

  /** The set after a change of these definitions. A tenant's change has no other kind compared anew. */
  without(names: Iterable<string>): AcrossSpaces {
    for (const name of names) this.#versions.delete(name)
    return new AcrossSpaces(this.#base, this.#overlays, this.#versions)
  }

  get types(): readonly ResourceType[] {
    this.#types ??= [...this.#base.types, ...this.#custom()]
    return this.#types
  }

  find(group: string, version: string, resource: string): ResourceType | undefined {
    return this.versions(group, resource).find(type => type.version === version)
  }

  versions(group: string, resource: string): readonly ResourceType[] {
    const builtin = this.#base.versions(group, resource)
    if (builtin.length > 0) return builtin
    const name = groupResourceName({ group, resource })
    const known = this.#versions.get(name)
    if (known) return known
    const definitions = this.definitions(group, resource)
    const versions = alikeIn(definitions)
    // a name that nothing has is not worth the memory
    if (definitions.length > 0) this.#versions.set(name, versions)
    return versions
  }

  hasGroupVersion(group: string, version: string): boolean {
    return this.types.some(type => type.group === group && type.version === version)
  }

  definitions(group: string, resource: string): readonly Definition[] {
    const name = groupResourceName({ group, resource })
    const definitions: Definition[] = []
    for (const [place, { index }] of this.#overlays) {
      const types = index.versionsOf(name)
      if (types.length > 0) definitions.push({ place, types })
    }
    return definitions
  }

  #custom(): ResourceType[] {
    const byName = new Map<string, Definition[]>()
    for (const [place, { index }] of this.#overlays) {
      for (const [name, types] of index.entries()) getOrInsert(byName, name, () => []).push({ place, types })
    }
    return [...byName.values()].flatMap(alikeIn)
  }
}

/** Kinds that never change. */
export function typeSetOf(types: readonly ResourceType[]): TypeSet {
  const index = new Index()
  for (const [name, versions] of Map.groupBy(types, groupResourceName)) index.put(name, versions)
  return new IndexedSet(undefined, index, types)
}

function nameOf(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`
}
