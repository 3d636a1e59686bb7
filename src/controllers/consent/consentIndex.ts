/**
 * Index of the consents to placing. These are the inventories that a space names in its InventoryBindings, and their PlacementGrants for it
 * or for a space above it. Both are live. Each change names the spaces that it concerns.
 *
 * A binding counts once its path leads to a space. It counts only while that is the one that it was pinned to at its first grant. A new
 * space under an old path inherits nothing. A grant or a binding that cannot be read is never a refusal: its content is unknown, and no
 * controller acts on that.
 */
import { at } from '../../apimachinery/fields.ts'
import { MapOfMaps, MapOfSets } from '../../apimachinery/nestedMaps.ts'
import { equalJson } from '../../apimachinery/values.ts'
import { boundPath, pinnedTo } from '../../placement/consent/consentObjects.ts'
import { compileGrant, type Grant } from '../../placement/consent/grant.ts'
import { SelectorParts } from '../../placement/select/selectorParts.ts'
import type { SpacePlaces } from '../placedSource.ts'
import type { ConsentObject, ConsentTaker } from './takeConsent.ts'

interface ConsentSink {
  /** The grants of an inventory for a space, or the space's use of it, may have changed. `undefined`: any inventory. */
  consent(space: string, inventory: string | undefined): void
  /** The status of an InventoryBinding may have changed. */
  binding(space: string, name: string): void
}

export interface Binding {
  readonly space: string
  readonly name: string
  /** Path of the inventory. */
  readonly path: string
  /** Id of the inventory that first granted. */
  readonly pinned: string | undefined
  /** Id of the inventory that it stands for now. */
  readonly inventory: string | undefined
  /** Another space is at the path than the one that first granted. */
  readonly replaced: boolean
}

interface KnownGrant {
  readonly grant: Grant
  /** As it is written. */
  readonly spec: unknown
}

/** That a space uses an inventory. */
interface Use {
  readonly bindings: Map<string, Binding>
  /** By name; `undefined`: to be looked up. */
  grants: readonly Grant[] | undefined
}

export class ConsentIndex implements ConsentTaker {
  readonly #places: SpacePlaces
  readonly #sink: ConsentSink
  /** By space and name. */
  readonly #bindings = new MapOfMaps<Binding>()
  readonly #byPath = new MapOfSets<Binding>()
  /** By inventory and space. */
  readonly #uses = new MapOfMaps<Use>()
  /** By inventory and name. */
  readonly #grants = new MapOfMaps<KnownGrant>()
  /** By inventory and whom they are for. */
  readonly #bySubject = new Map<string, MapOfSets<string>>()
  /** Names of what is there and cannot be read, by space. */
  readonly #unread = new MapOfSets<string>()

  constructor(places: SpacePlaces, sink: ConsentSink) {
    this.#places = places
    this.#sink = sink
  }

  /** Until the answer is called, follows which space is at which path. `take` makes each change. */
  follow(take: (change: () => void) => void = change => change()): () => void {
    const ends = [
      this.#places.onKnown(space => {
        const path = this.#places.pathOf(space)
        if (path !== undefined) take(() => this.#placeAgain(this.#byPath.of(path)))
      }),
      this.#places.onGone(space => {
        const uses = [...this.#uses.of(space).values()]
        take(() => this.#placeAgain(uses.flatMap(({ bindings }) => [...bindings.values()])))
      }),
    ]
    return () => {
      for (const end of ends) end()
    }
  }

  /** `undefined`: it is gone. `unreadable`: it is there, and nobody knows what it says. */
  setBinding(space: string, name: string, object: ConsentObject): void {
    const old = this.#bindings.get(space, name)
    this.#mark(space, `binding ${name}`, object === 'unreadable')
    if (object === 'unreadable') return
    if (old) this.#remove(old)
    if (object) {
      const [path, pinned] = [boundPath(object), pinnedTo(object)]
      this.#add({ space, name, path, pinned, ...this.#leadsTo(path, pinned) })
    }
    const now = this.#bindings.get(space, name)
    this.#notifyMoved(old, now)
    if (now) this.#sink.binding(space, name)
  }

  setGrant(inventory: string, name: string, object: ConsentObject): void {
    this.#mark(inventory, `grant ${name}`, object === 'unreadable')
    if (object === 'unreadable') return
    const subjects = this.#bySubject.get(inventory) ?? new MapOfSets<string>()
    const old = this.#grants.get(inventory, name)
    if (old ? object && equalJson(old.spec, object.spec) : !object) return
    const now = object && { grant: compileGrant(object), spec: object.spec }
    const before = old ? subjectsOf(old.grant) : []
    const after = now ? subjectsOf(now.grant) : []
    for (const subject of before) subjects.delete(subject, name)
    for (const subject of after) subjects.add(subject, name)
    if (subjects.size > 0) this.#bySubject.set(inventory, subjects)
    else this.#bySubject.delete(inventory)
    this.#grants.set(inventory, name, now)
    const concerned = new Set([...before, ...after])
    for (const [space, use] of this.#uses.of(inventory)) {
      if (!this.#subjectsFor(space, concerned).some(subject => concerned.has(subject))) continue
      use.grants = undefined
      this.#notify(space, inventory, use)
    }
  }

  bindingOf(space: string, name: string): Binding | undefined {
    return this.#bindings.get(space, name)
  }

  bindingsOf(space: string): Iterable<Binding> {
    return this.#bindings.of(space).values()
  }

  uses(space: string, inventory: string): boolean {
    return this.#uses.get(inventory, space) !== undefined
  }

  /** Ids of the inventories that a space uses, whether they grant it anything or not. Sorted. */
  inventoriesOf(space: string): string[] {
    const found = [...this.#bindings.of(space).values()].flatMap(({ inventory }) => inventory ?? [])
    return [...new Set(found)].sort()
  }

  /** The spaces that use an inventory, each with its bindings to it. */
  *usersOf(inventory: string): Iterable<{ space: string; bindings: Iterable<Binding> }> {
    for (const [space, { bindings }] of this.#uses.of(inventory)) yield { space, bindings: bindings.values() }
  }

  /** Grants of an inventory for a space that uses it, by name; none when the space does not use it. */
  grantsFor(space: string, inventory: string): readonly Grant[] {
    const use = this.#uses.get(inventory, space)
    if (!use) return []
    use.grants ??= this.#lookUp(space, inventory)
    return use.grants
  }

  /** Whether some grant of the inventory looks at the labels of Locations and SyncTargets. */
  looksAtLabels(inventory: string): boolean {
    return this.#grants
      .of(inventory)
      .values()
      .some(({ grant }) => grant.locations !== undefined)
  }

  /** Whether anything is there that cannot be read. */
  get hasUnread(): boolean {
    return this.#unread.size > 0
  }

  /**
   * Whether the rights of a space on an inventory, or on one that it uses, are unknown. Present copies must then stay, and no refusal is
   * due.
   */
  isUncertain(space: string, inventory?: string): boolean {
    if (!this.hasUnread) return false
    const unread = (where: string, what: string): boolean =>
      [...this.#unread.of(where)].some(name => name.startsWith(what))
    const inventories = inventory === undefined ? this.inventoriesOf(space) : [inventory]
    return unread(space, 'binding ') || inventories.some(id => unread(id, 'grant '))
  }

  #leadsTo(path: string, pinned: string | undefined): Pick<Binding, 'inventory' | 'replaced'> {
    const found = this.#places.idAt(path)
    const replaced = found !== undefined && pinned !== undefined && pinned !== found
    return { inventory: replaced ? undefined : found, replaced }
  }

  #placeAgain(bindings: Iterable<Binding>): void {
    for (const old of [...bindings]) {
      const now = { ...old, ...this.#leadsTo(old.path, old.pinned) }
      if (now.inventory === old.inventory && now.replaced === old.replaced) continue
      this.#remove(old)
      this.#add(now)
      this.#notifyMoved(old, now)
      this.#sink.binding(old.space, old.name)
    }
  }

  #add(binding: Binding): void {
    const { space, name, path, inventory } = binding
    this.#bindings.set(space, name, binding)
    this.#byPath.add(path, binding)
    if (inventory === undefined) return
    const use: Use = this.#uses.get(inventory, space) ?? { bindings: new Map(), grants: undefined }
    use.bindings.set(name, binding)
    this.#uses.set(inventory, space, use)
  }

  #remove(binding: Binding): void {
    const { space, name, path, inventory } = binding
    this.#bindings.delete(space, name)
    this.#byPath.delete(path, binding)
    if (inventory === undefined) return
    const use = this.#uses.get(inventory, space)
    if (use?.bindings.delete(name) && use.bindings.size === 0) this.#uses.delete(inventory, space)
  }

  /** The pin alone changes nothing of what may be placed. */
  #notifyMoved(old: Binding | undefined, now: Binding | undefined): void {
    if (old && now && old.inventory === now.inventory) return
    for (const inventory of new Set([old?.inventory, now?.inventory])) {
      if (inventory !== undefined && old) this.#sink.consent(old.space, inventory)
      else if (inventory !== undefined && now) this.#sink.consent(now.space, inventory)
    }
  }

  #notify(space: string, inventory: string, use: Use): void {
    this.#sink.consent(space, inventory)
    for (const name of use.bindings.keys()) this.#sink.binding(space, name)
  }

  /** Grants are taken in the order of their names; whose selectors would be too much work with those before selects nothing. */
  #lookUp(space: string, inventory: string): Grant[] {
    const subjects = this.#bySubject.get(inventory)
    if (!subjects) return []
    const names = this.#subjectsFor(space, subjects.keys()).flatMap(subject => [...subjects.of(subject)])
    const parts = new SelectorParts()
    return [...new Set(names)].sort().map(name => {
      const { grant, spec } = this.#grants.get(inventory, name)!
      return parts.take(at(spec, 'locations') ?? {}) ? grant : { ...grant, locations: 'none' as const }
    })
  }

  /**
   * Names of a space that a grant may use. Paths only where one of the grants has some: their text grows with the depth.
   */
  #subjectsFor(space: string, among: Iterable<string>): string[] {
    const ids = this.#places.lineageOf(space).map(byId)
    for (const subject of among) {
      if (!subject.startsWith(BY_PATH)) continue
      const names = this.#places.pathOf(space)?.split(':') ?? []
      return [...ids, ...names.map((_, i) => byPath(names.slice(0, i + 1).join(':')))]
    }
    return ids
  }

  #mark(space: string, name: string, unread: boolean): void {
    if (unread) this.#unread.add(space, name)
    else if (this.#unread.delete(space, name)) {
      for (const [user, use] of this.#uses.of(space)) this.#notify(user, space, use)
      this.#sink.consent(space, undefined)
    }
  }
}

const BY_PATH = 'path '

function byId(id: string): string {
  return `id ${id}`
}

function byPath(path: string): string {
  return `${BY_PATH}${path}`
}

/** Whom a grant is for, with all below them: an id counts before a path. */
function subjectsOf({ spaces }: Grant): string[] {
  return spaces.flatMap(({ path, cluster }) =>
    cluster !== undefined ? byId(cluster) : path !== undefined ? byPath(path) : [],
  )
}
