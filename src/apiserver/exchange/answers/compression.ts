/**
 * gzip for large answers to clients that take it. Compression runs on the thread pool, a few blocks at a time, and answers
 * leave as they are when many wait for that. Documents that are kept (those with an ETag) are compressed once.
 */
import type { Writable } from 'node:stream'
import { type Answer, goneSignal, written } from '../../http/answer.ts'
import type { Request } from '../../http/request.ts'
import type { BlockSink } from './blockWriter.ts'
import { CompressionSeats } from './compressionSeats.ts'
import { type Deflate, deflater } from './deflater.ts'
import { GzipWriter } from './gzipWriter.ts'

/** As upstream: below it, compressing costs more time than sending. */
export const GZIP_FROM_BYTES = 128 * 1024
/** More would save nobody time: a few blocks at a time keep the line short. */
export const SEATS = 2
/** Threads of the pool that nobody but the store has: it syncs one batch of writes at a time. */
const SYNCING = 1
/** Size of Node's own pool. */
const POOL_THREADS = 4
/**
 * A block takes a millisecond or two, so the last one in line waits for some fifty. That is less than the cost to everybody when dozens of
 * lists leave as they are, for encrypting those holds the loop.
 */
export const CROWD = 64
export const CROWD_BYTES = 256 * 1024 * 1024
/** Blocks of bodies that are there as a whole. */
export const BLOCK_BYTES = 128 * 1024

export function acceptsGzip(request: Pick<Request, 'headers'>): boolean {
  const accepted = request.headers['accept-encoding']
  if (accepted === undefined || !accepted.includes('gzip')) return false
  return accepted.split(',').some(entry => {
    const [coding = '', ...parameters] = entry.split(';').map(part => part.trim())
    return coding === 'gzip' && !parameters.some(parameter => /^q=0(\.0*)?$/.test(parameter))
  })
}

/**
 * How many of the pool's threads may compress, so that a write never waits for compression. Names that do not resolve hold up to half of it
 * (libuv's rule, rounded up). A pool that is too small gives none: answers leave as they are then.
 */
export function seatsIn(poolThreads: number): number {
  return Math.max(0, Math.min(SEATS, poolThreads - Math.ceil(poolThreads / 2) - SYNCING))
}

export class Compression {
  readonly #seats: CompressionSeats
  readonly #isOff: boolean
  readonly #deflate: Deflate
  readonly #kept = new WeakMap<Buffer, Promise<Buffer | undefined>>()

  constructor({
    deflate = deflater(),
    poolThreads = Number(process.env.UV_THREADPOOL_SIZE) || POOL_THREADS,
  }: { deflate?: Deflate | undefined; poolThreads?: number } = {}) {
    const seats = seatsIn(poolThreads)
    this.#isOff = seats === 0
    this.#seats = new CompressionSeats({ seats, crowd: CROWD, crowdBytes: CROWD_BYTES })
    this.#deflate = deflate
  }

  /** Whether an answer that is written block by block should leave compressed. */
  wantsBlocks(request: Pick<Request, 'headers'>): boolean {
    return !this.#isOff && acceptsGzip(request) && !this.#seats.isCrowded
  }

  /** Compresses what is written to it, about so many `bytes` in all, on its way to `out`. */
  sink(out: Writable, bytes: number): BlockSink {
    const waiting = { bytes, signal: goneSignal(out) }
    const gzip = new GzipWriter(this.#deflate)
    return {
      write: async block => {
        const chunk = await this.#seats.run(() => gzip.next(block), waiting)
        return chunk !== undefined && written(out, chunk)
      },
      end: () => void out.end(gzip.end()),
    }
  }

  /** Whether `body` should leave compressed. */
  wants(request: Pick<Request, 'headers'>, answer: Answer, body: Buffer): boolean {
    if (this.#isOff || body.length <= GZIP_FROM_BYTES || !acceptsGzip(request)) return false
    // Kept documents are few, and all who want one wait for the same.
    return answer.hasHeader('etag') || !this.#seats.isCrowded
  }

  /** The compressed body; sets the headers that tell. `body` itself when nobody waits for it any more. */
  async apply(answer: Answer, body: Buffer): Promise<Buffer> {
    const compressed = await (answer.hasHeader('etag')
      ? this.#compressKept(body)
      : this.#compress(body, goneSignal(answer)))
    if (compressed === undefined) return body
    const vary = answer.getHeader('vary')
    answer.header('content-encoding', 'gzip').header('vary', vary ? `${vary}, Accept-Encoding` : 'Accept-Encoding')
    answer.removeHeader('Content-Length')
    return compressed
  }

  /** For all who will want it: that one of them leaves does not end it. */
  #compressKept(body: Buffer): Promise<Buffer | undefined> {
    const known = this.#kept.get(body)
    if (known !== undefined) return known
    const compressed = this.#compress(body)
    this.#kept.set(body, compressed)
    compressed.catch(() => this.#kept.delete(body))
    return compressed
  }

  /** Block by block, too: a long body takes turns with others. `undefined` when `signal` aborts. */
  async #compress(body: Buffer, signal?: AbortSignal): Promise<Buffer | undefined> {
    const gzip = new GzipWriter(this.#deflate)
    const chunks: Buffer[] = []
    for (let at = 0; at < body.length; at += BLOCK_BYTES) {
      const block = body.subarray(at, at + BLOCK_BYTES)
      const chunk = await this.#seats.run(() => gzip.next(block), { bytes: body.length, signal })
      if (chunk === undefined) return undefined
      chunks.push(chunk)
    }
    return Buffer.concat([...chunks, gzip.end()])
  }
}
