/** The log as a follower reads it: from where it was, as far as it is published. */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import type { Revision } from '../store.ts'
import { BELL, BELLS, IN_SEGMENT, IS_CUT, type LogLink, type LogNews, SEGMENT_START } from './logSegments.ts'
import { ReceivedSlabs } from './slabs.ts'
import {
  lengthAt,
  RECORD_HEAD_BYTES,
  RECORDS,
  type ReadVersion,
  readVersion,
  revisionAt,
  textOf,
  typeAt,
} from './versionRecords.ts'

/** Content of a record. The text of a version is good until the call returns, if it is not lasting. */
interface LogVisitor {
  version(type: 'put' | 'delete', version: ReadVersion): void
  /** The text of the current version lies elsewhere now. */
  moved(version: ReadVersion): void
  /** All has been moved that there was. */
  packed(): void
  /** History up to a revision is forgotten; `inMemory`: the newest events may still be read. */
  compacted(revision: Revision, inMemory: boolean): void
  closed(): void
}

interface Segment {
  readonly bytes: Buffer
  readonly words: Int32Array
}

export class LogReader {
  readonly #head: Int32Array
  readonly #state: Int32Array
  readonly #news: MessagePort
  readonly #segments = new Map<number, Segment>()
  readonly #slabs = new ReceivedSlabs()
  #segment: Segment
  #at: number
  /** The head when the log was last read to its end. */
  #seen: number | undefined
  /** Earlier pieces of a long text. */
  #pieces: Buffer[] = []

  constructor({ head, state, news, segment, at }: LogLink) {
    this.#head = new Int32Array(head)
    this.#state = new Int32Array(state)
    this.#news = news
    this.#segment = this.#found(segment)
    this.#at = at
  }

  /** Whether there is something to read. */
  get isBehind(): boolean {
    return Atomics.load(this.#head, 0) !== this.#seen
  }

  /** The writer has given this follower up: what it may read is not the whole log. */
  get isCut(): boolean {
    return Atomics.load(this.#state, IS_CUT) === 1
  }

  /** From now on {@link wait} ends with commits, or only with {@link wake}. Earlier records have to be looked for behind this. */
  listen(isWaiting: boolean): void {
    Atomics.store(this.#state, BELL, isWaiting ? BELLS.waiting : BELLS.quiet)
  }

  /** Resolves when the bell was rung since {@link listen}; keeps no process alive. */
  async wait(): Promise<void> {
    const bell = Atomics.load(this.#state, BELL)
    if (bell === BELLS.rung) return
    const waited = Atomics.waitAsync(this.#state, BELL, bell)
    if (waited.async) await waited.value
  }

  /** Wakes whoever waits. */
  wake(): void {
    Atomics.store(this.#state, BELL, BELLS.rung)
    Atomics.notify(this.#state, BELL)
  }

  /** Reads what is published, at least; no version behind `through`. */
  read(visitor: LogVisitor, through = Number.POSITIVE_INFINITY): void {
    const head = Atomics.load(this.#head, 0)
    let end = Atomics.load(this.#segment.words, 0)
    while (this.#at < end) {
      const { bytes } = this.#segment
      const type = typeAt(bytes, this.#at)
      if (type === RECORDS.next) {
        this.#enter(revisionAt(bytes, this.#at))
        end = Atomics.load(this.#segment.words, 0)
        continue
      }
      if (revisionAt(bytes, this.#at) > through) return
      this.#visit(visitor, type)
      this.#at += lengthAt(bytes, this.#at)
    }
    this.#seen = head
  }

  close(): void {
    this.#news.close()
  }

  #visit(visitor: LogVisitor, type: number): void {
    const { bytes } = this.#segment
    const at = this.#at
    if (type === RECORDS.piece)
      this.#pieces.push(Buffer.from(bytes.subarray(at + RECORD_HEAD_BYTES, at + lengthAt(bytes, at))))
    else if (type === RECORDS.closed) visitor.closed()
    else if (type === RECORDS.packed) visitor.packed()
    else if (type === RECORDS.compacted) visitor.compacted(revisionAt(bytes, at), false)
    else if (type === RECORDS.forgotten) visitor.compacted(revisionAt(bytes, at), true)
    else {
      const version = this.#whole(readVersion(bytes, at, number => this.#slab(number)))
      if (type === RECORDS.moved) visitor.moved(version)
      else visitor.version(type === RECORDS.put ? 'put' : 'delete', version)
    }
  }

  #whole(version: ReadVersion): ReadVersion {
    if (this.#pieces.length === 0) return version
    const { buffer: memory, byteOffset: at, length } = Buffer.concat([...this.#pieces, textOf(version)])
    this.#pieces = []
    return { ...version, memory, at, length }
  }

  #enter(id: number): void {
    this.#segment = this.#found(id)
    this.#at = SEGMENT_START
    // from here on the last one may be filled again
    Atomics.add(this.#state, IN_SEGMENT, 1)
  }

  #found(id: number): Segment {
    this.#receive()
    const segment = this.#segments.get(id)
    if (segment === undefined) throw new Error(`segment ${id} of the log is not known`)
    return segment
  }

  #slab(number: number): SharedArrayBuffer {
    const known = this.#slabs.get(number)
    if (known !== undefined) return known
    this.#receive()
    const memory = this.#slabs.get(number)
    if (memory === undefined) throw new Error(`slab ${number} of the log is not known`)
    return memory
  }

  #receive(): void {
    for (let news = receiveMessageOnPort(this.#news); news; news = receiveMessageOnPort(this.#news))
      this.#learn(news.message as LogNews)
  }

  #learn(news: LogNews): void {
    if ('slab' in news) {
      this.#slabs.receive(news)
      return
    }
    const { id, memory } = news
    if (memory === undefined) this.#segments.delete(id)
    else this.#segments.set(id, { bytes: Buffer.from(memory), words: new Int32Array(memory, 0, 1) })
  }
}
