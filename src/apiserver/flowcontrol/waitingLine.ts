/**
 * Those who wait in one queue, and whose turn it is. Spaces of one tenant share queues, and so do their users, whom an administrator there
 * can invent. Turns therefore go round among tenants, within a tenant among its spaces, within a space among its users. A newcomer to a
 * full queue takes the place of the last of those of whom more wait.
 *
 * A path gives the place of an item, from the widest group on. Items of one path are served first in, first out; or the latest first, where
 * most of a crowd waits long in any order. That at least spares a lone client behind it.
 */
import { type Link, LinkedList, newLink } from './linkedList.ts'

/** Item of a line. The line keeps the link. */
export interface Standing<T> {
  readonly path: readonly string[]
  /** Absent before it stood in one: most never wait. */
  inLine: Link<T> | undefined
}

/** Tenants that are looked through for one that may go. */
const MOST_LOOKS = 32

interface Branch<T> {
  waiting: number
  /** In the order of their turns. */
  readonly branches: Map<string, Branch<T>>
  readonly items: LinkedList<T>
}

export class WaitingLine<T extends Standing<T>> {
  readonly #root: Branch<T> = newBranch()
  readonly #isLatestFirst: (path: readonly string[]) => boolean

  constructor(isLatestFirst: (path: readonly string[]) => boolean = () => false) {
    this.#isLatestFirst = isLatestFirst
  }

  get size(): number {
    return this.#root.waiting
  }

  /** Next item. */
  get next(): T | undefined {
    return this.#nextOf(this.#root)
  }

  /**
   * Next item that `suits` accepts, for the first of a few waiting tenants with one. Tenants are the first steps of paths, the second ones
   * where those are empty.
   */
  nextThat(suits: (item: T) => boolean): T | undefined {
    let looks = 0
    for (const branch of this.#tenants()) {
      const next = this.#nextOf(branch)
      if (next !== undefined && suits(next)) return next
      if (++looks === MOST_LOOKS) return undefined
    }
    return undefined
  }

  *#tenants(): Generator<Branch<T>, void, void> {
    const { branches } = this.#root
    if (branches.size === 0) yield this.#root
    for (const [step, branch] of branches) {
      if (step === '' && branch.branches.size > 0) yield* branch.branches.values()
      else yield branch
    }
  }

  #nextOf(from: Branch<T>): T | undefined {
    let branch: Branch<T> | undefined = from
    while (branch !== undefined && branch.branches.size > 0) branch = branch.branches.values().next().value
    const newest = branch?.items.newest
    return newest !== undefined && this.#isLatestFirst(newest.path) ? newest : branch?.items.oldest
  }

  /** Paths of one line are of such sorts that none leads through the end of another. */
  add(item: T): void {
    let branch = this.#root
    branch.waiting++
    for (const step of item.path) {
      let below = branch.branches.get(step)
      if (below === undefined) {
        below = newBranch()
        branch.branches.set(step, below)
      }
      branch = below
      branch.waiting++
    }
    item.inLine ??= newLink()
    branch.items.append(item)
  }

  /** `served`: it had its turn, so the others go first now. */
  remove(item: T, served: boolean): void {
    let branch = this.#root
    branch.waiting--
    for (const step of item.path) {
      const below = branch.branches.get(step)!
      if (--below.waiting === 0) branch.branches.delete(step)
      // whoever is alone has the next turn, too
      else if (served && branch.branches.size > 1) {
        branch.branches.delete(step)
        branch.branches.set(step, below)
      }
      branch = below
    }
    branch.items.remove(item)
  }

  /** Item that would have to leave for a newcomer; `undefined` where no other has more waiting than the newcomer then would. */
  excess(path: readonly string[]): T | undefined {
    let branch = this.#root
    for (const step of path) {
      const own = branch.branches.get(step)
      const most = fullest(branch)
      if (most !== undefined && most.waiting > (own?.waiting ?? 0) + 1) return lastOf(most)
      if (own === undefined) return undefined
      branch = own
    }
    return undefined
  }
}

function newBranch<T extends Standing<T>>(): Branch<T> {
  return { waiting: 0, branches: new Map(), items: new LinkedList(item => item.inLine!) }
}

function fullest<T>(branch: Branch<T>): Branch<T> | undefined {
  let most: Branch<T> | undefined
  for (const below of branch.branches.values()) if (below.waiting > (most?.waiting ?? 0)) most = below
  return most
}

function lastOf<T>(branch: Branch<T>): T | undefined {
  let most: Branch<T> | undefined = branch
  while (most !== undefined && most.branches.size > 0) most = fullest(most)
  return most?.items.newest
}
