/**
 * The log that replicas follow, as its writer has it: records in shared memory, in segments. A segment is filled once, and again only
 * when every follower has left it, so nobody reads what is being written. A follower that is too far behind is cut off: what it may
 * still be reading is never filled again.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { AnnouncedSlabs, type SlabNews } from './slabs.ts'
import { RECORD_HEAD_BYTES, RECORDS, writeHead } from './versionRecords.ts'

/** First word of a segment: the position up to which it can be read. */
export const SEGMENT_START = 8
/** Words of a follower: the ordinal of the segment that it is in, whether it was cut off, and its bell. */
export const IN_SEGMENT = 0
export const IS_CUT = 1
export const BELL = 2
/** States of a bell: no listener; a listener that waits; rung, and not looked at since. */
export const BELLS = { quiet: 0, waiting: 1, rung: 2 } as const

export interface LogSegmentsOptions {
  /** Default: 1 MiB. */
  segmentBytes?: number
  /** Segments that followers may be behind. Default: 64. */
  maxSegments?: number
}

/** Link by which a follower reads the log; all of it can be sent to a thread. */
export interface LogLink {
  /** One word that changes with each commit. */
  readonly head: SharedArrayBuffer
  /** The follower's words. */
  readonly state: SharedArrayBuffer
  /** Tells of segments and slabs, in time for whoever takes what lies there when it meets one that it does not know. */
  readonly news: MessagePort
  /** Where to begin. */
  readonly segment: number
  readonly at: number
}

/** News of a segment: its memory, or nothing where it is used no more. */
interface SegmentNews {
  readonly id: number
  readonly memory?: SharedArrayBuffer
}

export type LogNews = SegmentNews | SlabNews

interface Segment {
  readonly id: number
  readonly memory: SharedArrayBuffer
  readonly bytes: Buffer
  readonly words: Int32Array
  /** How many came before. */
  ordinal: number
  used: number
  /** Somebody who was cut off may be reading it. */
  isLeft: boolean
}

interface Follower {
  readonly state: Int32Array
  readonly port: MessagePort
  readonly onCut: () => void
}

/** Segments that wait to be filled again. */
const KEPT = 4

export class LogSegments {
  readonly #segmentBytes: number
  readonly #maxSegments: number
  readonly #head = new SharedArrayBuffer(4)
  readonly #headWord = new Int32Array(this.#head)
  readonly #followers = new Set<Follower>()
  /** Those that somebody may have to read; the last one is being filled. */
  #live: Segment[] = []
  #free: Segment[] = []
  #lastId = 0
  #ordinal = 0
  /** Those that were written to since the last {@link publish}. */
  readonly #written = new Set<Segment>()
  readonly #slabs = new AnnouncedSlabs(news => this.#announce(news))

  constructor({ segmentBytes = 1024 * 1024, maxSegments = 64 }: LogSegmentsOptions = {}) {
    this.#segmentBytes = segmentBytes
    this.#maxSegments = maxSegments
  }

  get followers(): number {
    return this.#followers.size
  }

  /** Bytes of shared memory that it holds. */
  get heldBytes(): number {
    return (this.#live.length + this.#free.length) * this.#segmentBytes
  }

  /** The longest record. */
  get roomBytes(): number {
    return this.#segmentBytes - SEGMENT_START - RECORD_HEAD_BYTES
  }

  /** Begins behind all that was published. `end` is for a follower that leaves by itself; `onCut` is called when it was too slow. */
  follow(onCut: () => void): { link: LogLink; end: () => void } {
    if (this.#live.length === 0) this.#begin()
    const current = this.#live.at(-1)!
    const { port1, port2 } = new MessageChannel()
    const state = new SharedArrayBuffer(12)
    const follower: Follower = { state: new Int32Array(state), port: port1, onCut }
    follower.state[IN_SEGMENT] = current.ordinal
    this.#followers.add(follower)
    for (const { id, memory } of [...this.#live, ...this.#free]) post(follower, { id, memory })
    for (const news of this.#slabs.remembered) post(follower, news)
    return {
      link: { head: this.#head, state, news: port2, segment: current.id, at: current.used },
      end: () => this.#leave(follower),
    }
  }

  /** The number of a slab, for a record that is appended next, whose text is `length` bytes of it. */
  refer(memory: SharedArrayBuffer, length: number): number {
    return this.#slabs.refer(memory, length)
  }

  /** Makes room for a record of so many bytes, and lets it be written. Nobody reads it before {@link publish}. */
  append(bytes: number, write: (into: Buffer, at: number) => void): void {
    if (bytes > this.roomBytes) throw new RangeError(`a record of ${bytes} bytes is longer than a segment of the log`)
    let segment = this.#live.at(-1)!
    if (segment.used + bytes + RECORD_HEAD_BYTES > this.#segmentBytes) segment = this.#next(segment)
    write(segment.bytes, segment.used)
    segment.used += bytes
    this.#written.add(segment)
  }

  /** All that was appended can be read. */
  publish(): void {
    for (const segment of this.#written) Atomics.store(segment.words, 0, segment.used)
    this.#written.clear()
    // all may have been cut off meanwhile
    if (this.#followers.size === 0) this.#forget()
    this.#wake()
  }

  /** Nobody can follow any more, whoever did. */
  cutAll(): void {
    for (const follower of [...this.#followers]) this.#cut(follower)
    this.#wake()
  }

  /** To wake a thread costs this one some 15 µs: only those are that somebody watches in, once until they have looked. */
  #wake(): void {
    Atomics.add(this.#headWord, 0, 1)
    for (const { state } of this.#followers)
      if (Atomics.compareExchange(state, BELL, BELLS.waiting, BELLS.rung) === BELLS.waiting) Atomics.notify(state, BELL)
  }

  #next(full: Segment): Segment {
    this.#collect()
    while (this.#live.length >= this.#maxSegments && this.#followers.size > 0) this.#cutSlowest()
    const next = this.#begin()
    writeHead(full.bytes, full.used, RECORDS.next, next.id)
    full.used += RECORD_HEAD_BYTES
    this.#written.add(full)
    return next
  }

  #begin(): Segment {
    const segment = this.#free.pop() ?? this.#make()
    segment.ordinal = this.#ordinal++
    segment.used = SEGMENT_START
    Atomics.store(segment.words, 0, SEGMENT_START)
    this.#live.push(segment)
    return segment
  }

  #make(): Segment {
    const memory = new SharedArrayBuffer(this.#segmentBytes)
    const segment: Segment = {
      id: ++this.#lastId,
      memory,
      bytes: Buffer.from(memory),
      words: new Int32Array(memory, 0, 1),
      ordinal: 0,
      used: SEGMENT_START,
      isLeft: false,
    }
    this.#announce({ id: segment.id, memory })
    return segment
  }

  /** Takes back what all have left. */
  #collect(): void {
    const current = this.#live.at(-1)
    if (current === undefined) return
    let oldest = current.ordinal
    for (const { state } of this.#followers) oldest = Math.min(oldest, Atomics.load(state, IN_SEGMENT))
    const kept = this.#live.findIndex(segment => segment.ordinal >= oldest)
    for (const segment of this.#live.splice(0, kept)) {
      if (!segment.isLeft && this.#free.length < KEPT) this.#free.push(segment)
      else this.#announce({ id: segment.id })
    }
  }

  #cutSlowest(): void {
    let slowest: Follower | undefined
    for (const follower of this.#followers)
      if (!slowest || follower.state[IN_SEGMENT]! < slowest.state[IN_SEGMENT]!) slowest = follower
    this.#cut(slowest!)
    this.#collect()
  }

  #cut(follower: Follower): void {
    Atomics.store(follower.state, IS_CUT, 1)
    for (const segment of this.#live) segment.isLeft = true
    this.#leave(follower)
    follower.onCut()
  }

  #leave(follower: Follower): void {
    if (!this.#followers.delete(follower)) return
    follower.port.close()
    if (this.#followers.size === 0) this.#forget()
  }

  #announce(news: LogNews): void {
    for (const follower of this.#followers) post(follower, news)
  }

  #forget(): void {
    this.#live = []
    this.#free = []
    this.#written.clear()
  }
}

function post({ port }: Follower, news: LogNews): void {
  port.postMessage(news)
}
