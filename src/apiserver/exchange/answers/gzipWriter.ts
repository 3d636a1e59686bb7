/**
 * One gzip member, made block by block. Each block is deflated by itself and ends on a byte. Only a checksum is kept between two blocks: an
 * answer whose client reads slowly holds no compressor.
 * @see https://www.rfc-editor.org/rfc/rfc1952
 */
import { crc32 } from 'node:zlib'
import type { Deflate } from './deflater.ts'

/** Deflate, no name, no time, fastest level, unknown system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255])
/** A last block with nothing in it. */
const LAST_BLOCK = [0x03, 0x00]

export class GzipWriter {
  readonly #deflate: Deflate
  #crc = 0
  #size = 0

  constructor(deflate: Deflate) {
    this.#deflate = deflate
  }

  /** Compressed bytes of the next block, which must not change meanwhile. One at a time. */
  async next(block: Buffer): Promise<Buffer> {
    const deflated = await this.#deflate(block)
    const isFirst = this.#size === 0
    this.#crc = crc32(block, this.#crc)
    this.#size += block.length
    return isFirst ? Buffer.concat([HEADER, deflated]) : deflated
  }

  /** Bytes behind the last block. */
  end(): Buffer {
    const trailer = Buffer.alloc(LAST_BLOCK.length + 8)
    trailer.set(LAST_BLOCK)
    trailer.writeUInt32LE(this.#crc, LAST_BLOCK.length)
    trailer.writeUInt32LE(this.#size % 2 ** 32, LAST_BLOCK.length + 4)
    return trailer
  }
}
