/** Keys of a work queue that wait, run, or come back later. */
import type { Lane } from './fairQueue.ts'

/** Two keys are the same where both of these are. */
export interface Place {
  readonly part: string
  readonly name: string
}

export interface Entry<K> {
  readonly key: K
  readonly part: string
  readonly name: string
  queued: boolean
  running: boolean
  /** Where it was added last. */
  lane: Lane
  /** Added while running, in these turns. */
  dirty: Lane[] | undefined
  failures: number
  cancelRetry: (() => void) | undefined
  later: { atMs: number; cancel: () => void } | undefined
}

export class QueueEntries<K> {
  readonly #place: (key: K) => Place
  /** By the parts and names of their places. No empty maps inside. */
  readonly #byPart = new Map<string, Map<string, Entry<K>>>()

  constructor(place: (key: K) => Place) {
    this.#place = place
  }

  /** `lane`: where the key is added now. */
  of(key: K, lane: Lane): Entry<K> {
    const { part, name } = this.#place(key)
    const there = this.#byPart.get(part) ?? new Map<string, Entry<K>>()
    const known = there.get(name)
    if (known) {
      known.lane = lane
      return known
    }
    const none = { dirty: undefined, cancelRetry: undefined, later: undefined }
    const entry: Entry<K> = { key, part, name, queued: false, running: false, lane, failures: 0, ...none }
    if (there.size === 0) this.#byPart.set(part, there)
    there.set(name, entry)
    return entry
  }

  forget({ part, name }: Entry<K>): void {
    const there = this.#byPart.get(part)
    if (there?.delete(name) && there.size === 0) this.#byPart.delete(part)
  }

  /** None comes back by a timer. */
  clear(): void {
    for (const there of this.#byPart.values()) {
      for (const entry of there.values()) {
        entry.cancelRetry?.()
        entry.later?.cancel()
      }
    }
    this.#byPart.clear()
  }
}
