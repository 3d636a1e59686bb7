/**
 * Allowances: the objects that a space may send on a way, by the {@link ConsentIndex} and the {@link Inventory}.
 *
 * The existing Location and SyncTarget decide on a way, not a slice's content: a slice is open to other writers. Unknown is not allowed, so
 * readers wait until the stream is complete.
 */
import type { KubeObject } from '../../../apimachinery/object.ts'
import { equalJson } from '../../../apimachinery/values.ts'
import { Allowance } from '../../../placement/consent/allowance.ts'
import { coversLocation } from '../../../placement/consent/grant.ts'
import type { Reason } from '../../../placement/words/reason.ts'
import type { Destination } from '../../../placement/words/ways.ts'
import type { ConsentIndex } from '../../consent/consentIndex.ts'
import type { SpacePlaces } from '../../placedSource.ts'
import type { Signals } from '../signals/signals.ts'
import { type Inventory, type Labels, type LocationChange, labelsOf, type TargetChange } from './inventory.ts'
import type { BindingChange, TopologyReader } from './topologyFacts.ts'

type Through = (way: Destination) => boolean

/** More changes than these, each of which looks at all ways, count as one change of everything. */
const MANY = 20

export class Consents implements TopologyReader {
  readonly #places: SpacePlaces
  readonly #inventory: Pick<Inventory, 'location' | 'locationsOf' | 'target'>
  readonly #consentChanged: Signals['consentChanged']
  /** Changes of a snapshot so far, up to the bound. */
  #snapshot: { readonly space: string | undefined; readonly through: Through }[] | undefined
  readonly #index: ConsentIndex
  /** Read for every copy. */
  #known = new WeakMap<Destination, Allowance>()
  /** One for each combination of grants. */
  readonly #shared = new Map<string, Allowance>()

  constructor(
    places: SpacePlaces,
    inventory: Pick<Inventory, 'location' | 'locationsOf' | 'target'>,
    index: ConsentIndex,
    consentChanged: Signals['consentChanged'],
  ) {
    this.#places = places
    this.#inventory = inventory
    this.#index = index
    this.#consentChanged = consentChanged
  }

  /** All facts are replayed one by one, until {@link synced}; readers get the consequences once, then. */
  begin(): void {
    this.#snapshot ??= []
  }

  synced(): void {
    const changes = this.#snapshot ?? []
    this.#snapshot = undefined
    if (changes.length > MANY) this.#consentChanged.send(undefined, () => true)
    else for (const { space, through } of changes) this.#consentChanged.send(space, through)
  }

  #notify(space: string | undefined, through: Through): void {
    if (!this.#snapshot) this.#consentChanged.send(space, through)
    else if (this.#snapshot.length <= MANY) this.#snapshot.push({ space, through })
  }

  consentChanged(space: string, inventory: string | undefined): void {
    this.#forget()
    this.#notify(space, way => inventory === undefined || way.cluster === inventory)
  }

  bindingChanged({ space, before, after, isUnreadable }: BindingChange): void {
    if (isUnreadable) this.#forget()
    // also one that leads nowhere is named to who has nowhere to place
    if (before?.path !== after?.path) this.#notify(space, () => false)
  }

  grantChanged(_inventory: string, isUnreadable: boolean): void {
    if (isUnreadable) this.#forget()
  }

  locationChanged({ space, name, before, after }: LocationChange): void {
    if (this.#mayCoverOther(space, labelsOf(before), labelsOf(after)))
      this.#notify(undefined, way => way.cluster === space && way.locationName === name)
  }

  targetChanged({ space, mailbox, before, after }: TargetChange): void {
    if (this.#mayCoverOther(space, before?.labels, after?.labels))
      this.#notify(undefined, way => way.mailbox === mailbox)
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
  nowhere(space: string): Reason | undefined {
    const bindings = [...this.#index.bindingsOf(space)]
    const first = bindings.find(({ path }) => path !== '') ?? bindings[0]
    if (first?.path === '') {
      return {
        reason: 'NotBound',
        message: `InventoryBinding "${first.name}" names no inventory (spec.path); have an administrator of the space delete it and make it again with spec.path`,
      }
    }
    if (!first) {
      return {
        reason: 'NotBound',
        message:
          'this space uses no inventory; have an administrator of the space create an InventoryBinding (spec.path)',
      }
    }
    const granting = this.#index.inventoriesOf(space).some(id => this.#index.grantsFor(space, id).length > 0)
    return granting ? undefined : notGranted(first.path, this.#places.pathOf(space) ?? space)
  }

  /** Locations that a space may place on, whether it does or not; by their own labels, for a hint. */
  *locationsFor(space: string): Iterable<KubeObject> {
    if (this.isUncertain(space)) return
    for (const inventory of this.#index.inventoriesOf(space)) {
      const grants = this.#index.grantsFor(space, inventory)
      for (const location of this.#inventory.locationsOf(inventory)) {
        const labels = labelsOf(location) ?? {}
        if (grants.some(grant => coversLocation(grant, labels, labels))) yield location
      }
    }
  }

  /** The first by name of the InventoryBindings by which a space uses an inventory. */
  bindingTo(space: string, inventory: string): string | undefined {
    const names = [...this.#index.bindingsOf(space)].flatMap(binding =>
      binding.inventory === inventory ? [binding.name] : [],
    )
    return names.sort()[0]
  }

  /** Whether it may be so of any space. */
  get anyUncertain(): boolean {
    return this.#index.hasUnread
  }

  /** Whether it is not known which inventories a space uses, or what one of them grants it. */
  isUncertain(space: string): boolean {
    return this.#index.isUncertain(space)
  }

  #judge(space: string, { cluster, mailbox, locationName }: Destination): Allowance {
    const isUncertain = this.#index.isUncertain(space, cluster)
    if (!this.#index.uses(space, cluster)) {
      // by its id: the path is for those who may see the inventory
      const message = `this space does not use the inventory with id "${cluster}"; have an administrator of the space create an InventoryBinding (spec.path)`
      return new Allowance([], { refuses: { reason: 'NotBound', message }, isUncertain })
    }
    const location = labelsOf(this.#inventory.location(cluster, locationName))
    const target = this.#inventory.target(mailbox)?.labels
    const all = this.#index.grantsFor(space, cluster)
    const grants = all.filter(grant => location && target && coversLocation(grant, location, target))
    if (grants.length === 0) {
      const [inventory, path] = [this.#places.pathOf(cluster) ?? cluster, this.#places.pathOf(space) ?? space]
      // without a grant, a space learns nothing of the inventory's content
      if (all.length > 0 && !(location && target))
        return new Allowance([], {
          refuses: gone(inventory, locationName, location ? 'SyncTarget' : 'Location'),
          isUncertain,
        })
      return new Allowance([], { refuses: notGranted(inventory, path), isUncertain })
    }
    const id = `${isUncertain} ${cluster} ${grants.map(({ name }) => name).join(' ')}`
    const shared = this.#shared.get(id) ?? new Allowance(grants, { isUncertain })
    this.#shared.set(id, shared)
    return shared
  }

  #forget(): void {
    this.#known = new WeakMap()
    this.#shared.clear()
  }

  /** Whether grants may cover other ways: labels count only where a grant looks at them. */
  #mayCoverOther(inventory: string, before: Labels | undefined, after: Labels | undefined): boolean {
    if (equalJson(before, after)) return false
    if (before && after && !this.#index.looksAtLabels(inventory)) return false
    this.#known = new WeakMap()
    return true
  }
}

/** No grant would help. The EdgePlacement leads there until it is resolved anew. */
function gone(inventory: string, locationName: string, what: 'Location' | 'SyncTarget'): Reason {
  const subject = `Location "${locationName}" of inventory "${inventory}"`
  const message =
    what === 'Location' ? `${subject} does not exist any more` : `the SyncTarget of ${subject} does not exist any more`
  return { reason: 'NotGranted', message }
}

function notGranted(inventory: string, space: string): Reason {
  return {
    reason: 'NotGranted',
    message: `inventory "${inventory}" does not grant this space the place; ask who administers it for: kubectl kubestellar grant --imw ${inventory} ${space}`,
  }
}
