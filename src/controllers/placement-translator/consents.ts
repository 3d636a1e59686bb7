/**
 * The two consents to placing, as the topology stream tells them: InventoryBindings of workload spaces, PlacementGrants of
 * inventories. Answers what one space may send on one way.
 *
 * A way is judged by the Location and the SyncTarget that exist, not by what a slice says of them: a slice is an object that
 * others may write. What is not known is not allowed, so nobody asks before the stream has told everything.
 */
import { isRecord, type KubeObject } from '../../apimachinery/object.ts'
import { mailboxName } from '../../apimachinery/placement.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { compileGrant, coversLocation, type Grant, isFor } from '../consent/grant.ts'
import type { SpacePlaces } from '../placedSource.ts'
import { Allowance, type Told } from './allowance.ts'
import type { Destination } from './placementJoin.ts'

type Labels = Readonly<Record<string, string>>

interface Binding {
  readonly path: string
  /** Id of the inventory, once it is pinned. */
  readonly cluster: string | undefined
}

interface KnownGrant {
  readonly spec: unknown
  readonly grant: Grant
}

/** Spaces that a change may concern, and ways. */
export type Concerns = (space: string) => boolean
export type Through = (way: Destination) => boolean

export class Consents {
  readonly #places: Pick<SpacePlaces, 'pathOf' | 'lineageOf'>
  /** By workload space and name. */
  readonly #bindings = new Map<string, Map<string, Binding>>()
  /** By inventory and name. */
  readonly #grants = new Map<string, Map<string, KnownGrant>>()
  /** By `inventory/name`. */
  readonly #locations = new Map<string, Labels>()
  /** Mailboxes by `inventory/name` of the SyncTarget. */
  readonly #targets = new Map<string, string>()
  /** Labels of SyncTargets. */
  readonly #byMailbox = new Map<string, Labels>()
  /** Asked for every copy. */
  #known = new WeakMap<Destination, Allowance>()
  /** One for each combination of grants. */
  readonly #shared = new Map<string, Allowance>()

  constructor(places: Pick<SpacePlaces, 'pathOf' | 'lineageOf'>) {
    this.#places = places
  }

  /** Whether that changed anything. */
  setBinding(space: string, name: string, object: KubeObject | undefined): boolean {
    const bindings = this.#bindings.get(space) ?? new Map<string, Binding>()
    const before = bindings.get(name)
    const binding = object && bindingOf(object)
    if (equalJson(before, binding)) return false
    if (binding) bindings.set(name, binding)
    else bindings.delete(name)
    if (bindings.size > 0) this.#bindings.set(space, bindings)
    else this.#bindings.delete(space)
    this.#known = new WeakMap()
    return true
  }

  /** Which spaces it may concern; `undefined` when it says the same as before. */
  setGrant(cluster: string, name: string, object: KubeObject | undefined): Concerns | undefined {
    const grants = this.#grants.get(cluster) ?? new Map<string, KnownGrant>()
    const before = grants.get(name)
    if (equalJson(before?.spec, object?.spec) && (before === undefined) === (object === undefined)) return undefined
    const after = object && { spec: object.spec, grant: compileGrant(object) }
    if (after) grants.set(name, after)
    else grants.delete(name)
    if (grants.size > 0) this.#grants.set(cluster, grants)
    else this.#grants.delete(cluster)
    this.#known = new WeakMap()
    this.#shared.clear()
    return space => [before, after].some(known => known !== undefined && this.#isFor(known.grant, space))
  }

  /** Which ways grants may judge otherwise now; `undefined`: none. */
  setLocation(cluster: string, name: string, object: KubeObject | undefined): Through | undefined {
    const changed = this.#setLabels(this.#locations, `${cluster}/${name}`, { cluster, object })
    return changed ? way => way.cluster === cluster && way.locationName === name : undefined
  }

  /** The same for a SyncTarget. */
  setTarget(cluster: string, name: string, object: KubeObject | undefined): Through | undefined {
    const id = `${cluster}/${name}`
    const before = this.#targets.get(id)
    const mailbox = object && mailboxName(cluster, object.metadata.uid ?? '')
    const changed = new Set<string>()
    if (before !== undefined && before !== mailbox) {
      if (this.#setLabels(this.#byMailbox, before, { cluster, object: undefined })) changed.add(before)
    }
    if (mailbox === undefined) this.#targets.delete(id)
    else {
      this.#targets.set(id, mailbox)
      if (this.#setLabels(this.#byMailbox, mailbox, { cluster, object })) changed.add(mailbox)
    }
    return changed.size > 0 ? way => changed.has(way.mailbox) : undefined
  }

  /** @param way a row of a slice of the space: the object itself, which is no other space's */
  allowance(space: string, way: Destination): Allowance {
    let allowance = this.#known.get(way)
    if (!allowance) {
      allowance = this.#judge(space, way)
      this.#known.set(way, allowance)
    }
    return allowance
  }

  /** Why a space has nowhere to place; `undefined` when there is an inventory that grants it something. */
  nowhere(space: string): Told | undefined {
    const bindings = [...(this.#bindings.get(space)?.values() ?? [])]
    if (bindings.length === 0) {
      return {
        reason: 'NotBound',
        message:
          'this space uses no inventory; have an administrator of the space create an InventoryBinding (spec.path)',
      }
    }
    for (const [cluster, grants] of this.#grants) {
      if (!bindings.some(binding => this.#leadsTo(binding, cluster))) continue
      for (const { grant } of grants.values()) if (this.#isFor(grant, space)) return undefined
    }
    return notGranted(bindings[0]!.path, this.#places.pathOf(space) ?? space)
  }

  #judge(space: string, { cluster, mailbox, locationName }: Destination): Allowance {
    const bound = [...(this.#bindings.get(space)?.values() ?? [])].find(binding => this.#leadsTo(binding, cluster))
    if (!bound) {
      // by its id: who may not see the inventory is not told where it is
      const message = `this space does not use the inventory with id "${cluster}"; have an administrator of the space create an InventoryBinding (spec.path)`
      return new Allowance([], { reason: 'NotBound', message })
    }
    const location = this.#locations.get(`${cluster}/${locationName}`)
    const target = this.#byMailbox.get(mailbox)
    const names: string[] = []
    const grants: Grant[] = []
    for (const [name, { grant }] of this.#grants.get(cluster) ?? []) {
      if (!location || !target || !this.#isFor(grant, space) || !coversLocation(grant, location, target)) continue
      names.push(name)
      grants.push(grant)
    }
    if (grants.length === 0) return new Allowance([], notGranted(bound.path, this.#places.pathOf(space) ?? space))
    const id = `${cluster} ${names.join(' ')}`
    const shared = this.#shared.get(id) ?? new Allowance(grants)
    this.#shared.set(id, shared)
    return shared
  }

  /** By id once it is known, so that a space which comes to an old path inherits nothing. */
  #leadsTo({ path, cluster }: Binding, inventory: string): boolean {
    return cluster === undefined ? this.#places.pathOf(inventory) === path : cluster === inventory
  }

  #isFor(grant: Grant, space: string): boolean {
    const lineage = this.#places.lineageOf(space)
    return isFor(
      grant,
      lineage,
      lineage.flatMap(id => this.#places.pathOf(id) ?? []),
    )
  }

  /** Whether that may change a judgement: labels count only where a grant looks at them. */
  #setLabels(
    map: Map<string, Labels>,
    key: string,
    { cluster, object }: { cluster: string; object: KubeObject | undefined },
  ): boolean {
    const before = map.get(key)
    const after = object && (object.metadata.labels ?? {})
    if (equalJson(before, after)) return false
    if (after) map.set(key, after)
    else map.delete(key)
    const selective = [...(this.#grants.get(cluster)?.values() ?? [])].some(
      ({ grant }) => grant.locations !== undefined,
    )
    if (before && after && !selective) return false
    this.#known = new WeakMap()
    return true
  }
}

function bindingOf({ spec, status }: KubeObject): Binding {
  return {
    path: isRecord(spec) && typeof spec.path === 'string' ? spec.path : '',
    cluster:
      isRecord(status) && typeof status.cluster === 'string' && status.cluster !== '' ? status.cluster : undefined,
  }
}

function notGranted(inventory: string, space: string): Told {
  return {
    reason: 'NotGranted',
    message: `inventory "${inventory}" does not grant this space the place; ask who administers it for: kubectl kubestellar grant --imw ${inventory} ${space}`,
  }
}
