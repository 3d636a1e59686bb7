/**
 * Slabs of texts, as records of the log refer to them: by the number under which their writer announced them. A record refers to one of the
 * last {@link REMEMBERED} announced slabs. A reader of records in their order knows which older ones to forget. A slab that is met again
 * later is announced again, under another number.
 */

/** A slab, announced before the first record that refers to it can be read. */
export interface SlabNews {
  readonly slab: number
  readonly memory: SharedArrayBuffer
  /** One record refers to it, and no other one: it is a text of its own. */
  readonly isOnce: boolean
}

const REMEMBERED = 16

/** Slabs that the writer announced. */
export class AnnouncedSlabs {
  readonly #announce: (news: SlabNews) => void
  readonly #announced = new Map<SharedArrayBuffer, SlabNews>()
  #last = 0

  /** @param tell all who follow */
  constructor(announce: (news: SlabNews) => void) {
    this.#announce = announce
  }

  /** For a record that is written now, whose text is `length` bytes of it: its number. */
  refer(memory: SharedArrayBuffer, length: number): number {
    const isOnce = length === memory.byteLength
    const known = isOnce ? undefined : this.#announced.get(memory)
    if (known !== undefined) return known.slab
    const news: SlabNews = { slab: ++this.#last, memory, isOnce }
    if (!isOnce) this.#announced.set(memory, news)
    for (const { slab, memory: old } of this.#announced.values()) {
      if (slab > this.#last - REMEMBERED) break
      this.#announced.delete(old)
    }
    this.#announce(news)
    return news.slab
  }

  /** Slabs that records may refer to, for a reader that begins now. */
  get remembered(): Iterable<SlabNews> {
    return this.#announced.values()
  }
}

/** Slabs that a follower received. */
export class ReceivedSlabs {
  readonly #received = new Map<number, SlabNews>()

  receive(news: SlabNews): void {
    this.#received.set(news.slab, news)
  }

  /** Slab of a record's reference; `undefined`: it is not announced yet. */
  get(slab: number): SharedArrayBuffer | undefined {
    const news = this.#received.get(slab)
    if (news === undefined) return undefined
    for (const older of this.#received.keys()) {
      if (older > slab - REMEMBERED) break
      this.#received.delete(older)
    }
    if (news.isOnce) this.#received.delete(slab)
    return news.memory
  }
}
