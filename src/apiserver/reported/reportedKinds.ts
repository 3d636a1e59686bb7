/**
 * Kinds of a view: those of its mailboxes, to be read only. A custom kind is shown to a space that places objects of it there, or
 * requests some by upsync. Other definitions in a mailbox are those of its neighbours.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { type GroupResource, groupResourceName } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { Schema } from '../../apimachinery/schema.ts'
import type { ReportedCluster } from '../../placement/desks/reported.ts'
import type { TypeRegistry, TypeSet } from '../types/typeRegistry.ts'

/** Views with the same kinds share their documents. */
const SETS_KEPT = 64
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

export class ReportedKinds {
  readonly #types: Pick<TypeRegistry, 'in' | 'definedIn'>
  /** By the custom kinds in them. */
  readonly #sets = new BoundedCache<string, TypeSet>(SETS_KEPT)
  /** Caches of other rooms go by the descriptor: each has one. */
  readonly #readable = new WeakMap<ResourceType, ResourceType>()
  readonly #ids = new WeakMap<ResourceType, string>()
  readonly #numbers = new WeakMap<Schema, number>()
  #lastNumber = 0

  constructor(types: Pick<TypeRegistry, 'in' | 'definedIn'>) {
    this.#types = types
  }

  /** For a request about one kind. */
  of(clusters: readonly ReportedCluster[]): TypeSet {
    const whole = (): TypeSet => this.all(clusters)
    return {
      get types() {
        return whole().types
      },
      hasGroupVersion: (group, version) => whole().hasGroupVersion(group, version),
      find: (group, version, resource) =>
        this.#versions(clusters, group, resource).find(type => type.version === version),
      versions: (group, resource) => this.#versions(clusters, group, resource),
    }
  }

  /** For documents; the same object for the same kinds. */
  all(clusters: readonly ReportedCluster[]): TypeSet {
    const base = this.#types.in('*')
    const custom = new Map<string, GroupResource>()
    for (const { mailbox } of clusters)
      for (const type of this.#types.definedIn(mailbox)) custom.set(groupResourceName(type), type)
    const shown = [...custom.values()].flatMap(({ group, resource }) => this.#versions(clusters, group, resource))
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

  /** Versions of a kind: of a custom one those that all clusters of the space with the kind define alike. */
  #versions(clusters: readonly ReportedCluster[], group: string, resource: string): readonly ResourceType[] {
    const builtin = this.#types.in('*').versions(group, resource)
    if (builtin.length > 0) return builtin.filter(isReadable).map(type => this.#asReadable(type))
    const found = new Map<string, ResourceType | undefined>()
    for (const cluster of clusters) {
      const types = this.#types.in(cluster.mailbox).versions(group, resource)
      if (types.length === 0 || !cluster.uses({ group, resource })) continue
      for (const type of types) {
        const { version } = type
        const known = found.get(version)
        if (!found.has(version)) found.set(version, type)
        else if (known && this.#idOf(known) !== this.#idOf(type)) found.set(version, undefined)
        else if (known && type.custom!.generation > known.custom!.generation) found.set(version, type)
      }
    }
    return [...found.values()].flatMap(type => (type ? this.#asReadable(type) : []))
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
      const { scale: _scale, ...rest } = type
      readable = { ...rest, verbs: type.verbs.filter(verb => READS.has(verb)), subresources: [] }
      this.#readable.set(type, readable)
    }
    return readable
  }
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
