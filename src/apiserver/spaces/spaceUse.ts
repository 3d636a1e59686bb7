/**
 * Content of spaces, counted: each by itself, and with all that is below it. A write costs a step for each space above its own; nothing is
 * ever added up anew. Spaces that stand nowhere in the tree (yet, or any more) are counted by themselves.
 */
import { getOrInsert } from '../../apimachinery/getOrInsert.ts'

export interface Use {
  readonly objects: number
  readonly bytes: number
  readonly syncTargets: number
  /** Those below it, and mailboxes, by their SyncTargets. */
  readonly spaces: number
  readonly carriedObjects: number
  readonly carriedBytes: number
}

export const NOTHING: Use = { objects: 0, bytes: 0, syncTargets: 0, spaces: 0, carriedObjects: 0, carriedBytes: 0 }

type Counters = { -readonly [measure in keyof Use]: number }

/** One space. */
export interface SpaceCount {
  readonly id: string
  /** The space above, as far as both are in the tree. */
  readonly above: SpaceCount | undefined
  /** Count of the space alone. */
  readonly own: Use
  /** With all spaces below it. */
  readonly all: Use
}

interface Node extends SpaceCount {
  above: Node | undefined
  readonly own: Counters
  readonly all: Counters
  /** Somebody asks for it by its place. */
  placed: boolean
  below: number
}

export class SpaceUse {
  readonly #nodes = new Map<string, Node>()

  get(space: string): SpaceCount | undefined {
    return this.#nodes.get(space)
  }

  /** All that are known, in no order. */
  counts(): Iterable<SpaceCount> {
    return this.#nodes.values()
  }

  get size(): number {
    return this.#nodes.size
  }

  add(space: string, more: Partial<Use>): void {
    const node = this.#node(space)
    addTo(node.own, more, 1)
    for (let at: Node | undefined = node; at !== undefined; at = at.above) addTo(at.all, more, 1)
    this.#prune(node)
  }

  /** Puts a space below another one; `undefined`: at the top. */
  place(space: string, above: string | undefined): void {
    const node = this.#node(space)
    node.placed = true
    const parent = above === undefined ? undefined : this.#node(above)
    if (node.above === parent) return
    this.#leave(node)
    node.above = parent
    if (parent === undefined) return
    parent.below++
    for (let at: Node | undefined = parent; at !== undefined; at = at.above) addTo(at.all, node.all, 1)
  }

  /** Takes a space out of the tree, with what is below it still. */
  displace(space: string): void {
    const node = this.#nodes.get(space)
    if (node === undefined) return
    node.placed = false
    this.#leave(node)
    this.#prune(node)
  }

  #leave(node: Node): void {
    const parent = node.above
    if (parent === undefined) return
    for (let at: Node | undefined = parent; at !== undefined; at = at.above) addTo(at.all, node.all, -1)
    node.above = undefined
    parent.below--
    this.#prune(parent)
  }

  #node(space: string): Node {
    return getOrInsert(this.#nodes, space, () => ({
      id: space,
      above: undefined,
      own: zero(),
      all: zero(),
      placed: false,
      below: 0,
    }))
  }

  /** Forgets a space that is nowhere and holds nothing. */
  #prune(node: Node): void {
    if (!node.placed && node.own.objects === 0 && node.below === 0 && node.above === undefined)
      this.#nodes.delete(node.id)
  }
}

function zero(): Counters {
  return { ...NOTHING }
}

function addTo(sum: Counters, more: Partial<Use>, sign: 1 | -1): void {
  sum.objects += sign * (more.objects ?? 0)
  sum.bytes += sign * (more.bytes ?? 0)
  sum.syncTargets += sign * (more.syncTargets ?? 0)
  sum.spaces += sign * (more.spaces ?? 0)
  sum.carriedObjects += sign * (more.carriedObjects ?? 0)
  sum.carriedBytes += sign * (more.carriedBytes ?? 0)
}
