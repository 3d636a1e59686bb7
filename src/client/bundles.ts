/** Keys of a work queue that can be worked on together: gathered as they are begun, and as many at a time as possible. */
import type { Lane } from './fairQueue.ts'

/** Work on many keys at a time, for less than one by one. */
export interface Together<K, P> {
  /** As many at a time. */
  readonly most: number
  /**
   * So many times that are under way at most. An owner with some among them waits for those with more: then as many as possible go together
   * next.
   */
  readonly atOnce: number
  /** Whether a key may be of this sort: those that are wait where there is no room. */
  concerns(key: K): boolean
  /** Work for such a key, if it is of this sort; changes nothing. `undefined`: it is worked on alone. */
  prepare(key: K): P | undefined
  /**
   * Does it, in the turn in which it was prepared; for each, at its index, whether it is done: the rest is worked on alone. Nobody whose
   * work it is can delay it.
   */
  work(prepared: readonly P[]): Promise<readonly boolean[]>
}

/** Works on what was gathered; calls `over` when that is done, before what is not done is worked on alone. Never throws. */
type WorkTogether<E> = (entries: readonly E[], work: () => Promise<readonly boolean[]>, over: () => void) => void

export class Bundles<K, E extends { readonly key: K }, P> {
  readonly #together: Together<K, P>
  readonly #work: WorkTogether<E>
  #entries: E[] = []
  #prepared: P[] = []
  #ownersOfNext = new Set<string>()
  /** Times that are under way. */
  #underway = 0
  /** Owners of those, and how often. */
  readonly #owners = new Map<string, number>()
  /** By owner, the next one that is to be done with others of theirs, while there is no room for that. */
  readonly #standing = new Map<string, E>()
  #running = 0

  constructor(together: Together<K, P>, work: WorkTogether<E>) {
    this.#together = together
    this.#work = work
  }

  /** Keys that are gathered, or worked on together. */
  get running(): number {
    return this.#running
  }

  /** Keys that are held until there is room. */
  get standing(): number {
    return this.#standing.size
  }

  /** Whether one of the owner is held. */
  stands(owner: string): boolean {
    return this.#standing.has(owner)
  }

  /** One of those that are held, where there is room for it now. */
  next(): { readonly item: E; readonly lane: Lane } | undefined {
    if (!this.#hasRoom) return undefined
    for (const [owner, item] of this.#standing) {
      this.#standing.delete(owner)
      return { item, lane: { owner } }
    }
    return undefined
  }

  /** Whether the key is now one of them, or held until it can be, as others of the same owner are. */
  take(entry: E, owner: string): boolean {
    if (!this.#together.concerns(entry.key)) return false
    if (!this.#hasRoom) {
      // who has little to do does not wait for those who have much
      if (!this.#owners.has(owner)) return false
      this.#standing.set(owner, entry)
      return true
    }
    const one = this.#together.prepare(entry.key)
    if (one === undefined) return false
    this.#running++
    this.#ownersOfNext.add(owner)
    this.#entries.push(entry)
    this.#prepared.push(one)
    if (this.#entries.length >= this.#together.most) this.begin()
    return true
  }

  /** No more come in this turn: what was gathered is worked on. */
  begin(): void {
    if (this.#entries.length === 0) return
    const [entries, prepared, owners] = [this.#entries, this.#prepared, this.#ownersOfNext]
    this.#entries = []
    this.#prepared = []
    this.#ownersOfNext = new Set()
    this.#underway++
    this.#count(owners, 1)
    const over = (): void => {
      this.#underway--
      this.#count(owners, -1)
      this.#running -= entries.length
    }
    this.#work(entries, () => this.#together.work(prepared), over)
  }

  /** Nobody is held any more. */
  clear(): void {
    this.#standing.clear()
  }

  get #hasRoom(): boolean {
    return this.#underway < this.#together.atOnce
  }

  #count(names: Iterable<string>, more: 1 | -1): void {
    for (const owner of names) {
      const now = (this.#owners.get(owner) ?? 0) + more
      if (now > 0) this.#owners.set(owner, now)
      else this.#owners.delete(owner)
    }
  }
}
