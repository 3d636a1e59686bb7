/**
 * The allocations of every space in which Services are written, each a projection of the space's Services, made when its first
 * Service is written. Between the moment in which a request takes something and the commit of its Service, a reservation holds
 * it.
 */

import { type Fields, num, record, records, strings } from '../../apimachinery/fields.ts'
import type { KubeObject } from '../../apimachinery/object.ts'
import type { Store } from '../../storage/store.ts'
import { decodeObject } from '../registry/codec.ts'
import { canonicalIp } from './canonicalIp.ts'
import { type Item, SpaceAllocations } from './spaceAllocations.ts'

export const SERVICES = { group: '', resource: 'services' } as const

interface AllocationLogDeps {
  store: Pick<Store, 'project'>
  /** The address of the Service `kubernetes`. */
  kept: Item
}

export class AllocationLog {
  readonly #deps: AllocationLogDeps
  readonly #spaces = new Map<string, { allocations: SpaceAllocations; end: () => void }>()

  constructor(deps: AllocationLogDeps) {
    this.#deps = deps
  }

  of(space: string): SpaceAllocations {
    const known = this.#spaces.get(space)
    if (known !== undefined) return known.allocations
    const allocations = new SpaceAllocations(this.#deps.kept)
    const end = this.#deps.store.project(
      { space, ...SERVICES },
      {
        reset: items =>
          allocations.holdOnly([...items].map(stored => [ownerOf(stored.key), itemsOf(decodeObject(stored))])),
        apply: ({ type, key, stored }) =>
          allocations.hold(ownerOf(key), type === 'delete' ? [] : itemsOf(decodeObject(stored))),
      },
    )
    this.#spaces.set(space, { allocations, end })
    return allocations
  }

  /** The space is gone. */
  forget(space: string): void {
    this.#spaces.get(space)?.end()
    this.#spaces.delete(space)
  }
}

export function ownerOf({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`
}

/** One of each family. The rules of its kind refuse more, and nothing is looked up for it. */
const MOST_ADDRESSES = 2

export function clusterIpsOf(spec: Fields): string[] {
  return strings(spec, 'clusterIPs').slice(0, MOST_ADDRESSES)
}

/** Addresses and ports that a Service occupies, each once. One that is but a name occupies none, whatever it says. */
export function itemsOf(service: Readonly<KubeObject>): Item[] {
  const spec = record(service, 'spec')
  if (spec.type === 'ExternalName') return []
  const ports = [...records(spec, 'ports').map(port => num(port, 'nodePort')), num(spec, 'healthCheckNodePort')]
  const addresses = clusterIpsOf(spec).filter(ip => ip !== 'None' && ip !== '')
  return [...new Set<Item>([...addresses.map(canonicalIp), ...ports.filter(port => port !== 0)])]
}
