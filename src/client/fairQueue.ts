/**
 * Waiting items, in turns: round robin among owners, within an owner among its parts, and first in, first out within a part. A part may
 * keep its owner's turns for a few items in a row: what is done for one place is cheaper together. An owner with little to do waits for one
 * turn of each of the others, however much those have.
 *
 * An owner that comes (back) goes behind all who wait already, so coming often earns nothing. Only owners with something
 * waiting are remembered.
 */

import { Line } from './line.ts'

/** In whose turn something waits. */
export interface Lane {
  /** Owner of the work (a space). */
  readonly owner: string
  /** Part of the owner's work (a mailbox): parts take turns too. Default: one part. */
  readonly part?: string
  /** Taken only when nothing else of the owner waits. */
  readonly last?: boolean
}

export class FairQueue<T extends object> {
  readonly #owners = new Map<string, Owner<T>>()
  readonly #turns = new Line<Owner<T>>()
  readonly #run: number

  /** `run`: how many turns of its owner a part has in a row. */
  constructor({ run = 1 }: { run?: number } = {}) {
    this.#run = run
  }

  /** Without effect on what waits in this lane already. It may wait in several. */
  add(item: T, lane: Lane): void {
    let owner = this.#owners.get(lane.owner)
    if (!owner) {
      owner = new Owner<T>(lane.owner, this.#run)
      this.#owners.set(lane.owner, owner)
      this.#turns.add(owner)
    }
    owner.add(item, lane)
  }

  /**
   * Takes the next one that still waits, and says in whose turn; those for which `waits` is false are passed over. `isOut`: whose
   * turn it is not now; they keep their place as well as they can.
   */
  take(waits: (item: T) => boolean, isOut: (owner: string) => boolean = never): { item: T; lane: Lane } | undefined {
    const out: Owner<T>[] = []
    let taken: { item: T; lane: Lane } | undefined
    for (let owner = this.#turns.take(); owner && !taken; owner = taken ? undefined : this.#turns.take()) {
      if (isOut(owner.name)) {
        out.push(owner)
        continue
      }
      taken = owner.take(waits)
      if (owner.isEmpty) this.#owners.delete(owner.name)
      else this.#turns.add(owner)
    }
    for (const owner of out) this.#turns.add(owner)
    return taken
  }

  /** How many of an owner's wait, with those that were taken in another lane meanwhile. */
  waiting(owner: string): number {
    return this.#owners.get(owner)?.waiting ?? 0
  }

  /** Owners of which something waits. */
  get owners(): number {
    return this.#owners.size
  }

  clear(): void {
    this.#owners.clear()
    this.#turns.clear()
  }
}

const never = (): boolean => false

class Owner<T extends object> {
  readonly name: string
  readonly #parts = new Map<string, Part<T>>()
  readonly #turns = new Line<Part<T>>()
  readonly #run: number
  #last: Part<T> | undefined
  waiting = 0
  /** Part with the present run, and the turns that are left of it; it is in no line meanwhile. */
  #running: { readonly part: Part<T>; left: number } | undefined

  constructor(name: string, run: number) {
    this.name = name
    this.#run = run
  }

  get isEmpty(): boolean {
    return this.#parts.size === 0 && this.#last === undefined
  }

  add(item: T, lane: Lane): void {
    if (lane.last) {
      this.#last ??= { lane, items: new Line<T>() }
      this.#add(item, this.#last)
      return
    }
    const name = lane.part ?? ''
    let part = this.#parts.get(name)
    if (!part) {
      part = { lane, items: new Line<T>() }
      this.#parts.set(name, part)
      this.#turns.add(part)
    }
    this.#add(item, part)
  }

  #add(item: T, { items }: Part<T>): void {
    const before = items.size
    items.add(item)
    this.waiting += items.size - before
  }

  take(waits: (item: T) => boolean): { item: T; lane: Lane } | undefined {
    for (let turn = this.#next(); turn; turn = this.#next()) {
      const { part } = turn
      const item = this.#firstOf(part.items, waits)
      turn.left--
      if (part.items.isEmpty) this.#parts.delete(part.lane.part ?? '')
      else if (turn.left > 0) this.#running = turn
      else this.#turns.add(part)
      if (item) return { item, lane: part.lane }
    }
    const last = this.#last
    const item = last && this.#firstOf(last.items, waits)
    if (last?.items.isEmpty) this.#last = undefined
    return item && { item, lane: last!.lane }
  }

  #firstOf(items: Line<T>, waits: (item: T) => boolean): T | undefined {
    for (let item = items.take(); item; item = items.take()) {
      this.waiting--
      if (waits(item)) return item
    }
    return undefined
  }

  #next(): { readonly part: Part<T>; left: number } | undefined {
    const running = this.#running
    this.#running = undefined
    if (running) return running
    const part = this.#turns.take()
    return part && { part, left: this.#run }
  }
}

interface Part<T extends object> {
  readonly lane: Lane
  readonly items: Line<T>
}
