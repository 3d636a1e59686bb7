/**
 * Which kinds a space serves: the shared catalog of built-in kinds under an overlay made from the space's own
 * CustomResourceDefinitions. A space without CRDs has no overlay and costs nothing here.
 */
import { groupResourceName } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'

/** An immutable set of kinds; replaced as a whole when a CRD changes, so documents made from it can be cached by identity. */
export interface TypeSet {
  readonly types: readonly ResourceType[]
  find(group: string, version: string, resource: string): ResourceType | undefined
  /** All served versions of a resource. */
  versions(group: string, resource: string): readonly ResourceType[]
  hasGroupVersion(group: string, version: string): boolean
}

export class TypeRegistry {
  readonly #base: TypeSet
  readonly #overlays = new Map<string, Overlay>()
  readonly #listeners = new Set<(space: string, group: string, resource: string) => void>()

  constructor(builtin: readonly ResourceType[]) {
    this.#base = typeSet(undefined, builtin)
  }

  /** `*` sees the built-in kinds only: no two spaces need agree about a CRD. */
  in(space: string): TypeSet {
    const overlay = this.#overlays.get(space)
    if (overlay === undefined) return this.#base
    overlay.set ??= typeSet(this.#base, [...overlay.byDefinition.values()].flat())
    return overlay.set
  }

  isBuiltin(group: string, resource: string): boolean {
    return this.#base.versions(group, resource).length > 0
  }

  /** Replaces what one CRD contributes to a space; an empty list removes it. */
  define(space: string, definition: string, types: readonly ResourceType[]): void {
    const overlay = this.#overlays.get(space) ?? { byDefinition: new Map(), set: undefined }
    const old = overlay.byDefinition.get(definition)
    if (types.length > 0) overlay.byDefinition.set(definition, types)
    else overlay.byDefinition.delete(definition)
    overlay.set = undefined
    if (overlay.byDefinition.size === 0) this.#overlays.delete(space)
    else this.#overlays.set(space, overlay)
    for (const type of [...(old ?? []), ...types].slice(0, 1)) {
      for (const listener of this.#listeners) listener(space, type.group, type.resource)
    }
  }

  forgetSpace(space: string): void {
    this.#overlays.delete(space)
  }

  /** Calls back after each change of a resource's definition. Returns the way to stop. */
  onChange(listener: (space: string, group: string, resource: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

interface Overlay {
  readonly byDefinition: Map<string, readonly ResourceType[]>
  /** Made when first asked for, so loading many CRDs costs one build. */
  set: TypeSet | undefined
}

function typeSet(base: TypeSet | undefined, added: readonly ResourceType[]): TypeSet {
  const byName = new Map<string, ResourceType>()
  const byResource = new Map<string, ResourceType[]>()
  const groupVersions = new Set<string>()
  for (const type of added) {
    const name = `${type.group}/${type.version}/${type.resource}`
    if (byName.has(name) || base?.find(type.group, type.version, type.resource)) continue
    byName.set(name, type)
    groupVersions.add(`${type.group}/${type.version}`)
    const siblings = byResource.get(groupResourceName(type))
    if (siblings) siblings.push(type)
    else byResource.set(groupResourceName(type), [type])
  }
  return {
    types: base ? [...base.types, ...byName.values()] : [...byName.values()],
    find: (group, version, resource) =>
      byName.get(`${group}/${version}/${resource}`) ?? base?.find(group, version, resource),
    versions: (group, resource) =>
      byResource.get(groupResourceName({ group, resource })) ?? base?.versions(group, resource) ?? [],
    hasGroupVersion: (group, version) =>
      groupVersions.has(`${group}/${version}`) || base?.hasGroupVersion(group, version) === true,
  }
}
