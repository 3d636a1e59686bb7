/**
 * Whether the disk of the store has room left. A full disk ends all writes until the next start, and there is no start without room. Growth
 * therefore ends before, and the room for deletions, compaction and a start stays free.
 */
import type { Logger } from '../request/logger.ts'
import type { Lack, Room } from './room.ts'

export interface DiskRoomOptions {
  /** Free bytes for this process, and bytes in all. */
  look: () => Promise<{ freeBytes: number; sizeBytes: number }>
  /** Kept free. Default: see {@link DEFAULT_RESERVE_PART}. 0: the disk is not looked at. */
  reserveBytes?: number | undefined
  /** Monotonic, ms. */
  elapsed: () => number
  log: Logger
}

/** Share of the disk, between the bounds. */
export const DEFAULT_RESERVE_PART = 0.05
export const LEAST_RESERVE_BYTES = 96 * 1024 * 1024
export const MOST_RESERVE_BYTES = 256 * 1024 * 1024
/** The part of the reserve that is left to deletions, and to LevelDB: what it merges it holds twice for a while. */
const CRITICAL_PART = 0.5

const LOOK_EVERY_MS = 1000
/** So much of what is written between two looks: the log, the table, the history, a compaction. */
const WRITTEN_TIMES = 4

export class DiskRoom implements Room {
  readonly what = 'disk'
  readonly #options: DiskRoomOptions
  #freeBytes = Number.POSITIVE_INFINITY
  #reserveBytes = 0
  #writtenBytes = 0
  #lookedMs = Number.NEGATIVE_INFINITY
  #looking: Promise<void> | undefined
  #isShort = false
  #failed = false

  constructor(options: DiskRoomOptions) {
    this.#options = options
  }

  /** Looks now. A disk without an answer counts as one with room: its own errors decide then. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  took(bytes: number): void {
    this.#writtenBytes += bytes * WRITTEN_TIMES
  }

  lack(): Lack | undefined {
    if (this.#options.reserveBytes === 0) return undefined
    if (this.#looking === undefined && this.#options.elapsed() - this.#lookedMs >= LOOK_EVERY_MS) void this.look()
    const left = this.#left()
    return this.#judge() ? { critical: left < this.#reserveBytes * CRITICAL_PART, message: MESSAGE } : undefined
  }

  async #look(): Promise<void> {
    const { look, elapsed, reserveBytes, log } = this.#options
    if (reserveBytes === 0) return
    this.#lookedMs = elapsed()
    const written = this.#writtenBytes
    try {
      const { freeBytes, sizeBytes } = await look()
      this.#freeBytes = freeBytes
      this.#reserveBytes =
        reserveBytes ?? Math.min(MOST_RESERVE_BYTES, Math.max(LEAST_RESERVE_BYTES, sizeBytes * DEFAULT_RESERVE_PART))
      // writes during the look may be in its answer or not
      this.#writtenBytes -= written
      this.#failed = false
      // Nobody may ask for long.
      this.#judge()
    } catch (error) {
      if (!this.#failed) log.warn({ err: error }, 'the disk of the store does not say how much of it is free')
      this.#failed = true
    }
  }

  #left(): number {
    return this.#freeBytes - this.#writtenBytes
  }

  /** Whether it is short; a change is logged. */
  #judge(): boolean {
    const isShort = this.#left() < this.#reserveBytes
    if (isShort !== this.#isShort) this.#log(isShort)
    return isShort
  }

  #log(isShort: boolean): void {
    this.#isShort = isShort
    const { log } = this.#options
    const figures = { freeBytes: this.#freeBytes, reserveBytes: this.#reserveBytes }
    if (isShort) log.warn(figures, SHORT)
    else log.info(figures, 'the disk has room again: growth is taken')
  }
}

const SHORT =
  'the disk is short: growth is refused, deletions and reads go on. Make room on the disk of the data dir, or give it a larger one'

/** Users get no figures of the server. */
const MESSAGE = 'its disk is nearly full; delete what is not needed, or tell who runs it'
