/** Moves living texts together, when most of a store's slabs is garbage: those with few of them are let go. */
import type { Arena } from './arena.ts'
import type { CommitLog, Moved } from './commitLog.ts'
import type { ObjectIndex } from './objectIndex.ts'
import type { Placed } from './objectSlots.ts'
import { SharedStored } from './sharedStored.ts'
import type { Key, Stored } from './store.ts'

/** Objects that are moved to fresh memory in one go, so that writers wait microseconds. */
const STEP = 1000
/** Garbage in slabs that is not worth a repack. */
const SLACK_BYTES = 16 * 1024 * 1024

interface PackingDeps {
  index: ObjectIndex
  arena: Arena
  /** Takes what runs on. */
  own(work: Promise<void>): void
  /** Present where others refer to the texts: gets the moved ones. */
  log?: Pick<CommitLog, 'moved' | 'packed'> | undefined
}

export class Packing {
  readonly #deps: PackingDeps
  #isRunning = false

  constructor(deps: PackingDeps) {
    this.#deps = deps
  }

  /** To be called before memory is taken. */
  consider(): void {
    const { index, arena, own } = this.#deps
    const wasted = arena.allocatedBytes - index.bytes
    if (wasted > 2 * index.bytes + SLACK_BYTES && !this.#isRunning) own(this.#run())
  }

  async #run(): Promise<void> {
    const { index, arena, log } = this.#deps
    this.#isRunning = true
    arena.restart()
    let after: Key | undefined
    for (;;) {
      const step: Stored[] = []
      index.visit({}, after, stored => step.push(stored) < STEP)
      const moved: Moved[] = step
        .filter(stored => !(stored instanceof SharedStored))
        .map(stored => ({ key: stored.key, placed: placedIn(arena, stored) }))
      for (const { key, placed } of moved) index.place(key, placed)
      log?.moved(moved)
      after = step.at(-1)?.key
      if (step.length < STEP) break
      await new Promise<void>(resolve => setImmediate(resolve))
    }
    log?.packed()
    this.#isRunning = false
  }
}

/** A version whose text is copied, and nothing made of it. */
function placedIn(arena: Arena, { revision, bytes, headBytes, note }: Omit<Stored, 'key'>): Placed {
  const { memory, at } = arena.place(bytes)
  return { memory, at, length: bytes.length, headBytes, revision, note }
}
