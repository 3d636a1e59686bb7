/** Moves living texts together, when most of a store's slabs is garbage: those with few of them are let go. */
import type { Arena } from './arena.ts'
import type { ObjectIndex } from './objectIndex.ts'
import type { Placed } from './objectSlots.ts'
import { SharedStored } from './sharedStored.ts'
import type { Key, Stored } from './store.ts'

/** Objects that are moved to fresh memory in one go, so that writers wait microseconds. */
const STEP = 1000
/** Garbage in slabs that is not worth a repack. */
const SLACK_BYTES = 16 * 1024 * 1024

export class Packing {
  readonly #index: ObjectIndex
  readonly #arena: Arena
  readonly #own: (work: Promise<void>) => void
  #isRunning = false

  /** `own` takes what runs on. */
  constructor(index: ObjectIndex, arena: Arena, own: (work: Promise<void>) => void) {
    this.#index = index
    this.#arena = arena
    this.#own = own
  }

  /** To be called before memory is taken. */
  consider(): void {
    const wasted = this.#arena.allocatedBytes - this.#index.bytes
    if (wasted > 2 * this.#index.bytes + SLACK_BYTES && !this.#isRunning) this.#own(this.#run())
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    this.#arena.restart()
    let after: Key | undefined
    for (;;) {
      const step: Stored[] = []
      this.#index.visit({}, after, stored => step.push(stored) < STEP)
      for (const stored of step)
        if (!(stored instanceof SharedStored)) this.#index.place(stored.key, placedIn(this.#arena, stored))
      after = step.at(-1)?.key
      if (step.length < STEP) break
      await new Promise<void>(resolve => setImmediate(resolve))
    }
    this.#isRunning = false
  }
}

/** A version whose text is copied, and nothing made of it. */
export function placedIn(arena: Arena, { revision, bytes, headBytes, note }: Omit<Stored, 'key'>): Placed {
  const { memory, at } = arena.place(bytes)
  return { memory, at, length: bytes.length, headBytes, revision, note }
}
