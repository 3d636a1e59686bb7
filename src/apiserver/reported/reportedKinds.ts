/**
 * Kinds of a view: those of the mailbox, to be read only. A custom kind is shown to a space that places objects of it there, or
 * requests some by upsync. Other definitions in the mailbox are those of its neighbours.
 */
import { BoundedCache } from '../../apimachinery/boundedCache.ts'
import { groupResourceName } from '../../apimachinery/object.ts'
import type { ResourceType } from '../../apimachinery/resourceType.ts'
import type { ReportedCluster } from '../../placement/desks/reported.ts'
import type { TypeRegistry, TypeSet } from '../types/typeRegistry.ts'

/** Sets with the same kinds of a mailbox share their documents. */
const SETS_KEPT = 64
const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

export class ReportedKinds {
  readonly #types: Pick<TypeRegistry, 'in'>
  /** By the kinds of the mailbox, then by names of the custom kinds that are shown. */
  readonly #sets = new WeakMap<TypeSet, BoundedCache<string, TypeSet>>()
  /** Caches of other rooms go by the descriptor: each has one. */
  readonly #readable = new WeakMap<ResourceType, ResourceType>()

  constructor(types: Pick<TypeRegistry, 'in'>) {
    this.#types = types
  }

  /** For a request about one kind. */
  of(cluster: ReportedCluster): TypeSet {
    const all = this.#types.in(cluster.mailbox)
    const isShown = (type: ResourceType): boolean => shows(cluster, type)
    const whole = (): TypeSet => this.all(cluster)
    return {
      get types() {
        return whole().types
      },
      hasGroupVersion: (group, version) => whole().hasGroupVersion(group, version),
      find: (group, version, resource) => {
        const type = all.find(group, version, resource)
        return type && isShown(type) ? this.#asReadable(type) : undefined
      },
      versions: (group, resource) =>
        all
          .versions(group, resource)
          .filter(isShown)
          .map(type => this.#asReadable(type)),
    }
  }

  /** For documents; the same object for the same kinds. */
  all(cluster: ReportedCluster): TypeSet {
    const all = this.#types.in(cluster.mailbox)
    const shown = all.types.filter(type => shows(cluster, type))
    const id = shown.flatMap(type => (type.custom ? groupResourceName(type) : [])).join()
    const sets = this.#sets.get(all) ?? new BoundedCache<string, TypeSet>(SETS_KEPT)
    this.#sets.set(all, sets)
    let set = sets.get(id)
    if (!set) {
      set = setOf(shown.map(type => this.#asReadable(type)))
      sets.set(id, set)
    }
    return set
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

function shows(cluster: ReportedCluster, type: ResourceType): boolean {
  if (!type.verbs.includes('list')) return false
  return type.form === 'struct' || (type.form === 'custom' && cluster.uses(type))
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
