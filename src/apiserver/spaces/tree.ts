/**
 * The tree of spaces in memory: path to id and back, and which of them end. A projection of the Workspaces; the Workspace in
 * the parent is the truth, this is its index.
 */
import { MapOfMaps } from '../../apimachinery/nestedMaps.ts'
import { WORKSPACES } from '../../apimachinery/resources.ts'
import { budgetOf, type SpaceBudget } from '../../placement/spaces/spaceBudget.ts'
import { type SpaceType, spaceType, UNIVERSAL } from '../../placement/spaces/spaceTypes.ts'
import type { Store, Stored, StoreEvent } from '../../storage/store.ts'
import { glanceAt, viewOf, type WorkspaceGlance, type WorkspaceView } from './workspace.ts'

export interface Space {
  /** Logical-cluster id; for the root both name and path. */
  readonly id: string
  /** Canonical path from the root, `root:a:b`. */
  readonly path: string
  readonly name: string
  /** Id of the parent; `undefined` for the root. */
  readonly parent: string | undefined
  readonly type: SpaceType
  /** For itself and all below it. */
  readonly budget: SpaceBudget
}

type Resolution =
  | { readonly found: true; readonly space: Space }
  /** `ancestor` is the nearest existing space of the requested path, if any. */
  | { readonly found: false; readonly ancestor: Space | undefined }

export const ROOT = 'root'

/** Place of a Workspace. */
type Place = Pick<WorkspaceView, 'id' | 'name' | 'parent' | 'deleting'> & { type: SpaceType; budget: SpaceBudget }
type Entry = Space & { deleting: boolean; type: SpaceType; budget: SpaceBudget }
type Child = Entry & { readonly parent: string }
type Listener = (id: string) => void

export class SpaceTree {
  readonly #byId = new Map<string, Entry>()
  /** By parent and name. */
  readonly #children = new MapOfMaps<Child>()
  /** Workspaces whose parent is not there, by parent and name. */
  readonly #outside = new MapOfMaps<Place>()
  readonly #onKnown = new Set<Listener>()
  readonly #onGone = new Set<Listener>()
  readonly #onTyped = new Set<Listener>()

  constructor(store: Pick<Store, 'project'>) {
    const { group, resource } = WORKSPACES
    store.project({ group, resource }, { reset: items => this.#reset(items), apply: event => this.#apply(event) })
  }

  get(id: string): Space | undefined {
    return this.#byId.get(id)
  }

  /** `undefined` when there is no such space. */
  pathOf(id: string): string | undefined {
    return this.#byId.get(id)?.path
  }

  /** The space that is at a path from the root now. */
  idAt(path: string): string | undefined {
    const resolved = this.resolve(path)
    return resolved.found && resolved.space.path === path ? resolved.space.id : undefined
  }

  /** Ids of the spaces above it, from the root, and its own; none when there is no such space. */
  lineageOf(id: string): string[] {
    const lineage: string[] = []
    for (let entry = this.#byId.get(id); entry !== undefined; entry = this.#byId.get(entry.parent ?? '')) {
      lineage.push(entry.id)
    }
    return lineage.reverse()
  }

  /**
   * Tenant of a space, for turns: the space directly below the root that it is, or is below. Mailboxes, which stand beside each other
   * whoever has their clusters, are their own.
   */
  tenantOf(id: string): string {
    return this.typeOf(id).name === 'mailbox' ? id : (this.lineageOf(id)[1] ?? id)
  }

  /** A space that is not in the tree is of no type in particular. */
  typeOf(id: string): SpaceType {
    return this.#byId.get(id)?.type ?? UNIVERSAL
  }

  /** True while the content of a space, or of one above it, is being removed: nothing may be written there. */
  isDeleting(id: string): boolean {
    let entry = this.#byId.get(id)
    while (entry !== undefined && !entry.deleting) entry = this.#byId.get(entry.parent ?? '')
    return entry !== undefined
  }

  /** Tells the id of each space that comes into the tree from now on; the answer ends that. A listener must not throw. */
  onKnown(listener: Listener): () => void {
    this.#onKnown.add(listener)
    return () => this.#onKnown.delete(listener)
  }

  /** Tells the id of each space whose type has become another. A listener must not throw. */
  onTyped(listener: Listener): () => void {
    this.#onTyped.add(listener)
    return () => this.#onTyped.delete(listener)
  }

  /** Tells the id of each space that has left the tree. A listener must not throw. */
  onGone(listener: Listener): () => void {
    this.#onGone.add(listener)
    return () => this.#onGone.delete(listener)
  }

  get size(): number {
    return this.#byId.size
  }

  children(id: string): readonly Space[] {
    return [...this.#children.of(id).values()]
  }

  /** The space itself and all below it, each behind the one that it is in; none when there is no such space. */
  below(id: string): Space[] {
    const first = this.#byId.get(id)
    const found: Space[] = first === undefined ? [] : [first]
    for (const { id: parent } of found) for (const child of this.#children.of(parent).values()) found.push(child)
    return found
  }

  /** `path` is an id, a path from the root, or a path that starts with an id. */
  resolve(path: string): Resolution {
    const known = this.#byId.get(path)
    if (known) return { found: true, space: known }
    const [first = '', ...names] = path.split(':')
    let space: Space | undefined = this.#byId.get(first)
    if (space === undefined) return { found: false, ancestor: undefined }
    for (const name of names) {
      const child: Space | undefined = this.#children.get(space.id, name)
      if (child === undefined) return { found: false, ancestor: space }
      space = child
    }
    return { found: true, space }
  }

  #reset(items: Iterable<Stored>): void {
    const places: [parent: string, place: Place][] = []
    for (const stored of items) {
      const { space, name } = stored.key
      const place = placeOf(stored, glanceAt) ?? this.#child(space, name)
      if (place !== undefined && place.id !== '') places.push([space, place])
    }
    const before = new Map([...this.#byId.values()].map(({ id, type }) => [id, type]))
    for (const map of [this.#byId, this.#children, this.#outside]) map.clear()
    this.#byId.set(ROOT, { ...TOP, deleting: false })
    for (const [parent, place] of places) this.#outside.set(parent, place.name, place)
    this.#takeIn(ROOT)
    for (const { id, type } of this.#byId.values()) {
      const was = before.get(id)
      before.delete(id)
      if (was === undefined && id !== ROOT) this.#notify(this.#onKnown, id)
      else if (was !== undefined && was !== type) this.#notify(this.#onTyped, id)
    }
    for (const id of before.keys()) this.#notify(this.#onGone, id)
  }

  #apply({ type, key, stored }: StoreEvent): void {
    const known = this.#child(key.space, key.name)
    const place = type === 'put' ? placeOf(stored, lookAt) : GONE
    // whoever follows Workspaces to work for them tells of it; here it stays what it was
    if (place === undefined) return
    this.#outside.delete(key.space, key.name)
    if (known?.id === place.id) {
      known.deleting = place.deleting
      known.budget = place.budget
      if (known.type === place.type) return
      known.type = place.type
      this.#notify(this.#onTyped, known.id)
    } else {
      if (known !== undefined) this.#remove(known)
      if (place.id === '') return
      this.#outside.set(key.space, place.name, place)
      if (this.#byId.has(key.space)) this.#takeIn(key.space, id => this.#notify(this.#onKnown, id))
    }
  }

  #child(parent: string, name: string): Child | undefined {
    return this.#children.get(parent, name)
  }

  /** Gives their places to those who waited for this parent, and to those who waited for them. */
  #takeIn(first: string, each: Listener = () => {}): void {
    // Not by recursion, here and below: depth costs no stack.
    const parents = [first]
    for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
      const { path } = this.#byId.get(parent)!
      for (const { id, name, type, budget, deleting } of this.#outside.deleteAll(parent).values()) {
        // nobody takes the place of another space
        if (this.#byId.has(id)) continue
        const entry: Child = { id, name, parent, path: `${path}:${name}`, type, budget, deleting }
        this.#byId.set(id, entry)
        this.#children.set(parent, name, entry)
        each(id)
        parents.push(id)
      }
    }
  }

  /** With all that is below it, which has no place then. */
  #remove(first: Child): void {
    for (const { id, name, parent } of this.below(first.id).reverse()) {
      const child = this.#child(parent!, name)!
      this.#byId.delete(id)
      this.#children.delete(parent!, name)
      if (child !== first) this.#outside.set(parent!, name, child)
      this.#notify(this.#onGone, id)
    }
  }

  #notify(listeners: ReadonlySet<Listener>, id: string): void {
    for (const notify of listeners) notify(id)
  }
}

/** Nobody bounds it but the server itself. */
const TOP: Space = { id: ROOT, path: ROOT, name: ROOT, parent: undefined, type: UNIVERSAL, budget: {} }
const GONE: Place = { id: '', name: '', parent: '', type: UNIVERSAL, budget: {}, deleting: false }

/** Its worker looks at it next. */
function lookAt(stored: Stored): WorkspaceGlance {
  const view = viewOf(stored)
  return { ...view, annotations: view.object.metadata.annotations }
}

/** `undefined` when it cannot be read. */
function placeOf(stored: Stored, read: (stored: Stored) => WorkspaceGlance): Place | undefined {
  try {
    const { id, name, parent, type, deleting, annotations } = read(stored)
    return { id, name, parent, type: spaceType(type), budget: budgetOf(type, annotations), deleting }
  } catch {
    return undefined
  }
}
