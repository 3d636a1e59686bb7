/**
 * Slabs of texts, as records of the log refer to them: by the number under which their writer told them. A record refers to one of
 * the last {@link REMEMBERED} that were told when it was written, so whoever reads records in their order knows which older ones
 * to forget. A slab that is met again later is told again, under another number.
 */

/** A slab, told before the first record that refers to it can be read. */
export interface SlabNews {
  readonly slab: number
  readonly memory: SharedArrayBuffer
  /** One record refers to it, and no other one: it is a text of its own. */
  readonly isOnce: boolean
}

const REMEMBERED = 16

/** What its writer told. */
export class ToldSlabs {
  readonly #tell: (news: SlabNews) => void
  readonly #told = new Map<SharedArrayBuffer, SlabNews>()
  #last = 0

  /** @param tell all who follow */
  constructor(tell: (news: SlabNews) => void) {
    this.#tell = tell
  }

  /** For a record that is written now, whose text is `length` bytes of it: its number. */
  refer(memory: SharedArrayBuffer, length: number): number {
    const isOnce = length === memory.byteLength
    const known = isOnce ? undefined : this.#told.get(memory)
    if (known !== undefined) return known.slab
    const news: SlabNews = { slab: ++this.#last, memory, isOnce }
    if (!isOnce) this.#told.set(memory, news)
    for (const { slab, memory: old } of this.#told.values()) {
      if (slab > this.#last - REMEMBERED) break
      this.#told.delete(old)
    }
    this.#tell(news)
    return news.slab
  }

  /** What records may refer to that somebody reads who begins now. */
  get remembered(): Iterable<SlabNews> {
    return this.#told.values()
  }
}

/** What a follower heard. */
export class HeardSlabs {
  readonly #heard = new Map<number, SlabNews>()

  hear(news: SlabNews): void {
    this.#heard.set(news.slab, news)
  }

  /** What a record refers to; `undefined`: it is not told yet. */
  get(slab: number): SharedArrayBuffer | undefined {
    const news = this.#heard.get(slab)
    if (news === undefined) return undefined
    for (const older of this.#heard.keys()) {
      if (older > slab - REMEMBERED) break
      this.#heard.delete(older)
    }
    if (news.isOnce) this.#heard.delete(slab)
    return news.memory
  }
}
