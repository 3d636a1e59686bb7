/**
 * Keys that a work queue is to be given many at a time: drawn in slices, owners in turns, those of one owner in order. No more is drawn of
 * an owner with much in the queue until less is there. A million keys need not all be present to be worked on.
 */
import type { Work } from '../program/workTurns.ts'
import { Line } from './line.ts'
import type { Logger } from './logger.ts'

/** Keys of an owner that wait in the queue, beyond which no more are drawn, and below which more are. */
const MOST_WAITING = 2000
const FEW_WAITING = 1000

interface ArrivalsDeps<K> {
  /** In whose slices. */
  work: Work
  add(key: K): void
  /** Keys of an owner that wait. */
  waiting(owner: string): number
  /** Nothing is left to be drawn. */
  over(): void
  logger: Logger
}

interface Coming<K> {
  readonly owner: string
  readonly lists: Line<Iterator<K>>
  /** Started iterators, before the lists. */
  begun: Iterator<K> | undefined
  /** Iterators that are drawn before any of these, however much waits. */
  readonly first: Line<Iterator<unknown>>
  firstBegun: Iterator<unknown> | undefined
  /** Its turn comes, or it is its turn: it is not to have two. */
  hasTurn: boolean
}

export class Arrivals<K> {
  readonly #deps: ArrivalsDeps<K>
  /** By their owners. Never empty. */
  readonly #coming = new Map<string, Coming<K>>()
  /** Those of whom something may be drawn, whoever is next first. */
  readonly #turns = new Line<Coming<K>>()
  /** Those of whom enough waits. */
  readonly #full = new Set<Coming<K>>()
  #isDrawing = false
  #stopped = false

  constructor(deps: ArrivalsDeps<K>) {
    this.#deps = deps
  }

  get isEmpty(): boolean {
    return this.#coming.size === 0
  }

  /** `first` is drawn before what the owner has left, for what drawing it does. */
  add(keys: Iterable<K>, owner: string, first?: Iterable<unknown>): void {
    const coming: Coming<K> = this.#coming.get(owner) ?? {
      owner,
      lists: new Line<Iterator<K>>(),
      begun: undefined,
      first: new Line<Iterator<unknown>>(),
      firstBegun: undefined,
      hasTurn: false,
    }
    const isAlone = this.isEmpty
    this.#coming.set(owner, coming)
    if (first) coming.first.add(first[Symbol.iterator]())
    coming.lists.add(keys[Symbol.iterator]())
    this.#full.delete(coming)
    // what finds room in the slice of this turn is there at once
    if (isAlone && this.#drawn(coming)) this.#coming.delete(owner)
    else this.#queue(coming)
  }

  /** Less waits than before. */
  goOn(): void {
    for (const coming of this.#full) {
      if (this.#deps.waiting(coming.owner) > FEW_WAITING) continue
      this.#full.delete(coming)
      this.#queue(coming)
    }
  }

  stop(): void {
    this.#stopped = true
    this.#coming.clear()
    this.#turns.clear()
    this.#full.clear()
  }

  #queue(coming: Coming<K>): void {
    if (coming.hasTurn) return
    coming.hasTurn = true
    this.#turns.add(coming)
    if (!this.#isDrawing) void this.#drawAll()
  }

  /** As many owners in a slice as find room in it: a thousand with one key each need no thousand turns of the loop. */
  async #drawAll(): Promise<void> {
    const { work } = this.#deps
    this.#isDrawing = true
    for (let next = this.#turns.take(); next; next = this.#turns.take()) {
      if (work.due) await work.rest()
      if (this.#stopped) return
      if (this.#drawn(next)) this.#coming.delete(next.owner)
      else if (this.#isFull(next)) {
        next.hasTurn = false
        this.#full.add(next)
      }
      // the next turn is another owner's
      else this.#turns.add(next)
    }
    this.#isDrawing = false
    if (this.isEmpty) this.#deps.over()
  }

  /** Whether that was all. */
  #drawn(coming: Coming<K>): boolean {
    const { add } = this.#deps
    coming.firstBegun ??= coming.first.take()
    while (coming.firstBegun && this.#draw(coming.firstBegun, undefined, noted)) coming.firstBegun = coming.first.take()
    if (coming.firstBegun) return false
    coming.begun ??= coming.lists.take()
    while (coming.begun && this.#draw(coming.begun, coming.owner, add)) coming.begun = coming.lists.take()
    return coming.begun === undefined
  }

  /** Whether that was all. A failed iterator is not drawn again: its keys so far stand. */
  #draw<T>(items: Iterator<T>, owner: string | undefined, take: (item: T) => void): boolean {
    const { work, waiting, logger } = this.#deps
    try {
      while (!work.due) {
        if (owner !== undefined && waiting(owner) >= MOST_WAITING) return false
        const step = items.next()
        if (step.done) return true
        take(step.value)
      }
      return false
    } catch (error) {
      logger.error({ err: error }, 'not all keys of a change were queued')
      return true
    }
  }

  #isFull({ owner, firstBegun, first }: Coming<K>): boolean {
    return !firstBegun && first.isEmpty && this.#deps.waiting(owner) >= MOST_WAITING
  }
}

function noted(): void {}
