/**
 * Seats for compression. The thread pool that compresses also syncs writes to disk and looks up names, so a few seats are all that
 * compression gets of it. An answer without a free one waits in line, first come, first served. A seat is given for one block of an answer:
 * large answers sit turns, and none is held while a client reads.
 */

interface CompressionSeatsOptions {
  seats: number
  /** With as many in line, or with answers of so many bytes, newcomers had better send theirs as they are. */
  crowd: number
  crowdBytes: number
}

interface Waiting {
  /** Bytes of the whole answer, which is held as long as one of its blocks waits. */
  bytes: number
  /** Aborts when nobody wants the answer any more. */
  signal?: AbortSignal | undefined
}

export class CompressionSeats {
  #free: number
  readonly #crowd: number
  readonly #crowdBytes: number
  /** In the order in which they came. */
  readonly #line = new Set<() => void>()
  #waitingBytes = 0

  constructor({ seats, crowd, crowdBytes }: CompressionSeatsOptions) {
    this.#free = seats
    this.#crowd = crowd
    this.#crowdBytes = crowdBytes
  }

  get isCrowded(): boolean {
    return this.#line.size >= this.#crowd || this.#waitingBytes >= this.#crowdBytes
  }

  /** Runs `work` as soon as there is a seat; resolves to `undefined`, without running it, when its signal aborts before. */
  async run<T>(work: () => Promise<T>, waiting: Waiting): Promise<T | undefined> {
    if (waiting.signal?.aborted) return undefined
    if (this.#free > 0) this.#free--
    else if (!(await this.#wait(waiting))) return undefined
    try {
      return await work()
    } finally {
      const [next] = this.#line
      if (next) next()
      else this.#free++
    }
  }

  /** Resolves to true once a seat was handed over, to false when the signal aborts. */
  #wait({ bytes, signal }: Waiting): Promise<boolean> {
    return new Promise(resolve => {
      const leave = (hasSeat: boolean): void => {
        this.#line.delete(sit)
        this.#waitingBytes -= bytes
        signal?.removeEventListener('abort', giveUp)
        resolve(hasSeat)
      }
      const sit = (): void => leave(true)
      const giveUp = (): void => leave(false)
      this.#line.add(sit)
      this.#waitingBytes += bytes
      signal?.addEventListener('abort', giveUp)
    })
  }
}
