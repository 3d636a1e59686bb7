/**
 * Kinds of a view: those of its mailboxes, to be read only. A custom kind is shown to a space that places objects of it there, or
 * requests some by upsync. Other definitions in a mailbox are those of its neighbours. A view of several spaces has the definition that
 * most of their tenants have, so that no tenant takes a kind from the others.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { StatusError } from '../../apimachinery/errors.ts'
import { type GroupResource, type GroupVersionResource, groupResourceName } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import type { ReportedCluster } from '../../placement/desks/reported.ts'
import type { TypeRegistry, TypeSet } from '../types/typeRegistry.ts'

/** Views with the same kinds share their documents. */
const SETS_KEPT = 64
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/** A space, and what clusters report for it. */
export interface SpaceClusters {
  readonly space: string
  readonly clusters: readonly ReportedCluster[]
}

export class ReportedKinds {
  readonly #types: Pick<TypeRegistry, 'in' | 'definedIn' | 'onChange'>
  /** The tenant to which a space belongs. */
  readonly #tenantOf: (space: string) => string
  /** By the custom kinds in them. */
  readonly #sets = new BoundedCache<string, TypeSet>(SETS_KEPT)
  /** Caches of other rooms go by the descriptor: each has one. */
  readonly #readable = new WeakMap<ResourceType, ResourceType>()
  readonly #ids = new WeakMap<ResourceType, string>()
  readonly #numbers = new WeakMap<Schema, number>()
  #lastNumber = 0
  /** Counts changes of definitions, in whatever space. */
  #changes = 0

  constructor(types: Pick<TypeRegistry, 'in' | 'definedIn' | 'onChange'>, tenantOf: (space: string) => string) {
    this.#types = types
    this.#tenantOf = tenantOf
    types.onChange(() => this.#changes++)
  }

  /** Calls back after each change of a kind's definition, in whatever space. Returns the way to stop. */
  onChange({ group, resource }: GroupResource, listener: () => void): () => void {
    return this.#types.onChange((_space, ofGroup, ofResource) => {
      if (ofGroup === group && ofResource === resource) listener()
    })
  }

  /** For a request about one kind, which a watch asks for with each batch. */
  of(spaces: readonly SpaceClusters[]): TypeSet {
    const whole = (): TypeSet => this.all(spaces)
    const known = new Map<string, { readonly at: number; readonly versions: readonly ResourceType[] }>()
    const versions = (group: string, resource: string): readonly ResourceType[] => {
      const kind = groupResourceName({ group, resource })
      const before = known.get(kind)
      if (before?.at === this.#changes) return before.versions
      const now = this.#versions(spaces, group, resource)
      known.set(kind, { at: this.#changes, versions: now })
      return now
    }
    return {
      get types() {
        return whole().types
      },
      hasGroupVersion: (group, version) => whole().hasGroupVersion(group, version),
      find: (group, version, resource) => versions(group, resource).find(type => type.version === version),
      versions,
    }
  }

  /** For documents; the same object for the same kinds. */
  all(spaces: readonly SpaceClusters[]): TypeSet {
    const base = this.#types.in('*')
    /** Where each kind is defined: most clusters have few of all kinds. */
    const custom = new Map<
      string,
      { readonly kind: GroupResource; readonly bySpace: Map<string, Set<ReportedCluster>> }
    >()
    for (const { space, clusters } of spaces) {
      for (const cluster of clusters) {
        for (const kind of this.#types.definedIn(cluster.mailbox)) {
          const name = groupResourceName(kind)
          const { bySpace } = custom.get(name) ?? custom.set(name, { kind, bySpace: new Map() }).get(name)!
          bySpace.set(space, (bySpace.get(space) ?? new Set()).add(cluster))
        }
      }
    }
    const shown = [...custom.values()].flatMap(({ kind, bySpace }) => {
      const where = [...bySpace].map(([space, clusters]) => ({ space, clusters: [...clusters] }))
      return this.#versions(where, kind.group, kind.resource)
    })
    const id = shown
      .map(type => this.#idOf(type))
      .sort()
      .join()
    let set = this.#sets.get(id)
    if (!set) {
      const builtin = base.types.filter(isReadable).map(type => this.#asReadable(type))
      set = setOf([...builtin, ...shown])
      this.#sets.set(id, set)
    }
    return set
  }

  /**
   * Spaces whose clusters have the definition that is served of a kind, or none.
   * @throws StatusError NotFound: there is none, as clusters define the version otherwise, or not at all. It names them.
   */
  alike(
    spaces: readonly SpaceClusters[],
    { group, version, resource }: GroupVersionResource,
  ): readonly SpaceClusters[] {
    if (this.#types.in('*').versions(group, resource).length > 0) return spaces
    const served = this.#versions(spaces, group, resource).find(type => type.version === version)
    if (served) {
      const id = this.#idOf(served)
      const isServed = (type: ResourceType): boolean =>
        type.version === version && this.#idOf(this.#asReadable(type)) === id
      return spaces.filter(({ clusters }) =>
        this.#definitions(clusters, group, resource).every(({ types }) => types.some(isServed)),
      )
    }
    const byId = new Map<string, string[]>()
    let isServed = false
    for (const { clusters } of spaces) {
      for (const { location, types } of this.#definitions(clusters, group, resource)) {
        const type = types.find(one => one.version === version)
        isServed ||= type !== undefined
        const id = type ? this.#idOf(type) : ''
        byId.set(id, [...(byId.get(id) ?? []), location])
      }
    }
    if (isServed) throw notAlike({ group, version, resource }, byId)
    return spaces
  }

  /** Versions of a kind: of a custom one those that most tenants have, each of a definition that all clusters of a space have. */
  #versions(spaces: readonly SpaceClusters[], group: string, resource: string): readonly ResourceType[] {
    const builtin = this.#types.in('*').versions(group, resource)
    if (builtin.length > 0) return builtin.filter(isReadable).map(type => this.#asReadable(type))
    const byVersion = new Map<string, Map<string, Defined>>()
    for (const { space, clusters } of spaces) {
      for (const type of this.#alikeIn(clusters, group, resource)) {
        const byId = byVersion.get(type.version) ?? new Map<string, Defined>()
        byVersion.set(type.version, byId)
        const id = this.#idOf(type)
        const known = byId.get(id)
        if (known) known.tenants.add(this.#tenantOf(space))
        byId.set(id, {
          first: known && known.first < space ? known.first : space,
          tenants: known?.tenants ?? new Set([this.#tenantOf(space)]),
          type: known ? newer(known.type, type) : type,
        })
      }
    }
    return [...byVersion.values()].map(byId => this.#asReadable([...byId.values()].reduce(preferred).type))
  }

  /** Versions of a custom kind that all clusters with the kind define alike. */
  #alikeIn(clusters: readonly ReportedCluster[], group: string, resource: string): readonly ResourceType[] {
    const [first, ...others] = this.#definitions(clusters, group, resource)
    return (first?.types ?? []).flatMap(type => {
      const alike = others.flatMap(({ types }) => types.find(one => this.#idOf(one) === this.#idOf(type)) ?? [])
      return alike.length < others.length ? [] : alike.reduce(newer, type)
    })
  }

  /** Definitions of a custom kind in the clusters that have it for their space. */
  #definitions(clusters: readonly ReportedCluster[], group: string, resource: string): readonly Definition[] {
    return clusters.flatMap(cluster => {
      const types = this.#types.in(cluster.mailbox).versions(group, resource)
      return types.length > 0 && cluster.uses({ group, resource }) ? { location: cluster.location, types } : []
    })
  }

  /** The same for versions that are defined alike. */
  #idOf(type: ResourceType): string {
    let id = this.#ids.get(type)
    if (id === undefined) {
      const { schema, custom, ...rest } = type
      const schemas = [schema, ...(custom?.schemas.values() ?? [])].map(each => this.#numberOf(each))
      id = JSON.stringify([rest, schemas])
      this.#ids.set(type, id)
    }
    return id
  }

  /** Definitions with the same schema share it. */
  #numberOf(schema: Schema | undefined): number {
    if (!schema) return 0
    let number = this.#numbers.get(schema)
    if (number === undefined) {
      number = ++this.#lastNumber
      this.#numbers.set(schema, number)
    }
    return number
  }

  #asReadable(type: ResourceType): ResourceType {
    let readable = this.#readable.get(type)
    if (!readable) {
      readable = { ...type, verbs: type.verbs.filter(verb => READS.has(verb)), subresources: [] }
      this.#readable.set(type, readable)
    }
    return readable
  }
}

interface Definition {
  readonly location: string
  readonly types: readonly ResourceType[]
}

/** A version of a kind, as some spaces have it. */
interface Defined {
  /** By id. */
  readonly first: string
  readonly tenants: Set<string>
  readonly type: ResourceType
}

function preferred(a: Defined, b: Defined): Defined {
  if (a.tenants.size !== b.tenants.size) return a.tenants.size > b.tenants.size ? a : b
  return a.first < b.first ? a : b
}

function newer(a: ResourceType, b: ResourceType): ResourceType {
  return b.custom!.generation > a.custom!.generation ? b : a
}

/** Locations that a refusal names of each definition. */
const NAMED = 10

function notAlike(
  { group, version, resource }: GroupVersionResource,
  byId: ReadonlyMap<string, string[]>,
): StatusError {
  const sides = [...byId].map(([id, locations]) => {
    const more = locations.length > NAMED ? ` and ${locations.length - NAMED} more` : ''
    return `${locations.slice(0, NAMED).join(', ')}${more}${id === '' ? ' without it' : ''}`
  })
  const kind = groupResourceName({ group, resource })
  return new StatusError(
    'NotFound',
    `clusters define version ${version} of ${kind} otherwise: ${sides.sort().join('; ')}. Read each at /locations/<location>`,
    { group, kind: resource },
  )
}

function isReadable({ verbs, form }: ResourceType): boolean {
  return verbs.includes('list') && form === 'struct'
}

function setOf(types: readonly ResourceType[]): TypeSet {
  const ofResource = (group: string, resource: string): readonly ResourceType[] =>
    types.filter(type => type.group === group && type.resource === resource)
  return {
    types,
    find: (group, version, resource) => ofResource(group, resource).find(type => type.version === version),
    versions: ofResource,
    hasGroupVersion: (group, version) => types.some(type => type.group === group && type.version === version),
  }
}
