/**
 * Kinds of a view: those of its mailboxes, to be read only. A custom kind is shown to a space that places objects of it there, or
 * requests some by upsync. Other definitions in a mailbox are those of its neighbours. A view of several spaces has the definition that
 * most of their tenants have, so that no tenant takes a kind from the others.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'
import { type GroupResource, type GroupVersionResource, groupResourceName } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import type { ReportedCluster } from '../../placement/desks/reported.ts'
import { alikeIn, areAlike, type Definition, definedOtherwise, newer } from '../types/definedAlike.ts'
import { type TypeRegistry, type TypeSet, typeSetOf } from '../types/typeRegistry.ts'

/** Views with the same kinds share their documents. */
const SETS_KEPT = 64
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/** A space, and what clusters report for it. */
export interface SpaceClusters {
  readonly space: string
  readonly clusters: readonly ReportedCluster[]
}

export class ReportedKinds {
  readonly #types: Pick<TypeRegistry, 'builtin' | 'in' | 'definedIn' | 'onChange'>
  /** The tenant to which a space belongs. */
  readonly #tenantOf: (space: string) => string
  /** By the custom kinds in them. */
  readonly #sets = new BoundedCache<string, TypeSet>(SETS_KEPT)
  /** Caches of other rooms go by the descriptor: each has one. */
  readonly #readable = new WeakMap<ResourceType, ResourceType>()
  readonly #numbers = new WeakMap<Schema, number>()
  #lastNumber = 0
  /** Counts changes of definitions, in whatever space. */
  #changes = 0

  constructor(
    types: Pick<TypeRegistry, 'builtin' | 'in' | 'definedIn' | 'onChange'>,
    tenantOf: (space: string) => string,
  ) {
    this.#types = types
    this.#tenantOf = tenantOf
    types.onChange(() => this.#changes++)
  }

  /** Calls back after each change of a kind's definition, with the space that defines it. Returns the way to stop. */
  onChange({ group, resource }: GroupResource, listener: (space: string) => void): () => void {
    return this.#types.onChange((space, ofGroup, ofResource) => {
      if (ofGroup === group && ofResource === resource) listener(space)
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
    const base = this.#types.builtin
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
    return getOrInsert(this.#sets, id, () => {
      const builtin = base.types.filter(isReadable).map(type => this.#asReadable(type))
      return typeSetOf([...builtin, ...shown])
    })
  }

  /**
   * Spaces whose clusters have the definition that is served of a kind, or none.
   * @throws StatusError NotFound: there is none, as clusters define the version otherwise, or not at all. It names them.
   */
  alike(
    spaces: readonly SpaceClusters[],
    { group, version, resource }: GroupVersionResource,
  ): readonly SpaceClusters[] {
    if (this.#types.builtin.versions(group, resource).length > 0) return spaces
    const served = this.#versions(spaces, group, resource).find(type => type.version === version)
    if (served) {
      return spaces.filter(({ clusters }) =>
        this.#definitions(clusters, group, resource).every(({ types }) => types.some(type => areAlike(type, served))),
      )
    }
    const definitions = spaces.flatMap(({ clusters }) => this.#definitions(clusters, group, resource))
    const refusal = definedOtherwise({ group, version, resource }, definitions, {
      who: 'clusters',
      remedy: 'Read each at /locations/<location>',
    })
    if (refusal) throw refusal
    return spaces
  }

  /** Versions of a kind: of a custom one those that most tenants have, each of a definition that all clusters of a space have. */
  #versions(spaces: readonly SpaceClusters[], group: string, resource: string): readonly ResourceType[] {
    const builtin = this.#types.builtin.versions(group, resource)
    if (builtin.length > 0) return builtin.filter(isReadable).map(type => this.#asReadable(type))
    const byVersion = new Map<string, Defined[]>()
    for (const { space, clusters } of spaces) {
      for (const type of alikeIn(this.#definitions(clusters, group, resource))) {
        const known = getOrInsert(byVersion, type.version, () => [])
        const tenant = this.#tenantOf(space)
        const defined = known.find(each => areAlike(each.type, type))
        if (!defined) known.push({ first: space, tenants: new Set([tenant]), type })
        else {
          if (space < defined.first) defined.first = space
          defined.tenants.add(tenant)
          defined.type = newer(defined.type, type)
        }
      }
    }
    return [...byVersion.values()].map(known => this.#asReadable(known.reduce(preferred).type))
  }

  /** Definitions of a custom kind in the clusters that have it for their space. */
  #definitions(clusters: readonly ReportedCluster[], group: string, resource: string): readonly Definition[] {
    return clusters.flatMap(cluster => {
      const types = this.#types.in(cluster.mailbox).versions(group, resource)
      return types.length > 0 && cluster.uses({ group, resource }) ? { place: cluster.location, types } : []
    })
  }

  /** The same for versions that are defined alike. */
  #idOf({ schema, custom, ...rest }: ResourceType): string {
    const schemas = [schema, ...(custom?.schemas.values() ?? [])].map(each => this.#numberOf(each))
    return JSON.stringify([rest, schemas])
  }

  /** Definitions with the same schema share it. */
  #numberOf(schema: Schema | undefined): number {
    if (!schema) return 0
    return getOrInsert(this.#numbers, schema, () => ++this.#lastNumber)
  }

  #asReadable(type: ResourceType): ResourceType {
    return getOrInsert(this.#readable, type, () => ({
      ...type,
      verbs: type.verbs.filter(verb => READS.has(verb)),
      subresources: [],
    }))
  }
}

/** A version of a kind, as some spaces have it. */
interface Defined {
  /** By id. */
  first: string
  readonly tenants: Set<string>
  type: ResourceType
}

function preferred(a: Defined, b: Defined): Defined {
  if (a.tenants.size !== b.tenants.size) return a.tenants.size > b.tenants.size ? a : b
  return a.first < b.first ? a : b
}

function isReadable({ verbs, form }: ResourceType): boolean {
  return verbs.includes('list') && form === 'struct'
}
