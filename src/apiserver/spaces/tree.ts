/**
 * The tree of spaces in memory: path to id and back. Made from Workspace objects as they pass through the log; the Workspace
 * in the parent is the truth, this is its index.
 */

export interface Space {
  /** Logical-cluster id; for the root both name and path. */
  readonly id: string
  /** Canonical path from the root, `root:a:b`. */
  readonly path: string
  readonly name: string
  /** Id of the parent; `undefined` for the root. */
  readonly parent: string | undefined
}

export type Resolution =
  | { readonly found: true; readonly space: Space }
  /** `ancestor` is the nearest existing space of the path asked for, if any. */
  | { readonly found: false; readonly ancestor: Space | undefined }

export const ROOT = 'root'

export class SpaceTree {
  readonly #byId = new Map<string, Space>([[ROOT, { id: ROOT, path: ROOT, name: ROOT, parent: undefined }]])
  readonly #children = new Map<string, Map<string, Space>>()
  readonly #listeners = new Set<(id: string) => void>()

  get(id: string): Space | undefined {
    return this.#byId.get(id)
  }

  /** `undefined` when there is no such space. */
  pathOf(id: string): string | undefined {
    return this.#byId.get(id)?.path
  }

  /** Tells the id of each space that comes into the tree from now on; the answer ends that. A listener must not throw. */
  onKnown(listener: (id: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  get size(): number {
    return this.#byId.size
  }

  spaces(): Iterable<Space> {
    return this.#byId.values()
  }

  children(id: string): readonly Space[] {
    return [...(this.#children.get(id)?.values() ?? [])]
  }

  /** `path` is an id, a path from the root, or a path that starts with an id. */
  resolve(path: string): Resolution {
    const [first = '', ...names] = path.split(':')
    let space = this.#byId.get(first)
    if (space === undefined) return { found: false, ancestor: undefined }
    for (const name of names) {
      const child: Space | undefined = this.#children.get(space.id)?.get(name)
      if (child === undefined) return { found: false, ancestor: space }
      space = child
    }
    return { found: true, space }
  }

  /** The parent must be known already. */
  add(space: { id: string; name: string; parent: string }): void {
    const parent = this.#byId.get(space.parent)
    if (parent === undefined)
      throw new Error(`space ${space.name} (${space.id}) names an unknown parent ${space.parent}`)
    const entry: Space = { ...space, path: `${parent.path}:${space.name}` }
    this.#byId.set(entry.id, entry)
    const siblings = this.#children.get(parent.id)
    if (siblings) siblings.set(entry.name, entry)
    else this.#children.set(parent.id, new Map([[entry.name, entry]]))
    for (const tell of this.#listeners) tell(entry.id)
  }

  /** Removes a space and whatever is left below it. */
  remove(id: string): void {
    const space = this.#byId.get(id)
    if (space === undefined || space.parent === undefined) return
    for (const child of this.children(id)) this.remove(child.id)
    this.#byId.delete(id)
    this.#children.delete(id)
    const siblings = this.#children.get(space.parent)
    if (siblings?.get(space.name)?.id === id) siblings.delete(space.name)
    if (siblings?.size === 0) this.#children.delete(space.parent)
  }
}
