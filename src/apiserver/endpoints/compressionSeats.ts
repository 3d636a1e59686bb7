/**
 * Who may compress now. The thread pool that compresses also syncs writes to disk and looks up names, so a few seats are all
 * that compression gets of it. Whoever finds none free waits in line, first come, first served. A seat is given for one block
 * of an answer: large answers take turns, and none is held while a client reads.
 */

export interface CompressionSeatsOptions {
  seats: number
  /** With as many in line, newcomers had better send their answers as they are. */
  crowd: number
}

export class CompressionSeats {
  #free: number
  readonly #crowd: number
  /** In the order in which they came. */
  readonly #line = new Set<() => void>()

  constructor({ seats, crowd }: CompressionSeatsOptions) {
    this.#free = seats
    this.#crowd = crowd
  }

  get isCrowded(): boolean {
    return this.#line.size >= this.#crowd
  }

  /** Runs `work` as soon as there is a seat; resolves to `undefined`, without running it, when `signal` aborts before. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
    if (signal?.aborted) return undefined
    if (this.#free > 0) this.#free--
    else if (!(await this.#wait(signal))) return undefined
    try {
      return await work()
    } finally {
      const [next] = this.#line
      if (next) next()
      else this.#free++
    }
  }

  /** Resolves to true once a seat was handed over, to false when `signal` aborts. */
  #wait(signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise(resolve => {
      const leave = (hasSeat: boolean): void => {
        this.#line.delete(take)
        signal?.removeEventListener('abort', giveUp)
        resolve(hasSeat)
      }
      const take = (): void => leave(true)
      const giveUp = (): void => leave(false)
      this.#line.add(take)
      signal?.addEventListener('abort', giveUp)
    })
  }
}
