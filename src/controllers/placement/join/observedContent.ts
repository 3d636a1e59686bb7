/**
 * Which content is taken in of each placement: the newest revision among what it selects, its slices, Customizers and its spec,
 * deletions included. It never passes what is not taken in: two streams report each space, and a change that only one has reported holds it back.
 */
import type { Signals } from '../signals/signals.ts'

/** A kind, namespace and name that both streams tell of. */
type Key = string

interface Space {
  /** By placement. */
  readonly newest: Map<string, number>
  /** Generations of specs whose slices are taken in. */
  readonly settled: Map<string, number>
  /** Revisions of what says where and how objects go, as the stream of the topology and that of the space tell them. */
  readonly taken: Map<Key, number>
  readonly seen: Map<Key, number>
  /** Keys on which they differ. */
  readonly apart: Set<Key>
  /** Placements that were queried while a key differed. */
  readonly late: Set<string>
}

export class ObservedContent {
  readonly #spaces = new Map<string, Space>()
  readonly #spaceChanged: Signals['spaceChanged']

  constructor(spaceChanged: Signals['spaceChanged']) {
    this.#spaceChanged = spaceChanged
  }

  /** Up to where all is taken in; `undefined`: something is known to come. */
  of(id: string, placement: string): number | undefined {
    const space = this.#spaces.get(id)
    if (!space || space.apart.size === 0) return space?.newest.get(placement) ?? 0
    space.late.add(placement)
    return undefined
  }

  note(id: string, placement: string, revision: number): void {
    const { newest } = this.#space(id)
    if ((newest.get(placement) ?? 0) >= revision) return
    newest.set(placement, revision)
    this.#spaceChanged.send(id, 'content', placement)
  }

  /** The generation of the spec for which slices are taken in; `undefined`: nobody says. */
  settledOf(id: string, placement: string): number | undefined {
    return this.#spaces.get(id)?.settled.get(placement)
  }

  /** Answers whether that is another now. */
  settle(id: string, placement: string, generation: number): boolean {
    const { settled } = this.#space(id)
    if (settled.get(placement) === generation) return false
    settled.set(placement, generation)
    return true
  }

  forget(id: string, placement: string): void {
    const space = this.#spaces.get(id)
    space?.newest.delete(placement)
    space?.settled.delete(placement)
    space?.late.delete(placement)
  }

  /** By the stream of the topology; `undefined`: it is gone. */
  taken(id: string, key: Key, revision: number | undefined): void {
    this.#observe(id, 'taken', key, revision)
  }

  /** By the stream of the space. */
  seen(id: string, key: Key, revision: number | undefined): void {
    this.#observe(id, 'seen', key, revision)
  }

  /** The space is followed no more. */
  unfollowed(id: string): void {
    const space = this.#spaces.get(id)
    if (!space) return
    space.seen.clear()
    space.apart.clear()
    for (const key of space.taken.keys()) space.apart.add(key)
    if (space.taken.size === 0) this.#spaces.delete(id)
  }

  #observe(id: string, stream: 'taken' | 'seen', key: Key, revision: number | undefined): void {
    const space = this.#space(id)
    if (revision === undefined) space[stream].delete(key)
    else space[stream].set(key, revision)
    if (space.taken.get(key) !== space.seen.get(key)) {
      space.apart.add(key)
      return
    }
    const { apart, late, newest, taken } = space
    if (!apart.delete(key) || apart.size > 0) return
    if (taken.size + newest.size === 0) this.#spaces.delete(id)
    const names = [...late]
    late.clear()
    for (const name of names) this.#spaceChanged.send(id, 'content', name)
  }

  #space(id: string): Space {
    let space = this.#spaces.get(id)
    if (!space) {
      space = {
        newest: new Map(),
        settled: new Map(),
        taken: new Map(),
        seen: new Map(),
        apart: new Set(),
        late: new Set(),
      }
      this.#spaces.set(id, space)
    }
    return space
  }
}
