/**
 * Changes of the answered objects of one kind in one space: each name with the revision of its newest change. They last as long as a watch
 * of them may exist. It holds a bounded number of names; a watch from before the oldest of them cannot go on.
 */
import type { AnswerName } from '../../placement/desks/answered.ts'

/** Names that are remembered. */
export const LIMIT = 10_000

export interface LogListener {
  touched(id: string, name: AnswerName): void
  /** Nobody can go on from here. */
  lost(): void
}

export class AnsweredLog {
  readonly #entries = new Map<string, { readonly name: AnswerName; readonly revision: number }>()
  readonly #listeners = new Set<LogListener>()
  readonly #next: () => number
  readonly #limit: number
  #begin: number

  /** @param next counts on, and says the revision of a change; `begin` is the last one before the first */
  constructor(begin: number, next: () => number, limit = LIMIT) {
    this.#begin = begin
    this.#next = next
    this.#limit = limit
  }

  /** Every change behind this revision is known. */
  get begin(): number {
    return this.#begin
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0
  }

  touched(name: AnswerName): void {
    const id = idOf(name)
    this.#entries.delete(id)
    this.#entries.set(id, { name, revision: this.#next() })
    if (this.#entries.size > this.#limit) {
      const [oldest, { revision }] = this.#entries.entries().next().value!
      this.#entries.delete(oldest)
      this.#begin = revision
    }
    for (const listener of this.#listeners) listener.touched(id, name)
  }

  /** More changes than were sent. */
  lost(): void {
    this.#entries.clear()
    this.#begin = this.#next()
    for (const listener of this.#listeners) listener.lost()
  }

  /** Revision of the newest change of one, or of any forgotten one. */
  revisionOf(name: AnswerName): number {
    return this.#entries.get(idOf(name))?.revision ?? this.#begin
  }

  /** Changes behind a revision, the oldest first. */
  *since(revision: number): Generator<[id: string, name: AnswerName]> {
    for (const [id, entry] of this.#entries) if (entry.revision > revision) yield [id, entry.name]
  }

  listen(listener: LogListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

export function idOf({ namespace, name }: AnswerName): string {
  return `${namespace}/${name}`
}
